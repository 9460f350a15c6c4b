# SPDX-License-Identifier: Apache-2.0
"""Which tensors of a launch need a shadow for races, decided from the numbers of the launch.

Two programs race only if they touch the same byte and one of them writes. So memory that is only read, or only accessed
atomically, needs no shadow; nor does memory of which each program has bytes of its own.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from triton_ext.probe._arguments import Argument
from triton_ext.probe._slot import Launch

from . import _verdicts
from ._description import Description, footprints_of
from ._footprints import are_disjoint
from ._partners import Raced
from ._programs import Programs, Unknown
from ._uses import Use

#: How many launches of a kernel are remembered.
_MOST = 1024


class Looks:
    """The accesses of a compiled kernel that look at shadows, and what its launches need.

    Attributes:
        accesses: as the pass lists them.
        apart: the checks whose looks are in another kernel.
        are_calls: whether the looks are functions of the CPU backend's runtime, with their own shadow for races.
    """

    def __init__(self, kernel: Any) -> None:
        """Reads what the pass has said of a ``CompiledKernel``."""
        name = str(kernel.metadata.name)
        said = {one["kernel"]: one for one in _verdicts.attribute_of(kernel, "sanitize.shadows") or ()}
        self.accesses: list[dict[str, Any]] = said[name]["accesses"] if name in said else []
        self.are_calls = name in said and bool(said[name]["calls"])
        missing = _verdicts.attribute_of(kernel, "sanitize.missing")
        self.apart: frozenset[str] = frozenset(missing[2] if missing else ())
        self._description = Description(kernel)
        self._known: dict[Any, frozenset[tuple[int, int]]] = {}

    def raced(
        self, grid: Sequence[int], values: Sequence[Any], arguments: Sequence[Argument]
    ) -> frozenset[tuple[int, int]]:
        """Returns the storages in which programs of a launch may race.

        Args:
            grid: the grid of the launch.
            values: the values of the kernel's parameters, as the launch passes them.
            arguments: the arguments of the function.
        """
        integers = self._description.integers(values)
        key = tuple(grid), tuple(integers.items()), tuple((one.storage, one.address) for one in arguments)
        if (found := self._known.get(key)) is None:
            if len(self._known) >= _MOST:
                self._known.clear()
            found = self._known[key] = frozenset(self._decided(tuple(grid), integers, arguments))
        return found

    def of_launch(self, grid: Sequence[int], values: Sequence[Any]) -> Raced:
        """Returns what the pairs of programs that race in a launch are found from.

        Args:
            grid: of the launch.
            values: of the kernel's parameters, as the launch passes them.
        """
        return Raced(self.accesses, self._description, tuple(grid), self._description.integers(values))

    def mixed(self, launch: Launch) -> set[tuple[int, int]]:
        """Returns the storages of which no shadow for races can be made.

        A word of the shadow stands for one element. So elements have one size, and begin at a multiple of it.
        """
        found: dict[tuple[int, int], set[tuple[int, int]]] = {}
        for one in self.accesses:
            argument = launch.arguments[one["argument"]]
            if one["check"] == "race" and argument.is_tensor:
                place = one["bytes"], (argument.address - argument.storage[0]) % one["bytes"]
                found.setdefault(argument.storage, set()).add(place)
        return {storage for storage, places in found.items() if len(places) > 1 or any(rest for _, rest in places)}

    def shadow_bytes(self, arguments: Sequence[Argument], storage: tuple[int, int]) -> int | None:
        """Returns how many bytes of a storage's shadow the launch uses, from its start: a word for each element.

        None if its looks are functions of the CPU backend's runtime, whose shadow begins anew by itself.
        """
        if self.are_calls:
            return None
        start, end = storage
        return max(
            -(-(end - start) // one["bytes"]) * one["word"]
            for one in self.accesses
            if one["check"] == "race" and arguments[one["argument"]].storage == storage
        )

    def contested(self, arguments: Sequence[Argument]) -> dict[tuple[int, int], list[dict[str, Any]]]:
        """Returns the storages in which two accesses could race if they touched the same bytes, and these accesses.

        Elsewhere all read, or all are atomic: whatever the programs touch, no look at a shadow would report anything.
        """
        found: dict[tuple[int, int], list[dict[str, Any]]] = {}
        for one in self.accesses:
            if one["check"] == "race" and arguments[one["argument"]].is_tensor:
                found.setdefault(arguments[one["argument"]].storage, []).append(one)
        kinds = {storage: {one["kind"] for one in accesses} for storage, accesses in found.items()}
        return {storage: found[storage] for storage in found if kinds[storage] not in ({"read"}, {"atomic"})}

    def _decided(
        self, grid: tuple[int, ...], integers: Mapping[int, int], arguments: Sequence[Argument]
    ) -> Iterable[tuple[int, int]]:
        if math.prod(grid) == 1:
            return
        known: tuple[Programs, list[Use]] | None = None
        for storage, accesses in self.contested(arguments).items():
            try:
                known = known or self._description.programs(grid, integers)
                if any(use.what == "unknown" for use in known[1]):  # there may be accesses that it does not have
                    raise Unknown
                if not are_disjoint(footprints_of(*known, accesses, _starts(arguments))):
                    yield storage
            except Unknown:
                yield storage


def _starts(arguments: Sequence[Argument]) -> list[int]:
    """Returns where each argument points, in bytes from the start of its storage."""
    return [one.address - one.storage[0] for one in arguments]


_looks: weakref.WeakKeyDictionary[Any, Looks] = weakref.WeakKeyDictionary()


def looks_of(kernel: Any) -> Looks:
    """Returns the looks of a ``CompiledKernel``."""
    if (found := _looks.get(kernel)) is None:
        found = _looks[kernel] = Looks(kernel)
    return found
