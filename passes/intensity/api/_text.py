# SPDX-License-Identifier: Apache-2.0
"""Expressions as text, for tables."""

from __future__ import annotations

from collections.abc import Iterable

from ._expression import Atom, Division, Extreme, Poly, Symbol, Truth


def text(value: Poly) -> str:
    """Returns the expression as a text that reads like Python."""
    terms = sorted(value.terms.items(), key=lambda term: (-len(term[0]), str([_atom(a) for a in term[0]])))
    result = ""
    for atoms, factor in terms:
        sign = "-" if factor < 0 else "+" if result else ""
        number = [str(abs(factor))] if abs(factor) != 1 or not atoms else []
        product = "*".join([*number, *sorted(map(_atom, atoms))])
        result += f" {sign} {product}" if result else f"{sign}{product}"
    return result or "0"


def _atom(atom: Atom) -> str:
    if isinstance(atom, Symbol):
        return atom.name
    if isinstance(atom, Division):
        return f"({_operand(atom.over)} {atom.part} {_operand(atom.under)})"
    if isinstance(atom, Extreme):
        return f"{atom.pick}({_list(atom.of)})"
    if isinstance(atom, Truth):
        return f"({text(atom.value)} {atom.test} 0)"
    return f"sum({text(atom.body)} for {atom.symbol.name} < {text(atom.count)})"


def _operand(value: Poly) -> str:
    """Returns the text of an operand: in parentheses, unless it is a number or an atom."""
    shown = text(value)
    is_atom = all(len(atoms) == 1 and factor == 1 for atoms, factor in value.terms.items()) and len(value.terms) == 1
    return shown if is_atom or value.constant is not None else f"({shown})"


def _list(values: Iterable[Poly]) -> str:
    return ", ".join(sorted(map(text, values)))
