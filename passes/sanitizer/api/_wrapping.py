# SPDX-License-Identifier: Apache-2.0
"""Finds which integer wraps and how far its values reach, and describes that in words."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Mapping

from ._finding import Finding
from ._intervals import UNSIGNED
from ._launch import Launch
from ._located import lane_of, program_of, shown_at
from ._operations import Value, reads_same
from ._search import Answer, Search
from ._uses import Use
from ._values import Box

_SIGNS = {"addi": "+", "subi": "-", "muli": "*", "shli": "<<", "trunci": "conversion to i", "index_cast": "conversion"}
_CASTS = ("extsi", "extui", "index_cast", "index_castui")
_NEUTRAL = ("addi", "subi", "muli", "shli", "andi", "ori", "xori", "trunci", "select")
#: How many boxes the search of the least or greatest value may look at.
_MOST_BOXES = 300


def blamed(launch: Launch, use: Use, values: Mapping[int, Value]) -> int:
    """Returns the node that wraps at a point: the first one on the way to what is wrong there.

    Args:
        launch: the launch.
        use: what is wrong.
        values: the values of all nodes at the point.
    """
    roots = [node for node in (use.mask, use.offset, use.value) if node is not None]
    root = next((node for node in roots if not values[node].same), roots[-1])
    is_unsigned = False
    while True:
        wrong = [
            (node, reading)
            for node, reading in _readings(launch, root, is_unsigned=is_unsigned)
            if not reads_same(values[node], launch.graph.width(node), as_unsigned=reading)
        ]
        if not wrong:
            return root
        root, is_unsigned = wrong[0]


def _readings(launch: Launch, number: int, *, is_unsigned: bool) -> list[tuple[int, bool]]:
    """Returns the operands of a node, each with whether it is read as unsigned."""
    kind, *rest = launch.graph.nodes[number]
    operands = launch.graph.operands(number)
    upper = launch.graph.upper(number) if kind == "addi" else None
    if upper is not None:
        operands = [one for one in operands if one != upper]
    if kind == "cmpi":
        is_unsigned = rest[1].startswith("u")
    elif kind in _CASTS:
        is_unsigned = kind in ("extui", "index_castui")
    elif kind in UNSIGNED:
        is_unsigned = True
    elif kind not in _NEUTRAL:
        is_unsigned = False
    return [(one, is_unsigned) for one in operands]


def described(launch: Launch, use: Use, search: Search, answer: Answer, node: int) -> Finding:
    """Returns the finding that `node` wraps, at the point of the answer."""
    graph = launch.graph
    value = search.at(answer.point)[node]
    width = graph.width(node)
    low, high = least(search, node), greatest(search, node)
    span = {"least": low[0], "greatest": high[0]} if low[1] and high[1] else {}
    sign = _SIGNS.get(graph.nodes[node][0], "")
    where = launch.places[node] if node < len(launch.places) and launch.places[node].line else use.place
    limits = f"i{width} holds {-(1 << (width - 1)):,} to {(1 << (width - 1)) - 1:,}"
    reach = f"; in this launch it would reach from {low[0]:,} to {high[0]:,}" if span else ""
    operation = f"this '{sign}'" if sign in ("+", "-", "*", "<<") else "this conversion" if sign else "this operation"
    wrong = {"loop": "the loop's trip count", "if": "the branch"}.get(
        use.what, f"the {use.what} in line {use.place.line}"
    )
    argument = launch.names[use.argument] if use.argument is not None else None
    memory = launch.memories.get(argument) if argument is not None else None
    shape, strides, kind = (memory.shape, memory.strides, memory.dtype) if memory is not None else (None, None, "")
    return Finding(
        "overflow", launch.kernel, where.file, where.line, where.column,
        f"{operation} wraps in i{width}: it gives {value.actual[0]:,} instead of {value.exact[0]:,} ({limits}){reach}; "
        f"{wrong} uses it",
        argument, shape, strides, kind, program=program_of(answer.point), lane=lane_of(answer.point, use.shape),
        access=use.what if use.what in ("load", "store", "atomic") else "",
        values={
            "exact": value.exact[0], "actual": value.actual[0], **span, **shown_at(launch, use, answer.point, where)
        },
        suggestion="convert an operand to tl.int64 before this operation, e.g. tl.program_id(0).to(tl.int64)"
        if width < 64
        else "",
    )  # fmt: skip


def least(search: Search, node: int) -> tuple[int, bool]:
    """Returns the least exact value of a node where it is computed, and whether it is known to be the least."""
    low, is_known = _greatest(search, node, -1)
    return -low, is_known


def greatest(search: Search, node: int) -> tuple[int, bool]:
    """Returns the greatest exact value of a node where it is computed, and whether it is known to be the greatest."""
    return _greatest(search, node, 1)


def _greatest(search: Search, node: int, sign: int) -> tuple[int, bool]:
    """Best first: of all boxes that are left, the one that may hold the greatest value is split."""

    def bound(box: Box) -> int | None:
        found = search.values(box)
        return None if found is None else max(sign * at for at in found[node].exact)

    whole = search.box()
    assert whole is not None
    best: int | None = None
    numbers = itertools.count()
    heap = [(-(bound(whole) or 0), next(numbers), whole)]
    for _ in range(_MOST_BOXES):
        if not heap or (best is not None and -heap[0][0] <= best):
            assert best is not None
            return best, True
        _, _, box = heapq.heappop(heap)
        for corner in search.reached_corners(box):
            at = bound(corner)
            if at is not None and (best is None or at > best):
                best = at
        for part in search.halves(box):
            at = bound(part)
            if at is not None and (best is None or at > best):
                heapq.heappush(heap, (-at, next(numbers), part))
    return (best if best is not None else -heap[0][0]), False
