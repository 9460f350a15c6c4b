# SPDX-License-Identifier: Apache-2.0
"""How many different bytes a kernel accesses: at most those between the first and the last address of each argument."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ._evaluate import Interval, interval
from ._expression import Poly, Symbol
from ._graph import Check
from ._sums import substitute


@dataclass(frozen=True)
class Place:
    """Where an access goes.

    Attributes:
        argument: the argument of the kernel that is the base of the addresses.
        offset: of an element from the base, in elements.
        bytes: of an element.
        tests: expressions that are not negative for an element that is accessed.
        checks: what has to hold for `offset` and `tests` to be right.
    """

    argument: str
    offset: Poly
    bytes: int
    tests: tuple[Poly, ...] = ()
    checks: frozenset[Check] = frozenset()


def extent(place: Place, ranges: Mapping[Symbol, Interval]) -> Interval | None:
    """Returns the first byte from the base, and the first one behind the last; None if they are not found."""
    numbers = {symbol: low for symbol, (low, high) in ranges.items() if low == high}
    offset = substitute(place.offset, numbers)
    tests = [substitute(test, numbers) for test in place.tests]
    low, high = _lower(offset, tests, ranges), _lower(-offset, tests, ranges)
    if low is None or high is None:
        return None
    return low * place.bytes, (1 - high) * place.bytes


def _lower(value: Poly, tests: Sequence[Poly], ranges: Mapping[Symbol, Interval]) -> int | None:
    """Returns a lower bound of `value`.

    Because a test t is not negative, value >= value - m * t for each m >= 0. So m is chosen such that a term vanishes:
    of n - 1 - i >= 0 and the value -i, i vanishes for m = 1, and the bound is 1 - n.
    """
    found = interval(value, ranges)
    best = None if found is None else found[0]
    for test in tests:
        for atoms, factor in test.terms.items():
            m, rest = divmod(value.terms.get(atoms, 0), factor)
            if not atoms or rest or m <= 0:
                continue
            bounded = value - test * m
            found = interval(bounded, ranges)
            if found is not None and (best is None or found[0] >= best):
                best, value = found[0], bounded
                break
    return best


def union(extents: Iterable[tuple[str, Interval]]) -> int:
    """Returns the bytes in the hull of all extents of each argument."""
    hulls: dict[str, Interval] = {}
    for name, (low, high) in extents:
        before = hulls.get(name, (low, high))
        hulls[name] = min(before[0], low), max(before[1], high)
    return sum(max(high - low, 0) for low, high in hulls.values())
