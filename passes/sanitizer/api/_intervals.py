# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of intervals: the least and the greatest result of each integer operation of a kernel.

Operands and results are integers that do not wrap. On intervals of one number, the results are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

Interval = tuple[int, int]

TRUE, FALSE, MAYBE = (1, 1), (0, 0), (0, 1)

#: Operations that read their operands as unsigned integers.
UNSIGNED = frozenset(("divui", "remui", "minui", "maxui", "shrui"))
#: Operations whose low bits depend only on the low bits of their operands.
MODULAR = frozenset(("addi", "subi", "muli", "shli", "andi", "ori", "xori"))


def full(width: int) -> Interval:
    """Returns the interval of the signed integers of this width; 0 and 1 for i1."""
    return MAYBE if width == 1 else (-(1 << (width - 1)), (1 << (width - 1)) - 1)


def hull(values: Iterable[int]) -> Interval:
    """Returns the least interval that contains the values."""
    found = list(values)
    return min(found), max(found)


def wrapped(value: Interval, width: int) -> Interval:
    """Returns the interval of the low `width` bits, read as a signed integer."""
    if width == 1:
        return (value[0] & 1, value[0] & 1) if value[0] == value[1] else value if value in _TRUTHS else MAYBE
    half = 1 << (width - 1)
    turns = (value[0] + half) >> width
    if turns != (value[1] + half) >> width:
        return -half, half - 1
    return value[0] - (turns << width), value[1] - (turns << width)


_TRUTHS = (TRUE, FALSE, MAYBE)


def unsigned(value: Interval, width: int) -> Interval:
    """Returns the interval of a value whose bits are read as an unsigned integer."""
    low, high = value
    if low >= 0:
        return value
    if high < 0 and low >= -(1 << width):
        return low + (1 << width), high + (1 << width)
    return 0, max(high, (1 << width) - 1)


def combined(kind: str, width: int, a: Interval, b: Interval) -> Interval | None:
    """Returns the interval of an operation with two operands; None if its result may be undefined.

    The result of a division by zero and of a shift past the width is undefined.
    """
    if kind in UNSIGNED:
        a, b = unsigned(a, width), unsigned(b, width)
    if kind in ("divsi", "divui", "floordivsi", "ceildivsi", "remsi", "remui") and b[0] <= 0 <= b[1]:
        return None
    if kind in ("shli", "shrsi", "shrui") and not 0 <= b[0] <= b[1] < width:
        return None
    rule = _RULES.get(kind)
    return rule(a, b) if rule else None


def compared(predicate: str, width: int, a: Interval, b: Interval) -> Interval:
    """Returns whether a comparison is true: `TRUE`, `FALSE` or `MAYBE`."""
    if predicate[0] == "u":
        a, b = unsigned(a, width), unsigned(b, width)
    elif width == 1 and predicate[0] == "s":
        a, b = (-a[1], -a[0]), (-b[1], -b[0])
    if predicate in ("eq", "ne"):
        if a[1] < b[0] or b[1] < a[0]:
            return TRUE if predicate == "ne" else FALSE
        if a[0] == a[1] == b[0] == b[1]:
            return TRUE if predicate == "eq" else FALSE
        return MAYBE
    if predicate[1] == "g":
        a, b = b, a
    strict = predicate.endswith("t")
    if a[1] < b[0] or (not strict and a[1] == b[0]):
        return TRUE
    if a[0] > b[1] or (strict and a[0] == b[1]):
        return FALSE
    return MAYBE


def _quotient(a: int, b: int) -> int:
    """Returns a / b, rounded towards zero."""
    return a // b if (a < 0) == (b < 0) else -(-a // b)


def _corners(apply: Callable[[int, int], int]) -> Callable[[Interval, Interval], Interval]:
    """Returns the rule of an operation that is monotone in each operand."""
    return lambda a, b: hull(apply(x, y) for x in a for y in b)


def _remainder(a: Interval, b: Interval) -> Interval:
    """The remainder has the sign of the dividend, as in C."""
    b = (min(abs(b[0]), abs(b[1])), max(abs(b[0]), abs(b[1])))
    if a[1] < 0 or (a[1] == 0 and a[0] < 0):
        low, high = _remainder((-a[1], -a[0]), b)
        return -high, -low
    if a[0] < 0:
        return -min(b[1] - 1, -a[0]), min(b[1] - 1, a[1])
    if a[1] < b[0]:
        return a
    if b[0] == b[1] and a[0] // b[0] == a[1] // b[0]:
        return a[0] % b[0], a[1] % b[0]
    return 0, min(b[1] - 1, a[1])


def _bits(*values: int) -> int:
    """Returns how many bits hold the magnitude of each value."""
    return max(value.bit_length() if value >= 0 else (~value).bit_length() for value in values)


def _and(a: Interval, b: Interval) -> Interval:
    if a[0] == a[1] and b[0] == b[1]:
        return a[0] & b[0], a[0] & b[0]
    for x, y in ((a, b), (b, a)):
        # The low bits, where x does not cross a multiple of the power of two.
        if y[0] == y[1] >= 0 and y[0] & (y[0] + 1) == 0 and x[0] // (y[0] + 1) == x[1] // (y[0] + 1):
            return x[0] & y[0], x[1] & y[0]
    ends = [x[1] for x in (a, b) if x[0] >= 0]
    return (0, min(ends)) if ends else (-(1 << _bits(*a, *b)), max(a[1], b[1], 0))


def _or(a: Interval, b: Interval) -> Interval:
    if a[0] == a[1] and b[0] == b[1]:
        return a[0] | b[0], a[0] | b[0]
    limit = 1 << _bits(*a, *b)
    return (max(a[0], b[0]), limit - 1) if a[0] >= 0 and b[0] >= 0 else (-limit, limit - 1)


def _xor(a: Interval, b: Interval) -> Interval:
    if a[0] == a[1] and b[0] == b[1]:
        return a[0] ^ b[0], a[0] ^ b[0]
    limit = 1 << _bits(*a, *b)
    return (0 if a[0] >= 0 and b[0] >= 0 else -limit, limit - 1)


def _least(a: Interval, b: Interval) -> Interval:
    return min(a[0], b[0]), min(a[1], b[1])


def _greatest(a: Interval, b: Interval) -> Interval:
    return max(a[0], b[0]), max(a[1], b[1])


_RULES: dict[str, Callable[[Interval, Interval], Interval]] = {
    "addi": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "subi": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "muli": _corners(lambda x, y: x * y),
    "divsi": _corners(_quotient),
    "divui": _corners(_quotient),
    "floordivsi": _corners(lambda x, y: x // y),
    "ceildivsi": _corners(lambda x, y: -(-x // y)),
    "remsi": _remainder,
    "remui": _remainder,
    "minsi": _least,
    "minui": _least,
    "maxsi": _greatest,
    "maxui": _greatest,
    "andi": _and,
    "ori": _or,
    "xori": _xor,
    "shli": _corners(lambda x, y: x << y),
    "shrsi": _corners(lambda x, y: x >> y),
    "shrui": _corners(lambda x, y: x >> y),
}
