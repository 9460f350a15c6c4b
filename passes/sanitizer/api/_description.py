# SPDX-License-Identifier: Apache-2.0
"""The bytes of accesses in a launch, from what the pass `intensity` says of the kernel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from triton_ext.probe._arguments import Parameters, names_of, part_of

from . import _verdicts
from ._footprints import Footprint, footprint
from ._programs import Programs, Unknown
from ._uses import Use, loops_of, uses_of
from ._values import Graph

#: The most programs of which footprints are computed.
MOST_PROGRAMS = 1 << 20
_ATTRIBUTE = "triton_ext.intensity"
#: The uses that an access is: an atomic operation is both a load and a store.
_KINDS = {"read": "load", "write": "store", "atomic": "store"}


class Description:
    """What is known of the integers of a compiled kernel."""

    def __init__(self, kernel: Any) -> None:
        """Reads what the pass has said of a ``CompiledKernel``."""
        self._source, self._parameters = kernel.src, Parameters(kernel.src)
        described = _verdicts.attribute_of(kernel, _ATTRIBUTE) or ()
        self._said = next((one for one in described if one["kernel"] == kernel.metadata.name), None)

    def integers(self, values: Sequence[Any]) -> dict[int, int]:
        """Returns the integer arguments of the function, by number.

        Args:
            values: the values of the kernel's parameters, as the launch passes them.
        """
        if self._said is None:
            return {}
        names = [str(one.get("name", "")) for one in self._said["arguments"]]
        by_name = self._parameters.values(values)
        widths = self._widths()
        found = {}
        for number, name in enumerate(names_of(self._source, names)):
            value = part_of(by_name, name)[1] if name else None
            if number in widths and isinstance(value, (bool, int, np.integer)):
                found[number] = int(value)
        return found

    def programs(self, grid: tuple[int, ...], integers: Mapping[int, int]) -> tuple[Programs, list[Use]]:
        """Returns the numbers of all programs of a launch, and the kernel's uses of them.

        Raises:
            Unknown: the kernel is not described, or the launch has no programs, or too many.
        """
        x, y, z = (*grid, 1, 1)[:3]
        if self._said is None or not 0 < x * y * z <= MOST_PROGRAMS:
            raise Unknown
        body = self._said["body"]
        graph = Graph([list(node) for node in self._said["nodes"]], loops_of(body), self._widths(), dict(integers))
        return Programs(graph, (x, y, z)), list(uses_of(body, graph.add, {}))

    def _widths(self) -> dict[int, int]:
        assert self._said is not None
        return {
            number: int(one["type"][1:])
            for number, one in enumerate(self._said["arguments"])
            if one["type"][0] == "i" and one["type"][1:].isdecimal()
        }


def footprints_of(
    programs: Programs,
    uses: Sequence[Use],
    accesses: Sequence[Mapping[str, Any]],
    starts: Sequence[int] | Mapping[int, int],
    *,
    exact: bool = False,
) -> list[Footprint]:
    """Returns the footprints of accesses.

    Args:
        programs: the programs of the launch.
        uses: the uses of the kernel.
        accesses: as the pass lists them: ``line``, ``column``, ``argument``, ``kind`` and ``bytes``.
        starts: where each argument points, in bytes.
        exact: whether supersets will not do.

    Raises:
        Unknown: one of them is not known.
    """
    found: dict[Any, Footprint | None] = {}
    places = Counter(map(_place, accesses))
    for one in accesses:
        here = [use for use in uses if use.what == _KINDS[one["kind"]] and _is_at(use, one)]
        alike = [use for use in here if use.argument == one["argument"] and use.bytes == one["bytes"]]
        if any(use.argument is None for use in here) or len(alike) < places[_place(one)]:
            raise Unknown
        for use in alike:
            key = use.offset, use.mask, use.shape, use.bytes, starts[one["argument"]], use.reach
            if key not in found:
                found[key] = footprint(programs, use, starts[one["argument"]], exact=exact)
    return [one for one in found.values() if one is not None]


def _place(access: Mapping[str, Any]) -> tuple[Any, ...]:
    return access["line"], access["column"], access["argument"], access["kind"]


def _is_at(use: Use, access: Mapping[str, Any]) -> bool:
    return (use.place.line, use.place.column) == (access["line"], access["column"])
