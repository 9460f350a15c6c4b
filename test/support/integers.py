# SPDX-License-Identifier: Apache-2.0
"""Integers of any width up to 64 bits in NumPy: an interpreter of arith that shares nothing with the compiler but the
names of the operations. Integers are kept as signed numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]
#: Integers as an operation reads them: of 64 bits, unsigned ones do not fit in `Numbers`.
Read = NDArray[Any]


def signed(numbers: Read, width: int) -> Numbers:
    """Returns the lowest `width` bits, read as a signed number."""
    if width == 64 and numbers.dtype != object:
        return numbers.astype(np.int64)
    sign = 1 << (width - 1)
    return ((numbers + sign) & ((1 << width) - 1)) - sign


def unsigned(numbers: Numbers, width: int) -> Read:
    """Returns the lowest `width` bits, read as an unsigned number."""
    if width == 64 and numbers.dtype != object:
        return numbers.astype(np.uint64)
    return numbers & ((1 << width) - 1)


def _quotient(a: Numbers, b: Numbers) -> Numbers:
    """Returns the quotients, rounded toward zero; anything where `b` is zero."""
    magnitude = np.abs(a) // np.where(b == 0, 1, np.abs(b))
    return np.where((a < 0) == (b < 0), magnitude, -magnitude)


_SIGNED: dict[str, Callable[[Numbers, Numbers], Numbers]] = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "andi": lambda a, b: a & b,
    "ori": lambda a, b: a | b,
    "xori": lambda a, b: a ^ b,
    "divsi": _quotient,
    "remsi": lambda a, b: a - b * _quotient(a, b),
    "minsi": np.minimum,
    "maxsi": np.maximum,
    "shli": lambda a, b: a << b,
    "shrsi": lambda a, b: a >> b,
}
_UNSIGNED: dict[str, Callable[[Read, Read], Read]] = {
    "divui": lambda a, b: a // b,
    "remui": lambda a, b: a % b,
    "minui": np.minimum,
    "maxui": np.maximum,
    "shrui": lambda a, b: a >> b,
}
BINARY = [*_SIGNED, *_UNSIGNED]
PREDICATES: dict[str, Callable[[Read, Read], Flags]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "slt": np.less,
    "sle": np.less_equal,
    "sgt": np.greater,
    "sge": np.greater_equal,
    "ult": np.less,
    "ule": np.less_equal,
    "ugt": np.greater,
    "uge": np.greater_equal,
}


def compute(name: str, a: Numbers, b: Numbers, width: int) -> tuple[Numbers, Flags]:
    """Returns the results of an operation on signed numbers, and where it has one."""
    ub = unsigned(b, width)
    defined = np.ones(a.shape, np.bool_)
    if name in ("shli", "shrsi", "shrui"):
        defined = ub < width
        b = ub = np.where(defined, ub, 0).astype(ub.dtype)
        if name != "shrui":
            b = b.astype(a.dtype)
    elif name in ("divsi", "remsi"):
        defined = (b != 0) & ~((a == -(1 << (width - 1))) & (b == -1))
    elif name in ("divui", "remui"):
        defined = ub != 0
        ub = np.where(defined, ub, 1).astype(ub.dtype)
    if width == 64 and name in ("divsi", "remsi"):  # the magnitude of the least number is none of 64 bits
        exact = _SIGNED[name](a.astype(object), np.where(defined, b, 1).astype(object))
        return np.where(defined, exact, 0).astype(np.int64), defined
    with np.errstate(over="ignore"):
        number = _SIGNED[name](a, b) if name in _SIGNED else _UNSIGNED[name](unsigned(a, width), ub)
    return signed(number, width), defined


def wraps(name: str, a: Numbers, b: Numbers, width: int, result: Numbers) -> Flags:
    """Returns where a sum, a difference, a product or a shift to the left is not the signed number that it would be
    without a width."""
    if name == "shli":
        b = np.where((b >= 0) & (b < 62), b, 0)
        name, b = "muli", 1 << b
    if width < 32 or (width < 64 and name != "muli"):
        return np.asarray(_SIGNED[name](a, b) != result)
    # 64 bits do not hold the product of 32 and of 33 bits.
    large = np.abs(a.astype(np.float64)) * np.abs(b.astype(np.float64)) if name == "muli" else np.float64(1 << 62)
    if name == "muli" and not (large >= 2.0**62).any():
        return np.asarray(a * b != result)
    return np.asarray(_SIGNED[name](a.astype(object), b.astype(object)) != result.astype(object)).astype(np.bool_)


def wraps_unsigned(name: str, a: Numbers, b: Numbers, width: int) -> Flags:
    """Returns where a sum, a difference or a product of unsigned numbers is not one of the type."""
    exact = _SIGNED[name](unsigned(a, width).astype(object), unsigned(b, width).astype(object))
    return np.asarray((exact < 0) | (exact >= 1 << width)).astype(np.bool_)


def compare(predicate: str, a: Numbers, b: Numbers, width: int) -> Flags:
    """Returns where the comparison holds."""
    if predicate[0] == "u":
        return PREDICATES[predicate](unsigned(a, width), unsigned(b, width))
    return PREDICATES[predicate](a, b)
