# SPDX-License-Identifier: Apache-2.0
"""Turns the nodes that the pass `intensity` writes into expressions and conditions.

Integers of the kernel wrap around, those of an expression do not. So each node has checks: intervals in which values
have to lie if both are to be equal. They are made when numbers are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ._conditions import (
    Condition,
    Literal,
    Mystery,
    Opposite,
    Reason,
    Test,
    Unknown,
    both,
    either,
    number_of,
    opposite,
    product,
)
from ._expression import Poly, Symbol, divide, extreme, poly

_NO_CHECKS: frozenset[Check] = frozenset()


@dataclass(frozen=True)
class Check:
    """A condition: `value` lies between `low` and `high`, both included. None means that there is no limit."""

    value: Poly
    low: int | None
    high: int | None


@dataclass
class Graph:
    """The nodes of a kernel.

    Attributes:
        nodes: as the pass writes them.
        arguments: the names of the kernel's arguments.
        trips: how often each loop that has been met runs.
    """

    nodes: list[list[Any]]
    arguments: list[str]
    trips: dict[int, Poly] = field(default_factory=dict)
    _numbers: dict[tuple[int, tuple[int, ...]], Poly | Unknown] = field(default_factory=dict)
    _checks: dict[tuple[int, tuple[int, ...]], frozenset[Check]] = field(default_factory=dict)

    def number(self, node: int, shape: Sequence[int] = ()) -> Poly:
        """Returns the value of an integer; its lanes are those of a tensor of this shape.

        Raises:
            Unknown: it depends on something that is not known.
        """
        key = (node, tuple(shape))
        if key not in self._numbers:
            try:
                self._numbers[key] = self._number(self.nodes[node], key[1])
            except Unknown as unknown:
                self._numbers[key] = unknown
        found = self._numbers[key]
        if isinstance(found, Unknown):
            raise found
        return found

    def checks(self, node: int, shape: Sequence[int] = ()) -> frozenset[Check]:
        """Returns the checks of a node and of those that it is computed of, as far as they are known."""
        key = (node, tuple(shape))
        if key not in self._checks:
            operands = _operands(self.nodes[node])
            found = frozenset().union(*(self.checks(one, shape) for one in operands)) if operands else _NO_CHECKS
            self._checks[key] = found | self._own_checks(node, key[1])
        return self._checks[key]

    def condition(self, node: int, shape: Sequence[int] = ()) -> Condition:
        """Returns a condition; parts that are not known are `Mystery`."""
        kind, *rest = self.nodes[node]
        if kind == "constant":
            return Literal(bool(rest[0]))
        if kind == "argument":
            return opposite(Test("==", poly(Symbol(self.arguments[rest[0]]))))
        if kind == "unknown":
            return Mystery(Reason(rest[1], rest[0]))
        if kind == "cmpi" and rest[0] > 1:
            extended = self._extended(rest[2])
            if extended is not None and rest[1] in ("eq", "ne") and self.nodes[rest[3]] == ["constant", 0]:
                inner = self.condition(extended, shape)
                return inner if rest[1] == "ne" else opposite(inner)
            try:
                return _comparison(rest[1], self.number(rest[2], shape), self.number(rest[3], shape))
            except Unknown as unknown:
                return Mystery(unknown.reason)
        operands = [self.condition(one, shape) for one in _operands(self.nodes[node])] if rest[0] == 1 else []
        if kind == "andi" and operands:
            return both(*operands)
        if kind == "ori" and operands:
            return either(*operands)
        if kind == "xori" and Literal(True) in operands:
            return opposite(next((one for one in operands if one != Literal(True)), Literal(True)))
        if kind == "select" and operands:
            chosen, yes, no = operands
            return either(both(chosen, yes), both(opposite(chosen), no))
        return Mystery(Reason("", f"a condition that is made by '{kind}'"))

    def _extended(self, node: int) -> int | None:
        """Returns the condition that a node extends to an integer."""
        kind, *rest = self.nodes[node]
        return rest[2] if kind in ("extui", "extsi") and rest[1] == 1 else None

    def _is_condition(self, node: int) -> bool:
        kind, *rest = self.nodes[node]
        return kind == "cmpi" or (kind in _LOGIC and rest[0] == 1)

    def _number(self, node: list[Any], shape: tuple[int, ...]) -> Poly:
        kind, *rest = node
        if kind == "constant":
            return poly(rest[0])
        if kind == "unknown":
            raise Unknown(Reason(rest[1], rest[0]))
        if kind in _SYMBOLS:
            return poly(_SYMBOLS[kind](self, rest, shape))
        if kind == "trips":
            if rest[0] not in self.trips:
                raise Unknown(Reason("", "the trip count of a loop"))
            return self.trips[rest[0]]
        if kind in ("extsi", "extui", "index_cast", "index_castui") and rest[1] == 1:
            truth = number_of(self.condition(rest[2], shape))
            return -truth if kind in ("extsi", "index_cast") else truth
        if kind in _CASTS:
            return self.number(rest[2], shape)
        if kind == "select":
            yes, no = self.number(rest[2], shape), self.number(rest[3], shape)
            if yes == no:
                return yes
            chosen = number_of(self.condition(rest[1], shape))
            return product(chosen, yes) + product(1 - chosen, no)
        if kind not in _ARITHMETIC or rest[0] == 1:
            raise Unknown(Reason("", f"a value that is made by '{kind}'"))
        return _arithmetic(kind, self.number(rest[1], shape), self.number(rest[2], shape))

    def _own_checks(self, number: int, shape: tuple[int, ...]) -> frozenset[Check]:
        kind, *rest = self.nodes[number]
        if self._is_condition(number) and kind != "cmpi":
            return _NO_CHECKS
        try:
            operands = [self.number(one, shape) for one in _operands(self.nodes[number])[kind == "select" :]]
            value = self.number(number, shape) if kind != "cmpi" else poly(0)
        except Unknown:
            return _NO_CHECKS
        if kind in ("addi", "subi", "muli", "shli", "trunci", "index_cast"):
            half = 1 << (rest[0] - 1)
            fits = value.constant is not None and -half <= value.constant < half
            return _NO_CHECKS if fits else frozenset((Check(value, -half, half - 1),))
        unsigned = kind in ("divui", "remui", "minui", "maxui", "extui", "index_castui", "shrui", "andi")
        if (unsigned and rest[0] > 1) or (kind == "cmpi" and rest[1].startswith("u")):
            return frozenset(Check(one, 0, None) for one in operands)
        return _NO_CHECKS


_LOGIC = ("andi", "ori", "xori", "select", "cmpi")
_CASTS = ("extsi", "extui", "trunci", "index_cast", "index_castui")
_SYMBOLS: dict[str, Any] = {
    "argument": lambda graph, rest, _: Symbol(graph.arguments[rest[0]]),
    "size": lambda graph, rest, _: Symbol(f"{graph.arguments[rest[0]]}.shape.{rest[1]}"),
    "program": lambda _, rest, __: program(rest[0]),
    "programs": lambda _, rest, __: programs(rest[0]),
    "iteration": lambda _, rest, __: iteration(rest[0]),
    "lane": lambda _, rest, shape: lane(rest[0], shape[rest[0]]),
}
_ARITHMETIC = (
    "addi", "subi", "muli", "divsi", "divui", "remsi", "remui", "minsi", "maxsi", "minui", "maxui", "andi", "shli",
    "shrsi", "shrui", "ceildivsi", "floordivsi",
)  # fmt: skip


def program(axis: int) -> Symbol:
    """Returns the symbol of a program id."""
    return Symbol(f"pid{axis}", is_natural=True)


def programs(axis: int) -> Symbol:
    """Returns the symbol of the size of the grid."""
    return Symbol(f"grid{axis}", is_natural=True, is_grid=True)


def iteration(loop: int) -> Symbol:
    """Returns the symbol that counts the iterations of a loop from 0."""
    return Symbol(f"k{loop}", is_natural=True)


def lane(dimension: int, extent: int) -> Symbol:
    """Returns the symbol of a lane along a dimension of `extent` elements."""
    return Symbol(f"i{dimension}", extent, is_natural=True)


def _operands(node: list[Any]) -> list[int]:
    kind, *rest = node
    if kind in _CASTS:
        return rest[2:]
    if kind == "cmpi":
        return rest[2:]
    return rest[1:] if kind in _ARITHMETIC or kind in _LOGIC else []


def _arithmetic(kind: str, a: Poly, b: Poly) -> Poly:
    by = b.constant
    if kind in ("addi", "subi"):
        return a + b if kind == "addi" else a - b
    if kind == "muli":
        return product(a, b)
    if kind in ("shli", "shrsi", "shrui") and by is not None and 0 <= by < 64:
        return a * (1 << by) if kind == "shli" else divide(a, poly(1 << by))
    if kind in ("divsi", "divui", "remsi", "remui"):
        return divide(a, b, part="//" if kind.startswith("div") else "%", rounding="zero")
    if kind in ("floordivsi", "ceildivsi"):
        return divide(a, b) if kind == "floordivsi" else -divide(-a, b)
    if kind[:3] in ("min", "max"):
        return extreme(kind[:3], (a, b))
    if kind == "andi" and by is not None and by >= 0 and by & (by + 1) == 0:  # the low bits
        return divide(a, poly(by + 1), part="%")
    raise Unknown(Reason("", f"a value that is made by '{kind}'"))


def _comparison(predicate: str, a: Poly, b: Poly) -> Condition:
    if predicate in ("eq", "ne"):
        equal = Test("==", a - b)
        return equal if predicate == "eq" else Opposite(equal)
    difference = a - b if predicate[1] == "g" else b - a
    return Test(">=", difference if predicate[2:] == "e" else difference - 1)
