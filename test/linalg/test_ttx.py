# SPDX-License-Identifier: Apache-2.0
"""`ttx.cumsum` computes what torch does, and a kernel's scans reach it and come back."""

from __future__ import annotations

import ctypes

import pytest
import torch
import triton
import triton.language as tl

import triton_ext as tx
from support.linalg import execute
from support.linalg.on_memory import numbers, on_memory

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("stock")]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int32, torch.int8])
@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 3, 4), (4, 1)])
@pytest.mark.parametrize("reverse", [False, True])
def test_cumsum(dtype: torch.dtype, shape: tuple[int, ...], reverse: bool) -> None:
    for axis in range(len(shape)):
        x, out = numbers(*shape, dtype=dtype), torch.zeros(shape, dtype=dtype)
        attributes = f"axis = {axis} : ui32{', reverse' if reverse else ''}"
        operation = f"ttx.cumsum {{{{{attributes}}}}} ins(%m0 : {{0}}) outs(%m1 : {{1}})"
        on_memory(operation, x, out, before="lower-ttx,")
        flipped = x.flip(axis) if reverse else x
        expected = flipped.cumsum(axis, dtype=dtype)
        torch.testing.assert_close(out, expected.flip(axis) if reverse else expected)


@triton.jit
def sums(x, out, REVERSE: tl.constexpr):
    i, j = tl.arange(0, 4), tl.arange(0, 16)
    at = i[:, None] * 16 + j[None, :]
    tl.store(out + at, tl.cumsum(tl.load(x + at), 1, reverse=REVERSE))


@pytest.mark.parametrize("reverse", [False, True])
def test_a_kernel_there_and_back(reverse: bool) -> None:
    linalg = tx.linalg.compile(sums, {"x": "*i32", "out": "*i32", "REVERSE": reverse})
    assert ("ttx.cumsum" in tx.opt(linalg, "convert-scan-to-ttx")) == (not reverse)
    theirs = tx.opt(linalg, "convert-scan-to-ttx{reverse}")
    assert "ttx.cumsum" in theirs
    assert "linalg_ext.scan" not in theirs
    lowered = tx.opt(theirs, "lower-ttx,lower-linalg-ext")
    function = execute.build(execute.to_llvm(lowered), "sums").sums
    x, out = numbers(4, 16, dtype=torch.int32), torch.zeros(4, 16, dtype=torch.int32)
    function(*map(ctypes.c_int64, (x.data_ptr(), out.data_ptr())), 1, 1, 1, 0, 0, 0)
    flipped = x.flip(1) if reverse else x
    expected = flipped.cumsum(1, dtype=torch.int32)
    assert torch.equal(out, expected.flip(1) if reverse else expected)
