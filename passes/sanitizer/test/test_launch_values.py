# SPDX-License-Identifier: Apache-2.0
"""The arithmetic behind `check_launch`: every point of random boxes lies in what is said of the box."""

from __future__ import annotations

import itertools
import random

import pytest
from triton_ext.sanitize._intervals import full
from triton_ext.sanitize._operations import Value
from triton_ext.sanitize._values import Box, Evaluation, Graph, Variable

RINGS = ("addi", "subi", "muli", "andi", "ori", "xori", "minsi", "maxsi", "minui", "maxui")
DIVISIONS = ("divsi", "divui", "remsi", "remui", "ceildivsi", "floordivsi")
PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")


def signed(bits: int, width: int) -> int:
    """Returns the low bits as a signed integer; of i1 as 0 or 1."""
    bits &= (1 << width) - 1
    return bits - (1 << width) if width > 1 and bits >> (width - 1) else bits


def truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def binary(kind: str, width: int, a: int, b: int) -> int | None:
    """Returns what the hardware computes; None if it is undefined."""
    ua, ub = a & ((1 << width) - 1), b & ((1 << width) - 1)
    if kind in DIVISIONS and b == 0:
        return None
    if kind in ("shli", "shrsi", "shrui"):
        if ub >= width:
            return None
        return signed({"shli": ua << ub, "shrsi": a >> ub, "shrui": ua >> ub}[kind], width)
    results = {
        "addi": a + b, "subi": a - b, "muli": a * b, "andi": a & b, "ori": a | b, "xori": a ^ b,
        "minsi": min(a, b), "maxsi": max(a, b), "minui": min(ua, ub), "maxui": max(ua, ub),
    }  # fmt: skip
    if kind in results:
        return signed(results[kind], width)
    divided = {
        "divsi": lambda: truncated(a, b), "divui": lambda: ua // ub, "remsi": lambda: a - truncated(a, b) * b,
        "remui": lambda: ua % ub, "ceildivsi": lambda: -(-a // b), "floordivsi": lambda: a // b,
    }  # fmt: skip
    return signed(divided[kind](), width)


def holds(predicate: str, width: int, a: int, b: int) -> bool:
    if predicate[0] == "u":
        a, b, predicate = a & ((1 << width) - 1), b & ((1 << width) - 1), f"s{predicate[1:]}"
    return {"eq": a == b, "ne": a != b, "slt": a < b, "sle": a <= b, "sgt": a > b, "sge": a >= b}[predicate]


def generated(rng: random.Random) -> Graph:
    """Returns a random graph over two lanes and a program id, with widths of 6, 8 and 1."""
    nodes: list[list[object]] = [["lane", 0], ["lane", 1], ["program", 0], ["constant", rng.randint(-3, 40)]]
    widths = [8, 8, 8, 8]
    for _ in range(rng.randint(3, 9)):
        width = rng.choice((6, 8))
        words = [i for i, one in enumerate(widths) if one == width] or [0, 1, 2]
        truths = [i for i, one in enumerate(widths) if one == 1]
        a, b = rng.choice(words), rng.choice(words)
        width = widths[a] if widths[a] == widths[b] else 8
        choice = rng.random()
        if choice < 0.55:
            kind = rng.choice((*RINGS, *DIVISIONS, "shli", "shrsi", "shrui"))
            nodes.append([kind, width, a, b])
            widths.append(width)
        elif choice < 0.7:
            nodes.append(["cmpi", width, rng.choice(PREDICATES), a, b])
            widths.append(1)
        elif choice < 0.8 and truths:
            nodes.append(["select", width, rng.choice(truths), a, b])
            widths.append(width)
        elif choice < 0.85 and truths:
            nodes.append([rng.choice(("andi", "ori", "xori")), 1, rng.choice(truths), rng.choice(truths)])
            widths.append(1)
        elif choice < 0.9:
            nodes.append(["constant", rng.randint(-40, 40)])
            widths.append(8)
        else:
            to = 14 - width
            nodes.append([rng.choice(("extsi", "extui")) if to > width else "trunci", to, width, a])
            widths.append(to)
    return Graph(nodes, {}, {}, {})


def computed(graph: Graph, point: dict[Variable, int]) -> list[int | None]:
    """Returns what the hardware computes for each node; None where it is undefined."""
    found: list[int | None] = []
    for kind, *rest in graph.nodes:
        if kind == "constant":
            found.append(rest[0])
        elif kind in ("lane", "program"):
            found.append(point[kind, rest[0]])
        else:
            operands = [found[one] for one in graph.operands(len(found))]
            if None in operands:
                found.append(None)
            elif kind == "cmpi":
                found.append(int(holds(rest[1], rest[0], *operands)))
            elif kind == "select":
                found.append(operands[1] if operands[0] else operands[2])
            elif kind in ("extsi", "trunci"):
                found.append(signed(operands[0], rest[0]))
            elif kind == "extui":
                found.append(operands[0] & ((1 << rest[1]) - 1))
            else:
                found.append(binary(kind, rest[0], *operands))
    return found


def check(value: Value, point: Value, actual: int, width: int) -> None:
    assert point.actual == (actual, actual)
    assert value.actual[0] <= actual <= value.actual[1]
    assert value.exact[0] <= point.exact[0] <= value.exact[1]
    assert point.exact[0] == point.exact[1]
    if value.same:
        assert point.exact == point.actual
    if value.congruent:
        assert (point.exact[0] - actual) % (1 << width) == 0


@pytest.mark.slow
def test_every_point_lies_in_its_box() -> None:
    rng = random.Random(5)
    undefined = same = wrapped = 0
    for _ in range(250):
        graph = generated(rng)
        evaluate = Evaluation(graph, range(len(graph.nodes)))
        sides = [sorted((rng.randint(0, 31), rng.randint(0, 31))) for _ in range(3)]
        variables: list[Variable] = [("lane", 0), ("lane", 1), ("program", 0)]
        box: Box = {variable: (at[0], min(at[1], at[0] + 4)) for variable, at in zip(variables, sides, strict=True)}
        values = evaluate(box)
        for at in itertools.product(*(range(low, high + 1) for low, high in box.values())):
            point = dict(zip(variables, at, strict=True))
            points = evaluate({variable: (one, one) for variable, one in point.items()})
            for node, actual in enumerate(computed(graph, point)):
                if actual is None:
                    undefined += 1
                    assert (
                        values[node].actual == full(graph.width(node))
                        or values[node].actual[0] < values[node].actual[1]
                    )
                else:
                    check(values[node], points[node], actual, graph.width(node))
                    same += points[node].same
                    wrapped += not points[node].same
    assert min(undefined, same, wrapped) > 500
