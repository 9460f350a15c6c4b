# SPDX-License-Identifier: Apache-2.0
"""Findings have the values of the variables on their line, in the program, the iteration and the lane that is wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_ext as tx

pytestmark = pytest.mark.usefixtures("on_native_backend")


def found(kernel: Any, grid: tuple[int, ...], *arguments: Any, checks: str = "bounds", **named: Any) -> list[Any]:
    """Returns the findings about x of a launch whose wrong accesses are left out."""
    with tx.sanitize(checks, action="suppress") as report:
        kernel[grid](*arguments, **named)
    return [one for one in report.findings if one.argument == "x"]


@triton.jit
def row_sums(x, y, columns, B: tl.constexpr):
    row = tl.program_id(0)
    j = tl.arange(0, B)
    v = tl.load(x + row * columns + j, mask=j <= columns, other=0)
    tl.store(y + row, tl.sum(v, axis=0))


@pytest.mark.slow
def test_program_lane_and_argument() -> None:
    x, y = torch.zeros(8, 100), torch.zeros(8)
    with tx.sanitize() as report:
        row_sums[(8,)](x, y, 100, B=128)
    (one,) = report.findings
    assert (one.check, one.program, one.lane) == ("bounds", (7, 0, 0), 100)
    assert list(one.values.items()) == [("row", 7), ("columns", 100), ("j", 100)]
    assert "= values: row = 7, columns = 100, j = 100\n" in report.text()
    (written,) = json.loads(report.json())["findings"]
    assert written["values"] == dict(one.values)
    (result,) = json.loads(report.sarif())["runs"][0]["results"]
    assert result["properties"]["values"] == dict(one.values)


@triton.jit
def blocks(x, out, n, width, B: tl.constexpr):
    i = tl.arange(0, B)
    at = i * 2
    total = tl.zeros((B,), tl.float32)
    for k in range(3, n, 2):
        shift = k * width
        total += tl.load(x + (shift + at) // 2)
        at += 4
    tl.store(out + i, total)


@pytest.mark.slow
def test_loops() -> None:
    """In the first iteration in which the first lane is wrong. What a loop carries has the value of that iteration."""
    (one,) = found(blocks, (1,), torch.zeros(70), torch.zeros(16), 20, 12, B=16)
    shift, at = next(
        (shift, at)
        for turn, shift in enumerate(range(3 * 12, 20 * 12, 2 * 12))
        if (shift + (at := 4 * turn)) // 2 >= 70
    )
    assert (one.lane, one.coordinates) == (0, ((shift + at) // 2,))
    assert dict(one.values) == {"shift": shift, "at": at}


@triton.jit
def tiles(x, out, stride, BR: tl.constexpr, BC: tl.constexpr):
    rows = tl.program_id(1) * BR + tl.arange(0, BR)
    columns = tl.program_id(0) * BC + tl.arange(0, BC)
    at = rows[:, None] * stride + columns[None, :]
    v = tl.load(x + at)
    w = tl.load(x + rows[:, None] * stride + columns[None, :])
    tl.store(out + tl.arange(0, BR)[:, None] * BC + tl.arange(0, BC)[None, :], v + w)


@pytest.mark.slow
def test_tiles() -> None:
    """A variable of one dimension has the value of its own position in the tile."""
    first, second = found(tiles, (2, 2), torch.zeros(100), torch.zeros(64), 16, BR=4, BC=8, checks="bounds,overflow")
    # 100 = 6 * 16 + 4, which is in the lower left tile.
    assert (first.program, first.lane, dict(first.values)) == ((0, 1, 0), 2 * 8 + 4, {"at": 100})
    assert dict(second.values) == {"rows": 6, "stride": 16, "columns": 4}


@triton.jit
def product(x, y, out, rows, n, B: tl.constexpr):  # noqa: PLR0917
    i = tl.arange(0, B)
    k = tl.arange(0, B)
    left = tl.load(y + i[:, None] * B + k[None, :])
    right = tl.load(x + k[:, None] * n + i[None, :], mask=k[:, None] <= rows, other=0)
    tl.store(out + i[:, None] * B + k[None, :], tl.dot(left, right))
    zero = i[:, None] * 0
    tl.store(x + rows * n + zero + i[None, :] - 5, (k[:, None] + i[None, :]).to(tl.float32))


@pytest.mark.slow
def test_variables_that_are_equal_along_other_dimensions() -> None:
    """`i` and `k` are the same numbers, and both of them lie along both dimensions."""
    x, y, out = torch.zeros(10, 16), torch.zeros(16, 16), torch.zeros(16, 16)
    load, store = found(product, (1,), x, y, out, 10, 16, B=16, checks="bounds")
    assert (load.lane, dict(load.values)) == (160, {"k": 10, "n": 16, "i": 0, "rows": 10})
    assert (store.lane, dict(store.values)) == (5, {"rows": 10, "n": 16, "zero": 0, "i": 5, "k": 0})


@triton.jit
def element(base, step, i):
    scaled = i * step
    return tl.load(base + scaled + 1)


@triton.jit
def named_twice(x, out, step, B: tl.constexpr):
    i = tl.arange(0, B)
    v = element(x, step, i)
    i = i + 7
    w = tl.load(x + i)
    i = i - 7
    tl.store(out + i, v + w)


@pytest.mark.slow
def test_functions_and_names_that_are_assigned_again() -> None:
    inner, outer = found(named_twice, (1,), torch.zeros(20), torch.zeros(16), 3, B=16)
    assert inner.line < outer.line
    assert (inner.lane, dict(inner.values)) == (7, {"scaled": 21})
    assert (outer.lane, dict(outer.values)) == (13, {"i": 20})


@triton.jit
def gather(x, indices, out, first, B: tl.constexpr):
    i = tl.arange(0, B)
    index = tl.load(indices + i)
    spot = index * 2
    v = tl.load(x + spot + first + i * 0, mask=i < B)
    tl.store(out + i, v)


@pytest.mark.slow
def test_what_was_loaded_is_not_known() -> None:
    indices = torch.tensor([0, 1, 9, 2], dtype=torch.int32)
    (one,) = found(gather, (1,), torch.zeros(8), indices, torch.zeros(4), 3, B=4)
    assert (one.lane, dict(one.values)) == (2, {"spot": "from memory", "first": 3, "i": 2, "B": 4})


@triton.jit
def same_element(x, step):
    pid = tl.program_id(0)
    tl.store(x + pid // step, pid)


@pytest.mark.slow
def test_races() -> None:
    (one,) = found(same_element, (4,), torch.zeros(4), 2, checks="race")
    assert one.check == "race"
    assert dict(one.values) == {"pid": one.program[0], "step": 2}


@pytest.mark.slow
def test_launches_that_do_not_happen() -> None:
    x = tx.sanitize.Tensor((8, 100))
    report = tx.sanitize.check_launch(row_sums, x, tx.sanitize.Tensor((8,)), 100, B=128, grid=(8,), target="cuda:90")
    (one,) = report.findings
    assert [*one.values.items()][-3:] == [("row", 7), ("columns", 100), ("j", 100)]


@pytest.mark.slow
def test_kernels_of_one_name_are_told_apart() -> None:
    """Two launches with the same integers, one of them with other constants: the address says which one it was."""
    with tx.sanitize("bounds", action="suppress") as report:
        for block in (64, 128):
            row_sums[(8,)](torch.zeros(8, 100), torch.zeros(8), 100, B=block)
    (one,) = report.findings
    assert one.values["j"] == 100


@triton.jit
def copied_rows(x, out, n, B: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + row * n + i, mask=i < n)
    tl.store(out + row * B + i, v)
    w = tl.load(x + row * n + i, mask=i < n)
    tl.store(out + row, tl.sum(w))


@pytest.mark.slow
def test_masked_lanes() -> None:
    """In the lane of the load that is off; where a lane of the result has many of the load, only scalars are known."""
    one, mixed = found(copied_rows, (3,), torch.zeros(3, 12), torch.zeros(3, 16), 12, B=16, checks="lanes")
    assert (one.check, one.program, one.lane) == ("lanes", (0, 0, 0), 12)
    assert dict(one.values) == {"row": 0, "n": 12, "i": 12}
    assert dict(mixed.values) == {"row": 0, "n": 12}


@triton.jit
def quotients(x, y, n, B: tl.constexpr):
    row = tl.program_id(0)
    i = row * B + tl.arange(0, B)
    off = i - 5
    first = i * n
    q = (first + row) // off
    tl.store(y + i, q)
    for k in range(n):
        late = i + first + k
        tl.store(y + i, tl.sum(late // (i - 6 - k), axis=0) + first)
    tl.store(y + off + first % 8 + 5, tl.load(x + i))


@pytest.mark.slow
def test_operands_and_variables_of_divisions() -> None:
    """A sum may have other lanes than the tensors beside it, so its line shows scalars and operands only."""
    x, y = torch.zeros(16, dtype=torch.int32), torch.zeros(32, dtype=torch.int32)
    with tx.sanitize("arith") as report:
        quotients[(2,)](x, y, 3, B=8)
    one, summed = report.findings
    assert (one.program, one.lane, one.values) == (
        (0, 0, 0), 5, {"lhs": 15, "first": 15, "row": 0, "off": 0},
    )  # fmt: skip
    assert (summed.lane, summed.values) == (6, {"late": 24, "rhs": 0})
