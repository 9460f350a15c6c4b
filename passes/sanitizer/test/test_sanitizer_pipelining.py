# SPDX-License-Identifier: Apache-2.0
"""`sanitizer` leaves Triton's software pipeline alone: as many asynchronous copies in the PTX as without it, and no
tensor more that a loop carries. Without a session, the binary is the same."""

from __future__ import annotations

import re
from contextlib import nullcontext
from typing import Any

import pytest
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import triton_ext as tx
from triton_ext import probe

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("without_ptxas")]


@triton.jit
def product(  # noqa: PLR0917
    a, b, c, M, N, K, sam, sbk, scm, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):  # fmt: skip
    """That of Triton's tutorial: rows and columns modulo the sizes, tensors of pointers that the loop moves."""
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    pa = a + (m % M)[:, None] * sam + k[None, :]
    pb = b + k[:, None] * sbk + (n % N)[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(tl.cdiv(K, BK)):
        x = tl.load(pa, mask=k[None, :] < K - i * BK, other=0.0)
        y = tl.load(pb, mask=k[:, None] < K - i * BK, other=0.0)
        acc = tl.dot(x, y, acc)
        pa += BK
        pb += BK * sbk
    tl.store(c + m[:, None] * scm + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))


def source() -> ASTSource:
    kinds = {"a": "*fp16", "b": "*fp16", "c": "*fp32", **dict.fromkeys(("M", "N", "K", "sam", "sbk", "scm"), "i32")}
    constants = {"BM": 128, "BN": 64, "BK": 64}
    divisible = {(i,): [["tt.divisibility", 16]] for i in range(9)}
    return ASTSource(product, kinds | dict.fromkeys(constants, "constexpr"), constants, divisible)


def compiled(arch: int, **options: Any) -> Any:
    sanitized = tx.Pipeline().at_end("ttir", tx.passes.ttir.sanitizer(**options)) if options else nullcontext()
    with probe.pipeline(), sanitized:
        return compiled_here(arch)


def compiled_here(arch: int) -> Any:
    return triton.compile(source(), target=GPUTarget("cuda", arch, 32), options={"num_stages": 3, "num_warps": 4})


def copies(kernel: Any) -> int:
    return len(re.findall(r"cp\.async\.(?:c[ag]\.shared|bulk\.tensor)", kernel.asm["ptx"]))


def branches_in_loops(kernel: Any) -> int:
    """Returns how many loops of TTGIR with a matrix product have a branch in them."""
    loops = re.findall(r"\n    %\S+ = scf\.for [^\n]*\n(.*?)\n    }", kernel.asm["ttgir"], re.DOTALL)
    products = [body for body in loops if "warp_group_dot" in body or "tt.dot" in body]
    assert products
    return sum("scf.if" in body for body in products)


def waits(kernel: Any) -> list[str]:
    """Returns for how many asynchronous matrix products the kernel waits not to have ended, at each wait."""
    return re.findall(r"wgmma\.wait_group\S* (\d+)", kernel.asm["ptx"])


def carried(kernel: Any) -> int:
    """Returns how many tensors loops carry in TTGIR, without those of rare branches, which look at lanes."""
    loops = re.findall(r"\n    %\S+ = scf\.for [^\n]* -> \(([^\n]*)\)  ?:", kernel.asm["ttgir"])
    assert loops
    return sum(types.count("tensor<") for types in loops)


@pytest.mark.parametrize("arch", [80, 90])
def test_the_copies_stay(arch: int) -> None:
    plain = compiled(arch)
    assert copies(plain) >= 6
    assert plain.metadata.profile_scratch_size == 0
    for action in ("report", "trap"):
        kernel = compiled(arch, checks="bounds", action=action)
        assert kernel.metadata.profile_scratch_size > 0
        assert (copies(kernel), carried(kernel)) == (copies(plain), carried(plain)), action
        if action == "report":
            assert branches_in_loops(kernel) == 0
            assert waits(kernel) == waits(plain)
        else:  # the check is before the access
            assert branches_in_loops(kernel) == 1
    # What suppresses lanes asks for each lane: its loads are not vectors, so the comparison can fail.
    assert copies(compiled(arch, checks="bounds", action="suppress")) < copies(plain)


@pytest.mark.parametrize("arch", [80, 90])
def test_the_copies_stay_without_proofs(arch: int) -> None:
    """The kernel compares corners, and raises a flag behind the loop; the host then has the lanes looked at."""
    plain = compiled(arch)
    with tx.sanitize("bounds,lanes,hints", static=False) as report:
        kernel = compiled_here(arch)
    in_kernel = compiled(arch, checks="bounds,lanes,hints", static=False)
    assert report.findings == []
    assert "sanitize.apart" in kernel.asm["ttir"]
    for one in (kernel, in_kernel):
        assert one.metadata.profile_scratch_size > 0
        assert (copies(one), carried(one)) == (copies(plain), carried(plain))
        assert branches_in_loops(one) == 0
        assert waits(one) == waits(plain)
