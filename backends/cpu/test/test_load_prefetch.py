# SPDX-License-Identifier: Apache-2.0
"""A loop over K prefetches what its next iteration loads, if that lies behind each row of the tile: no other lines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
import triton
import triton.language as tl
from triton.compiler.compiler import CompiledKernel
from triton_ext.backends.cpu import _library, _machine_code

from support.cpu import emulated_units

PREFETCH = r"(?:tail )?call void @llvm\.prefetch\.p0\(ptr (?:\w+ )*(%\S+), i32 0, i32 3, i32 1\)"
M = 4


@triton.jit
def sums(a, out, number, K: tl.constexpr, ROWS: tl.constexpr, BK: tl.constexpr, KIND: tl.constexpr):
    step = tl.load(number)
    m, k = tl.arange(0, ROWS), tl.arange(0, BK)
    at = a + m[:, None] * K + k[None, :]
    total = tl.zeros((ROWS, BK), tl.float32)
    for start in range(0, K, BK):
        if KIND == "index":
            total += tl.load(a + m[:, None] * K + start + k[None, :])
        elif KIND == "masked":
            total += tl.load(at, mask=(k + start < K)[None, :], other=0.0)
        elif KIND == "volatile":
            total += tl.load(at, volatile=True)
        elif KIND == "reversed":
            total += tl.load(a + m[:, None] * K + start + (BK - 1 - k)[None, :])
        elif KIND == "two tiles":
            total += tl.load(a + m[:, None] * K + 2 * start + k[None, :])
        elif KIND == "row":
            total += tl.load(a + start + k)[None, :]
        else:
            total += tl.load(at)
        at += step if KIND == "step" else (K if KIND == "rows" else BK)
    tl.store(out + m, tl.sum(total, 1))


def compiled(kind: str, rows: int = M, bk: int = 64, dtype: torch.dtype = torch.float32) -> CompiledKernel:
    length = 3 * bk
    a, out = torch.randn(rows, 3 * length).to(dtype)[:, :length].contiguous(), torch.empty(rows)
    big = torch.zeros(3 * rows * length, dtype=dtype)
    big[: a.numel()] = a.flatten()
    kernel = sums[(1,)](big, out, torch.tensor([bk], dtype=torch.int32), K=length, ROWS=rows, BK=bk, KIND=kind)
    if kind in {"", "index", "masked", "step", "volatile", "reversed"}:
        torch.testing.assert_close(out, a.float().sum(1), atol=1e-3, rtol=1e-3)
    return kernel


@pytest.mark.parametrize("kind", ["", "index", "masked"])
@pytest.mark.parametrize("bk", [16, 64, 512])
def test_what_is_prefetched(kind: str, bk: int, tmp_path: Path) -> None:
    """With stores of 77 instead of prefetches, each line of the next tile has one."""
    kernel = compiled(kind, bk=bk)
    llir, count = re.subn(PREFETCH, r"store i8 77, ptr \1", kernel.asm["llir"])
    assert count > 0
    library = emulated_units.loaded(_machine_code.library_of_llir(llir, _library.compiler().host()), tmp_path)
    a, length = torch.zeros(M + 1, 3 * bk), 3 * bk
    emulated_units.call_entry(library, kernel, 1, [a, torch.empty(M), torch.tensor([bk], dtype=torch.int32)])
    expected = torch.zeros((M + 1) * length * 4, dtype=torch.uint8)
    for row in range(M):
        first = (row * length + bk) * 4
        expected[first : first + length * 4 : 64] = 77
    assert torch.equal(a.view(torch.uint8).flatten(), expected)


@pytest.mark.parametrize("kind", ["step", "rows", "two tiles", "row", "volatile", "reversed"])
def test_what_is_not_prefetched(kind: str) -> None:
    """Steps that are not known or are not a tile, streams, and lanes that are not contiguous."""
    assert "@llvm.prefetch" not in compiled(kind).asm["llir"]


def test_sizes() -> None:
    """Rows of a page are streams; lanes of half a line would prefetch it twice; a tile must not fill the cache."""
    assert "@llvm.prefetch" not in compiled("", bk=1024).asm["llir"]
    assert "@llvm.prefetch" not in compiled("", dtype=torch.bfloat16).asm["llir"]
    assert "@llvm.prefetch" in compiled("", rows=512).asm["llir"]
    assert "@llvm.prefetch" not in compiled("", rows=1024).asm["llir"]
