# SPDX-License-Identifier: Apache-2.0
"""Executes kernels with hints that the end of a tile does not keep, with intended wrapping, with barriers, and with
tensors of no dimension.

Every tensor ends, and then begins, at a page without access rights.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_ext as tx
from support.linalg import execute

pytestmark = pytest.mark.usefixtures("stock")


@triton.jit
def clamped(x, out, n, COLUMNS: tl.constexpr, BLOCK: tl.constexpr):
    """The kernel clamps the rows of a matrix as the tutorials do, and then declares them contiguous."""
    start = tl.program_id(0) * BLOCK
    i = start + tl.arange(0, BLOCK)
    j = tl.where(i < n, i, 0)
    j = tl.max_contiguous(tl.multiple_of(j, BLOCK), BLOCK)
    k = tl.arange(0, COLUMNS)
    value = tl.load(x + j[:, None] * COLUMNS + k[None, :])
    # The remainder would be right only for rows whose length is a multiple of BLOCK.
    other = tl.load(x + (j[:, None] + k[None, :] * 0) % 4)
    tl.store(out + i[:, None] * COLUMNS + k[None, :], value + other, mask=i[:, None] < n)


@pytest.mark.parametrize("n", [1, 37, 64])
@pytest.mark.parametrize("at_end", [True, False])
def test_tiles_that_are_clamped(n: int, *, at_end: bool) -> None:
    x, out = torch.randn(n, 4), torch.zeros(n, 4)
    with execute.through_linalg(at_end=at_end):
        clamped[(triton.cdiv(n, 32),)](x, out, n, COLUMNS=4, BLOCK=32)
    rows = x.flatten()[torch.arange(n) % 4]
    assert torch.equal(out, x + rows[:, None])


@triton.jit
def same_rows(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    j = tl.max_constancy(i // n, BLOCK)
    tl.store(out + i, tl.load(x + j))


@pytest.mark.slow
def test_constancy_that_does_not_hold() -> None:
    x, out = torch.randn(8), torch.zeros(32)
    with execute.through_linalg(at_end=True):
        same_rows[(1,)](x, out, 5, BLOCK=32)
    assert torch.equal(out, x[torch.arange(32) // 5])


@triton.jit
def sign_of_bits(i):
    return (i << 28) >> 28


@triton.jit
def sign_of_wide_bits(i):
    return ((i << 28).to(tl.int64) >> 28).to(tl.int32)


@triton.jit
def quotient(i):
    return (i * 0x20000000) // 0x20000000


@triton.jit
def quotient_of_mixed(i):
    return ((i ^ 1) * 0x20000000) // 0x10000000


@triton.jit
def rest(i):
    return (i * 0x20000000) % 0x40000000 // 0x20000000


@triton.jit
def quotient_of_shifted(i):
    return (i << 30) // 0x20000000


@triton.jit
def wrapped(x, out, of: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + 8 + of(i)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("of", "expected"),
    [
        (sign_of_bits, lambda i: (i << 28) >> 28),
        (sign_of_wide_bits, lambda i: (i << 28) >> 28),
        (quotient, lambda i: torch.div(i * 0x20000000, 0x20000000, rounding_mode="trunc")),
        (quotient_of_mixed, lambda i: torch.div((i ^ 1) * 0x20000000, 0x10000000, rounding_mode="trunc")),
        (rest, lambda i: torch.div(torch.fmod(i * 0x20000000, 0x40000000), 0x20000000, rounding_mode="trunc")),
        (quotient_of_shifted, lambda i: torch.div(i << 30, 0x20000000, rounding_mode="trunc")),
    ],
    ids=lambda case: getattr(case, "__name__", ""),
)
def test_numbers_that_wrap(of: Any, expected: Callable[[torch.Tensor], torch.Tensor]) -> None:
    offsets = expected(torch.arange(16, dtype=torch.int32)).long()
    assert offsets.min() >= -8
    x = torch.randn(8 + int(offsets.max()) + 1)
    for at_end in (True, False):
        out = torch.zeros(16)
        with execute.through_linalg(at_end=at_end):
            wrapped[(1,)](x, out, of, BLOCK=16)
        assert torch.equal(out, x[8 + offsets])


@triton.jit
def one_after_the_other(lock, out):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(out, tl.load(out) + tl.program_id(0))
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@pytest.mark.slow
def test_a_barrier_waits_for_nobody() -> None:
    lock, out = torch.zeros(1, dtype=torch.int32), torch.zeros(1)
    with execute.through_linalg(at_end=True):
        one_after_the_other[(5,)](lock, out)
    assert (lock.tolist(), out.tolist()) == ([0], [10.0])


_NO_DIMENSIONS = """
tt.func public @f(%x: !tt.ptr<f32>, %n: !tt.ptr<i32>, %c: i1) {
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<!tt.ptr<f32>>
  %m = tt.splat %c : i1 -> tensor<i1>
  %one = arith.constant dense<1> : tensor<i32>
  %other = arith.constant dense<2.0> : tensor<f32>
  %q = tt.addptr %p, %one : tensor<!tt.ptr<f32>>, tensor<i32>
  %v = tt.load %p, %m, %other : tensor<!tt.ptr<f32>>
  %w = arith.addf %v, %v : tensor<f32>
  tt.store %q, %w, %m : tensor<!tt.ptr<f32>>
  %ns = tt.splat %n : !tt.ptr<i32> -> tensor<!tt.ptr<i32>>
  %old = tt.atomic_rmw add, acq_rel, gpu, %ns, %one, %m : (tensor<!tt.ptr<i32>>, tensor<i32>, tensor<i1>) -> tensor<i32>
  %mask = tt.expand_dims %m {axis = 0 : i32} : tensor<i1> -> tensor<1xi1>
  %r = tt.addptr %q, %one : tensor<!tt.ptr<f32>>, tensor<i32>
  %line = tt.expand_dims %r {axis = 0 : i32} : tensor<!tt.ptr<f32>> -> tensor<1x!tt.ptr<f32>>
  %value = tt.expand_dims %w {axis = 0 : i32} : tensor<f32> -> tensor<1xf32>
  tt.store %line, %value, %mask : tensor<1x!tt.ptr<f32>>
  tt.return
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("holds", [True, False])
def test_tensors_of_no_dimension(*, holds: bool) -> None:
    """Elements that are masked off are not accessed: there is no memory at address 0."""
    module = tx.linalg.convert(_NO_DIMENSIONS, lowered=True)
    function: Any = execute.build(execute.to_llvm(module), "f").f
    x, n = torch.tensor([3.0, 0.0, 0.0]), torch.tensor([5], dtype=torch.int32)
    memory = [execute.Guarded(tensor, at_end=True) for tensor in (x, n)]
    pointers = [ctypes.c_int64(guarded.address if holds else 0) for guarded in memory]
    function(*pointers, ctypes.c_bool(holds), *map(ctypes.c_int32, (1, 1, 1, 0, 0, 0)))
    for guarded in memory:
        guarded.copy_back()
    assert x.tolist() == ([3.0, 6.0, 6.0] if holds else [3.0, 0.0, 0.0])
    assert n.tolist() == [6 if holds else 5]
