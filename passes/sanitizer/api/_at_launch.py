# SPDX-License-Identifier: Apache-2.0
"""The checks on the host at a launch, which the arguments alone decide.

The divisors of arguments for which the kernel was specialised need no operation in the kernel, which would have to be
compiled. Descriptors that the host has made are opaque to the kernel where the hardware reads them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from triton_ext.probe._arguments import Parameters, described, names_of, part_of

from . import _source, _verdicts
from ._bounds import outside_of
from ._exact import decided, launch_of
from ._explain import DESCRIPTOR_REMEDY, explained
from ._finding import Finding
from ._launch import Launch
from ._tensors import beyond

#: What the pass says of an access by a descriptor that the kernel has not made.
OPAQUE = "the descriptor is not made in the kernel"


class Facts:
    """The checks for launches of one kernel."""

    def __init__(self, kernel: Any) -> None:
        """Reads what the pass has said of a ``CompiledKernel``."""
        self._kernel = name = str(kernel.metadata.name)
        verdicts = _verdicts.of(kernel) or ()
        said = {one["kernel"]: one for one in _verdicts.attribute_of(kernel, "sanitize.promises") or ()}.get(name, {})
        self._parameters, self._compiled = Parameters(kernel.src), kernel
        self._opaque = [one for one in verdicts if one.check == "bounds" and one.why == OPAQUE]
        self._file = _verdicts.file_of(kernel)
        self._names = names_of(kernel.src, said.get("arguments", ()))
        self._divisors: list[dict[str, Any]] = said.get("divisors", [])

    def __bool__(self) -> bool:
        return bool(self._divisors or self._opaque)

    def wrong(self, grid: tuple[int, int, int], arguments: Sequence[Any]) -> Iterator[Finding]:
        """Yields what is wrong in a launch.

        Args:
            grid: the grid of the launch.
            arguments: the arguments of the kernel, as the launch passes them.
        """
        programs = math.prod(grid)
        if not programs:
            return
        values = self._parameters.values(arguments)
        for one in self._divisors:
            path = self._names[one["argument"]]
            name, value = part_of(values, path) if path else list(values.items())[one["argument"]]
            address = _number(value)
            if address % one["divisor"]:
                found = Finding(
                    "hints", self._kernel, one["file"] or self._file, one["line"], one["column"], argument=name,
                    program=(0, 0, 0), lane=-1, lanes=programs, programs=programs, values={name: address},
                )  # fmt: skip
                yield explained(found, {"hint": one["hint"], "promised": one["divisor"]}, None, None)
        for name, value in values.items() if self._opaque else ():
            if hasattr(value, "block_shape"):
                yield from self._beyond(name, value, grid, values)

    def _beyond(self, name: str, descriptor: Any, grid: Sequence[int], values: Mapping[str, Any]) -> Iterator[Finding]:
        """Yields the findings about a descriptor whose shape goes beyond the memory of its tensor.

        Where nobody knows what programs access, the finding is that they may.
        """
        tensor = described(name, descriptor)
        if distance := beyond(tensor):
            launch = launch_of(self._compiled, grid, values)
            found = None if launch is None else _outside_of_memory(launch, name)
            if found is not None:
                yield from found
                return
            at = next((one for one in self._opaque if name in _source.names_in(one.file, one.line)), self._opaque[0])
            yield Finding(
                "bounds", at.kernel, at.file, at.line, at.column,
                f"the shape of the descriptor {name} reaches {distance} bytes behind the memory of its tensor",
                name, tensor.shape, tensor.strides, tensor.dtype, distance=distance, suggestion=DESCRIPTOR_REMEDY,
            )  # fmt: skip


def _outside_of_memory(launch: Launch, name: str) -> list[Finding] | None:
    """Returns the accesses by the descriptor `name` outside of its memory; None if one is not known."""
    found = []
    for use in launch.uses:
        if use.what not in ("load", "store", "atomic", "unknown"):
            continue
        if use.what == "unknown" or use.argument is None:
            return None  # it may be by the descriptor
        if launch.names[use.argument] != name:
            continue
        if use.offset is None:
            return None
        memory = launch.memories[name]
        search = outside_of(launch, use, memory.start, memory.end)
        answer = decided(launch, use, "bounds", search, (memory.start, memory.end))
        if answer is None:
            return None
        if isinstance(answer, Finding):
            found.append(replace(answer, suggestion=DESCRIPTOR_REMEDY))
    return found


def _number(value: Any) -> int:
    """Returns the address of a tensor, or an integer itself; for other values 0, which every integer divides."""
    if hasattr(value, "data_ptr"):
        return int(value.data_ptr())
    if isinstance(value, np.ndarray):
        return int(value.ctypes.data)
    return int(value) if isinstance(value, (int, np.integer)) else 0
