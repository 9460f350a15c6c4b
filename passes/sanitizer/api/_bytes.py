# SPDX-License-Identifier: Apache-2.0
"""Sets of bytes: disjoint intervals in ascending order, with a gap between each two of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ._footprints import Footprint
from ._programs import Unknown

#: The most intervals that a footprint is taken apart into.
_MOST = 1 << 20
#: The most intervals of a set that is remembered.
MOST_KEPT = 1 << 14


class Bytes(NamedTuple):
    """The bytes from each of ``starts`` to before the one of ``ends`` in the same place; both are arrays of int64."""

    starts: Any
    ends: Any

    def __bool__(self) -> bool:
        """Whether there is a byte."""
        return len(self.starts) > 0

    def covers(self, other: Bytes) -> bool:
        """Whether it has each byte of another set."""
        if not other:
            return True
        if not self:
            return False
        if len(self.starts) == len(other.starts) == 1:  # most sets, and NumPy's search takes ten times as long
            return bool(self.starts[0] <= other.starts[0] and other.ends[0] <= self.ends[0])
        place = np.searchsorted(self.starts, other.starts, side="right") - 1
        return bool(np.all((place >= 0) & (other.ends <= self.ends[place])))

    def before(self, size: int) -> Bytes:
        """Returns the bytes from 0 to before `size`."""
        starts, ends = np.maximum(self.starts, 0), np.minimum(self.ends, size)
        return Bytes(starts[starts < ends], ends[starts < ends])


def span(start: int, end: int) -> Bytes:
    """Returns the bytes from `start` to before `end`."""
    return Bytes(np.array([start], np.int64), np.array([end], np.int64)) if start < end else NONE


def union(sets: Iterable[Bytes]) -> Bytes:
    """Returns the bytes that are in one of the sets or more. Their intervals may be in any order, and may overlap."""
    found = list(sets)
    starts = np.concatenate([NONE.starts, *(one.starts for one in found)])
    ends = np.concatenate([NONE.ends, *(one.ends for one in found)])
    starts, ends = starts[starts < ends], ends[starts < ends]
    if len(starts) == 0:
        return NONE
    order = np.argsort(starts, kind="stable")
    starts, ends = starts[order], np.maximum.accumulate(ends[order])
    first = np.flatnonzero(np.r_[True, starts[1:] > ends[:-1]])
    return Bytes(starts[first], ends[np.r_[first[1:], len(starts)] - 1])


def bytes_of(one: Footprint) -> Bytes:
    """Returns the bytes of a footprint in all programs.

    Raises:
        Unknown: they are too many intervals.
    """
    starts = one.first
    reaches = [np.broadcast_to(reach, starts.shape) for _, reach in one.levels]
    for i in range(len(one.levels) - 1, 0, -1):
        counts = reaches[i] + 1
        if int(np.sum(counts)) > _MOST:
            raise Unknown
        at = np.repeat(np.arange(len(starts)), counts)
        turn = np.arange(len(at)) - np.repeat(np.cumsum(counts) - counts, counts)
        starts = starts[at] + one.levels[i][0] * turn
        reaches = [reach[at] for reach in reaches[:i]]
    return union([Bytes(starts, starts + reaches[0] + 1)])


#: The empty set.
NONE = Bytes(np.empty(0, np.int64), np.empty(0, np.int64))
