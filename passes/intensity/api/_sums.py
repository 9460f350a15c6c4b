# SPDX-License-Identifier: Apache-2.0
"""Sums of expressions, in closed form where a rule fits."""

from __future__ import annotations

from collections.abc import Mapping

from ._expression import Atom, Division, Extreme, Poly, Symbol, Total, Truth, divide, extreme, poly, truth


def total(symbol: Symbol, count: Poly, body: Poly) -> Poly:
    """Returns the sum of `body` for `symbol` from 0 to `count` - 1, where `count` is not negative."""
    result = poly(0)
    left: dict[tuple[Atom, ...], dict[tuple[Atom, ...], int]] = {}
    for atoms, factor in body.terms.items():
        inner = tuple(atom for atom in atoms if symbol in atom.symbols)
        outer = tuple(atom for atom in atoms if symbol not in atom.symbols)
        if not inner:
            result += Poly({outer: factor}) * count
        elif inner == (symbol,):
            result += Poly({outer: factor}) * divide(count * (count - 1), poly(2))
        elif len(inner) == 1 and (closed := _tiles(symbol, count, inner[0]) or _shares(symbol, count, inner[0])):
            result += Poly({outer: factor}) * closed
        else:
            left.setdefault(outer, {})[inner] = factor
    for outer, terms in left.items():
        result += Poly({outer: 1}) * poly(Total(symbol, count, Poly(terms)))
    return result


def _tiles(symbol: Symbol, count: Poly, atom: Atom) -> Poly | None:
    """Returns the sum of ``max(0, min(b, x - b * symbol))``, which is ``max(0, min(b * count, x))``: a tile each.

    It is exact for each integer x, because tile k has the numbers from b * k to b * (k + 1) - 1 that are below x.
    """
    inner = _clamped(atom)
    if not isinstance(inner, Extreme):
        return None
    size = next((one.constant for one in inner.of if one.constant is not None), None)
    ends = [one for one in inner.of if one.constant is None]
    if inner.pick != "min" or size is None or size <= 0:
        return None
    rests = []
    for end in ends:
        linear = end.linear_in(symbol)
        if linear is None or linear[0] != -size:
            return None
        rests.append(linear[1])
    return extreme("max", (poly(0), extreme("min", (count * size, *rests))))


def _shares(symbol: Symbol, count: Poly, atom: Atom) -> Poly | None:
    """Returns the sum of ``max(0, (x + grid - 1 - symbol) // grid)`` over a grid, which is ``max(0, x)``.

    Of the numbers from 0 to x - 1, program p takes each whose remainder by the size of the grid is p. The size is not
    0, because then there is no launch.
    """
    inner = _clamped(atom)
    if not isinstance(inner, Division) or inner.part != "//" or inner.under != count:
        return None
    (only, factor), *more = count.terms.items()
    if more or factor != 1 or len(only) != 1 or not isinstance(only[0], Symbol) or not only[0].is_grid:
        return None
    end = inner.over - count + 1 + poly(symbol)
    return None if symbol in end.symbols else extreme("max", (poly(0), end))


def _clamped(atom: Atom) -> Atom | None:
    """Returns x of ``max(0, x)``."""
    if not isinstance(atom, Extreme) or atom.pick != "max" or len(atom.of) != 2 or poly(0) not in atom.of:
        return None
    value = atom.of[0] if atom.of[1] == poly(0) else atom.of[1]
    only = next(iter(value.terms), ())
    return only[0] if len(only) == 1 and value.terms == {only: 1} else None


def substitute(value: Poly, numbers: Mapping[Symbol, int]) -> Poly:
    """Returns the expression with numbers in place of symbols."""
    known: dict[Poly, Poly] = {}

    def of(one: Poly) -> Poly:
        if one not in known:
            known[one] = one if one.symbols.isdisjoint(numbers) and not _has_totals(one) else _sum(one)
        return known[one]

    def _sum(one: Poly) -> Poly:
        result = poly(0)
        for atoms, factor in one.terms.items():
            product = poly(factor)
            for atom in atoms:
                product = product * of_atom(atom)
            result = result + product
        return result

    def of_atom(atom: Atom) -> Poly:
        if isinstance(atom, Symbol):
            return poly(numbers[atom]) if atom in numbers else poly(atom)
        if isinstance(atom, Division):
            return divide(of(atom.over), of(atom.under), part=atom.part, rounding=atom.rounding)
        if isinstance(atom, Extreme):
            return extreme(atom.pick, map(of, atom.of))
        if isinstance(atom, Truth):
            return truth(atom.test, of(atom.value))
        return total(atom.symbol, of(atom.count), of(atom.body))

    return of(value)


def _has_totals(value: Poly) -> bool:
    return any(isinstance(atom, Total) for atoms in value.terms for atom in atoms)
