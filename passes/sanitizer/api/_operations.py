# SPDX-License-Identifier: Apache-2.0
"""Evaluates the integer operations of a kernel: exactly, and with integers that wrap.

The *exact* value is that of integers without a width, the *actual* value is what the kernel computes, read as a signed
integer.
"""

from __future__ import annotations

from typing import NamedTuple

from ._intervals import FALSE, MAYBE, MODULAR, TRUE, UNSIGNED, Interval, combined, compared, full, unsigned, wrapped


class Value(NamedTuple):
    """The facts about a node in a box.

    Attributes:
        exact: where the exact value lies.
        actual: where the actual value lies.
        congruent: whether both are equal modulo 2^width at each point of the box.
        same: whether both are equal at each point of the box.
    """

    exact: Interval
    actual: Interval
    congruent: bool
    same: bool


class Empty(Exception):  # noqa: N818
    """Is raised where no point of a box is reached."""


def made(exact: Interval, width: int) -> Value:
    """Returns the value of an integer of this width whose exact value is known, up to its representation."""
    actual = wrapped(exact, width)
    return Value(exact, actual, congruent=True, same=actual == exact)


def known(at: Interval) -> Value:
    return Value(at, at, congruent=True, same=True)


def _both(exact: Interval, actual: Interval, width: int, *, congruent: bool) -> Value:
    if exact[0] == exact[1] and actual[0] == actual[1]:
        congruent = (exact[0] - actual[0]) % (1 << width) == 0
        return Value(exact, actual, congruent, same=exact == actual)
    least, most = full(width)
    return Value(exact, actual, congruent, same=congruent and least <= exact[0] and exact[1] <= most)


def reads_same(value: Value, width: int, *, as_unsigned: bool) -> bool:
    """Whether the actual value is the exact one for an operation that reads it as signed, or as unsigned."""
    if not as_unsigned:
        return value.same
    return value.same or (value.congruent and -(1 << (width - 1)) <= value.exact[0] and value.exact[1] < 1 << width)


def extended(value: Value, before: int, width: int) -> Value:
    """Returns an operand, which addresses and the counts of iterations extend without an operation of the kernel."""
    return value if before >= width or value.same else cast("extsi", width, before, value)


def arithmetic(kind: str, width: int, a: Value, b: Value) -> Value:
    exact = combined(kind, width, a.exact, b.exact)
    if a.same and b.same and exact is not None:
        return made(exact, width)
    actual = combined(kind, width, a.actual, b.actual)
    if exact is None or actual is None:
        return _undefined(a, b, width)
    if kind in MODULAR:
        congruent = a.congruent and (b.same if kind == "shli" else b.congruent)
    else:
        congruent = all(reads_same(one, width, as_unsigned=kind in UNSIGNED) for one in (a, b))
    actual = wrapped(actual, width)
    if congruent:  # the exact value says more, if it fits
        least, most = full(width)
        if least <= exact[0] and exact[1] <= most:
            actual = exact
    return _both(exact, actual, width, congruent=congruent)


def _undefined(a: Value, b: Value, width: int) -> Value:
    """Returns the value of an operation that is undefined at some points: there it is some integer of its type."""
    if a.same and b.same and a.exact[0] == a.exact[1] and b.exact[0] == b.exact[1]:
        return known(full(width))
    # Where it is defined, a quotient such as -128 / -1 and a shift may need more bits.
    most = max(*map(abs, (*a.exact, *b.exact)), 1) << width
    return Value((-most, most), full(width), congruent=False, same=False)


def below(value: Value, upper: Value) -> Value:
    """Returns the value of an induction variable, which is less than the upper bound wherever the loop's body runs."""
    if not (value.same and upper.same):
        return value
    low, high = value.exact
    high = min(high, upper.exact[1] - 1)
    if low > high:
        raise Empty
    return known((low, high))


def comparison(predicate: str, width: int, a: Value, b: Value) -> Value:
    exact = compared(predicate, width, a.exact, b.exact)
    if a.same and b.same:
        return known(exact)
    actual = compared(predicate, width, a.actual, b.actual)
    readings = (False, True) if predicate in ("eq", "ne") else (predicate[0] == "u",)
    same = any(all(reads_same(one, width, as_unsigned=sign) for one in (a, b)) for sign in readings)
    return _truth(exact, actual, same=same)


