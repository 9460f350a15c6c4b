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


@triton.jit
def twice(x, out, N: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, ALONG_X: tl.constexpr):
    i = tl.program_id(1 if ALONG_X else 0) * BM + tl.arange(0, BM)
    j = tl.program_id(0 if ALONG_X else 1) * BN + tl.arange(0, BN)
    at = i[:, None] * N + j[None, :]
    tl.store(out + at, 2 * tl.load(x + at))


@pytest.mark.parametrize("along_x", [False, True])
@pytest.mark.parametrize(("bm", "bn"), [(8, 64), (2, 512), (4, 16)])
def test_the_next_program_is_prefetched(bm: int, bn: int, along_x: bool, tmp_path: Path) -> None:
    """What is loaded and what is stored, both behind each row of the tile."""
    rows, columns = 2 * bm, 3 * bn
    x, out = torch.randn(rows, columns), torch.empty(rows, columns)
    kernel = twice[(3, 2) if along_x else (2, 3)](x, out, N=columns, BM=bm, BN=bn, ALONG_X=along_x)
    assert torch.equal(out, 2 * x)
    expected = torch.zeros(rows, 4 * columns, dtype=torch.uint8)
    expected[:bm, 4 * bn : 8 * bn : 64] = 77
    for at, kind in enumerate(("i32 0", "i32 1")):
        llir, count = re.subn(PREFETCH.replace("i32 0", kind), r"store i8 77, ptr \1", kernel.asm["llir"])
        assert count > 0
        directory = tmp_path / str(at)
        directory.mkdir()
        library = emulated_units.loaded(_machine_code.library_of_llir(llir, _library.compiler().host()), directory)
        tensors = [torch.zeros(rows, columns), torch.zeros(rows, columns)]
        emulated_units.call_entry(library, kernel, 1, tensors)
        assert torch.equal(tensors[at].view(torch.uint8), expected)


def test_rows_of_a_page_and_products_have_no_next_program() -> None:
    x, out = torch.randn(16, 2048), torch.empty(16, 2048)
    assert "@llvm.prefetch" not in twice[(2, 2)](x, out, N=2048, BM=2, BN=1024, ALONG_X=False).asm["llir"]
    assert "@llvm.prefetch" not in product[(1, 1)](x, out, N=2048).asm["llir"]


@triton.jit
def product(x, out, N: tl.constexpr):
    i = tl.program_id(0) * 16 + tl.arange(0, 16)
    j = tl.program_id(1) * 16 + tl.arange(0, 16)
    k = tl.arange(0, 16)
    a, b = tl.load(x + i[:, None] * 16 + k[None, :]), tl.load(x + k[:, None] * 16 + j[None, :])
    tl.store(out + i[:, None] * N + j[None, :], tl.dot(a, b))


@triton.jit(do_not_specialize=["row", "column"])
def strided(x, out, n, row, column, BM: tl.constexpr, BN: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    v = tl.load(x + i[:, None] * row + j[None, :] * column)
    tl.store(out + i[:, None] * n + j[None, :], 2 * v)


@pytest.mark.parametrize("is_transposed", [False, True])
def test_a_stride_of_the_launch(is_transposed: bool, tmp_path: Path) -> None:
    """The order of programs hangs on a stride: the tile beside this one is prefetched if its program runs next."""
    x, out = torch.randn(64, 64), torch.empty(64, 64)
    strides = (1, 64) if is_transposed else (64, 1)
    kernel = strided[(8, 2)](x, out, 64, *strides, BM=8, BN=32)
    assert torch.equal(out, 2 * (x.t() if is_transposed else x))
    assert all(f", i32 {kind}, i32 3, i32 1)" in kernel.asm["llir"] for kind in (0, 1))
    llir = re.sub(PREFETCH.replace("i32 0", "i32 1"), r"store i8 77, ptr \1", kernel.asm["llir"])
    library = emulated_units.loaded(_machine_code.library_of_llir(llir, _library.compiler().host()), tmp_path)
    x, out = torch.zeros(64, 64), torch.zeros(64, 64)
    emulated_units.call_entry(library, kernel, 1, [x, out, 64, *strides])
    assert out.any().item() is not is_transposed
