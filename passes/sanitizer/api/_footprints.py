# SPDX-License-Identifier: Apache-2.0
"""Whether the programs of a launch access different bytes, so that no two of them can race.

The bytes of an access in a program are described by a superset: a first byte, and runs of bytes that repeat at some
strides, such as the rows of a tile. Masks bound them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._programs import Form, Programs, Unknown, difference
from ._uses import Use
from ._values import Variable

#: The most rows of a tile that may have the same byte.
_MOST_TURNS = 64


@dataclass
class Footprint:
    """The bytes of some accesses of each program.

    Attributes:
        programs: the number of the program, for each element of the arrays.
        first: the first byte of each.
        levels: strides in bytes, ascending, the first one 1, and how often each repeats behind the first byte.
    """

    programs: Any
    first: Any
    levels: list[tuple[int, Any]]


def footprint(programs: Programs, use: Use, start: int, *, exact: bool = False) -> Footprint | None:
    """Returns a superset of the bytes that an access touches; None if it runs in no program.

    Args:
        programs: the programs of the launch.
        use: the access.
        start: where its argument points, in bytes from the start of the storage.
        exact: whether only the bytes themselves will do.

    Raises:
        Unknown: the bytes cannot be described in this way.
    """
    if use.offset is None or (exact and use.reach.unknown):
        raise Unknown
    programs = programs.with_lanes(use.shape)
    form = programs.form(use.offset)
    runs = np.ones(programs.count, bool)
    for condition, wanted in use.reach.conditions:
        try:
            runs &= programs.truth(condition) == wanted
        except Unknown:
            if exact:
                raise
            continue  # it may run
    for loop in use.reach.loops:
        try:
            runs &= programs.end(("iteration", loop)) >= 0
        except Unknown:
            if exact:
                raise
            continue
        if exact and not programs.is_same_in_each(loop):
            raise Unknown
    limits = []
    for bound in _bounds(programs, use.mask, exact=exact):
        if bound.terms:
            limits.append(bound)
        else:
            runs &= bound.base <= 0
    ranges = {one: _Range(0, programs.end(one)) for one in form.terms}
    steps = {one: _same(step) * use.bytes for one, step in form.terms.items()}
    alone = [_narrow(ranges, limit) for limit in limits]
    for one in ranges.values():
        runs = runs & (one.low <= one.high)
    applied: list[Form] = []
    merged = list(_merged(steps, ranges, limits, applied, exact=exact))
    if exact and len(applied) + sum(alone) < len(limits):
        raise Unknown
    for _, size, _ in merged:
        runs = runs & (size >= 0)
    if not np.any(runs):
        return None
    first = np.broadcast_to(form.base * use.bytes + start, runs.shape)[runs]
    repeats: list[tuple[int, Any]] = []
    for step, *both in merged:
        size, low = (np.broadcast_to(one, runs.shape)[runs] for one in both)
        first = first + (low * step if step > 0 else (low + size) * step)
        repeats.append((abs(step), size))
    return Footprint(np.flatnonzero(runs), first, _levels(repeats, use.bytes, exact=exact))


@dataclass
class _Range:
    low: Any
    high: Any


def _same(step: Any) -> int:
    """Returns the one number that a multiple is in all programs."""
    if np.min(step) != np.max(step):
        raise Unknown
    return int(np.min(step))


def _bounds(programs: Programs, mask: int | None, *, exact: bool) -> Iterator[Form]:
    """Yields forms that are at most 0 where a mask is true. There may be more, unless `exact`."""
    if mask is None:
        return
    kind, *rest = programs.node(mask)
    if kind == "andi":
        yield from _bounds(programs, rest[1], exact=exact)
        yield from _bounds(programs, rest[2], exact=exact)
        return
    if kind == "constant" and rest[0]:
        return
    predicate = rest[1] if kind == "cmpi" else ""
    try:
        if predicate in ("", "ne"):
            raise Unknown
        a, b = programs.form(rest[2]), programs.form(rest[3])
        if predicate[0] == "u" and min(np.min(programs.range(one)[0]) for one in (a, b)) < 0:
            raise Unknown
        if predicate[1:] in ("ge", "gt"):
            a, b = b, a
        found = [difference(a, b)]
        if predicate[1:] in ("lt", "gt"):
            found = [difference(found[0], Form(-1))]
        if predicate == "eq":
            found.append(difference(b, a))
    except Unknown:
        if exact:
            raise
        return
    yield from found


def _narrow(ranges: dict[Variable, _Range], limit: Form) -> bool:
    """Applies a bound of one variable. Returns whether it has."""
    if len(limit.terms) != 1 or limit.terms.keys() - ranges.keys():
        return False
    ((variable, step),) = limit.terms.items()
    one = ranges[variable]
    if np.min(step) > 0:
        one.high = np.minimum(one.high, -limit.base // step)
    elif np.max(step) < 0:
        one.low = np.maximum(one.low, -(-limit.base // -step))
    else:
        return False
    return True


def _merged(
    steps: dict[Variable, int], ranges: dict[Variable, _Range], limits: Iterable[Form], applied: list[Form], *,
    exact: bool,
) -> Iterator[tuple[int, Any, Any]]:  # fmt: skip
    """Yields steps in bytes, the number of steps, and the first of them: of each variable, or of several that a bound
    limits together, such as those of `start + lane < n`. The number is below 0 where the access does not run.

    Adds these bounds to `applied`.
    """
    left = dict(steps)
    for limit in limits:
        group = {one: int(np.min(step)) for one, step in limit.terms.items()}
        if len(group) < 2 or group.keys() - left.keys() or any(np.max(limit.terms[one]) != group[one] for one in group):
            continue
        unit, rest = divmod(left[next(iter(group))], group[next(iter(group))])
        if rest or unit == 0 or min(group.values()) < 1 or any(left[one] != unit * group[one] for one in group):
            continue
        low = sum(group[one] * ranges[one].low for one in group)
        high = np.minimum(sum(group[one] * ranges[one].high for one in group), -limit.base)
        if not _is_dense(group, ranges, exact=exact):
            continue
        applied.append(limit)
        yield unit, high - low, low
        for one in group:
            del left[one]
    for variable, step in left.items():
        if step:
            yield step, ranges[variable].high - ranges[variable].low, ranges[variable].low


def _is_dense(group: dict[Variable, int], ranges: dict[Variable, _Range], *, exact: bool) -> bool:
    """Whether the sums of multiples take nearly every value, so that their range describes them well; each, if
    `exact`.
    """
    reach, width = 0, np.min if exact else np.max
    for variable, step in sorted(group.items(), key=lambda item: item[1]):
        if step > reach + 1:
            return False
        reach += step * int(width(ranges[variable].high - ranges[variable].low))
    return True


def _levels(repeats: list[tuple[int, Any]], size: int, *, exact: bool) -> list[tuple[int, Any]]:
    """Returns the levels of a footprint with these steps and numbers of steps. Steps without gaps are one run.

    If `exact`, all programs must have steps without gaps; otherwise one program suffices.
    """
    levels: list[tuple[int, Any]] = [(1, size - 1)]
    for step, count in sorted(repeats, key=lambda item: item[0]):
        if np.max(count) == 0:
            continue
        unit, reach = levels[-1]
        most = np.min(np.broadcast_to(reach, count.shape)[count > 0]) if exact else np.max(reach)
        if step % unit == 0 and step // unit <= most + 1:
            levels[-1] = unit, reach + step // unit * count
        else:
            levels.append((step, count))
    return levels


def touching(one: Footprint, start: int, size: int) -> Any:
    """Returns the numbers of the programs of which a footprint has one of `size` bytes from `start` on, ascending.

    Raises:
        Unknown: its tiles overlap themselves too often.
    """
    reaches = [np.broadcast_to(reach, one.first.shape) for _, reach in one.levels]
    units = [unit for unit, _ in one.levels]
    found = np.zeros(one.first.shape, bool)
    for byte in range(start, start + size):
        found |= _has(byte - one.first, units, reaches)
    return np.unique(one.programs[found])


def _has(distance: Any, units: list[int], reaches: list[Any]) -> Any:
    """Whether a sum of steps, each of a unit and up to as often as its reach, is the distance, in each program."""
    if len(units) == 1:
        return (distance >= 0) & (distance <= reaches[0])
    inner = sum(unit * reach for unit, reach in zip(units[:-1], reaches, strict=False))
    low = np.maximum(-((inner - distance) // units[-1]), 0)
    high = np.minimum(distance // units[-1], reaches[-1])
    turns = int(np.max(high - low, initial=-1)) + 1
    if turns > _MOST_TURNS:
        raise Unknown
    found = np.zeros(distance.shape, bool)
    for turn in range(turns):
        found |= (low + turn <= high) & _has(distance - units[-1] * (low + turn), units[:-1], reaches[:-1])
    return found


def are_disjoint(footprints: list[Footprint]) -> bool:
    """Whether no two programs touch the same byte. False if it is not known."""
    if not footprints:
        return True
    units = [unit for unit, _ in footprints[0].levels]
    if any([unit for unit, _ in one.levels] != units for one in footprints):
        return False
    programs = np.concatenate([one.programs for one in footprints])
    first = np.concatenate([one.first for one in footprints])
    reaches = [
        np.concatenate([np.broadcast_to(one.levels[i][1], one.first.shape) for one in footprints])
        for i in range(len(units))
    ]
    # Rows start at the start of the storage, or where the first tile does.
    return any(_are_apart(programs, first - start, units, reaches) for start in dict.fromkeys((0, int(np.min(first)))))


def _are_apart(programs: Any, first: Any, units: list[int], reaches: list[Any]) -> bool:
    keys = []
    for i in range(len(units) - 1, 0, -1):
        row, first = np.divmod(first, units[i])
        inner = first + sum(unit * reach for unit, reach in zip(units[:i], reaches, strict=False))
        height = int(np.max(reaches[i])) + 1
        if np.any(inner >= units[i]) or np.any((row - row[0]) % height + reaches[i] >= height):
            return False  # a tile goes around the end of a row, or reaches into the tiles below it
        keys.append((row - row[0]) // height)
    groups = np.zeros(len(first), np.int64)
    if keys:
        groups = np.unique(np.stack(keys), axis=1, return_inverse=True)[1].reshape(-1)
    order = np.lexsort((first, groups))
    groups, programs, first, last = (one[order] for one in (groups, programs, first, first + reaches[0]))
    # Intervals of one program, with none of another one between them, are one.
    starts = np.flatnonzero(np.r_[True, (groups[1:] != groups[:-1]) | (programs[1:] != programs[:-1])])
    groups, first, last = groups[starts], first[starts], np.maximum.reduceat(last, starts)
    return bool(np.all((groups[1:] != groups[:-1]) | (first[1:] > last[:-1])))
