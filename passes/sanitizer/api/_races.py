# SPDX-License-Identifier: Apache-2.0
"""Which tensors of a launch need a shadow for races, decided from the numbers of the launch.

Two programs race only if they touch the same byte and one of them writes. So memory that is only read, or only accessed
atomically, needs no shadow; nor does memory of which each program has bytes of its own.
"""

from __future__ import annotations

import math
import weakref
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from triton_ext.probe._arguments import Argument, names_of, part_of, signature_values
from triton_ext.probe._slot import Launch

from . import _verdicts
from ._footprints import Footprint, are_disjoint, footprint
from ._programs import Programs, Unknown
from ._uses import Use, loops_of, uses_of
from ._values import Graph

#: The most programs of which footprints are computed.
MOST_PROGRAMS = 1 << 20
#: How many launches of a kernel are remembered.
_MOST = 1024
_ATTRIBUTE = "triton_ext.intensity"
#: The uses that an access is: an atomic operation is both a load and a store.
_KINDS = {"read": "load", "write": "store", "atomic": "store"}


class Looks:
    """The accesses of a compiled kernel that look at shadows, and what its launches need.

    Attributes:
        accesses: as the pass lists them.
    """

    def __init__(self, kernel: Any) -> None:
        """Reads what the pass has said of a ``CompiledKernel``."""
        name = str(kernel.metadata.name)
        said = {one["kernel"]: one["accesses"] for one in _verdicts.attribute_of(kernel, "sanitize.shadows") or ()}
        self.accesses: list[dict[str, Any]] = said.get(name, [])
        self._source = kernel.src
        described = _verdicts.attribute_of(kernel, _ATTRIBUTE) or ()
        self._description = next((one for one in described if one["kernel"] == name), None)
        self._known: dict[Any, frozenset[tuple[int, int]]] = {}

    def raced(
        self, grid: Sequence[int], values: Sequence[Any], arguments: Sequence[Argument]
    ) -> frozenset[tuple[int, int]]:
        """Returns the storages in which programs of a launch may race.

        Args:
            grid: of the launch.
            values: of the kernel's parameters, as the launch passes them.
            arguments: of the function.
        """
        integers = self._integers(values)
        key = tuple(grid), tuple(integers.items()), tuple((one.storage, one.address) for one in arguments)
        if (found := self._known.get(key)) is None:
            if len(self._known) >= _MOST:
                self._known.clear()
            found = self._known[key] = frozenset(self._decided(tuple(grid), integers, arguments))
        return found

    def storages(self, launch: Launch) -> set[tuple[int, int]]:
        """Returns all storages of a launch whose accesses look at a shadow for races."""
        arguments = [launch.arguments[one["argument"]] for one in self.accesses if one["check"] == "race"]
        return {one.storage for one in arguments if one.is_tensor}

    def _integers(self, values: Sequence[Any]) -> dict[int, int]:
        """Returns the integer arguments of the function, by number."""
        if self._description is None:
            return {}
        names = [str(one.get("name", "")) for one in self._description["arguments"]]
        by_name = signature_values(self._source, values)
        found = {}
        for number, name in enumerate(names_of(self._source, names)):
            value = part_of(by_name, name)[1] if name else None
            if isinstance(value, (bool, int, np.integer)):
                found[number] = int(value)
        return found

    def _decided(
        self, grid: tuple[int, ...], integers: Mapping[int, int], arguments: Sequence[Argument]
    ) -> Iterable[tuple[int, int]]:
        if math.prod(grid) == 1:
            return
        storages: dict[tuple[int, int], list[dict[str, Any]]] = {}
        for one in self.accesses:
            if one["check"] == "race" and arguments[one["argument"]].is_tensor:
                storages.setdefault(arguments[one["argument"]].storage, []).append(one)
        programs: Programs | None = None
        uses: list[Use] = []
        for storage, accesses in storages.items():
            kinds = {one["kind"] for one in accesses}
            if kinds in ({"read"}, {"atomic"}):
                continue
            try:
                if programs is None:
                    programs, uses = self._programs(grid, integers)
                if not are_disjoint(_footprints(programs, uses, accesses, arguments)):
                    yield storage
            except Unknown:
                yield storage

    def _programs(self, grid: tuple[int, ...], integers: Mapping[int, int]) -> tuple[Programs, list[Use]]:
        x, y, z = (*grid, 1, 1)[:3]
        if self._description is None or not 0 < x * y * z <= MOST_PROGRAMS:
            raise Unknown
        body = self._description["body"]
        widths = {
            number: int(one["type"][1:])
            for number, one in enumerate(self._description["arguments"])
            if one["type"][0] == "i" and one["type"][1:].isdecimal()
        }
        known = {number: value for number, value in integers.items() if number in widths}
        graph = Graph([list(node) for node in self._description["nodes"]], loops_of(body), widths, known)
        uses = list(uses_of(body, graph.add, {}))
        if any(use.what == "unknown" for use in uses):  # there may be accesses that the description does not have
            raise Unknown
        return Programs(graph, (x, y, z)), uses


def _footprints(
    programs: Programs, uses: Sequence[Use], accesses: Sequence[Mapping[str, Any]], arguments: Sequence[Argument]
) -> list[Footprint]:
    """Returns the footprints of accesses of one storage.

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
        argument = arguments[one["argument"]]
        for use in alike:
            key = use.offset, use.mask, use.shape, use.bytes, argument.address, use.reach
            if key not in found:
                found[key] = footprint(programs, use, argument.address - argument.storage[0])
    return [one for one in found.values() if one is not None]


def _place(access: Mapping[str, Any]) -> tuple[Any, ...]:
    return access["line"], access["column"], access["argument"], access["kind"]


def _is_at(use: Use, access: Mapping[str, Any]) -> bool:
    return (use.place.line, use.place.column) == (access["line"], access["column"])


_looks: weakref.WeakKeyDictionary[Any, Looks] = weakref.WeakKeyDictionary()


def looks_of(kernel: Any) -> Looks:
    """Returns the looks of a ``CompiledKernel``."""
    if (found := _looks.get(kernel)) is None:
        found = _looks[kernel] = Looks(kernel)
    return found
