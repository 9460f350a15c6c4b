# SPDX-License-Identifier: Apache-2.0
"""A view has exactly the elements for which the mask is true: its bounds, evaluated here, agree with the mask."""

from __future__ import annotations

import itertools
import operator
import random
import re

import pytest

import triton_ext as tx

SHAPE = (8, 4)
COMPARE = {"slt": operator.lt, "sle": operator.le, "sgt": operator.gt, "sge": operator.ge, "eq": operator.eq}
ARITH = {
    "addi": operator.add,
    "subi": operator.sub,
    "muli": operator.mul,
    "maxsi": max,
    "minsi": min,
    "index_cast": lambda a: a,
    "select": lambda c, a, b: a if c else b,
}
PROGRAM = """
tt.func @f(%p: !tt.ptr<f32>, %start0: i32, %start1: i32, %bound0: i32, %bound1: i32, %stride: i32) {{
  %other = arith.constant dense<1.0> : tensor<8x4xf32>
  %r0 = tt.make_range {{end = 8 : i32, start = 0 : i32}} : tensor<8xi32>
  %r1 = tt.make_range {{end = 4 : i32, start = 0 : i32}} : tensor<4xi32>
  %s0 = tt.splat %start0 : i32 -> tensor<8xi32>
  %s1 = tt.splat %start1 : i32 -> tensor<4xi32>
  %i0 = arith.addi %r0, %s0 : tensor<8xi32>
  %i1 = arith.addi %s1, %r1 : tensor<4xi32>
  %b0 = tt.splat %bound0 : i32 -> tensor<8xi32>
  %b1 = tt.splat %bound1 : i32 -> tensor<4xi32>
  %m00 = arith.cmpi {0} : tensor<8xi32>
  %m01 = arith.cmpi {1} : tensor<8xi32>
  %m0 = arith.andi %m00, %m01 : tensor<8xi1>
  %m1 = arith.cmpi {2} : tensor<4xi32>
  %m0e = tt.expand_dims %m0 {{axis = 1 : i32}} : tensor<8xi1> -> tensor<8x1xi1>
  %m1e = tt.expand_dims %m1 {{axis = 0 : i32}} : tensor<4xi1> -> tensor<1x4xi1>
  %m0b = tt.broadcast %m0e : tensor<8x1xi1> -> tensor<8x4xi1>
  %m1b = tt.broadcast %m1e : tensor<1x4xi1> -> tensor<8x4xi1>
  %mask = arith.andi %m0b, %m1b : tensor<8x4xi1>
  %strides = tt.splat %stride : i32 -> tensor<8xi32>
  %rows = arith.muli %i0, %strides : tensor<8xi32>
  %rowse = tt.expand_dims %rows {{axis = 1 : i32}} : tensor<8xi32> -> tensor<8x1xi32>
  %columns = tt.expand_dims %i1 {{axis = 0 : i32}} : tensor<4xi32> -> tensor<1x4xi32>
  %rowsb = tt.broadcast %rowse : tensor<8x1xi32> -> tensor<8x4xi32>
  %columnsb = tt.broadcast %columns : tensor<1x4xi32> -> tensor<8x4xi32>
  %o = arith.addi %rowsb, %columnsb : tensor<8x4xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x4x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %o : tensor<8x4x!tt.ptr<f32>>, tensor<8x4xi32>
  %v = tt.load %pp, %mask, %other : tensor<8x4x!tt.ptr<f32>>
  tt.store %pp, %v, %mask : tensor<8x4x!tt.ptr<f32>>
  tt.return
}}
"""


