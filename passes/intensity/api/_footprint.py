# SPDX-License-Identifier: Apache-2.0
"""Counts the different bytes of accesses, or bounds them by the first and the last address."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ._conditions import Condition, Test, conjuncts
from ._evaluate import Interval, interval
from ._expression import Extreme, Poly, Symbol
from ._graph import Check
from ._image import Image, NotAffineError, image
from ._sums import substitute


@dataclass(frozen=True)
class Place:
    """The addresses of an access.

    Attributes:
        argument: the argument of the kernel that is the base of the addresses.
        offset: the offset of an element from the base, in elements.
        bytes: the bytes of an element.
        tests: expressions that are not negative for an element that is accessed.
        checks: what has to hold for `offset` and `tests` to be right.
        domain: expressions that are not negative for the elements that are accessed, and for no others: those of the
            mask, of the bounds of loops and of branches.
        vague: why `domain` is not known; empty if it is.
    """

    argument: str
    offset: Poly
    bytes: int
    tests: tuple[Poly, ...] = ()
    checks: frozenset[Check] = frozenset()
    domain: tuple[Poly, ...] = ()
    vague: str = ""

    def within(self, condition: Condition) -> Place:
        """Returns the part of the place for which a condition holds, too."""
        more: list[Poly] = []
        for one in conjuncts(condition):
            if not isinstance(one, Test):
                return replace(self, vague="a condition that is not a range")
            more += _parts(one.value) if one.test == ">=" else [one.value, -one.value]
        return replace(self, domain=(*self.domain, *more))


def _parts(value: Poly) -> list[Poly]:
    """Returns expressions that are not negative if and only if `value` is not: of ``min(a, b) + c``, both sums."""
    for atoms, factor in value.terms.items():
        if len(atoms) == 1 and isinstance(atoms[0], Extreme) and (atoms[0].pick == "min") == (factor > 0):
            rest = Poly({others: n for others, n in value.terms.items() if others != atoms})
            return [part for one in atoms[0].of for part in _parts(rest + one * factor)]
    return [value]


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


def different(place: Place, ranges: Mapping[Symbol, Interval]) -> tuple[Image | None, int]:
    """Returns the different offsets of the accessed elements (None if there is none) and the bytes of one element.

    Raises:
        NotAffineError: they are not counted.
    """
    if place.vague:
        raise NotAffineError
    numbers = {symbol: low for symbol, (low, high) in ranges.items() if low == high}
    domain = [substitute(one, numbers) for one in place.domain]
    free = {symbol: range_ for symbol, range_ in ranges.items() if symbol not in numbers}
    return image(substitute(place.offset, numbers), domain, free), place.bytes


def bytes_of(images: Iterable[tuple[Image | None, int]]) -> int:
    """Returns how many different bytes several accesses below one argument have.

    Raises:
        NotAffineError: two of them overlap in a way that is not counted.
    """
    dense: list[list[int]] = []
    others: dict[tuple[int, int, int, tuple[tuple[int, int], ...]], int] = {}
    for found, size in images:
        if found is None:
            continue
        ends = found.low * size, (found.high + 1) * size
        if found.is_dense:
            dense.append([*ends])
        else:
            others[*ends, size, found.steps] = found.count * size
    merged: list[list[int]] = []
    for low, high in sorted(dense):
        if merged and low <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], high)
        else:
            merged.append([low, high])
    left = [key for key in others if not any(low <= key[0] and key[1] <= high for low, high in merged)]
    hulls = sorted([(low, high) for low, high in merged] + [(key[0], key[1]) for key in left])
    if any(first[1] > second[0] for first, second in pairwise(hulls)):
        raise NotAffineError
    return sum(high - low for low, high in merged) + sum(others[key] for key in left)


def hull(extents: Iterable[Interval]) -> int:
    """Returns the bytes from the first to the last one of all extents."""
    found = list(extents)
    return max(max(high for _, high in found) - min(low for low, _ in found), 0)
