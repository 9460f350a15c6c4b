# SPDX-License-Identifier: Apache-2.0
"""What a launch reads and writes of a storage, decided from the numbers of the launch.

If everything that it may read was written before, and the bytes that it writes are known exactly, the kernel needs no
look at the shadow of `uninit`: the host says which bytes are written.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from triton_ext.probe._arguments import Argument

from . import _verdicts
from ._bytes import MOST_KEPT, NONE, Bytes, bytes_of, span, union
from ._description import Description, footprints_of
from ._programs import Unknown

#: How many launches of a kernel are remembered.
_MOST = 256


class Touched(NamedTuple):
    """The bytes of a storage, counted from its start, that a launch touches.

    Attributes:
        read: a superset of what it reads.
        written: what its stores write; None if it is not known exactly.
        may_be_written: a superset of that.
    """

    read: Bytes
    written: Bytes | None
    may_be_written: Bytes


class Touches:
    """The accesses of a compiled kernel to memory that may be unwritten."""

    def __init__(self, kernel: Any) -> None:
        """Reads what the pass has said of a ``CompiledKernel``."""
        said = _verdicts.attribute_of(kernel, "sanitize.shadows") or ()
        accesses = next((one["accesses"] for one in said if one["kernel"] == kernel.metadata.name), ())
        self._accesses = [one for one in accesses if one["check"] == "uninit"]
        self._numbers = sorted({one["argument"] for one in self._accesses})
        self._description = Description(kernel)
        self._known: dict[Any, Touched] = {}

    def storages(self, arguments: Sequence[Argument]) -> dict[tuple[int, int], list[int]]:
        """Returns the storages that the accesses touch, each with the numbers of its arguments.

        Args:
            arguments: the arguments of the function.
        """
        found: dict[tuple[int, int], list[int]] = {}
        for number in self._numbers:
            if arguments[number].is_tensor:
                found.setdefault(arguments[number].storage, []).append(number)
        return found

    def of(
        self, grid: Sequence[int], values: Sequence[Any], arguments: Sequence[Argument], numbers: Sequence[int]
    ) -> Touched:
        """Returns what a launch touches of the storage of some arguments.

        Args:
            grid: the grid of the launch.
            values: the values of the kernel's parameters, as the launch passes them.
            arguments: the arguments of the function.
            numbers: the numbers of the arguments.
        """
        integers = self._description.integers(values)
        starts = {number: arguments[number].address - arguments[number].storage[0] for number in numbers}
        start, end = arguments[numbers[0]].storage
        key = tuple(grid), tuple(integers.items()), tuple(starts.items()), end - start
        if (found := self._known.get(key)) is None:
            if len(self._known) >= _MOST:
                self._known.clear()
            found = self._known[key] = self._decided(tuple(grid), integers, starts, end - start)
        return found

    def _decided(
        self, grid: tuple[int, ...], integers: Mapping[int, int], starts: Mapping[int, int], size: int
    ) -> Touched:
        if 0 in grid:
            return Touched(NONE, NONE, NONE)
        here = [one for one in self._accesses if one["argument"] in starts]
        stores = [one for one in here if one["kind"] == "write"]
        others = [one for one in here if one["kind"] != "write"]
        try:
            known = self._description.programs(grid, integers)
        except Unknown:
            return Touched(span(0, size if others else 0), None if stores else NONE, span(0, size if stores else 0))

        def touched(accesses: list[Mapping[str, Any]], *, exact: bool) -> Bytes:
            found = union(map(bytes_of, footprints_of(*known, accesses, starts, exact=exact))).before(size)
            if len(found.starts) > MOST_KEPT:
                raise Unknown
            return found

        def superset(accesses: list[Mapping[str, Any]]) -> Bytes:
            try:
                return touched(accesses, exact=False)
            except Unknown:
                return span(0, size)

        read = superset(others)
        try:
            written = touched(stores, exact=True)
        except Unknown:
            return Touched(read, None, superset(stores))
        return Touched(read, written, written)


_touches: weakref.WeakKeyDictionary[Any, Touches] = weakref.WeakKeyDictionary()


def touches_of(kernel: Any) -> Touches:
    """Returns the accesses of a ``CompiledKernel`` to memory that may be unwritten."""
    if (found := _touches.get(kernel)) is None:
        found = _touches[kernel] = Touches(kernel)
    return found
