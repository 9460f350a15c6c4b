# SPDX-License-Identifier: Apache-2.0
"""Integer expressions: polynomials with integer coefficients over atoms, such as symbols, minima and sums.

All classes are immutable. Two equal expressions have the same form in most cases, because products are multiplied out
and equal terms are added up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property


class Poly:
    """A polynomial: a sum of products of atoms, each with a coefficient."""

    def __init__(self, terms: Mapping[tuple[Atom, ...], int]) -> None:
        self.terms = {atoms: factor for atoms, factor in terms.items() if factor}
        self._hash = hash(frozenset(self.terms.items()))

    @cached_property
    def symbols(self) -> frozenset[Symbol]:
        """The symbols on which the value depends."""
        return frozenset().union(*(atom.symbols for atoms in self.terms for atom in atoms))

    @property
    def constant(self) -> int | None:
        """The value, if it is a number."""
        if not self.terms:
            return 0
        return self.terms.get((), None) if len(self.terms) == 1 else None

    def __add__(self, other: Poly | int) -> Poly:
        terms = dict(self.terms)
        for atoms, factor in poly(other).terms.items():
            terms[atoms] = terms.get(atoms, 0) + factor
        return Poly(terms)

    def __mul__(self, other: Poly | int) -> Poly:
        terms: dict[tuple[Atom, ...], int] = {}
        for a, m in self.terms.items():
            for b, n in poly(other).terms.items():
                key = tuple(sorted(a + b, key=_order))
                terms[key] = terms.get(key, 0) + m * n
        return Poly(terms)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Poly:
        return self * -1

    def __sub__(self, other: Poly | int) -> Poly:
        return self + poly(other) * -1

    def __rsub__(self, other: int) -> Poly:
        return self * -1 + other

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Poly) and self._hash == other._hash and self.terms == other.terms)

    def __hash__(self) -> int:
        return self._hash

    def linear_in(self, symbol: Symbol) -> tuple[int, Poly] | None:
        """Returns a and b if this is a * symbol + b, where a is a number and b does not depend on the symbol."""
        factor = self.terms.get((symbol,), 0)
        rest = Poly({atoms: n for atoms, n in self.terms.items() if atoms != (symbol,)})
        return None if symbol in rest.symbols else (factor, rest)

    def __str__(self) -> str:
        from ._text import text

        return text(self)


def poly(value: Poly | Atom | int) -> Poly:
    """Returns `value` as a polynomial."""
    if isinstance(value, Poly):
        return value
    return Poly({(): value}) if isinstance(value, int) else Poly({(value,): 1})


@dataclass(frozen=True)
class Symbol:
    """A variable.

    Attributes:
        name: its name.
        extent: tells variables of lanes of tensors of different sizes apart.
        is_natural: whether it is never negative.
        is_grid: whether it is a size of the grid, which is positive in every launch.
    """

    name: str
    extent: int = 0
    is_natural: bool = False
    is_grid: bool = False

    @property
    def symbols(self) -> frozenset[Symbol]:
        """The symbol itself."""
        return frozenset((self,))


@dataclass(frozen=True)
class Division:
    """A quotient or a remainder. `rounding` is ``floor``, or ``zero`` as C rounds; `part` is ``//`` or ``%``."""

    part: str
    rounding: str
    over: Poly
    under: Poly

    @cached_property
    def symbols(self) -> frozenset[Symbol]:
        """The symbols on which the value depends."""
        return self.over.symbols | self.under.symbols


@dataclass(frozen=True)
class Extreme:
    """The least or the greatest of several values: `pick` is ``min`` or ``max``."""

    pick: str
    of: tuple[Poly, ...]

    @cached_property
    def symbols(self) -> frozenset[Symbol]:
        """The symbols on which the value depends."""
        return frozenset().union(*(one.symbols for one in self.of))


@dataclass(frozen=True)
class Truth:
    """1 if ``value >= 0`` (`test` is ``>=``) or ``value == 0`` (`test` is ``==``), else 0."""

    test: str
    value: Poly

    @cached_property
    def symbols(self) -> frozenset[Symbol]:
        """The symbols on which the value depends."""
        return self.value.symbols


@dataclass(frozen=True)
class Total:
    """The sum of `body` for `symbol` from 0 to `count` - 1."""

    symbol: Symbol
    count: Poly
    body: Poly

    @cached_property
    def symbols(self) -> frozenset[Symbol]:
        """The symbols on which the value depends."""
        return self.count.symbols | (self.body.symbols - {self.symbol})


Atom = Symbol | Division | Extreme | Truth | Total


def _order(atom: Atom) -> tuple[str, int]:
    return (atom.name if isinstance(atom, Symbol) else f"~{type(atom).__name__}", hash(atom))


def divide(over: Poly, under: Poly, *, part: str = "//", rounding: str = "floor") -> Poly:
    """Returns a quotient or a remainder."""
    a, b = over.constant, under.constant
    if b == 1:
        return over if part == "//" else poly(0)
    if a is not None and b:
        return poly(divided(a, b, part, rounding))
    if b is not None and b > 0 and (rounding == "floor" or is_natural(over)):
        # What b divides leaves the quotient as it is: (2*b*x + 5) // b == 2*x + 5 // b.
        whole = Poly({atoms: factor // b for atoms, factor in over.terms.items() if factor % b == 0})
        if whole.terms:
            rest = divide(over - whole * b, under, part=part)
            return whole + rest if part == "//" else rest
    return poly(Division(part, rounding, over, under))


def is_natural(value: Poly) -> bool:
    """Whether `value` is known not to be negative."""
    return all(factor >= 0 and all(map(_is_natural_atom, atoms)) for atoms, factor in value.terms.items())


def _is_natural_atom(atom: Atom) -> bool:
    if isinstance(atom, Symbol):
        return atom.is_natural
    if isinstance(atom, Extreme):
        return (any if atom.pick == "max" else all)(map(is_natural, atom.of))
    if isinstance(atom, Division):
        return is_natural(atom.over) and (is_natural(atom.under) or (atom.under.constant or 0) > 0)
    return isinstance(atom, Truth) or is_natural(atom.body)


def divided(a: int, b: int, part: str, rounding: str) -> int:
    quotient = a // b
    if rounding == "zero" and quotient < 0 and quotient * b != a:
        quotient += 1
    return quotient if part == "//" else a - quotient * b


def extreme(pick: str, values: Iterable[Poly]) -> Poly:
    """Returns the least (``min``) or greatest (``max``) of the values."""
    choose: Callable[..., int] = min if pick == "min" else max
    number: int | None = None
    rest: dict[Poly, None] = {}
    for value in values:
        only = next(iter(value.terms)) if len(value.terms) == 1 and 1 in value.terms.values() else ()
        same = len(only) == 1 and isinstance(only[0], Extreme) and only[0].pick == pick
        for one in only[0].of if same and isinstance(only[0], Extreme) else (value,):
            if one.constant is None:
                rest[one] = None
            else:
                number = one.constant if number is None else choose(number, one.constant)
    if pick == "max" and number is not None and number <= 0 and any(map(is_natural, rest)):
        number = None
    found = [*((poly(number),) if number is not None else ()), *rest]
    return found[0] if len(found) == 1 else poly(Extreme(pick, tuple(sorted(found, key=hash))))


def truth(test: str, value: Poly) -> Poly:
    """Returns 1 if ``value`` passes the test, else 0."""
    number = value.constant
    if number is None:
        return poly(Truth(test, value))
    return poly(int(number >= 0 if test == ">=" else number == 0))
