# SPDX-License-Identifier: Apache-2.0
"""Conditions, and in how many lanes of a tensor one is true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ._expression import Poly, Symbol, divide, extreme, poly, truth
from ._sums import total

#: How many terms a product may have; chains of choices double them.
_MOST_TERMS = 1000
#: How many alternatives one mask may have; each doubles what has to be counted.
_MOST_ALTERNATIVES = 6


@dataclass(frozen=True)
class Reason:
    """Why a number is not exact: the line, and what is there."""

    line: str
    why: str


class Unknown(Exception):  # noqa: N818
    """Is raised where an expression depends on something that is not known."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.why)
        self.reason = reason


@dataclass(frozen=True)
class Test:
    """``value >= 0`` or ``value == 0``."""

    test: str
    value: Poly


@dataclass(frozen=True)
class Literal:
    """True or false."""

    value: bool


@dataclass(frozen=True)
class Mystery:
    """A condition of which nothing is known."""

    reason: Reason


@dataclass(frozen=True)
class Both:
    """True if both are."""

    one: Condition
    other: Condition


@dataclass(frozen=True)
class Opposite:
    """True if the other is false."""

    of: Condition


Condition = Test | Literal | Mystery | Both | Opposite


def either(one: Condition, other: Condition) -> Condition:
    """Returns a condition that is true if one of the two is."""
    return opposite(both(opposite(one), opposite(other)))


def both(one: Condition, other: Condition) -> Condition:
    """Returns a condition that is true if both are."""
    for a, b in ((one, other), (other, one)):
        if isinstance(a, Literal):
            return b if a.value else a
    return one if one == other else Both(one, other)


def opposite(of: Condition) -> Condition:
    """Returns a condition that is true if the other is false."""
    if isinstance(of, Literal):
        return Literal(not of.value)
    if isinstance(of, Test) and of.test == ">=":  # value < 0
        return Test(">=", -of.value - 1)
    return of.of if isinstance(of, Opposite) else of if isinstance(of, Mystery) else Opposite(of)


def product(a: Poly, b: Poly) -> Poly:
    """Returns a * b.

    Raises:
        Unknown: it would have too many terms.
    """
    if len(a.terms) * len(b.terms) > _MOST_TERMS:
        raise Unknown(Reason("", "an expression with too many terms"))
    return a * b


def number_of(condition: Condition) -> Poly:
    """Returns 1 if the condition is true, else 0.

    Raises:
        Unknown: the condition is not known, or is too long.
    """
    if isinstance(condition, Literal):
        return poly(int(condition.value))
    if isinstance(condition, Mystery):
        raise Unknown(condition.reason)
    if isinstance(condition, Test):
        return truth(condition.test, condition.value)
    if isinstance(condition, Opposite):
        return 1 - number_of(condition.of)
    return product(number_of(condition.one), number_of(condition.other))


def conjuncts(condition: Condition) -> list[Condition]:
    """Returns conditions that are all true exactly where `condition` is."""
    if isinstance(condition, Both):
        return conjuncts(condition.one) + conjuncts(condition.other)
    return [] if condition == Literal(True) else [condition]


def mysteries(condition: Condition) -> list[Reason]:
    """Returns the reasons why parts of the condition are not known."""
    if isinstance(condition, Mystery):
        return [condition.reason]
    if isinstance(condition, Both):
        return mysteries(condition.one) + mysteries(condition.other)
    return mysteries(condition.of) if isinstance(condition, Opposite) else []


@dataclass(frozen=True)
class Count:
    """A number of lanes; no less than the true number if there are `reasons`, else equal."""

    lanes: Poly
    reasons: tuple[Reason, ...] = ()


def count(condition: Condition, lanes: Sequence[Symbol]) -> Count:
    """Returns in how many lanes of a tensor the condition is true. `lanes` are its dimensions, with their extents."""
    known: list[Condition] = []
    reasons: list[Reason] = []
    for one in conjuncts(condition):
        missing = mysteries(one)
        reasons += missing
        if not missing:
            known.append(one)
    try:
        return Count(_count(known, lanes, _MOST_ALTERNATIVES), tuple(dict.fromkeys(reasons)))
    except Unknown as unknown:
        whole = poly(1)
        for lane in lanes:
            whole = whole * lane.extent
        return Count(whole, (*reasons, unknown.reason))


def _count(conditions: list[Condition], lanes: Sequence[Symbol], left: int) -> Poly:
    tests: list[Test] = []
    for i, one in enumerate(conditions):
        if isinstance(one, Test):
            tests += [one] if one.test == ">=" else [Test(">=", one.value), Test(">=", -one.value)]
        elif one == Literal(False):
            return poly(0)
        elif isinstance(one, Opposite):
            # The lanes without this condition, less those in which what it negates is true.
            if left == 0:
                raise Unknown(Reason("", "a mask with many alternatives"))
            rest = conditions[:i] + conditions[i + 1 :]
            return _count(rest, lanes, left - 1) - _count(rest + conjuncts(one.of), lanes, left - 1)
    result = poly(1)
    free = set(lanes)
    while free:
        part, inside = _connected(next(iter(free)), free, tests)
        free -= part
        tests = [test for test in tests if test not in inside]
        result = result * _component([lane for lane in lanes if lane in part], inside)
    for test in tests:
        result = result * truth(test.test, test.value)
    return result


def _connected(first: Symbol, lanes: set[Symbol], tests: list[Test]) -> tuple[set[Symbol], list[Test]]:
    """Returns the lanes that tests connect with the first one, and these tests."""
    part = {first}
    while True:
        inside = [test for test in tests if test.value.symbols & part]
        more = {symbol for test in inside for symbol in test.value.symbols if symbol in lanes}
        if more <= part:
            return part, inside
        part |= more


def _component(lanes: list[Symbol], tests: list[Test]) -> Poly:
    """Counts lanes that tests connect: one dimension is an interval, the sum over the others is written out."""
    last, others = lanes[-1], lanes[:-1]
    low, high, odd = [poly(0)], [poly(last.extent)], poly(1)
    for test in tests:
        linear = test.value.linear_in(last)
        if linear is None:
            odd = odd * truth(test.test, test.value)
            continue
        factor, rest = linear
        if factor > 0:  # last >= -rest / factor
            low.append(-divide(rest, poly(factor)))
        elif factor < 0:  # last <= rest / -factor
            high.append(divide(rest, poly(-factor)) + 1)
        else:
            odd = odd * truth(test.test, rest)
    if last in odd.symbols:
        inside = odd
        for bound in low[1:]:
            inside = inside * truth(">=", poly(last) - bound)
        for bound in high[1:]:
            inside = inside * truth(">=", bound - poly(last) - 1)
        result = total(last, poly(last.extent), inside)
    else:
        result = extreme("max", (poly(0), extreme("min", high) - extreme("max", low))) * odd
    for lane in reversed(others):
        result = total(lane, poly(lane.extent), result)
    return result
