# SPDX-License-Identifier: Apache-2.0
"""A probe in a loop leaves Triton's software pipeline alone: as many asynchronous copies in the PTX as without it."""

from __future__ import annotations

import re
from typing import Any

import pytest
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from triton_ext import probe

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("without_ptxas")]


@triton.jit
def observe(x, acc, k, WHAT: tl.constexpr):
    if WHAT == "count":
        probe.count("turns")
    elif WHAT == "count of lanes":
        probe.count("positive", x > 0)
    elif WHAT == "record":
        probe.record("turn", k)
    elif WHAT == "record of lanes":
        probe.record("large", x, mask=x > 1)
    elif WHAT == "record of results":
        probe.record("result", acc, k, mask=acc > 1e6)
    elif WHAT == "check":
        probe.check(k < 100, "few turns", k)
    elif WHAT == "check of lanes":
        probe.check(x < 1e4, "finite", x)
    elif WHAT == "minmax":
        probe.minmax("x", x)
    elif WHAT == "stats":
        probe.stats("x", x)
    elif WHAT == "histogram":
        probe.histogram("x", x, 32, -1, 1)
    elif WHAT == "clock":
        probe.record("now", probe.clock())
    elif WHAT == "device_assert":
        tl.device_assert(k < 100, "few turns")


@triton.jit
def multiply(x, y, acc, WHAT: tl.constexpr):
    if WHAT == "region":
        with probe.region("dot"):
            acc = tl.dot(x, y, acc)
    elif WHAT == "region of warps":
        with probe.region("dot", per_warp=True):
            acc = tl.dot(x, y, acc)
    else:
        acc = tl.dot(x, y, acc)
    return acc


@triton.jit
def by_pointers(  # noqa: PLR0917
    a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WHAT: tl.constexpr
):  # fmt: skip
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    pa, pb = a + m[:, None] * K + k[None, :], b + k[:, None] * N + n[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(tl.cdiv(K, BK)):
        x = tl.load(pa)
        acc = multiply(x, tl.load(pb), acc, WHAT)
        observe(x, acc, i, WHAT)
        pa += BK
        pb += BK * N
    tl.store(c + m[:, None] * N + n[None, :], acc)


@triton.jit
def by_descriptors(  # noqa: PLR0917
    a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WHAT: tl.constexpr
):  # fmt: skip
    da = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    db = tl.make_tensor_descriptor(b, [K, N], [N, 1], [BK, BN])
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(tl.cdiv(K, BK)):
        x = da.load([m, i * BK])
        acc = multiply(x, db.load([i * BK, n]), acc, WHAT)
        observe(x, acc, i, WHAT)
    tl.store(c + (m + tl.arange(0, BM))[:, None] * N + (n + tl.arange(0, BN))[None, :], acc)


def assembly(kernel: Any, arch: int, what: str) -> Any:
    """Compiles the kernel with its probes and returns the text of each stage."""
    kinds = {"a": "*fp16", "b": "*fp16", "c": "*fp32", **dict.fromkeys("MNK", "i32")}
    constants = {"BM": 64, "BN": 64, "BK": 32, "WHAT": what}
    divisible = {(i,): [["tt.divisibility", 16]] for i in range(6)}
    source = ASTSource(kernel, kinds | dict.fromkeys(constants, "constexpr"), constants, divisible)
    options = {"num_stages": 3, "num_warps": 4, "debug": what == "device_assert"}
    with probe.pipeline():
        compiled = triton.compile(source, target=GPUTarget("cuda", arch, 32), options=options)
    assert (compiled.metadata.profile_scratch_size > 0) == (what in PROBES)
    return compiled.asm


def copies(kernel: Any, arch: int, what: str) -> int:
    """Returns how many asynchronous copies the PTX of the kernel with its probes has."""
    return len(re.findall(r"cp\.async\.(?:c[ag]\.shared|bulk\.tensor)", assembly(kernel, arch, what)["ptx"]))


PROBES = [
    *("count", "count of lanes", "record", "record of lanes", "record of results", "check", "check of lanes"),
    *("minmax", "stats", "histogram", "clock", "region", "region of warps"),
]
KERNELS = [(by_pointers, 80), (by_pointers, 90), (by_descriptors, 90)]


@pytest.mark.parametrize(("kernel", "arch"), KERNELS, ids=lambda one: getattr(one, "__name__", str(one)))
def test_the_copies_stay(kernel: Any, arch: int) -> None:
    plain = copies(kernel, arch, "")
    assert plain >= 6
    assert {what: copies(kernel, arch, what) for what in PROBES} == dict.fromkeys(PROBES, plain)
    assert copies(kernel, arch, "device_assert") < plain  # so the comparison can fail


@pytest.mark.parametrize("what", ["region", "region of warps"])
@pytest.mark.parametrize(("kernel", "arch"), KERNELS, ids=lambda one: getattr(one, "__name__", str(one)))
def test_the_end_of_a_region_is_behind_what_prepares_later_turns(kernel: Any, arch: int, what: str) -> None:
    module = assembly(kernel, arch, what)["ttgir"]
    (body,) = re.findall(r"scf\.for [^\n]*\n(.*?)scf\.yield", module[module.index("%clock64") :], re.DOTALL)[-1:]
    lines = body.splitlines()
    clocks = [i for i, line in enumerate(lines) if "%clock64" in line]
    starts = [i for i, line in enumerate(lines) if re.search(r"async_(?:tma_)?copy_global_to_local", line)]
    assert len(clocks) == 2
    assert starts
    assert clocks[0] < starts[0]
    if arch == 90:
        assert clocks[1] > starts[-1]
    else:  # behind the copies, the turn waits and computes
        waits = [i for i, line in enumerate(lines) if "ttg.async_wait" in line]
        assert clocks[1] < starts[0] < waits[-1]
    assert "probe.end" not in module
