# SPDX-License-Identifier: Apache-2.0
"""The goals of a search: integers that wrap, addresses outside of an interval, promises that are false."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ._intervals import FALSE, MAYBE, TRUE, Interval
from ._operations import Value
from ._search import Goal
from ._values import Graph

#: Numbers of nodes, each with a factor.
Terms = list[tuple[int, int]]
#: The width of integers that do not wrap.
_WIDE = 256
_ALL = Value(TRUE, TRUE, congruent=True, same=True)


def differs(value: Value) -> bool | None:
    """Whether the exact and the actual value differ."""
    if value.same:
        return False
    if value.exact[1] < value.actual[0] or value.exact[0] > value.actual[1]:
        return True
    return None


def wraps(mask: int | None, offset: int | None) -> Goal:
    """Returns the goal that an access is another one than without wrapping: another address, or an active lane."""

    def goal(values: Mapping[int, Value]) -> bool | None:
        active = _ALL if mask is None else values[mask]
        if not active.same:
            return True if MAYBE not in (active.exact, active.actual) else None
        address = False if offset is None else differs(values[offset])
        if active.actual == FALSE or address is False:
            return False
        return address if active.actual == TRUE else None

    return goal


def outside(mask: int | None, offset: int, inside: Interval, *, exact: bool) -> Goal:
    """Returns the goal that an active lane has an offset outside of an interval, which may be empty.

    Args:
        mask: the node of the mask; None if all lanes are active.
        offset: the node of the offset.
        inside: what is inside.
        exact: whether to look at exact values instead of actual ones.
    """

    def goal(values: Mapping[int, Value]) -> bool | None:
        active, at = (_ALL if mask is None else values[mask]), values[offset]
        truth = active.exact if exact else active.actual
        low, high = at.exact if exact else at.actual
        if truth == FALSE or (inside[0] <= low and high <= inside[1]):
            return False
        is_out = high < inside[0] or low > inside[1] or inside[0] > inside[1]
        return True if truth == TRUE and is_out else None

    return goal


def between(graph: Graph, offset: int, nested: Sequence[tuple[int, int]]) -> int:
    """Returns the node that says whether an offset, none of whose parts wraps, is not that of an element.

    Args:
        graph: gets the nodes.
        offset: the offset from the tensor's first element.
        nested: the sizes and strides of the tensor, the largest stride first.
    """
    terms, found = [(offset, 1)], graph.add("constant", 0)
    for size, step in nested:
        multiples, rest = _divided(graph, terms, step)
        by, left = graph.add("constant", step), _sum(graph, rest)
        quotient = graph.add("floordivsi", _WIDE, left, by)
        at = graph.add("addi", _WIDE, _sum(graph, multiples), quotient)
        outside = graph.add("cmpi", _WIDE, "uge", at, graph.add("constant", size))
        found = graph.add("ori", 1, found, outside)
        left = graph.add("subi", _WIDE, left, graph.add("muli", _WIDE, quotient, by))
        # Less than the step, as far as intervals tell.
        inside = graph.add("cmpi", _WIDE, "slt", _sum(graph, rest), by)
        inside = graph.add(
            "andi", 1, inside, graph.add("cmpi", _WIDE, "sge", _sum(graph, rest), graph.add("constant", 0))
        )
        terms = [(graph.add("select", _WIDE, inside, _sum(graph, rest), left), 1)]
    return graph.add("ori", 1, found, graph.add("cmpi", _WIDE, "ne", terms[0][0], graph.add("constant", 0)))


def _divided(graph: Graph, terms: Terms, step: int) -> tuple[Terms, Terms]:
    """Splits a sum into multiples of `step`, divided by it, and the other terms."""
    multiples: Terms = []
    rest: Terms = []
    work = list(terms)
    while work:
        node, factor = work.pop()
        kind, *operands = graph.nodes[node]
        if kind == "addi":
            work += [(one, factor) for one in operands[1:]]
        elif kind in ("extsi", "index_cast") and operands[0] >= operands[1] > 1:
            work.append((operands[2], factor))
        elif factor % step == 0:
            multiples.append((node, factor // step))
        elif kind == "muli" and (known := _constant_factor(graph, operands[1], operands[2])) is not None:
            work += [(known[0], factor * known[1])] if known[1] else []
        else:
            rest.append((node, factor))
    return multiples, rest


def _constant_factor(graph: Graph, a: int, b: int) -> tuple[int, int] | None:
    """Returns the other operand of a product, and the number that one operand is."""
    for one, other in ((a, b), (b, a)):
        node = one
        while graph.nodes[node][0] in ("extsi", "index_cast"):
            node = graph.nodes[node][3]
        kind, *rest = graph.nodes[node]
        number = rest[0] if kind == "constant" else graph.arguments.get(rest[0]) if kind == "argument" else None
        if number is not None:
            return other, number
    return None


def _sum(graph: Graph, terms: Terms) -> int:
    total = graph.add("constant", 0)
    for node, factor in terms:
        product = graph.add("muli", _WIDE, node, graph.add("constant", factor))
        total = graph.add("addi", _WIDE, total, product)
    return total


def active_and(mask: int | None, condition: int) -> Goal:
    """Returns the goal that a condition is true in an active lane."""

    def goal(values: Mapping[int, Value]) -> bool | None:
        active, holds = (_ALL if mask is None else values[mask]).actual, values[condition].actual
        if FALSE in (active, holds):
            return False
        return True if active == holds == TRUE else None

    return goal


def active_at(mask: int | None, offset: int | None, wanted: int | None) -> Goal:
    """Returns the goal that a lane is active and has an offset; None for `wanted` or `offset` if any will do."""

    def goal(values: Mapping[int, Value]) -> bool | None:
        active = (_ALL if mask is None else values[mask]).actual
        low, high = (0, 0) if offset is None or wanted is None else values[offset].actual
        at = wanted if offset is not None and wanted is not None else 0
        if active == FALSE or not low <= at <= high:
            return False
        return True if active == TRUE and low == high else None

    return goal


def changed(node: int) -> Goal:
    """Returns the goal that a value is another one than without wrapping."""
    return lambda values: differs(values[node])


def is_false(node: int) -> Goal:
    """Returns the goal that a condition is false."""
    return lambda values: {FALSE: True, TRUE: False}.get(values[node].actual)


def is_not_zero(node: int, zero: int | None) -> Goal:
    """Returns the goal that `node` is not 0 in a lane where the node `zero` is 0; without one, in any lane."""

    def goal(values: Mapping[int, Value]) -> bool | None:
        at, where = values[node].actual, (0, 0) if zero is None else values[zero].actual
        if at == (0, 0) or where[0] > 0 or where[1] < 0:
            return False
        return True if where == (0, 0) and (at[0] > 0 or at[1] < 0) else None

    return goal
