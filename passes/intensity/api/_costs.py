# SPDX-License-Identifier: Apache-2.0
"""Sums the tree that the pass `intensity` writes: what each line of a kernel loads, stores and computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ._conditions import (
    Condition,
    Literal,
    Reason,
    Test,
    Unknown,
    conjuncts,
    count,
    number_of,
    opposite,
    product,
)
from ._expression import Poly, Symbol, divide, extreme, poly
from ._footprint import Place
from ._graph import Check, Graph, iteration, lane, program, programs
from ._sums import total

#: The quantities: bytes loaded and stored, and FLOPs.
LOADS, STORES, FLOPS = "loads", "stores", "flops"


@dataclass(frozen=True)
class Cost:
    """The bytes or FLOPs of one operation of a kernel in a launch.

    Attributes:
        quantity: ``loads``, ``stores`` (bytes) or ``flops``.
        kind: the kind of FLOPs: ``add``, ``mul``, ``fma``, ``div``, ``transcendental`` or ``dot``; empty if it is not
            known.
        type: the type of the operands of FLOPs, e.g. ``bf16``.
        line: ``file:line`` in the source.
        amount: how much; None if it is not known.
        reasons: why `amount` is an upper bound, or is not known; empty if it is exact.
        checks: what has to hold for the numbers of a launch.
        ranges: the symbols in `checks`, outermost first, each with the count of its values.
        place: the addresses of an access, if they are known.
    """

    quantity: str
    kind: str
    type: str
    line: str
    amount: Poly | None
    reasons: tuple[Reason, ...] = ()
    checks: frozenset[Check] = frozenset()
    ranges: tuple[tuple[Symbol, Poly], ...] = ()
    place: Place | None = None


class Summation:
    """The costs of a kernel."""

    def __init__(self, description: Mapping[str, Any], names: Sequence[str], told: Mapping[str, Poly]) -> None:
        """Sums the costs.

        Args:
            description: what the pass writes.
            names: the names of the arguments.
            told: trip counts of loops, by line.
        """
        self.graph = Graph(description["nodes"], list(names))
        self._told = told
        found = self._items(description["body"])
        for axis in (2, 1, 0):
            found = [_repeated(one, program(axis), poly(programs(axis))) for one in found]
        self.costs = tuple(found)

    def _items(self, items: Sequence[Mapping[str, Any]]) -> list[Cost]:
        return [cost for item in items for cost in getattr(self, f"_{item['what']}")(item)]

    def _load(self, item: Mapping[str, Any]) -> list[Cost]:
        return [self._access(item, LOADS, item["bytes"])]

    def _store(self, item: Mapping[str, Any]) -> list[Cost]:
        return [self._access(item, STORES, item["bytes"])]

    def _flops(self, item: Mapping[str, Any]) -> list[Cost]:
        return [self._access({"shape": [], **item}, FLOPS, item["count"])]

    def _access(self, item: Mapping[str, Any], quantity: str, each: int) -> Cost:
        shape = item["shape"]
        lanes = [lane(i, size) for i, size in enumerate(shape)]
        mask = item.get("mask")
        condition = Literal(True) if mask is None else self.graph.condition(mask, shape)
        counted = count(condition, lanes)
        reasons = tuple(Reason(one.line or item["line"], f"the mask depends on {one.why}") for one in counted.reasons)
        checks = frozenset() if mask is None else self.graph.checks(mask, shape)
        ranges = tuple((symbol, poly(symbol.extent)) for symbol in lanes)
        kind, type_ = item.get("kind", ""), item.get("type", "")
        place = self._place(item, condition, checks)
        return Cost(quantity, kind, type_, item["line"], counted.lanes * each, reasons, checks, ranges, place)

    def _place(self, item: Mapping[str, Any], mask: Condition, checks: frozenset[Check]) -> Place | None:
        if "argument" not in item:
            return None
        try:
            offset = self.graph.number(item["offset"], item["shape"])
        except Unknown:
            return None
        tests = tuple(one.value for one in conjuncts(mask) if isinstance(one, Test) and one.test == ">=")
        checks = checks | self.graph.checks(item["offset"], item["shape"])
        place = Place(self.graph.arguments[item["argument"]], offset, item["bytes"], tests, checks)
        return place.within(mask)

    def _times(self, item: Mapping[str, Any]) -> list[Cost]:
        return [_scaled(cost, poly(item["count"])) for cost in self._items(item["body"])]

    def _hint(self, _: Mapping[str, Any]) -> list[Cost]:
        return []

    _assume = _hint

    def _unknown(self, item: Mapping[str, Any]) -> list[Cost]:
        which = (FLOPS,) if item["of"] == "flops" else (LOADS, STORES, FLOPS)
        reason = (Reason(item["line"], item["why"]),)
        return [Cost(quantity, "", "", item["line"], None, reason) for quantity in which]

    def _loop(self, item: Mapping[str, Any]) -> list[Cost]:
        symbol, line = iteration(item["loop"]), item["line"]
        bounds = [item[name] for name in ("lower", "upper", "step")]
        checks = frozenset[Check]()
        trips = told = self._told_at(line)
        reason = None
        if trips is None:
            try:
                lower, upper, step = map(self.graph.number, bounds)
                trips = extreme("max", (poly(0), divide(upper - lower + step - 1, step)))
                checks = frozenset().union(*map(self.graph.checks, bounds))
                checks |= {Check(step, 1, None)}
                if item["unsigned"]:
                    checks |= {Check(lower, 0, None), Check(upper, 0, None)}
            except Unknown as unknown:
                reason = Reason(unknown.reason.line or line, f"the loop's trip count depends on {unknown.reason.why}")
        runs: Condition = Literal(True)
        if trips is not None:
            self.graph.trips[item["loop"]] = trips
            # That an iteration runs, without the quotient that rounds.
            left = trips - 1 - poly(symbol) if told is not None else upper - 1 - lower - step * poly(symbol)
            runs = Test(">=", left)
        body = self._items(item["body"])
        if trips is None:
            return [_unknown(cost, reason or Reason(line, "a loop")) for cost in body]
        repeated = (_repeated(_within(cost, runs), symbol, trips) for cost in body)
        return [replace(one, checks=one.checks | checks) for one in repeated]

    def _while(self, item: Mapping[str, Any]) -> list[Cost]:
        before, after = self._items(item["before"]), self._items(item["after"])
        trips = self._told_at(item["line"])
        if trips is None:
            reason = Reason(item["line"], "the trip count of a while loop")
            return [_unknown(cost, reason) for cost in before + after]
        return [_scaled(cost, trips + 1) for cost in before] + [_scaled(cost, trips) for cost in after]

    def _if(self, item: Mapping[str, Any]) -> list[Cost]:
        then, otherwise = self._items(item["then"]), self._items(item["else"])
        condition = self.graph.condition(item["condition"])
        then = [_within(cost, condition) for cost in then]
        otherwise = [_within(cost, opposite(condition)) for cost in otherwise]
        try:
            truth = number_of(condition)
            found = [_chosen(cost, truth) for cost in then] + [_chosen(cost, 1 - truth) for cost in otherwise]
        except Unknown as unknown:
            why = f"the branch depends on {unknown.reason.why}"
            return _larger(then, otherwise, Reason(unknown.reason.line or item["line"], why), item["line"])
        checks = self.graph.checks(item["condition"])
        return [replace(cost, checks=cost.checks | checks) for cost in found]

    def _told_at(self, line: str) -> Poly | None:
        return next(
            (trips for at, trips in self._told.items() if line == at or line.endswith((f":{at}", f"/{at}"))), None
        )


def _within(cost: Cost, condition: Condition) -> Cost:
    """Returns the cost of an operation that runs if a condition holds, with its place; the amount stays."""
    return cost if cost.place is None else replace(cost, place=cost.place.within(condition))


def _repeated(cost: Cost, symbol: Symbol, times: Poly) -> Cost:
    amount = None if cost.amount is None else total(symbol, times, cost.amount)
    return replace(cost, amount=amount, ranges=((symbol, times), *cost.ranges))


def _scaled(cost: Cost, by: Poly) -> Cost:
    return replace(cost, amount=None if cost.amount is None else cost.amount * by)


def _chosen(cost: Cost, truth: Poly) -> Cost:
    """Returns the cost of a branch that runs if `truth` is 1.

    Raises:
        Unknown: the expression would be too long, as it doubles with each of many nested branches.
    """
    return replace(cost, amount=None if cost.amount is None else product(cost.amount, truth))


def _unknown(cost: Cost, reason: Reason) -> Cost:
    return replace(cost, amount=None, reasons=(*cost.reasons, reason), checks=frozenset(), ranges=())


def _larger(then: list[Cost], otherwise: list[Cost], reason: Reason, line: str) -> list[Cost]:
    """Returns bounds for one of two branches: for each kind the larger of both, exact if both are equal."""
    found = []
    for key in dict.fromkeys((cost.quantity, cost.kind, cost.type) for cost in then + otherwise):
        sides = [[c for c in side if (c.quantity, c.kind, c.type) == key] for side in (then, otherwise)]
        amounts = [sum((c.amount for c in side if c.amount is not None), poly(0)) for side in sides]
        present = [cost for side in sides for cost in side]
        unknown = any(cost.amount is None for cost in present)
        if not unknown and sides[0] and sides[1]:
            is_equal = amounts[0] == amounts[1]
            reasons = tuple(dict.fromkeys(r for c in present for r in c.reasons)) + (() if is_equal else (reason,))
            checks = frozenset().union(*(c.checks for c in present))
            ranges = tuple(dict.fromkeys(r for c in present for r in c.ranges))
            amount = amounts[0] if is_equal else extreme("max", amounts)
            found.append(Cost(*key, line, amount, reasons, checks, ranges))
        else:
            found += [replace(cost, reasons=(*cost.reasons, reason)) for cost in present]
    return found