def evaluate(text: str, arguments: list[int]) -> tuple[list[tuple[list[int], ...]], tuple[list[int], ...]]:
    """Evaluates the index arithmetic. Returns offset, sizes and strides of each view, and the margins of the pad."""
    values: dict[str, int] = {f"%arg{i + 1}": value for i, value in enumerate(arguments)}

    def numbers(listed: str) -> list[int]:
        return [values[item] if item.startswith("%") else int(item) for item in re.split(r",\s*", listed)]

    views = []
    margins: tuple[list[int], ...] = ()
    for line in text.splitlines():
        if m := re.match(r"\s*(%\S+) = arith\.constant (-?\d+) : (?:index|i32)", line):
            values[m[1]] = int(m[2])
        elif m := re.match(r"\s*(%\S+) = arith\.cmpi (\w+), (%\S+), (%\S+) : index", line):
            values[m[1]] = COMPARE[m[2]](values[m[3]], values[m[4]])
        elif m := re.match(r"\s*(%\S+) = arith\.(\w+) (%[^:]*?) : (?:index|i32)", line):
            values[m[1]] = ARITH[m[2]](*numbers(m[3].strip()))
        elif m := re.search(r"offset: \[(.*?)\], sizes: \[(.*?)\], strides: \[(.*?)\]", line):
            views.append((numbers(m[1]), numbers(m[2]), numbers(m[3])))
        elif m := re.search(r"low = \[(.*?)\] high = \[(.*?)\]", line):
            margins = (numbers(m[1]), numbers(m[2]))
    return views, margins


@pytest.mark.parametrize("seed", range(60))
def test_exactly_what_the_mask_lets_through(seed: int) -> None:
    choose = random.Random(seed)
    predicates = [choose.choice(list(COMPARE)) for _ in range(3)]
    swapped = [choose.random() < 0.5 for _ in range(3)]
    sides = [("%i0", "%b0"), ("%i0", "%b0"), ("%i1", "%b1")]
    program = PROGRAM.format(
        *(f"{p}, {', '.join(s[::-1] if w else s)}" for p, s, w in zip(predicates, sides, swapped, strict=True))
    )
    text = tx.opt(program, "convert-triton-to-linalg")
    for _ in range(30):
        starts = [choose.randint(-20, 20), choose.randint(-20, 20)]
        bounds = [s + choose.randint(-4, 14) for s in starts]
        stride = choose.choice([1, 7, 100])
        views, (low, high) = evaluate(text, [*starts, *bounds, stride])

        def holds(k: int, index: int, bound: int) -> bool:
            pair = (bound, index) if swapped[k] else (index, bound)
            return COMPARE[predicates[k]](*pair)

        inside = [
            (i, j)
            for i, j in itertools.product(range(SHAPE[0]), range(SHAPE[1]))
            if holds(0, starts[0] + i, bounds[0])
            and holds(1, starts[0] + i, bounds[0])
            and holds(2, starts[1] + j, bounds[1])
        ]
        wanted = [(starts[0] + i) * stride + starts[1] + j for i, j in inside]
        assert len(views) == 2
        for (offset,), (rows, columns), (by_row, by_column) in views:
            assert rows >= 0
            assert columns >= 0
            seen = [offset + i * by_row + j * by_column for i in range(rows) for j in range(columns)]
            assert seen == wanted, text
            for size, whole, before, behind in zip((rows, columns), SHAPE, low, high, strict=True):
                assert before >= 0
                assert behind >= 0
                assert before + size + behind == whole
        if inside:
            assert tuple(low) == inside[0]


def test_values_used_twice_do_not_double_the_work() -> None:
    sums = "\n".join(f"%i{k + 1} = arith.addi %i{k}, %i{k} : tensor<8xi32>" for k in range(60))
    program = f"""
tt.func @f(%p: !tt.ptr<f32>, %i0: tensor<8xi32>) -> tensor<8xf32> {{
  {sums}
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %i60 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %v = tt.load %pp : tensor<8x!tt.ptr<f32>>
  tt.return %v : tensor<8xf32>
}}
"""
    range_first = program.replace("{\n", "{\n%i0 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>\n", 1)
    range_first = range_first.replace(", %i0: tensor<8xi32>", "")
    for text in (program, range_first):
        assert "linalg_ext.gather" in tx.opt(text, "convert-triton-to-linalg")
