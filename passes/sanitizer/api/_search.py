# SPDX-License-Identifier: Apache-2.0
"""Finds a point of a launch at which something happens, or shows that there is none: branch and bound over boxes.

A goal says of a box whether it happens at every point (True), at no point (False), or whether that is open (None). An
open box is split. The answer for a box of one point is exact, so a point that is found is a witness. What depends on
data from memory stays open.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ._intervals import FALSE, TRUE
from ._operations import Empty, Value
from ._values import Box, Evaluation, Graph, Variable

#: How many boxes one question may look at; about a second.
MOST_BOXES = 4000
#: After how many single points that stay open a search gives up.
_MOST_OPEN = 8
#: How many corners of a box are tried at most, before it is split.
_MOST_CORNERS = 64

_GIVEN_UP = "the search was given up; it looked at too many cases"

Point = dict[Variable, int]
Goal = Callable[[Mapping[int, Value]], bool | None]


@dataclass(frozen=True)
class Reach:
    """When an operation runs.

    Attributes:
        loops: the loops around it, outermost first.
        conditions: the nodes of the branches that lead to it, each with whether its condition has to be true.
        unknown: why nobody knows whether it runs; empty if the other two say it.
    """

    loops: tuple[int, ...] = ()
    conditions: tuple[tuple[int, bool], ...] = ()
    unknown: str = ""


@dataclass(frozen=True)
class Answer:
    """The answer of a search.

    Attributes:
        verdict: True if `point` was found, False if there is none, None if nobody knows.
        point: where it happens.
        why: why nobody knows.
    """

    verdict: bool | None
    point: Point = field(default_factory=dict)
    why: str = ""


class Search:
    """Searches the points at which an operation runs."""

    def __init__(
        self,
        graph: Graph,
        reach: Reach,
        shape: Sequence[int],
        *,
        roots: Sequence[int],
        goal: Goal,
        budget: int = MOST_BOXES,
    ) -> None:
        """Prepares a search.

        Args:
            graph: the integers of the kernel.
            reach: when the operation runs.
            shape: the shape of its tensor.
            roots: the nodes that `goal` looks at.
            goal: what is searched.
            budget: how many boxes may be looked at.
        """
        self.graph = graph
        self._reach, self._goal, self._budget = reach, goal, budget
        self._by_halves = True
        self._trips = [graph.add("trips", loop) for loop in reach.loops]
        steering = [*self._trips, *(node for node, _ in reach.conditions)]
        axes = {node[1] for n in graph.cone([*roots, *steering]) if (node := graph.nodes[n])[0] == "program"}
        self._axes = sorted(axes)
        grid = [graph.grid[axis] for axis in self._axes]
        self.evaluate = Evaluation(graph, [*grid, *steering, *roots])
        nodes = [graph.nodes[n] for n in self.evaluate.order]
        lanes = sorted({node[1] for node in nodes if node[0] == "lane"})
        self._lanes = {("lane", i): (0, shape[i] - 1) for i in lanes}

    def box(self, more: Box | None = None) -> Box | None:
        """Returns the box of all points; None if there is none. The variables in `more` are searched, too."""
        result: Box = dict(more or {})
        outer: Box = dict(result)
        for axis in (2, 1, 0):
            sizes = Evaluation(self.graph, [self.graph.grid[axis]])(result)[self.graph.grid[axis]]
            if sizes.exact[1] < 1:
                return None
            outer["program", axis] = (0, sizes.exact[1] - 1)
            if axis in self._axes:
                result["program", axis] = outer["program", axis]
        for loop in self._reach.loops:
            outer["iteration", loop] = (0, (1 << 63) - 1)
        for loop, trips in zip(self._reach.loops, self._trips, strict=True):
            try:
                most = Evaluation(self.graph, [trips])(outer)[trips]
            except Empty:
                return None
            limit = max(most.exact[1], most.actual[1])
            if limit < 1:
                return None
            outer["iteration", loop] = result["iteration", loop] = (0, limit - 1)
        return result | self._lanes

    def find(self, box: Box | None) -> Answer:
        """Returns a point of the box at which the goal holds."""
        if box is None:
            return Answer(verdict=False)
        for self._by_halves in (True, False):  # two ways to choose the variable along which a box is split
            answer = self._find(box)
            if answer.why != _GIVEN_UP:
                break
        return answer

    def _find(self, box: Box) -> Answer:
        stack, is_open, left = [box], 0, self.evaluate.count + self._budget
        for corner in _corners(box):
            if self._at(corner):
                return self._found(corner)
        why = ""
        while stack:
            if self.evaluate.count > left:
                return Answer(None, why=why or _GIVEN_UP)
            part = stack.pop()
            holds, _ = self._judge(part)
            if holds is False:
                continue
            low = {variable: (at[0], at[0]) for variable, at in part.items()}
            if low == part or holds:
                if holds is None and low == part:
                    is_open, why = is_open + 1, self._why_open()
                    if is_open >= _MOST_OPEN:
                        return Answer(None, why=why)
                    continue
                if low == part or self._at(low):
                    return self._found(low)
            high = {variable: (at[1], at[1]) for variable, at in part.items()}
            for corner in (low, high):
                if corner != part and self._at(corner):
                    return self._found(corner)
            stack += self._halves(part)
        return Answer(None, why=why) if is_open else Answer(verdict=False)

    def first(self, box: Box, answer: Answer) -> tuple[Point, bool]:
        """Returns the first point, and whether it is known to be the first.

        The program ids count most, from the last axis to the first, then iterations, then lanes.

        Args:
            box: the whole box.
            answer: a point that was found in it.
        """
        fixed, found = dict(box), answer
        for variable in sorted(box, key=lambda v: (_RANK[v[0]], -v[1] if v[0] == "program" else v[1])):
            found, is_known = self._least(fixed, found, variable)
            if not is_known:
                return found.point, False
            fixed[variable] = (found.point[variable],) * 2
        return found.point, True

    def least(self, box: Box, answer: Answer, variable: Variable) -> tuple[int, bool]:
        """Returns the least value of a variable at which the goal holds, and whether it is known to be the least."""
        found, is_known = self._least(box, answer, variable)
        return found.point[variable], is_known

    def _least(self, box: Box, answer: Answer, variable: Variable) -> tuple[Answer, bool]:
        low = box[variable][0]
        while low < answer.point[variable]:
            middle = (low + answer.point[variable]) // 2
            found = self.find({**box, variable: (low, middle)})
            if found.verdict is None:
                return answer, False
            if found.verdict:
                answer = found
            else:
                low = middle + 1
        return answer, True

    def at(self, point: Point) -> dict[int, Value]:
        """Returns the values of all nodes at a point."""
        return self.evaluate({variable: (at, at) for variable, at in point.items()})

    def holds_at(self, point: Point) -> bool | None:
        """Whether the operation runs at a point, and the goal holds there; None if nobody knows."""
        return self._judge({variable: (at, at) for variable, at in point.items()})[0]

    def values(self, box: Box) -> dict[int, Value] | None:
        """Returns the values of all nodes in a box; None if no point of it is reached."""
        return None if self._judge(box, lambda _: True)[0] is False else self.evaluate(box)

    def reached_corners(self, box: Box) -> Iterator[Box]:
        """Yields corners of a box at which the operation runs."""
        return (corner for corner in _corners(box) if self._judge(corner, lambda _: True)[0])

    def halves(self, box: Box) -> list[Box]:
        """Splits a box; a box of one point has no halves."""
        return self._halves(box) if any(low < high for low, high in box.values()) else []

    def _found(self, corner: Box) -> Answer:
        return Answer(verdict=True, point={variable: at[0] for variable, at in corner.items()})

    def _at(self, corner: Box) -> bool:
        return self._judge(corner)[0] is True

    def _judge(self, box: Box, goal: Goal | None = None) -> tuple[bool | None, int]:
        """Returns the goal's answer for the reached points of a box, and a measure of the part that is still open."""
        try:
            values = self.evaluate(box)
        except Empty:
            return False, 0
        runs: bool | None = None if self._reach.unknown else True
        tension = 0
        limits = [(("program", axis), self.graph.grid[axis]) for axis in self._axes]
        limits += [(("iteration", i), n) for i, n in zip(self._reach.loops, self._trips, strict=True)]
        for variable, limit in limits:
            low, high = values[limit].actual
            if box[variable][0] >= high:
                return False, 0
            if box[variable][1] >= low:
                runs = None
                tension += (high - low + box[variable][1] - box[variable][0] + 1).bit_length()
        for node, wanted in self._reach.conditions:
            actual = values[node].actual
            if actual == (FALSE if wanted else TRUE):
                return False, 0
            if actual != (TRUE if wanted else FALSE):
                runs = None
        holds = (goal or self._goal)(values)
        if holds is False:
            return False, 0
        for node in self.evaluate.comparisons:
            if values[node].actual not in (TRUE, FALSE) or not values[node].same:
                tension += sum(_extent(values[one]).bit_length() for one in self.graph.operands(node))
        # What masks leave open comes first: it may be decided for all programs at once.
        tension = tension * (4096 if self._by_halves else 1) + sum(
            _extent(values[one]).bit_length() for one in self.evaluate.order[-1:]
        )
        return (holds if runs else None), tension

    def _halves(self, box: Box) -> list[Box]:
        """Splits a box along the variable that leaves least open; the low half is looked at first."""
        wide = [variable for variable, at in box.items() if at[0] < at[1]]
        if len(wide) > 1:
            wide = [
                min((self._cost(box, variable), box[variable][0] - box[variable][1], variable) for variable in wide)[2]
            ]
        at = box[wide[0]]
        middle = (at[0] + at[1]) // 2
        return [{**box, wide[0]: (middle + 1, at[1])}, {**box, wide[0]: (at[0], middle)}]

    def _cost(self, box: Box, variable: Variable) -> tuple[int, int]:
        """Returns how many halves of a box are open, and how much is open in them."""
        low, high = box[variable]
        middle = (low + high) // 2
        if not self._by_halves:  # how much is open at the middle
            return 0, self._judge({**box, variable: (middle, middle)})[1]
        found = [self._judge({**box, variable: half}) for half in ((low, middle), (middle + 1, high))]
        return sum(holds is None for holds, _ in found), sum(tension for _, tension in found)

    def _why_open(self) -> str:
        if self._reach.unknown:
            return self._reach.unknown
        for node in self.evaluate.order:
            kind, *rest = self.graph.nodes[node]
            if kind == "unknown":
                return f"it depends on {rest[0]}" + (f" ({rest[1]})" if rest[1] else "")
        return "it depends on a division by zero, or on a shift past the width"


_RANK = {"program": 1, "iteration": 2, "lane": 3}


def _extent(value: Value) -> int:
    return max(value.exact[1], value.actual[1]) - min(value.exact[0], value.actual[0])


def _corners(box: Box) -> Iterator[Box]:
    sides = [sorted(set(at)) for at in box.values()]
    for choice in itertools.islice(itertools.product(*sides), _MOST_CORNERS):
        yield dict(zip(box, ((one, one) for one in choice), strict=True))
