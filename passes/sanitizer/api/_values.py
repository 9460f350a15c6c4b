# SPDX-License-Identifier: Apache-2.0
"""The values of a kernel's integers for all points of a box: as they are, and as they would be if nothing wrapped.

A point is one choice of program ids, iterations and lanes; a box is an interval for each. The graph of integers is the
one that the pass `intensity` writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ._intervals import Interval, full
from ._operations import (
    Value,
    arithmetic,
    below,
    cast,
    comparison,
    extended,
    known,
    logic,
    made,
    selection,
    trips,
)

#: A variable: ("program", axis), ("iteration", loop), ("lane", dimension) or ("argument", number).
Variable = tuple[str, int]
Box = dict[Variable, Interval]


@dataclass(frozen=True)
class Loop:
    """The bounds of a loop, as numbers of nodes."""

    lower: int
    upper: int
    step: int
    is_unsigned: bool


@dataclass
class Graph:
    """The integers of a kernel and the numbers of a launch.

    Attributes:
        nodes: as the pass writes them; `add` appends more.
        loops: the bounds of each loop.
        widths: the width of each integer argument.
        arguments: the values of the integer arguments, by number.
        sizes: the sizes of descriptors, by argument and dimension.
        grid: the node of the grid's size along each axis.
    """

    nodes: list[list[Any]]
    loops: Mapping[int, Loop]
    widths: Mapping[int, int]
    arguments: Mapping[int, int]
    sizes: Mapping[tuple[int, int], int] = field(default_factory=dict)
    grid: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._inductions = {
            (loop.lower, loop.step, number): loop.upper for number, loop in self.loops.items() if not loop.is_unsigned
        }

    def add(self, *node: Any) -> int:
        """Returns the number of a node that is not an integer of the kernel, and adds it if it is new."""
        key = repr(node)
        if key not in self._numbers:
            self._numbers[key] = len(self.nodes)
            self.nodes.append(list(node))
        return self._numbers[key]

    def operands(self, number: int) -> list[int]:
        """Returns the nodes on whose values the value of a node depends."""
        kind, *rest = self.nodes[number]
        if kind == "trips":
            loop = self.loops[rest[0]]
            return [loop.lower, loop.upper, loop.step]
        if kind == "programs":
            return [self.grid[rest[0]]]
        if kind in _LEAVES:
            return []
        if kind in _CASTS or kind == "cmpi":
            return list(rest[2:])
        upper = self.upper(number)
        return [*rest[1:], *([] if upper is None else [upper])]

    def upper(self, number: int) -> int | None:
        """Returns the upper bound of the loop whose induction variable a node is; None for other nodes."""
        node = self.nodes[number]
        if node[0] != "addi" or self.nodes[node[3]][0] != "muli":
            return None
        count, step = self.nodes[node[3]][2:4]
        if self.nodes[count][0] != "iteration":
            return None
        return self._inductions.get((node[2], step, self.nodes[count][1]))

    def cone(self, roots: Sequence[int]) -> list[int]:
        """Returns the nodes on which the roots depend, operands first."""
        found: dict[int, None] = {}
        stack = [(root, False) for root in reversed(roots)]
        while stack:
            node, is_done = stack.pop()
            if is_done:
                found[node] = None
            elif node not in found:
                stack.append((node, True))
                stack += [(one, False) for one in self.operands(node) if one not in found]
        return list(found)

    def width(self, number: int) -> int:
        """Returns the width of a node; 64 for what has none, such as the number of an iteration."""
        kind, *rest = self.nodes[number]
        if kind == "argument":
            return self.widths.get(rest[0], 64)
        if kind == "cmpi":
            return 1
        if kind == "unknown":
            return int(rest[2]) if len(rest) > 2 else 64
        if kind in ("program", "programs", "lane"):
            return 32
        return 64 if kind in _LEAVES or kind == "trips" else int(rest[0])


_LEAVES = frozenset(("constant", "unknown", "argument", "exact argument", "size", "program", "iteration", "lane"))
_CASTS = frozenset(("extsi", "extui", "trunci", "index_cast", "index_castui"))


class Evaluation:
    """The values of some nodes of a graph in a box."""

    def __init__(self, graph: Graph, roots: Sequence[int]) -> None:
        self.graph = graph
        self.order = graph.cone(roots)
        self.comparisons = [node for node in self.order if graph.nodes[node][0] == "cmpi"]
        self.count = 0

    def __call__(self, box: Box) -> dict[int, Value]:
        """Returns the value of each node.

        Raises:
            Empty: the box has no point.
        """
        self.count += 1
        values: dict[int, Value] = {}
        for node in self.order:
            values[node] = self._value(node, values, box)
        return values

    def _value(self, number: int, values: Mapping[int, Value], box: Box) -> Value:
        graph = self.graph
        node = graph.nodes[number]
        kind = node[0]
        if kind == "constant":
            return known((node[1], node[1]))
        if kind in ("program", "iteration", "lane"):
            return known(box[kind, node[1]])
        if kind == "argument":
            at = box.get((kind, node[1]))
            if at is None:
                given = graph.arguments.get(node[1])
                at = full(graph.width(number)) if given is None else (given, given)
            return made(at, graph.width(number))
        if kind == "exact argument":  # of Python's code, as an integer without a width
            return known(box["argument", node[1]])
        if kind == "unknown":
            return known(full(graph.width(number)))
        if kind == "size":
            size = graph.sizes.get((node[1], node[2]))
            return known((0, (1 << 63) - 1) if size is None else (size, size))
        if kind == "programs":
            return values[graph.grid[node[1]]]
        if kind == "trips":
            loop = graph.loops[node[1]]
            lower, upper, step = (values[one] for one in (loop.lower, loop.upper, loop.step))
            return trips(lower, upper, step, graph.width(loop.lower), as_unsigned=loop.is_unsigned)
        if kind == "cmpi":
            return comparison(node[2], node[1], values[node[3]], values[node[4]])
        if kind == "select":
            return selection(node[1], values[node[2]], values[node[3]], values[node[4]])
        if kind in _CASTS:
            return cast(kind, node[1], node[2], values[node[3]])
        if node[1] == 1:
            return logic(kind, values[node[2]], values[node[3]])
        a, b = (extended(values[one], graph.width(one), node[1]) for one in node[2:4])
        result = arithmetic(kind, node[1], a, b)
        bound = graph.upper(number)
        return result if bound is None else below(result, values[bound])
