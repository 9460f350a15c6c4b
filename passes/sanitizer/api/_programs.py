# SPDX-License-Identifier: Apache-2.0
"""The integers of a kernel for every program of a launch at once, as NumPy arrays over the programs.

An integer is the sum of a number of the program and of multiples of variables: lanes of a tile and iterations of loops.
What does not have this shape, or may wrap around where the kernel's integer has variables, is `Unknown`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._values import Graph, Variable

#: Sums and products stay below this, so that no array of int64 wraps around.
_LIMIT = 1 << 58


class Unknown(Exception):  # noqa: N818
    """Is raised for an integer of which nothing is known."""


@dataclass(frozen=True)
class Form:
    """An integer of each program: ``base`` and, for each variable, a multiple of it. All are numbers or arrays."""

    base: Any
    terms: Mapping[Variable, Any] = field(default_factory=dict)


class Programs:
    """Evaluates a graph in all programs of its grid; the first axis changes fastest."""

    def __init__(self, graph: Graph, grid: tuple[int, int, int]) -> None:
        self._graph = graph
        self._grid = grid
        numbers = np.arange(grid[0] * grid[1] * grid[2], dtype=np.int64)
        self._ids = numbers % grid[0], numbers // grid[0] % grid[1], numbers // (grid[0] * grid[1])
        self._known: dict[int, Form | None] = {}
        self._ends: dict[Variable, Any] = {}  # the greatest value of each variable; below 0 if there is none
        self.count = len(numbers)

    def node(self, number: int) -> list[Any]:
        """Returns a node of the graph."""
        return self._graph.nodes[number]

    def end(self, variable: Variable) -> Any:
        """Returns the greatest value of a variable; its least one is 0."""
        if variable not in self._ends:
            if variable[0] != "iteration":
                raise Unknown
            loop = self._graph.loops[variable[1]]
            lower, upper, step = (self.form(one) for one in (loop.lower, loop.upper, loop.step))
            if loop.is_unsigned or step.terms or np.min(step.base) < 1:
                raise Unknown
            self._ends[variable] = (self.range(upper)[1] - self.range(lower)[0] - 1) // step.base
        return self._ends[variable]

    def is_same_in_each(self, loop: int) -> bool:
        """Whether the loop runs as often in each iteration of the loops around it."""
        bounds = self._graph.loops[loop]
        return not any(self.form(one).terms for one in (bounds.lower, bounds.upper))

    def with_lanes(self, shape: tuple[int, ...]) -> Programs:
        """Returns this with the lanes of a tile."""
        other = Programs.__new__(Programs)
        other.__dict__.update(self.__dict__, _known={})
        other._ends = {("lane", dimension): size - 1 for dimension, size in enumerate(shape)}
        return other

    def range(self, form: Form) -> tuple[Any, Any]:
        """Returns the least and the greatest value of a form."""
        low = high = _checked(form.base)
        for variable, step in form.terms.items():
            far = _product(step, np.maximum(self.end(variable), 0))
            low, high = _sum(low, np.minimum(far, 0)), _sum(high, np.maximum(far, 0))
        return low, high

    def form(self, number: int) -> Form:
        """Returns the form of a node.

        Raises:
            Unknown: it has none.
        """
        if number not in self._known:
            try:
                self._known[number] = self._form(number)
            except Unknown:
                self._known[number] = None
        found = self._known[number]
        if found is None:
            raise Unknown
        return found

    def _form(self, number: int) -> Form:
        graph = self._graph
        kind, *rest = graph.nodes[number]
        if kind == "constant":
            return Form(_checked(rest[0]))
        if kind == "program":
            return Form(self._ids[rest[0]])
        if kind == "programs":
            return Form(self._grid[rest[0]])
        if kind == "argument":
            if rest[0] not in graph.arguments:
                raise Unknown
            return self._fitted(Form(graph.arguments[rest[0]]), graph.width(number))
        if kind in ("lane", "iteration"):
            self.end((kind, rest[0]))
            return Form(0, {(kind, rest[0]): 1})
        if kind in ("extsi", "extui", "trunci", "index_cast", "index_castui"):
            return self._cast(kind, rest[0], rest[1], rest[2])
        if kind == "cmpi":
            return Form(self._truth(rest[1], self._scalar(rest[2]), self._scalar(rest[3])))
        if kind == "select":
            return self._selected(*rest[1:])
        rule = _RULES.get(kind)
        if rule is None or rest[0] == 1:
            raise Unknown
        a, b = (self.form(one) for one in rest[1:3])
        return self._fitted(rule(self, a, b), rest[0])

    def _fitted(self, form: Form, width: int) -> Form:
        """Returns a form as an integer of a width. Only what has no variable may wrap around."""
        half = 1 << (width - 1)
        if width > 61:
            self.range(form)  # which is below the limit, or is unknown
            return form
        if not form.terms:
            return Form((form.base + half) % (2 * half) - half)
        low, high = self.range(form)
        if np.min(low) < -half or np.max(high) >= half:
            raise Unknown
        return form

    def _cast(self, kind: str, width: int, before: int, number: int) -> Form:
        form = self.form(number)
        if before == 1 or (kind.endswith("ui") and np.min(self.range(form)[0]) < 0):
            raise Unknown
        return self._fitted(form, width)

    def _scalar(self, number: int) -> Any:
        form = self.form(number)
        if form.terms:
            raise Unknown
        return form.base

    def _truth(self, predicate: str, a: Any, b: Any) -> Any:
        if predicate[0] == "u" and min(np.min(a), np.min(b)) < 0:
            raise Unknown
        return _COMPARE[predicate[-2:]](a, b)

    def _selected(self, condition: int, yes: int, no: int) -> Form:
        chosen = self.truth(condition)
        if np.all(chosen) or not np.any(chosen):
            return self.form(yes if np.all(chosen) else no)
        return Form(np.where(chosen, self._scalar(yes), self._scalar(no)))

    def truth(self, number: int) -> Any:
        """Returns a condition that has no variables: in which programs it is true."""
        kind, *rest = self._graph.nodes[number]
        if kind in ("andi", "ori") and rest[0] == 1:
            a, b = self.truth(rest[1]), self.truth(rest[2])
            return a & b if kind == "andi" else a | b
        if kind == "constant":
            return bool(rest[0])
        if kind != "cmpi":
            raise Unknown
        return self.form(number).base


def difference(a: Form, b: Form) -> Form:
    """Returns a - b."""
    return _plus(a, b, -1)


def _checked(value: Any) -> Any:
    if np.max(np.abs(np.asarray(value, dtype=np.float64))) >= _LIMIT:
        raise Unknown
    return value


def _product(a: Any, b: Any) -> Any:
    if np.max(np.abs(np.asarray(a, np.float64))) * np.max(np.abs(np.asarray(b, np.float64))) >= _LIMIT:
        raise Unknown
    return a * b


def _sum(a: Any, b: Any) -> Any:
    return _checked(a + b)


def _plus(a: Form, b: Form, sign: int) -> Form:
    terms = dict(a.terms)
    for variable, step in b.terms.items():
        terms[variable] = _sum(terms.get(variable, 0), sign * step)
    return Form(_sum(a.base, sign * b.base), {one: step for one, step in terms.items() if np.any(step)})


def _times(_: Programs, a: Form, b: Form) -> Form:
    if a.terms:
        a, b = b, a
    if a.terms:
        raise Unknown
    terms = {one: _product(step, a.base) for one, step in b.terms.items()}
    return Form(_product(a.base, b.base), {one: step for one, step in terms.items() if np.any(step)})


def _shifted(programs: Programs, a: Form, b: Form) -> Form:
    if b.terms or not 0 <= np.min(b.base) <= np.max(b.base) < 32:
        raise Unknown
    return _times(programs, a, Form(1 << b.base))


def _divided(apply: Any, *, of_small: Any) -> Any:
    """Returns the rule of a quotient or a remainder; `of_small` is that of a number from 0 to before the divisor."""

    def rule(programs: Programs, a: Form, b: Form) -> Form:
        if b.terms or np.min(b.base) < 1:
            raise Unknown
        low, high = programs.range(a)
        if np.min(low) >= 0 and np.all(high < b.base):
            return of_small(a)
        if a.terms or np.min(low) < 0:
            raise Unknown
        return Form(apply(a.base, b.base))

    return rule


def _extreme(apply: Any) -> Any:
    def rule(programs: Programs, a: Form, b: Form) -> Form:
        if not a.terms and not b.terms:
            return Form(apply(a.base, b.base))
        for one, other in ((a, b), (b, a)):
            (low, high), (least, most) = programs.range(one), programs.range(other)
            if np.all(high <= least if apply is np.minimum else low >= most):
                return one
        raise Unknown

    return rule


def _of_scalars(apply: Any) -> Any:
    def rule(_: Programs, a: Form, b: Form) -> Form:
        if a.terms or b.terms or min(np.min(a.base), np.min(b.base)) < 0:
            raise Unknown
        return Form(apply(a.base, b.base))

    return rule


_QUOTIENT = _divided(lambda a, b: a // b, of_small=lambda a: Form(0))  # noqa: ARG005
_REMAINDER = _divided(lambda a, b: a % b, of_small=lambda a: a)
_LEAST, _GREATEST = _extreme(np.minimum), _extreme(np.maximum)
_RULES = {
    "addi": lambda _, a, b: _plus(a, b, 1),
    "subi": lambda _, a, b: _plus(a, b, -1),
    "muli": _times,
    "shli": _shifted,
    "divsi": _QUOTIENT,
    "divui": _QUOTIENT,
    "floordivsi": _QUOTIENT,
    "remsi": _REMAINDER,
    "remui": _REMAINDER,
    "minsi": _LEAST,
    "maxsi": _GREATEST,
    "andi": _of_scalars(lambda a, b: a & b),
    "ori": _of_scalars(lambda a, b: a | b),
    "xori": _of_scalars(lambda a, b: a ^ b),
}
_COMPARE = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
