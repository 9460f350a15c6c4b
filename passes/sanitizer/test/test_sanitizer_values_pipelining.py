# SPDX-License-Identifier: Apache-2.0
"""All checks but `bounds` leave Triton's software pipeline alone: the PTX has as many asynchronous copies as without
them, also where every turn of the loop computes what is checked."""

from __future__ import annotations

import pytest
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton_ext.sanitize._looks import kernel_with_looks

import triton_ext as tx


@triton.jit
def product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, OTHER: tl.constexpr):  # noqa: PLR0917
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.max_contiguous(tl.multiple_of(tl.arange(0, BK), BK), BK)
    left, right = a + m[:, None] * K + k[None, :], b + k[:, None] * N + n[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        x = tl.load(left, mask=(m[:, None] < M) & (k[None, :] + start < K), other=OTHER)
        y = tl.load(right, mask=(n[None, :] < N) & (k[:, None] + start < K), other=OTHER)
        acc = tl.dot(x, y, acc)
        left += BK
        right += BK * N
    tl.store(c + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))


def compiled(arch: int, checks: str, other: int | None, *, looks: bool = False) -> tuple[int, bool]:
    """Returns the asynchronous copies of the product, and whether it has checks; `looks`: also at shadows."""
    types = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "M": "i32", "N": "i32", "K": "i32"}
    constants = {"BM": 64, "BN": 64, "BK": 32, "OTHER": other}
    aligned = {(i,): [["tt.divisibility", 16]] for i in (0, 1, 2, 4, 5)}
    source = triton.compiler.ASTSource(product, types, constants, aligned)
    target = GPUTarget("cuda", arch, 32)
    if checks:
        with tx.sanitize(checks):
            kernel = triton.compile(source, target=target)
    else:
        kernel = triton.compile(source, target=target)
    if looks:
        kernel = kernel_with_looks(kernel)
    return kernel.asm["ptx"].count("cp.async.c"), kernel.metadata.profile_scratch_size > 0


@pytest.mark.slow
@pytest.mark.usefixtures("without_ptxas")
@pytest.mark.parametrize("arch", [80, 90])
def test_the_copies_stay(arch: int) -> None:
    plain, has_checks = compiled(arch, "", None)
    assert plain >= 6
    assert not has_checks
    assert compiled(arch, "lanes", None) == (plain, True)
    assert compiled(arch, "lanes", 0) == (plain, False)  # proved
    assert compiled(arch, "hints,arith", 0) == (plain, True)
    assert compiled(arch, "uninit,race", 0) == (plain, False)
    assert compiled(arch, "uninit,race", 0, looks=True) == (plain, True)
