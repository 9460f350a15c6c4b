# SPDX-License-Identifier: Apache-2.0
"""Counts the different elements of an access, if an exact count is possible.

An offset that is affine in variables with constant ranges has an image whose size follows from its coefficients: it is
an interval without gaps if each coefficient is at most the length of what the smaller ones span, plus one; and no two
values are equal if each coefficient is at least that length. Masks, bounds of loops and branches are inequalities. One
that ties variables which the offset uses only as the same sum is a range of that sum: in ``row * columns + i`` with
``row = pid + grid * k``, the bound ``row < rows`` is the range of `row`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ._evaluate import Interval
from ._expression import Atom, Division, Extreme, Poly, Symbol, Truth

#: How often a variable is split into a quotient and a remainder at most.
_MOST_SPLITS = 16


class NotAffineError(Exception):
    """Is raised where an image cannot be counted."""


@dataclass(frozen=True)
class Image:
    """The different values of an offset.

    Attributes:
        low: the least value.
        high: the greatest one.
        count: how many there are.
        steps: the coefficients and the numbers of values of the variables.
    """

    low: int
    high: int
    count: int
    steps: tuple[tuple[int, int], ...]

    @property
    def is_dense(self) -> bool:
        """Whether there are no gaps."""
        return self.count == self.high - self.low + 1


@dataclass
class _Form:
    """A sum of variables with coefficients, none of which is 0, and a number."""

    terms: dict[Symbol, int]
    number: int

    def plus(self, other: _Form, factor: int = 1) -> _Form:
        terms = dict(self.terms)
        for symbol, n in other.terms.items():
            terms[symbol] = terms.get(symbol, 0) + factor * n
        return _Form({symbol: n for symbol, n in terms.items() if n}, self.number + factor * other.number)

    def bounds(self, box: Mapping[Symbol, Interval]) -> Interval:
        low = high = self.number
        for symbol, n in self.terms.items():
            ends = [n * end for end in box[symbol]]
            low, high = low + min(ends), high + max(ends)
        return low, high

    def over(self, symbols: Mapping[Symbol, int]) -> dict[Symbol, int]:
        return {symbol: n for symbol, n in self.terms.items() if symbol in symbols}


class _SplitError(Exception):
    def __init__(self, symbol: Symbol, by: int) -> None:
        super().__init__()
        self.symbol, self.by = symbol, by


class _Reader:
    """Turns expressions into forms."""

    def __init__(self, ranges: Mapping[Symbol, Interval]) -> None:
        self.box = dict(ranges)
        self._parts: dict[Symbol, _Form] = {}  # what a variable that was split is

    def split(self, symbol: Symbol, by: int) -> None:
        """Writes a variable as ``by * quotient + remainder``; `by` divides the number of its values."""
        quotient, remainder = Symbol(f"{symbol.name}/{by}"), Symbol(f"{symbol.name}%{by}")
        self.box[quotient] = (0, (self.box[symbol][1] + 1) // by - 1)
        self.box[remainder] = (0, by - 1)
        self._parts[symbol] = _Form({quotient: by, remainder: 1}, 0)

    def form(self, value: Poly) -> _Form:
        result = _Form({}, 0)
        for atoms, factor in value.terms.items():
            product = _Form({}, factor)
            for part in map(self._atom, atoms):
                if product.terms and part.terms:
                    raise NotAffineError
                one, number = (product, part.number) if product.terms else (part, product.number)
                product = _Form({}, 0).plus(one, number)
            result = result.plus(product)
        return result

    def _atom(self, atom: Atom) -> _Form:
        if isinstance(atom, Symbol):
            return self._symbol(atom)
        if isinstance(atom, Division):
            return self._division(atom)
        if isinstance(atom, Extreme):
            forms = [self.form(one) for one in atom.of]
            for one in forms:
                above = [other.plus(one, -1).bounds(self.box) for other in forms]
                if all(low >= 0 if atom.pick == "min" else high <= 0 for low, high in above):
                    return one
        if isinstance(atom, Truth):
            low, high = self.form(atom.value).bounds(self.box)
            if atom.test == ">=" and (low >= 0 or high < 0):
                return _Form({}, int(low >= 0))
        raise NotAffineError

    def _symbol(self, symbol: Symbol) -> _Form:
        if symbol not in self.box:
            raise NotAffineError
        low, high = self.box[symbol]
        if low == high:
            return _Form({}, low)
        parts = self._parts.get(symbol)
        if parts is None:
            return _Form({symbol: 1}, 0)
        result = _Form({}, 0)
        for part, n in parts.terms.items():
            result = result.plus(self._symbol(part), n)
        return result

    def _division(self, atom: Division) -> _Form:
        over, under = self.form(atom.over), self.form(atom.under)
        by = under.number
        low, high = over.bounds(self.box)
        if under.terms or by <= 0 or (low < 0 and atom.rounding != "floor"):
            raise NotAffineError
        if low // by == high // by:
            quotient = _Form({}, low // by)
            return quotient if atom.part == "//" else over.plus(quotient, -by)
        whole = _Form({symbol: n // by for symbol, n in over.terms.items() if not n % by}, over.number // by)
        rest = over.plus(whole, -by)
        least, most = rest.bounds(self.box)
        if least >= 0 and most < by:
            return whole if atom.part == "//" else rest
        if len(rest.terms) == 1 and not rest.number:
            ((symbol, n),) = rest.terms.items()
            first, last = self.box[symbol]
            if n == 1 and first == 0 and (last + 1) % by == 0:
                raise _SplitError(symbol, by)
        raise NotAffineError


def image(offset: Poly, domain: Sequence[Poly], ranges: Mapping[Symbol, Interval]) -> Image | None:
    """Returns the values of an offset where no expression of the domain is negative; None if there is no such value.

    Args:
        offset: an expression in the symbols of `ranges`.
        domain: expressions in them, too.
        ranges: the first and the last value of each symbol; all combinations are taken.

    Raises:
        NotAffineError: the image is not counted.
    """
    if any(low > high for low, high in ranges.values()):
        return None
    reader = _Reader(ranges)
    for _ in range(_MOST_SPLITS):
        try:
            forms = [reader.form(one) for one in (offset, *domain)]
        except _SplitError as wanted:
            reader.split(wanted.symbol, wanted.by)
        else:
            found = _bounded(forms[0], forms[1:], reader.box)
            return None if found is None else _counted(found, reader.box)
    raise NotAffineError


def _bounded(offset: _Form, tests: list[_Form], box: dict[Symbol, Interval]) -> _Form | None:
    """Makes the tests ranges in `box`, and returns the offset in the variables of it; None if no value is left."""
    while tests:
        test = tests.pop()
        low, high = test.bounds(box)
        if high < 0:
            return None
        if low >= 0:
            continue
        scale = math.gcd(*test.terms.values())
        if len(test.terms) > 1:
            sums = {symbol: n // scale for symbol, n in test.terms.items()}
            variable = Symbol(f"sum {len(box)}")
            summed = _counted(_Form(sums, 0), box)
            if not summed.is_dense:
                raise NotAffineError
            offset, *tests = (_in_sum(one, sums, variable) for one in (offset, *tests))
            box[variable] = (summed.low, summed.high)
            test = _Form({variable: scale}, test.number)
        ((symbol, n),) = test.terms.items()
        first, last = box[symbol]
        # n * symbol + number >= 0
        if n > 0:
            first = max(first, -(test.number // n))
        else:
            last = min(last, test.number // -n)
        if first > last:
            return None
        box[symbol] = (first, last)
    return offset


def _in_sum(form: _Form, sums: Mapping[Symbol, int], variable: Symbol) -> _Form:
    """Returns a form in which one variable stands for a sum.

    Raises:
        NotAffineError: the form uses the variables of the sum otherwise.
    """
    used = form.over(sums)
    if not used:
        return form
    symbol = next(iter(used))
    times, rest = divmod(used[symbol], sums[symbol])
    if rest or used != {one: n * times for one, n in sums.items()}:
        raise NotAffineError
    others = {one: n for one, n in form.terms.items() if one not in sums}
    return _Form({**others, variable: times}, form.number)


def _counted(form: _Form, box: Mapping[Symbol, Interval]) -> Image:
    """Returns the image of a form over a box.

    Raises:
        NotAffineError: some values are equal, but they leave gaps.
    """
    low, high = form.bounds(box)
    steps = sorted((abs(n), box[symbol][1] - box[symbol][0] + 1) for symbol, n in form.terms.items())
    count = span = 1
    for step, size in steps:
        if step <= span and count == span:
            span += step * (size - 1)
            count = span
        elif step >= span:
            span += step * (size - 1)
            count *= size
        elif size > 1:
            raise NotAffineError
    return Image(low, high, count, tuple(step for step in steps if step[1] > 1))
