# SPDX-License-Identifier: Apache-2.0
"""Random graphs of integers with one access, as the pass `intensity` describes kernels, and the bytes that it touches,
one by one.

Most integers have 8 bits, so that they wrap around often.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

from triton_ext.sanitize._search import Reach
from triton_ext.sanitize._uses import Place, Use
from triton_ext.sanitize._values import Graph, Loop

SHAPE = (4, 2)
ARGUMENTS = {0: 5, 1: 2}


def random_graph(rng: random.Random) -> tuple[Graph, Use, tuple[int, int, int]]:
    """Returns a graph with an access in a loop, many of them tiles as kernels have them."""
    width = rng.choice((8, 8, 32))
    nodes: list[list[Any]] = [
        ["program", 0], ["program", 1], ["programs", 0], ["argument", 0], ["argument", 1],
        *(["constant", rng.choice((0, 1, 2, 3, 4, 6, 8, 16, 100))] for _ in range(4)),
        ["lane", 0], ["lane", 1], ["iteration", 0],
    ]  # fmt: skip
    loop = Loop(rng.choice((5, 0)), rng.choice((3, 4, 6)), rng.choice((4, 2)), is_unsigned=False)
    nodes.append(["muli", width, 11, loop.step])
    nodes.append(["addi", width, loop.lower, 12])  # the induction variable
    scalars, tensors = list(range(9)), [9, 10, 13]

    def add(*node: Any) -> int:
        nodes.append(list(node))
        return len(nodes) - 1

    for _ in range(rng.randint(0, 4)):
        kind = rng.choice(("addi", "subi", "muli", "divsi", "remsi", "minsi", "maxsi", "select"))
        a, b = rng.choice(scalars), rng.choice(scalars)
        if kind == "select":
            scalars.append(add("select", width, add("cmpi", width, "slt", a, b), a, rng.choice(scalars)))
        else:
            scalars.append(add(kind, width, a, b))
    pool = [*scalars, *tensors]
    for _ in range(rng.randint(1, 6)):
        kind = rng.choice(("addi", "addi", "addi", "muli", "muli", "subi", "remsi", "minsi"))
        tensors.append(add(kind, width, rng.choice(tensors), rng.choice(pool)))
        pool.append(tensors[-1])
    offset = tensors[-1]
    grid = (rng.randint(1, 4), rng.randint(1, 3), 1)
    if rng.random() < 0.7:  # tiles of programs, one behind the other, or nearly so
        sizes = {0: grid[0], 1: grid[1], 9: SHAPE[0], 10: SHAPE[1], 13: rng.randint(1, 4)}
        offset, unit = rng.choice((5, 6, 7, 8, add("constant", 110))), rng.choice((1, 1, 12))
        for one in rng.sample([*sizes], rng.randint(2, 5)):
            step = (unit + rng.choice((0, 0, 0, 1, -1))) * rng.choice((1, 1, 1, -1))
            term = add("muli", width if one < 2 else 32, one, add("constant", step))
            offset = add("addi", width if rng.random() < 0.4 else 32, offset, term)
            unit *= sizes[one]
    mask = None
    for _ in range(rng.randint(0, 2)):
        one = add("cmpi", width, rng.choice(("slt", "sle", "sgt", "ult", "eq")), rng.choice(pool), rng.choice(pool))
        mask = one if mask is None else add("andi", 1, mask, one)
    conditions = ((add("cmpi", width, "slt", 0, rng.choice(scalars)), rng.random() < 0.7),) * rng.randint(0, 1)
    graph = Graph(nodes, {0: loop}, {0: width, 1: width}, ARGUMENTS)
    use = Use("store", Place(), Reach(loops=(0,), conditions=conditions), SHAPE, mask, 0, offset, rng.choice((2, 4)))
    return graph, use, grid


def number(graph: Graph, node: int, at: dict[Any, int], grid: tuple[int, ...]) -> int:
    """Returns what a program computes.

    Raises:
        ZeroDivisionError: the program divides by zero.
    """
    kind, *rest = graph.nodes[node]
    if kind in ("program", "lane", "iteration"):
        return at[kind, rest[0]]
    if kind in ("constant", "programs", "argument"):
        return {"constant": lambda: rest[0], "programs": lambda: grid[rest[0]], "argument": lambda: ARGUMENTS[rest[0]]}[
            kind
        ]()
    a, b = (number(graph, one, at, grid) for one in rest[-2:])
    if kind == "cmpi":
        if rest[1][0] == "u":
            a, b = a % (1 << rest[0]), b % (1 << rest[0])
        order = {"lt": a < b, "le": a <= b, "gt": a > b, "q": a == b}
        return order[rest[1][1:]]
    if kind == "select":
        return a if number(graph, rest[1], at, grid) else b
    if kind == "andi":
        return a and b
    quotient = 0 if kind not in ("divsi", "remsi") else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    result = {
        "addi": a + b, "subi": a - b, "muli": a * b, "divsi": quotient, "remsi": a - quotient * b,
        "minsi": min(a, b), "maxsi": max(a, b),
    }[kind]  # fmt: skip
    half = 1 << (rest[0] - 1)
    return (result + half) % (2 * half) - half


def touched(graph: Graph, use: Use, grid: tuple[int, int, int]) -> Iterator[tuple[int, int]]:
    """Yields the programs and the bytes that they touch."""
    loop = graph.loops[0]
    for y, x in itertools.product(range(grid[1]), range(grid[0])):
        at: dict[Any, int] = {("program", 0): x, ("program", 1): y}
        if any(bool(number(graph, one, at, grid)) != wanted for one, wanted in use.reach.conditions):
            continue
        lower, upper, step = (number(graph, one, at, grid) for one in (loop.lower, loop.upper, loop.step))
        for iteration in range(len(range(lower, upper, step))):
            for lanes in itertools.product(*map(range, SHAPE)):
                at |= {("iteration", 0): iteration, ("lane", 0): lanes[0], ("lane", 1): lanes[1]}
                if use.mask is not None and not number(graph, use.mask, at, grid):
                    continue
                assert use.offset is not None
                first = number(graph, use.offset, at, grid) * use.bytes
                for byte in range(first, first + use.bytes):
                    yield y * grid[0] + x, byte
