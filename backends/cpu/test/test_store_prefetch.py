# SPDX-License-Identifier: Apache-2.0
"""A loop that leaves the memory idle prefetches what a later store writes: these addresses, and no others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import CompiledKernel
from triton_ext.backends.cpu import _library, _machine_code
from triton_ext.backends.cpu.driver import CPUDriver

from support.cpu import emulated_units

PREFETCH = r"(?:tail )?call void @llvm\.prefetch\.p0\(ptr (?:\w+ )*(%\S+), i32 1, i32 3, i32 1\)"


@triton.jit
def rows(x, out, numbers, COLUMNS: tl.constexpr, BLOCK: tl.constexpr, KIND: tl.constexpr):
    i = tl.arange(0, BLOCK)
    pid = tl.program_id(0)
    writes, count = tl.load(numbers) != 0, tl.load(numbers + 1)
    v = tl.load(x + pid * COLUMNS + i, mask=i < COLUMNS, other=-float("inf"))
    if KIND == "read first":
        e = v * v
    elif KIND == "read again":
        e = v / tl.max(v, 0)
    elif KIND == "another load":
        e = v / tl.max(v, 0) + tl.load(x + i, mask=i < COLUMNS, other=0.0)
    else:
        e = tl.exp(v - tl.max(v, 0))
    total = tl.sum(e, 0)
    if KIND == "loop":
        for k in range(count):
            total += tl.sum(tl.load(x + k * BLOCK + i, mask=i < COLUMNS, other=0.0), 0)
    row = pid
    if KIND == "division":
        tl.device_assert(count != 0, "no rows")
        row = pid // count
    at = i
    if KIND == "indices":
        at = tl.load(numbers + 2 + i)
    if KIND == "reversed":
        at = COLUMNS - 1 - i
    tl.store(out + row * COLUMNS + at, e / total, mask=(i < COLUMNS) & writes)


def compiled(
    kind: str, columns: int, block: int, dtype: torch.dtype = torch.float32, **options: bool
) -> CompiledKernel:
    x, numbers = torch.randn(4, columns), torch.arange(-2, block, dtype=torch.int32)
    numbers[:2] = torch.tensor([1, 1])
    out = torch.empty(4, columns, dtype=dtype)
    kernel = rows[(4,)](x, out, numbers, COLUMNS=columns, BLOCK=block, KIND=kind, **options)
    if kind == "":
        torch.testing.assert_close(out, torch.softmax(x, 1).to(dtype))
    return kernel


@pytest.mark.parametrize("kind", ["", "read again"])
@pytest.mark.parametrize(("columns", "block"), [(3000, 4096), (1024, 1024), (200, 256), (65, 128)])
def test_what_is_prefetched(columns: int, block: int, kind: str, tmp_path: Path) -> None:
    """With stores of 77 instead of prefetches, and without the kernel's own ones, each line has one."""
    kernel = compiled(kind, columns, block)
    llir, count = re.subn(PREFETCH, r"store i8 77, ptr \1", kernel.asm["llir"])
    assert count > 0
    library = emulated_units.loaded(_machine_code.library_of_llir(llir, _library.compiler().host()), tmp_path)
    out = torch.zeros(6 * columns)
    numbers = torch.zeros(2 + block, dtype=torch.int32)
    emulated_units.call_entry(library, kernel, 4, [torch.randn(4, columns), out[columns:], numbers])
    expected = torch.zeros(24 * columns, dtype=torch.uint8)
    for row in range(1, 5):
        expected[row * columns * 4 : (row + 1) * columns * 4 : 64] = 77
    assert torch.equal(out.view(torch.uint8), expected)


@pytest.mark.parametrize("kind", ["read first", "another load", "loop", "division", "indices", "reversed"])
def test_what_is_not_prefetched(kind: str) -> None:
    """Prefetches that are not worth it, and addresses that are not known or not contiguous."""
    assert "@llvm.prefetch" not in compiled(kind, 200, 256).asm["llir"]


def test_no_line_is_prefetched_twice() -> None:
    assert "@llvm.prefetch" not in compiled("", 200, 256, torch.bfloat16).asm["llir"]


def test_a_large_tile_is_not_prefetched() -> None:
    assert "@llvm.prefetch" in compiled("", 65536, 65536).asm["llir"]
    assert "@llvm.prefetch" not in compiled("", 131072, 131072).asm["llir"]


def test_a_division_stays_behind_its_assertion() -> None:
    numbers = torch.zeros(258, dtype=torch.int32)
    with pytest.raises(RuntimeError, match="no rows"):
        rows[(4,)](
            torch.randn(4, 200), torch.empty(4, 200), numbers, COLUMNS=200, BLOCK=256, KIND="division", debug=True
        )


@triton.jit
def two_dimensions(x, out, n, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    e = tl.exp(tl.load(x + i[:, None] * N + j[None, :]))
    total = tl.sum(e, 1)
    tl.store(out + i[:, None] * n + j[None, :], e / total[:, None])


def test_a_tile_of_two_dimensions() -> None:
    x, out = torch.randn(16, 64), torch.zeros(16, 80)
    kernel = two_dimensions[(1,)](x, out, 80, M=16, N=64)
    torch.testing.assert_close(out[:, :64], torch.softmax(x, 1))
    assert (out[:, 64:] == 0).all()
    assert "@llvm.prefetch" in kernel.asm["llir"]


@pytest.mark.parametrize("arch", ["x86-64", "x86-64-v3"])
def test_other_processors(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CPUDriver, "get_current_target", lambda _: GPUTarget("cpu", arch, 1))
    rows.device_caches.clear()
    try:
        kernel = compiled("", 200, 256)
    finally:
        rows.device_caches.clear()
    assert kernel.metadata.target.arch == arch
    assert re.search(r"^\s+prefetch", kernel.asm["asm"], re.MULTILINE)
