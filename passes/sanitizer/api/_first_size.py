# SPDX-License-Identifier: Apache-2.0
"""The least value of an integer argument with which the integers of a kernel wrap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from triton_ext.errors import TritonExtError

from ._goals import changed, wraps
from ._launch import UNLIMITED, Launch, grid_of, prepared
from ._search import Search
from ._values import Graph

_LAST = (1 << 31) - 1  # of the values for which the launcher takes i32


@dataclass(frozen=True)
class FirstSize:
    """The least value of an argument that breaks.

    Attributes:
        name: of the argument.
        value: with this value integers wrap.
        is_first: whether all lesser values were shown to be right; otherwise only the one before was.
    """

    name: str
    value: int
    is_first: bool

    def __str__(self) -> str:
        text = f"{self.name} = {self.value:,} is the first that breaks"
        return text if self.is_first else f"{text} of those that were tried, {self.value - 1:,} does not"


class Expression:
    """An integer of Python that depends on arguments; a function that computes the grid is called with it."""

    def __init__(self, graph: Graph, node: int) -> None:
        self._graph, self.node = graph, node

    def _apply(self, kind: str, a: object, b: object) -> Expression:
        nodes = [one.node if isinstance(one, Expression) else self._constant(one) for one in (a, b)]
        return Expression(self._graph, self._graph.add(kind, UNLIMITED, *nodes))

    def _constant(self, value: object) -> int:
        if not isinstance(value, int):
            raise TypeError(f"an integer is expected, found {value}")
        return self._graph.add("constant", int(value))

    def __add__(self, other: object) -> Expression:
        return self._apply("addi", self, other)

    def __radd__(self, other: object) -> Expression:
        return self._apply("addi", other, self)

    def __sub__(self, other: object) -> Expression:
        return self._apply("subi", self, other)

    def __rsub__(self, other: object) -> Expression:
        return self._apply("subi", other, self)

    def __mul__(self, other: object) -> Expression:
        return self._apply("muli", self, other)

    def __rmul__(self, other: object) -> Expression:
        return self._apply("muli", other, self)

    def __floordiv__(self, other: object) -> Expression:
        return self._apply("floordivsi", self, other)

    def __rfloordiv__(self, other: object) -> Expression:
        return self._apply("floordivsi", other, self)

    def __neg__(self) -> Expression:
        return self._apply("subi", 0, self)

    def __bool__(self) -> bool:
        raise TypeError("the grid depends on a comparison")

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise TypeError("the grid depends on a comparison")


def first_size(
    kernel: Any, launch: Launch, name: str, *, grid: Any, target: object, options: Mapping[str, Any]
) -> FirstSize | None:
    """Returns the least value of an argument, up to that of the launch, with which integers wrap.

    Returns None if there is none. All other arguments stay as they are; the grid follows if it is a function. The
    search is exact if the function computes with ``+ - * //`` and `triton.cdiv`. Otherwise it tries values, and takes
    for granted that a larger value breaks if a smaller one does.
    """
    most = launch.integers[name]
    ranges = [(1, min(most, _LAST))] + ([(_LAST + 1, most)] if most > _LAST else [])
    for low, high in ranges:
        at_high = launch if high == most else prepared(kernel, {**launch.values, name: high}, grid, target, options)
        try:
            number = at_high.names.index(name)
            sizes = _followed(at_high, number, grid)
        except (TypeError, ValueError, TritonExtError):
            found = _tried(at_high, name, (low, high), grid)
        else:
            found = _searched(replace(at_high, graph=replace(at_high.graph, grid=sizes)), number, name, (low, high))
        if found is not None:
            return found
    return None


def _followed(launch: Launch, number: int, grid: Any) -> list[int]:
    """Returns the nodes of the grid's sizes, as expressions of an argument."""
    graph = launch.graph
    if not callable(grid):
        return graph.grid
    name = launch.names[number]
    sizes = grid({**launch.values, name: Expression(graph, graph.add("exact argument", number))})
    sizes = [*(sizes if isinstance(sizes, list | tuple) else [sizes]), 1, 1][:3]
    return [one.node if isinstance(one, Expression) else graph.add("constant", int(one)) for one in sizes]


def _searches(launch: Launch) -> list[Search]:
    found = []
    for use in launch.uses:
        if use.what in ("load", "store", "atomic"):
            roots = [node for node in (use.mask, use.offset) if node is not None]
            found.append(Search(launch.graph, use.reach, use.shape, roots=roots, goal=wraps(use.mask, use.offset)))
        elif use.what in ("loop", "if") and use.value is not None:
            found.append(Search(launch.graph, use.reach, use.shape, roots=[use.value], goal=changed(use.value)))
    return found


def _searched(launch: Launch, number: int, name: str, within: tuple[int, int]) -> FirstSize | None:
    low, high = within
    best, is_first = None, True
    variable = ("argument", number)
    for search in _searches(launch):
        box = search.box({variable: (low, high)})
        answer = search.find(box)
        is_first = is_first and answer.verdict is not None
        if not answer.verdict or box is None:
            continue
        least, is_known = search.least(box, answer, variable)
        best, is_first, high = least, is_first and is_known, least - 1
        if high < low:
            break
    return None if best is None else FirstSize(name, best, is_first)


def _tried(launch: Launch, name: str, within: tuple[int, int], grid: Any) -> FirstSize | None:
    """Bisects: the graph of a kernel is the same for all values of one type."""
    number = launch.names.index(name)

    def breaks(value: int) -> bool:
        graph = launch.graph
        numbers = grid_of(grid, {**launch.values, name: value})
        changed_graph = replace(
            graph,
            arguments={**graph.arguments, number: value},
            grid=[graph.add("constant", size) for size in numbers],
        )
        return any(one.find(one.box()).verdict for one in _searches(replace(launch, graph=changed_graph)))

    low, high = within
    if not breaks(high):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if breaks(middle) else (middle + 1, high)
    return FirstSize(name, high, is_first=high == within[0])
