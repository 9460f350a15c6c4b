# SPDX-License-Identifier: Apache-2.0
"""Accesses between the elements of a view, such as the end of the rows of ``x[:, :20]``: decided at a launch.

The kernel compares addresses with the first and the last byte of a view. What is between the elements is found on the
host, from the numbers of the launch, as `check_launch` does. It is asked only for launches with such views, and once
for equal numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from triton_ext.probe._arguments import Parameters

from triton_ext.errors import TritonExtError

from ._bounds import between_elements, outside_of
from ._exact import decided, launch_of
from ._finding import Finding
from ._launch import Launch
from ._memory import is_tensor, memory_of
from ._wraps import overflow

#: How many different launches of a kernel are looked at.
MOST_LAUNCHES = 32


class Gaps:
    """The accesses of one kernel's launches between the elements of views."""

    def __init__(self, kernel: Any) -> None:
        """Looks at a ``CompiledKernel``."""
        self._kernel, self._parameters = kernel, Parameters(kernel.src)
        self._known: dict[Any, tuple[Finding, ...]] = {}

    def found(self, grid: Sequence[int], arguments: Sequence[Any]) -> tuple[Finding, ...]:
        """Returns the findings of a launch; none where nothing can be known.

        Args:
            grid: the grid of the launch.
            arguments: the arguments of the kernel, as the launch passes them.
        """
        if not any(_has_gaps(one) for one in _parts(arguments)):
            return ()
        values = self._parameters.values(arguments)
        key = (tuple(grid), *(_numbers(value) for value in values.values()))
        if key not in self._known:
            self._known[key] = self._decided(grid, values) if len(self._known) < MOST_LAUNCHES else ()
        return tuple(replace(one) for one in self._known[key])  # the report counts each object once

    def _decided(self, grid: Sequence[int], values: Mapping[str, Any]) -> tuple[Finding, ...]:
        launch = launch_of(self._kernel, grid, values)
        return () if launch is None else tuple(_findings(launch))


def _parts(values: Sequence[Any]) -> Iterator[Any]:
    """Yields the values, and those in tuples."""
    for value in values:
        if isinstance(value, tuple):
            yield from _parts(value)
        else:
            yield value


def _has_gaps(value: Any) -> bool:
    """Whether an argument is a tensor with memory between its elements. Quick for others, because each launch asks."""
    if hasattr(value, "is_contiguous"):
        return not value.is_contiguous() and memory_of(value).has_holes
    flags = getattr(value, "flags", None)
    return flags is not None and not flags["C_CONTIGUOUS"] and memory_of(value).has_holes


def _numbers(value: Any) -> Any:
    """Returns all that the offsets of a launch depend on: of a tensor everything except its address."""
    if isinstance(value, tuple):
        return tuple(map(_numbers, value))
    if isinstance(value, np.generic):  # which has a shape, as a tensor does
        return value.item()
    if not is_tensor(value):
        return value if isinstance(value, int | float | bool) else None
    try:
        return replace(memory_of(value), address=0)
    except TritonExtError:
        return None


def _findings(launch: Launch) -> Iterator[Finding]:
    for use in launch.uses:
        if use.what not in ("load", "store", "atomic") or use.offset is None or use.argument is None:
            continue
        memory = launch.memories.get(launch.names[use.argument])
        if memory is None or not memory.has_holes:
            continue
        # What is outside of the view, the kernel finds, and the line is told once.
        inside = outside_of(launch, use, memory.low, memory.high)
        if inside.find(inside.box()).verdict is not False:
            continue
        answer, _ = overflow(launch, use)
        search = between_elements(launch, use, memory) if answer is not None and answer.verdict is False else None
        found = None if search is None else decided(launch, use, "view", search, None)
        if isinstance(found, Finding):
            yield found
