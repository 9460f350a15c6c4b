# SPDX-License-Identifier: Apache-2.0
"""Whether the accesses of a launch stay inside of its tensors, decided from the numbers of the launch.

So a kernel whose addresses are computed from integers of the launch alone needs no check of its own. Where the bytes
are not known exactly they are taken to be more, and a kernel that looks at the lanes decides.
"""

from __future__ import annotations

import weakref
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from triton_ext.probe._arguments import Argument

from . import _verdicts
from ._description import Description, footprints_of
from ._footprints import Footprint
from ._programs import Unknown

#: How many launches of a kernel are remembered.
_MOST = 1024


class Corners:
    """The accesses of a compiled kernel that the kernel itself does not check."""

    def __init__(self, kernel: Any) -> None:
        """Reads what the pass has said of a ``CompiledKernel``."""
        self._accesses: dict[int | None, list[Mapping[str, Any]]] = defaultdict(list)
        for one in [*(_verdicts.attribute_of(kernel, "sanitize.apart") or ()), ()][2]:
            self._accesses[one["argument"]].append(one)
        self._description = Description(kernel)
        self._known: dict[Any, bool] = {}

    def are_inside(self, grid: Sequence[int], values: Sequence[Any], arguments: Sequence[Argument]) -> bool:
        """Returns whether all accesses of a launch are inside of their tensors. False if it is not known.

        Args:
            grid: the grid of the launch.
            values: the values of the kernel's parameters, as the launch passes them.
            arguments: the arguments of the function.
        """
        if 0 in grid:
            return True
        integers = self._description.integers(values)
        limits = {number: _limits(arguments[number]) for number in self._accesses if number is not None}
        key = tuple(grid), tuple(integers.items()), tuple(limits.items())
        if (found := self._known.get(key)) is None:
            if len(self._known) >= _MOST:
                self._known.clear()
            found = self._known[key] = self._decided(tuple(grid), integers, limits)
        return found

    def _decided(
        self, grid: tuple[int, ...], integers: Mapping[int, int], limits: Mapping[int, tuple[int, int]]
    ) -> bool:
        try:
            programs, uses = self._description.programs(grid, integers)
            for number, accesses in self._accesses.items():
                if number is None:
                    return False
                starts = [0] * (number + 1)  # bytes from where the argument points
                for one in footprints_of(programs, uses, accesses, starts):
                    first, last = _ends(one)
                    if first < limits[number][0] or last >= limits[number][1]:
                        return False
        except Unknown:
            return False
        return True


def _limits(argument: Argument) -> tuple[int, int]:
    """Returns the first byte of an argument's view and the byte behind it, counted from where the argument points."""
    return argument.view[0] - argument.address, argument.view[1] - argument.address


def _ends(one: Footprint) -> tuple[int, int]:
    """Returns the first and the last byte of a footprint in all programs."""
    last = one.first + sum(unit * reach for unit, reach in one.levels)
    return int(np.min(one.first)), int(np.max(last))


_corners: weakref.WeakKeyDictionary[Any, Corners] = weakref.WeakKeyDictionary()


def corners_of(kernel: Any) -> Corners:
    """Returns the accesses of a ``CompiledKernel`` that the host checks."""
    if (found := _corners.get(kernel)) is None:
        found = _corners[kernel] = Corners(kernel)
    return found
