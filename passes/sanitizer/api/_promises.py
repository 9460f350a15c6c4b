# SPDX-License-Identifier: Apache-2.0
"""Decides, from the numbers of a launch, the promises that a kernel makes with `tl.assume` and `tl.multiple_of`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ._finding import Finding
from ._goals import is_false, is_not_zero
from ._launch import Launch
from ._located import located
from ._search import Answer, Point, Search
from ._uses import Use

#: How many lanes of a tile are looked at, one by one.
_MOST_LANES = 256


def promise(launch: Launch, use: Use, note: Callable[[str, Use, Answer], None]) -> Iterator[Finding]:
    """Yields the finding about a promise that is false.

    In a tile, `tl.multiple_of` is about the first lane of each run of contiguous ones.
    """
    assert use.value is not None
    if use.what == "assume":
        search = Search(launch.graph, use.reach, use.shape, roots=[use.value], goal=is_false(use.value))
        answer = search.find(search.box())
        message = "the condition of tl.assume is false"
    else:
        hints = dict(use.hints)
        others = [name for name in hints if name != "divisibility"]
        if others:
            why = f"{', '.join(others)} of a tensor is checked only when it runs"
            note("hints", use, Answer(None, why=why))
        if "divisibility" not in hints:
            return
        divisor = hints["divisibility"][0]
        message = f"the value is not a multiple of {divisor}, which tl.multiple_of promises"
        search, answer = _divisible(launch, use, divisor, hints.get("contiguity"))
    note("hints", use, answer)
    box = search.box()
    if answer.verdict and box is not None:
        point, _ = search.first({v: (at, at) if v[0] == "lane" else box[v] for v, at in answer.point.items()}, answer)
        shown = search.at(point)[use.value].actual[0]
        yield located(launch, use, "hints", point=point, message=message, values={"value": shown})


def _divisible(launch: Launch, use: Use, divisor: int, contiguity: tuple[int, ...] | None) -> tuple[Search, Answer]:
    """Searches a value that breaks `tl.multiple_of`."""
    assert use.value is not None
    graph = launch.graph
    rest = graph.add("remsi", 64, use.value, graph.add("constant", divisor))
    start = None
    if len(use.shape) == 1 and contiguity:
        start = graph.add("remsi", 64, graph.add("lane", 0), graph.add("constant", contiguity[0]))
    roots = [rest, use.value] if start is None else [rest, use.value, start]
    search = Search(graph, use.reach, use.shape, roots=roots, goal=is_not_zero(rest, start))
    answer = search.find(search.box())
    if not answer.verdict or not use.shape or start is not None:
        return search, answer
    if len(use.shape) > 1:
        return search, Answer(None, why="a promise about a tile with several dimensions is checked only when it runs")
    box = search.box()
    assert box is not None
    for lane in range(min(use.shape[0], _MOST_LANES)) if ("lane", 0) in box else ():
        found = search.find({**box, ("lane", 0): (lane, lane)})
        if found.verdict and (lane == 0 or not _continues(search, use.value, found.point)):
            return search, found
    return search, Answer(None, why="whether a lane is the first of a run is checked only when it runs")


def _continues(search: Search, value: int, point: Point) -> bool:
    """Whether a lane holds the number behind that of the lane before it."""
    before = {**point, ("lane", 0): point["lane", 0] - 1}
    return search.at(point)[value].actual[0] == search.at(before)[value].actual[0] + 1
