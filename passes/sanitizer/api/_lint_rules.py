# SPDX-License-Identifier: Apache-2.0
"""The rules of `triton-ext lint` that need no numbers: they hold for all arguments and grids."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ._finding import Finding
from ._intervals import FALSE, TRUE
from ._operations import Empty, Value
from ._search import Reach
from ._uses import Use
from ._values import Box, Evaluation, Graph, Variable

#: What each rule looks for; a rule is the check of its findings.
RULES = {
    "mask-always-true": "A mask that is true in every lane",
    "mask-always-false": "A mask that is false in every lane, so nothing is accessed",
    "mask-ignores-loop": "A load or store in a loop walks over a tensor in tiles, but its mask never changes",
    "missing-other": "Lanes that the mask turns off have unknown values, which become part of a result",
    "before-start": "All addresses lie before the start of the tensor",
}
_MOST_PROGRAMS = (1 << 31) - 2


@dataclass(frozen=True)
class Read:
    """A kernel whose arguments and grid are not known.

    Attributes:
        kernel: its name.
        names: the names of its arguments.
        graph: its integers.
        uses: its accesses, from the source.
        unfilled: for each line and column of a masked load without ``other``, the dimensions that matter.
    """

    kernel: str
    names: list[str]
    graph: Graph
    uses: list[Use]
    unfilled: dict[tuple[int, int], tuple[int, ...]]


def lint(read: Read) -> Iterator[Finding]:
    """Yields what is wrong with a kernel for all arguments."""
    for use in read.uses:
        if use.what in ("load", "store", "atomic"):
            for rule in (_constant_mask, _mask_in_loop, _missing_other, _before_start):
                yield from rule(read, use)


def _finding(read: Read, use: Use, rule: str, message: str, *, suggestion: str, severity: str = "warning") -> Finding:
    argument = read.names[use.argument] if use.argument is not None else None
    return Finding(
        rule, read.kernel, use.place.file, use.place.line, use.place.column, message, argument, access=use.what,
        suggestion=suggestion, severity=severity,
    )  # fmt: skip


def _constant_mask(read: Read, use: Use) -> Iterator[Finding]:
    if use.mask is None or use.why == "descriptor" or read.graph.nodes[use.mask][0] == "constant":
        return  # Triton gives an atomic operation without a mask the constant true
    value = _value(read.graph, use.reach, use.shape, use.mask)
    if value is None or not value.same:
        return
    if value.exact == TRUE:
        message = f"the mask of this {use.what} is true in every lane, whatever the arguments are"
        fix = "leave the mask away, or compare with the right bound"
        yield _finding(read, use, "mask-always-true", message, suggestion=fix, severity="note")
    elif value.exact == FALSE:
        message = f"the mask of this {use.what} is false in every lane, so nothing is accessed"
        yield _finding(read, use, "mask-always-false", message, suggestion="compare with the right bound")


def _before_start(read: Read, use: Use) -> Iterator[Finding]:
    if use.offset is None or use.argument is None:
        return
    value = _value(read.graph, use.reach, use.shape, use.offset)
    if value is not None and value.same and value.exact[1] < 0:
        message = f"this {use.what} is at least {-value.exact[1] * use.bytes} bytes before the start of the tensor"
        yield _finding(read, use, "before-start", message, suggestion="add the offset instead of subtracting it")


def _missing_other(read: Read, use: Use) -> Iterator[Finding]:
    dimensions = set(read.unfilled.get((use.place.line, use.place.column), ()))
    if use.what != "load" or use.mask is None or not dimensions:
        return
    nodes = [read.graph.nodes[node] for node in read.graph.cone([use.mask])]
    masked = {node[1] for node in nodes if node[0] == "lane"}
    if any(node[0] == "unknown" for node in nodes):
        masked |= set(range(len(use.shape)))
    value = _value(read.graph, use.reach, use.shape, use.mask)
    if not masked & dimensions or value is None or value.exact == TRUE:
        return
    yield _finding(
        read, use, "missing-other",
        "lanes that the mask turns off have an unknown value, and all lanes are combined or stored afterwards",
        suggestion="add other=, with the neutral value: 0 for a sum or tl.dot, -inf for a maximum",
    )  # fmt: skip


def _mask_in_loop(read: Read, use: Use) -> Iterator[Finding]:
    if use.mask is None or use.offset is None or not use.reach.loops:
        return
    masked = _variables(read.graph, use.mask)
    moving = _variables(read.graph, use.offset)
    for loop in use.reach.loops:
        if ("iteration", loop) in masked or ("iteration", loop) not in moving:
            continue
        bounds = read.graph.loops[loop]
        # Otherwise the loop may walk over rows of which each one is as long as the tile.
        if not _arguments(read.graph, use.mask) & _arguments(read.graph, bounds.lower, bounds.upper, bounds.step):
            continue
        lane = _tiled(read, use, loop, [v for v in moving & masked if v[0] == "lane"])
        if lane is None:
            continue
        yield _finding(
            read, use, "mask-ignores-loop",
            f"each iteration moves this {use.what} on by a whole tile along dimension {lane}, but its mask, which "
            "bounds this dimension, is the same in every iteration",
            suggestion="compare with what is left: mask=offsets < size - iteration * BLOCK",
        )  # fmt: skip


def _variables(graph: Graph, root: int) -> set[Variable]:
    return {(node[0], node[1]) for n in graph.cone([root]) if (node := graph.nodes[n])[0] in ("lane", "iteration")}


def _arguments(graph: Graph, *roots: int) -> set[int]:
    return {graph.nodes[n][1] for n in graph.cone(list(roots)) if graph.nodes[n][0] == "argument"}


def _tiled(read: Read, use: Use, loop: int, lanes: list[Variable]) -> int | None:
    """Returns the dimension along which an iteration moves an address by as much as the tile is long.

    Addresses are compared at random arguments.
    """
    assert use.offset is not None
    graph, rng = read.graph, random.Random(0)
    found = {lane for lane in lanes if use.shape[lane[1]] > 1}
    for _ in range(3):
        numbers = {number: rng.randrange(1000, 30000) for number in graph.widths}
        point = _start(graph, [use.offset], use.shape)
        offset = _at(graph, numbers, use.offset)
        base, moved = offset(point), offset({**point, ("iteration", loop): 1})
        if base is None or moved is None or moved == base:
            return None
        for lane in list(found):
            beside = offset({**point, lane: 1})
            if beside is None or beside == base or moved - base != (beside - base) * use.shape[lane[1]]:
                found.discard(lane)
    return min((lane[1] for lane in found), default=None)


def _start(graph: Graph, roots: list[int], shape: tuple[int, ...]) -> dict[Variable, int]:
    point: dict[Variable, int] = {("program", axis): 0 for axis in range(3)}
    point |= {("lane", i): 0 for i in range(len(shape))}
    return point | {(node[0], node[1]): 0 for n in graph.cone(roots) if (node := graph.nodes[n])[0] == "iteration"}


def _at(graph: Graph, numbers: dict[int, int], node: int) -> Callable[[dict[Variable, int]], int | None]:
    evaluate = Evaluation(graph, [node])
    arguments: dict[Variable, int] = {("argument", number): value for number, value in numbers.items()}

    def offset(point: dict[Variable, int]) -> int | None:
        try:
            low, high = evaluate({variable: (at, at) for variable, at in {**point, **arguments}.items()})[node].exact
        except Empty:
            return None
        return low if low == high else None

    return offset


def _value(graph: Graph, reach: Reach, shape: tuple[int, ...], node: int) -> Value | None:
    """Returns the value of a node in all lanes, iterations and programs; None if the operation never runs."""
    box: Box = {("program", axis): (0, _MOST_PROGRAMS) for axis in range(3)}
    box |= {("lane", i): (0, size - 1) for i, size in enumerate(shape)}
    for n in graph.cone([node]):
        if graph.nodes[n][0] == "iteration":
            box[graph.nodes[n][0], graph.nodes[n][1]] = (0, (1 << 62) - 1)
    try:
        return Evaluation(graph, [*(condition for condition, _ in reach.conditions), node])(box)[node]
    except Empty:
        return None
