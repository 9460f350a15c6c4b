# SPDX-License-Identifier: Apache-2.0
"""The launches that a block has seen: what wraps in them, and the values of the variables where a check has failed.

An access that is out of bounds because its address has wrapped is one bug, so `Overflows.joined` makes it one finding.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from triton_ext.probe import _slot

from ._explain import WRAPPED
from ._finding import Finding
from ._launched import Decided, Key, Launches, Values, Wrapped
from ._search import Search
from ._uses import Use
from ._values import Box
from ._variables import lane_of
from ._verdicts import KINDS, Verdict

#: The checks whose findings have the values of the variables on the line: those of accesses of these kinds, and others.
_ACCESSES = ("load", "store", "atomic")
_OF_ACCESSES = ("bounds", "view", "uninit", "race", "lanes")
_OF_OTHERS = ("arith",)
#: How many launches with different numbers of a kernel are remembered.
MOST_LAUNCHES = 1024


@dataclass
class Launched:
    """The arguments of a launch, how often it was made, and whether its block still knows it."""

    values: Values
    times: int = 0
    is_known: bool = True


_counting = threading.Lock()


def count_again(launched: Sequence[Launched]) -> bool:
    """Counts one more launch with the same arguments. Returns False, and counts none, if a block has forgotten it."""
    with _counting:
        for one in launched:
            if not one.is_known:
                return False
        for one in launched:
            one.times += 1
    return True


class Overflows:
    """The launches of a block."""

    def __init__(self, *, is_checked: bool = True) -> None:
        """Begins without launches; whether they are checked for wraps."""
        self._is_checked = is_checked
        self._launches: dict[Launches, dict[Key, Launched]] = {}
        self._settled: dict[Verdict, None] = {}  # of launches that were forgotten
        self._wrong: list[Launched] | None = []  # those with findings; None if some are not decided
        self._lock = threading.RLock()

    def note(self, kernel: Launches, key: Key, arguments: Sequence[Any]) -> Launched:
        """Notes a launch, and returns what counts those like it.

        Args:
            kernel: knows the kernel.
            key: what it knows the launch by.
            arguments: the arguments of the kernel, as the launch passes them.
        """
        with self._lock:
            launches = self._launches.setdefault(kernel, {})
            found = launches.get(key)
            if found is None:
                if len(launches) >= MOST_LAUNCHES:
                    self._forget(kernel, launches)
                found = launches[key] = Launched(kernel.values(arguments))
                self._wrong = None
            with _counting:
                found.times += 1
            return found

    def _forget(self, kernel: Launches, launches: dict[Key, Launched]) -> None:
        """Forgets launches without a finding, but not what is known of their accesses."""
        if not self._is_checked:
            for one in launches.values():
                one.is_known = False
            return launches.clear()
        for key, one in kernel.decided({key: one.values for key, one in launches.items()}).items():
            if not one.wrapped:
                self._settled |= dict.fromkeys(one.verdicts)
                launches.pop(key).is_known = False
        return None

    def clear(self) -> None:
        """Forgets all launches."""
        with self._lock:
            for launched in (one for launches in self._launches.values() for one in launches.values()):
                launched.is_known = False
            self._launches.clear()
            self._settled.clear()
            self._wrong = None

    def _decided(self) -> Iterator[tuple[Decided, Launched]]:
        """Yields what is known of each launch."""
        with self._lock:
            for kernel, launches in self._launches.items() if self._is_checked else ():
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

    def variables(self, launch: _slot.Launch, finding: Finding, start: int, shape: tuple[int, ...]) -> dict[str, Any]:
        """Returns the values of the variables on the line of a finding, in its first lane.

        Args:
            launch: in which the check has failed.
            finding: its program, its lane and its place matter.
            start: the address of the first element of its tensor; 0 without one.
            shape: of the tile that the lane is one of.
        """
        is_of_access = finding.access in _ACCESSES and finding.check in _OF_ACCESSES
        if not is_of_access and finding.check not in _OF_OTHERS:
            return {}
        offset = None if finding.address is None else finding.address - start
        found: list[dict[str, Any]] = []
        with self._lock:
            for kernel, launches in self._launches.items():
                for key, one in launches.items() if kernel.name == launch.kernel else ():
                    if _is_launch(launch, one.values):
                        local = kernel.variables(key, one.values, finding, offset, shape)
                        found += [] if local is None else [local]
        # Kernels of one name can differ in a constant: then nobody knows which of them it was.
        return found[0] if found and all(one == found[0] for one in found) else {}

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


def _is_launch(launch: _slot.Launch, values: Values) -> bool:
    """Whether the integers of a launch may be these arguments."""
    numbers = {one.name: one.address for one in launch.arguments if not one.is_tensor}
    return all(
        numbers[name] == value
        for name, value in values.items()
        if name in numbers and isinstance(value, int) and not isinstance(value, bool)
    )


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
    at: Box = {("program", axis): (number, number) for axis, number in enumerate(finding.program)}
    at |= lane_of(use.shape, finding.lane)
    if any(one in box and not box[one][0] <= value <= box[one][1] for one, (value, _) in at.items()):
        return False  # of another launch
    return search.find({one: at.get(one, whole) for one, whole in box.items()}).verdict is True


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