def _truth(exact: Interval, actual: Interval, *, same: bool) -> Value:
    same = same or exact == actual != MAYBE
    if same and MAYBE in (exact, actual):
        exact = actual = exact if actual == MAYBE else actual
    return Value(exact, actual, same, same)


def logic(kind: str, a: Value, b: Value) -> Value:
    """Operations on i1."""
    kind = {"muli": "andi", "minui": "andi", "maxui": "ori", "addi": "xori", "subi": "xori"}.get(kind, kind)
    if kind not in ("andi", "ori", "xori"):
        return Value(MAYBE, MAYBE, congruent=False, same=False)
    decisive = {"andi": FALSE, "ori": TRUE}.get(kind)
    decided = any(one.exact == one.actual == decisive for one in (a, b))
    exact, actual = (_bit(kind, x, y) for x, y in ((a.exact, b.exact), (a.actual, b.actual)))
    return _truth(exact, actual, same=decided or (a.same and b.same))


def _bit(kind: str, a: Interval, b: Interval) -> Interval:
    if kind == "andi":
        return a[0] & b[0], a[1] & b[1]
    if kind == "ori":
        return a[0] | b[0], a[1] | b[1]
    return MAYBE if MAYBE in (a, b) else (a[0] ^ b[0], a[0] ^ b[0])


def selection(width: int, condition: Value, yes: Value, no: Value) -> Value:
    exact = _choice(condition.exact, yes.exact, no.exact)
    actual = _choice(condition.actual, yes.actual, no.actual)
    if condition.same and condition.exact != MAYBE:
        return yes if condition.exact == TRUE else no
    congruent = condition.same and yes.congruent and no.congruent
    if congruent and yes.same and no.same:
        return Value(exact, actual, congruent=True, same=True)
    return _both(exact, actual, width, congruent=congruent)


def _choice(condition: Interval, yes: Interval, no: Interval) -> Interval:
    if condition == MAYBE:
        return min(yes[0], no[0]), max(yes[1], no[1])
    return yes if condition == TRUE else no


def cast(kind: str, width: int, before: int, of: Value) -> Value:
    as_unsigned = kind in ("extui", "index_castui")
    if before == 1:
        if as_unsigned or width == 1:
            return of
        exact, actual = ((-at[1], -at[0]) for at in (of.exact, of.actual))
        return Value(exact, actual, of.congruent, of.same)
    if width <= before:
        if width == 1:
            exact, actual = wrapped(of.exact, 1), wrapped(of.actual, 1)
            return _truth(exact, actual, same=of.congruent)
        return _both(of.exact, wrapped(of.actual, width), width, congruent=of.congruent)
    same = reads_same(of, before, as_unsigned=as_unsigned)
    if as_unsigned:
        exact, actual = unsigned(of.exact, before), unsigned(of.actual, before)
        if same:  # then both are the exact value as an unsigned integer
            actual = exact
        return _both(exact, actual, width, congruent=same)
    return _both(of.exact, of.actual, width, congruent=same)


def trips(lower: Value, upper: Value, step: Value, width: int, *, as_unsigned: bool) -> Value:
    """Returns how often the body of a loop runs."""
    exact, actual = (
        _count(low, high, by, width if as_unsigned else 0)
        for low, high, by in (
            (lower.exact, upper.exact, step.exact),
            (lower.actual, upper.actual, step.actual),
        )
    )
    same = all(reads_same(one, width, as_unsigned=as_unsigned) for one in (lower, upper, step))
    if exact[0] == exact[1] and actual[0] == actual[1]:
        same = exact == actual
    return Value(exact, actual, same, same)


def _count(lower: Interval, upper: Interval, step: Interval, unsigned_width: int) -> Interval:
    if unsigned_width:
        lower, upper = unsigned(lower, unsigned_width), unsigned(upper, unsigned_width)
    least = max(step[0], 1)  # a loop with another step has no meaning
    most = max(step[1], 1)
    return max(0, -(-(upper[0] - lower[1]) // most)), max(0, -(-(upper[1] - lower[0]) // least))
