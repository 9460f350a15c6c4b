# SPDX-License-Identifier: Apache-2.0
"""The check ``overflow`` of a block: the launches that it has seen, and how its findings join those of other checks.

An access that is out of bounds because its address has wrapped is one bug, so `Overflows.joined` makes it one finding.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ._explain import WRAPPED
from ._finding import Finding
from ._launched import Decided, Key, Launches, Values, Wrapped
from ._search import Search
from ._uses import Use
from ._verdicts import KINDS, Verdict

#: How many launches with different numbers of a kernel are remembered.
MOST_LAUNCHES = 1024


@dataclass
class _Launched:
    """The arguments of a launch, and how often it was made."""

    values: Values
    times: int = 0


class Overflows:
    """The launches of a block."""

    def __init__(self) -> None:
        self._launches: dict[Launches, dict[Key, _Launched]] = {}
        self._settled: dict[Verdict, None] = {}  # of launches that were forgotten
        self._wrong: list[_Launched] | None = []  # those with findings; None if some are not decided
        self._lock = threading.RLock()

    def note(self, kernel: Launches, grid: Sequence[int], arguments: Sequence[Any]) -> None:
        """Notes a launch.

        Args:
            kernel: knows the kernel.
            grid: the grid of the launch.
            arguments: the arguments of the kernel, as the launch passes them.
        """
        key = kernel.key(grid, arguments)
        with self._lock:
            launches = self._launches.setdefault(kernel, {})
            found = launches.get(key)
            if found is None:
                if len(launches) >= MOST_LAUNCHES:
                    self._forget(kernel, launches)
                found = launches[key] = _Launched(kernel.values(arguments))
                self._wrong = None
            found.times += 1

    def _forget(self, kernel: Launches, launches: dict[Key, _Launched]) -> None:
        """Forgets launches without a finding, but not what is known of their accesses."""
        for key, one in kernel.decided({key: one.values for key, one in launches.items()}).items():
            if not one.wrapped:
                self._settled |= dict.fromkeys(one.verdicts)
                del launches[key]

    def clear(self) -> None:
        """Forgets all launches."""
        with self._lock:
            self._launches.clear()
            self._settled.clear()
            self._wrong = None

    def _decided(self) -> Iterator[tuple[Decided, _Launched]]:
        """Yields what is known of each launch."""
        with self._lock:
            for kernel, launches in self._launches.items():
                found = kernel.decided({key: one.values for key, one in launches.items()})
                yield from ((one, launches[key]) for key, one in found.items())

    def verdicts(self) -> list[Verdict]:
        """Returns the verdict on each access, loop and branch of all launches: of several the one that says least."""
        worst: dict[tuple[Any, ...], Verdict] = {}
        for one in (*self._settled, *(verdict for decided, _ in self._decided() for verdict in decided.verdicts)):
            key = one.kernel, one.file, one.line, one.column
            if key not in worst or KINDS.index(one.verdict) > KINDS.index(worst[key].verdict):
                worst[key] = one
        return list(worst.values())

    def count(self) -> int:
        """Returns how many launches have a finding."""
        with self._lock:
            if self._wrong is None:
                self._wrong = [launched for one, launched in self._decided() if one.wrapped]
            return sum(one.times for one in self._wrong)

    def joined(self, findings: Sequence[Finding]) -> list[Finding]:
        """Returns the findings with those of overflow.

        Args:
            findings: those of the other checks; one that a wrapped address causes becomes part of that finding.
        """
        wrapped: dict[tuple[Any, ...], Wrapped] = {}
        for decided, launched in self._decided():
            for one in decided.wrapped:
                key = one.finding.kernel, one.finding.file, one.finding.line, one.finding.column, one.finding.argument
                found = replace(one.finding, lanes=one.finding.lanes * launched.times)
                if key in wrapped:
                    first = wrapped[key]
                    found = replace(
                        first.finding,
                        lanes=first.finding.lanes + found.lanes,
                        programs=max(first.finding.programs, found.programs),
                    )
                    wrapped[key] = Wrapped(found, (*first.ways, *one.ways))
                else:
                    wrapped[key] = Wrapped(found, one.ways)
        proved = {(one.kernel, one.file, one.line, one.column) for one in self.verdicts() if one.verdict == "proved"}
        left: list[Finding] = []
        for finding in findings:
            key = next((key for key, one in wrapped.items() if _is_of(finding, one)), None)
            if key is None:
                is_far = (finding.kernel, finding.file, finding.line, finding.column) in proved
                is_far = is_far and finding.suggestion == WRAPPED
                left.append(replace(finding, suggestion="") if is_far else finding)
            else:
                wrapped[key] = replace(wrapped[key], finding=_with(wrapped[key].finding, finding))
        return [*(one.finding for one in wrapped.values()), *left]


def _is_of(finding: Finding, wrapped: Wrapped) -> bool:
    """Whether an access is out of bounds in a lane whose address has wrapped."""
    if finding.check not in ("bounds", "view") or finding.program is None or finding.lane is None:
        return False
    if finding.kernel != wrapped.finding.kernel:
        return False
    place = finding.file, finding.line, finding.column
    return any(
        (use.place.file, use.place.line, use.place.column) == place and _wraps_at(finding, use, search)
        for use, search in wrapped.ways
    )


def _wraps_at(finding: Finding, use: Use, search: Search) -> bool:
    box = search.box()
    assert box is not None
    assert finding.program is not None
    assert finding.lane is not None
    lane = max(finding.lane, 0)
    at = {("program", axis): number for axis, number in enumerate(finding.program)}
    for dimension in range(len(use.shape) - 1, -1, -1):
        lane, at["lane", dimension] = divmod(lane, use.shape[dimension])
    if any(variable in box and not box[variable][0] <= value <= box[variable][1] for variable, value in at.items()):
        return False  # of another launch
    return search.find({**box, **{one: (value, value) for one, value in at.items() if one in box}}).verdict is True


def _with(wrapped: Finding, outside: Finding) -> Finding:
    """Returns the finding that an integer wraps, with the access that is out of bounds because of it."""
    where = f"program ({', '.join(map(str, outside.program or ()))})"
    if outside.lane is not None and outside.lane >= 0:
        where += f", lane {outside.lane}"
    what = f"so this is wrong, first in {where}: {outside.message}"
    found = replace(wrapped, related=(*wrapped.related, (outside.file, outside.line, what)))
    if not wrapped.lanes:
        found = replace(
            found, lanes=outside.lanes, programs=outside.programs, at_least=outside.at_least, counted=outside.counted
        )
    if (wrapped.program, wrapped.lane, wrapped.argument) == (outside.program, outside.lane, outside.argument):
        found = replace(
            found, coordinates=outside.coordinates, distance=outside.distance, address=outside.address,
            shape=outside.shape, strides=outside.strides, dtype=outside.dtype,
        )  # fmt: skip
    return found
