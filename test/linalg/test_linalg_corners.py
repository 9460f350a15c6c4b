# SPDX-License-Identifier: Apache-2.0
"""Executes corner cases: masks that are never true, narrow indices, polls of several dimensions, percent signs."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import pytest
import torch
import triton
import triton.language as tl
import triton_ext.linalg

from support.linalg import execute

pytestmark = pytest.mark.usefixtures("stock")


@triton.jit
def in_box(x, out, LOW: tl.constexpr, HIGH: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    mask = (i >= LOW) & (i < HIGH)
    others = i.to(tl.float32)
    tl.store(out + i, tl.load(x + i, mask=mask, other=others))
    tl.store(out + BLOCK + i, tl.load(x + i, mask=mask, other=5.0) + tl.load(x + i, mask=mask))
    tl.store(out + 2 * BLOCK + i, others, mask=mask)
    tl.atomic_add(out + 3 * BLOCK + i, others, mask=mask)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("low", "high"), [(16, 16), (20, 30), (15, 16), (12, 4), (4, 12), (0, 0), (-4, -2), (-4, 3), (16, 1000)]
)
@pytest.mark.parametrize("at_end", [False, True])
def test_boxes_of_constants(low: int, high: int, at_end: bool) -> None:
    """The view of a load is as long as the box of its mask; for a box without elements there is no view."""
    first, end = max(low, 0), max(min(high, 16), 0)
    size = max(end - first, 0)
    x, out = torch.randn(end if size else 0), torch.zeros(64)
    with execute.through_linalg(at_end=at_end):
        in_box[(1,)](x, out, LOW=low, HIGH=high, BLOCK=16)
    box = slice(first, first + size)
    every = torch.arange(16.0)
    expected = torch.stack([every, torch.full((16,), 5.0), torch.zeros(16), torch.zeros(16)])
    if size:
        expected[0, box], expected[1, box] = x[box], x[box] * 2
        expected[2, box] = expected[3, box] = every[box]
    torch.testing.assert_close(out.view(4, 16), expected, rtol=0, atol=0)


@triton.jit
def in_columns(x, out, n, LOW: tl.constexpr, COLUMNS: tl.constexpr):
    i, j = tl.arange(0, 4)[:, None], tl.arange(0, COLUMNS)[None, :]
    mask = (i < n) & (j >= LOW)
    old = tl.atomic_xchg(out + i * COLUMNS + j, 3, mask=mask)
    tl.store(out + i * COLUMNS + j, tl.load(x + i * COLUMNS + j, mask=mask, other=7) + old, mask=mask)


@pytest.mark.slow
@pytest.mark.parametrize("low", [8, 6])
def test_boxes_of_a_constant_and_a_value(low: int) -> None:
    x, out = torch.arange(16, dtype=torch.int32), torch.zeros(2, 8, dtype=torch.int32)
    with execute.through_linalg(at_end=True):
        in_columns[(1,)](x if low < 8 else x[:0], out, 2, LOW=low, COLUMNS=8)
    expected = torch.zeros(2, 8, dtype=torch.int32)
    expected[:, low:] = x.view(2, 8)[:, low:]
    assert torch.equal(out, expected)


@triton.jit
def look_up(x, index, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.gather(tl.load(x + i), tl.load(index + i), 0))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.int32, torch.int64], ids=str)
def test_gather_by_narrow_indices(dtype: torch.dtype) -> None:
    """Indices are unsigned: 200 in eight bits is 200."""
    x, index, out = torch.randn(256), torch.randperm(256), torch.zeros(256)
    with execute.through_linalg(at_end=True):
        look_up[(1,)](x, index.to(dtype), out, N=256)
    assert torch.equal(out, x[index])


_POLL = """
tt.func public @poll(%x: !tt.ptr<i32>, %out: !tt.ptr<i8>) {
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %rr = tt.reshape %r : tensor<16xi32> -> tensor<2x8xi32>
  %s = tt.splat %x : !tt.ptr<i32> -> tensor<2x8x!tt.ptr<i32>>
  %q = tt.addptr %s, %rr : tensor<2x8x!tt.ptr<i32>>, tensor<2x8xi32>
  %t = arith.constant 3 : i64
  %p = tt.atomic_poll acquire, gpu, %q, %rr timeout %t : tensor<2x8x!tt.ptr<i32>>, tensor<2x8xi32> -> tensor<2x8xi1>
  %b = arith.extui %p : tensor<2x8xi1> to tensor<2x8xi8>
  %so = tt.splat %out : !tt.ptr<i8> -> tensor<2x8x!tt.ptr<i8>>
  %o = tt.addptr %so, %rr : tensor<2x8x!tt.ptr<i8>>, tensor<2x8xi32>
  tt.store %o, %b : tensor<2x8x!tt.ptr<i8>>
  tt.return
}
"""


@pytest.mark.slow
def test_polls_of_two_dimensions() -> None:
    lowered = triton_ext.linalg.convert(_POLL, lowered=True)
    function: Any = execute.build(execute.to_llvm(lowered), "poll").poll
    x, out = torch.arange(16, dtype=torch.int32), torch.zeros(16, dtype=torch.int8)
    x[5] = x[12] = -1  # the poll never sees this value
    memory = [execute.Guarded(t, at_end=True) for t in (x, out)]
    function(*(ctypes.c_int64(m.address) for m in memory), *map(ctypes.c_int32, (1, 1, 1, 0, 0, 0)))
    memory[1].copy_back()
    assert torch.equal(out.bool(), x >= 0)


_PERCENT = """
import torch, triton, triton.language as tl
from support.linalg import execute

@triton.jit
def kernel(x, BLOCK: tl.constexpr):
    value = tl.load(x + tl.arange(0, BLOCK))
    tl.device_print("100% sure: ", tl.load(x))
    tl.device_print("50% done", value)
    tl.device_print("%s%n", value)
    tl.device_print("%%")

with execute.through_linalg(at_end=True):
    kernel[(1,)](torch.arange(2, dtype=torch.int32) + 7, BLOCK=2)
"""


@pytest.mark.slow
def test_percent_signs(tmp_path: Path) -> None:
    """printf does not take any of them for a conversion."""
    done = execute.run_alone(_PERCENT, tmp_path)
    assert done.returncode == 0, done.stderr
    pid = "pid (0, 0, 0)"
    assert done.stdout.splitlines() == [
        f"{pid} idx () 100% sure: 7", f"{pid} idx (0) 50% done: 7", f"{pid} idx (1) 50% done: 8",
        f"{pid} idx (0) %s%n: 7", f"{pid} idx (1) %s%n: 8", f"{pid}%%",
    ]  # fmt: skip
