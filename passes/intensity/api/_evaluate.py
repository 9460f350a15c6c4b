# SPDX-License-Identifier: Apache-2.0
"""The value of an expression, and the interval in which it lies."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TypeGuard

from ._expression import Atom, Division, Extreme, Poly, Symbol, Total, Truth, divided

#: How many terms of sums one evaluation adds up at most; about ten seconds.
MOST_TERMS = 2_000_000


class TooLong(Exception):  # noqa: N818
    """Is raised if sums have more than `MOST_TERMS` terms."""


class Evaluator:
    """Computes values. Parts that do not depend on the symbol of a sum are computed once for the whole sum."""

    def __init__(self) -> None:
        self._numbers: dict[Symbol, int] = {}
        self._stack: list[Symbol] = []
        self._known: list[dict[Poly, int]] = [{}]
        self._left = MOST_TERMS

    def value(self, of: Poly) -> int:
        """Returns the value of an expression that has no symbols but those of its sums.

        Raises:
            TooLong: it has sums with too many terms.
            ZeroDivisionError: it divides by zero.
            KeyError: it has another symbol.
        """
        if of.constant is not None:
            return of.constant
        depth = max((i + 1 for i, symbol in enumerate(self._stack) if symbol in of.symbols), default=0)
        known = self._known[depth]
        if of not in known:
            known[of] = sum(factor * prod(map(self._atom, atoms)) for atoms, factor in of.terms.items())
        return known[of]

    def _atom(self, atom: Atom) -> int:
        if isinstance(atom, Symbol):
            return self._numbers[atom]
        if isinstance(atom, Division):
            return divided(self.value(atom.over), self.value(atom.under), atom.part, atom.rounding)
        if isinstance(atom, Extreme):
            return (min if atom.pick == "min" else max)(map(self.value, atom.of))
        if isinstance(atom, Truth):
            value = self.value(atom.value)
            return int(value >= 0 if atom.test == ">=" else value == 0)
        return self._total(atom)

    def _total(self, atom: Total) -> int:
        if not self._stack and _least_terms(atom) > self._left:
            raise TooLong
        count = self.value(atom.count)
        self._left -= max(count, 0)
        if self._left < 0:
            raise TooLong
        self._stack.append(atom.symbol)
        result = 0
        for i in range(count):
            self._numbers[atom.symbol] = i
            self._known.append({})
            result += self.value(atom.body)
            self._known.pop()
        self._stack.pop()
        return result


def _least_terms(of: Total) -> int:
    """Returns how many terms a sum and the sums in it have at least; a sum that is too long is not begun."""
    terms = (_least_terms(atom) for atoms in of.body.terms for atom in atoms if _depends(atom, of.symbol))
    return max(of.count.constant or 0, 0) * (1 + max(terms, default=0))


def _depends(atom: Atom, symbol: Symbol) -> TypeGuard[Total]:
    return isinstance(atom, Total) and symbol in atom.symbols


Interval = tuple[int, int]


def interval(value: Poly, ranges: Mapping[Symbol, Interval]) -> Interval | None:
    """Returns an interval of the value, for all values of the symbols in `ranges`; None if it is not found."""
    low = high = 0
    for atoms, factor in value.terms.items():
        product: Interval = (factor, factor)
        for atom in atoms:
            one = _of_atom(atom, ranges)
            if one is None:
                return None
            product = _hull(a * b for a in product for b in one)
        low, high = low + product[0], high + product[1]
    return low, high


def _hull(values: object) -> Interval:
    found = list(values)  # type: ignore[call-overload]
    return min(found), max(found)


def _of_atom(atom: Atom, ranges: Mapping[Symbol, Interval]) -> Interval | None:
    if isinstance(atom, Symbol):
        return ranges.get(atom)
    if isinstance(atom, Truth):
        return 0, 1
    if isinstance(atom, Extreme):
        parts = [interval(one, ranges) for one in atom.of]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        pick = min if atom.pick == "min" else max
        return pick(low for low, _ in known), pick(high for _, high in known)
    if isinstance(atom, Total):
        count = interval(atom.count, ranges)
        if count is None:
            return None
        body = interval(atom.body, {**ranges, atom.symbol: (0, max(count[1] - 1, 0))})
        return body and _hull(n * b for n in (0, max(count[1], 0)) for b in body)
    over, under = interval(atom.over, ranges), interval(atom.under, ranges)
    if over is None or under is None or under[0] <= 0:
        return None
    if atom.part == "//":
        return _hull(divided(a, b, "//", atom.rounding) for a in over for b in under)
    low = 0 if over[0] >= 0 or atom.rounding == "floor" else -min(under[1] - 1, -over[0])
    return low, min(under[1] - 1, max(over[1], 0)) if over[0] >= 0 or atom.rounding == "zero" else under[1] - 1
