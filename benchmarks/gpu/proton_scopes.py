# SPDX-License-Identifier: Apache-2.0
"""On a GPU: what Proton's intra-kernel scopes cost, in the kernels of probe.py.

Needs Triton (3.6 or newer) and PyTorch with CUDA, and nothing of triton-ext.

Proton compiles the kernels. Then they run without Proton's hooks, into one buffer, so that a row says what the kernel
takes and not what the host does with a launch. A row is the median of the rounds' ratios to the kernel without a scope.
"""

from __future__ import annotations

import functools
import statistics
import sys
import tempfile
from collections.abc import Callable

import torch
import triton
import triton.language as tl
import triton.profiler as proton
import triton.profiler.language as pl
from triton.runtime._allocation import set_profile_allocator

pl.enable_semantic("triton")
#: Options of Proton's instrumentation. By default a warp keeps what it has seen last in the shared memory that is left.
MODES = ["default", "default:buffer_size=8192", "default:buffer_size=8192:optimizations=clock32,sched_stores"]


@triton.jit
def attention(q, k, v, o, scale, LENGTH, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, SCOPE: tl.constexpr):  # noqa: N803, PLR0917
    """The forward pass of attention without a mask; tensors are (heads, LENGTH, D)."""
    head = tl.program_id(1).to(tl.int64) * LENGTH * D
    m, n, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    query = tl.load(q + head + m[:, None] * D + d[None, :])
    pk, pv = k + head + n[None, :] * D + d[:, None], v + head + n[:, None] * D + d[None, :]
    most = tl.full((BM,), float("-inf"), tl.float32)
    norm = tl.zeros((BM,), tl.float32)
    total = tl.zeros((BM, D), tl.float32)
    for _ in range(0, LENGTH, BN):
        if SCOPE:
            pl.enter_scope("turn")
        s = tl.dot(query, tl.load(pk)) * scale
        larger = tl.maximum(most, tl.max(s, 1))
        p = tl.exp2(s - larger[:, None])
        shrink = tl.exp2(most - larger)
        norm = norm * shrink + tl.sum(p, 1)
        most = larger
        total = tl.dot(p.to(tl.float16), tl.load(pv), total * shrink[:, None])
        if SCOPE:
            pl.exit_scope("turn")
        pk += BN * D
        pv += BN * D
    tl.store(o + head + m[:, None] * D + d[None, :], (total / norm[:, None]).to(tl.float16))


@triton.jit
def matmul(a, b, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SCOPE: tl.constexpr):  # noqa: N803, PLR0917
    """C = A @ B, row major, no masks."""
    columns = tl.cdiv(N, BN)
    i = tl.program_id(0) // columns * BM + tl.arange(0, BM)
    j = tl.program_id(0) % columns * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    pa, pb = a + i[:, None] * K + k[None, :], b + k[:, None] * N + j[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, K, BK):
        x, y = tl.load(pa), tl.load(pb)
        if SCOPE:
            pl.enter_scope("dot")
        total = tl.dot(x, y, total)
        if SCOPE:
            pl.exit_scope("dot")
        pa += BK
        pb += BK * N
    tl.store(c + i[:, None] * N + j[None, :], total.to(tl.float16))


def milliseconds(launch: Callable[[], object], times: int = 4) -> float:
    """Returns how long one of `times` launches takes."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(2_000_000)
    start.record()
    for _ in range(times):
        launch()
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end)) / times


def main() -> None:
    """Measures both kernels."""
    print(f"{torch.cuda.get_device_name()}, Triton {triton.__version__}, {triton.__file__}", flush=True)
    half, size = torch.float16, 4096
    q, k, v, o = (torch.randn((32, 4096, 64), device="cuda", dtype=half) for _ in range(4))
    a, b, c = (torch.randn((size, size), device="cuda", dtype=half) for _ in range(3))
    cases = {
        "attention, each turn": (attention, (32, 32, 1), (q, k, v, o, 0.18, 4096, 64, 128, 64)),
        "matmul, each turn": (matmul, (1024, 1, 1), (a, b, c, size, size, 128, 128, 64)),
    }
    buffer = torch.zeros(2**30, dtype=torch.uint8, device="cuda")
    for title, (kernel, grid, args) in cases.items():
        compiled = {"none": kernel.warmup(*args, False, grid=grid, num_warps=8)}
        for mode in sys.argv[1:] or MODES:
            with tempfile.TemporaryDirectory() as folder:
                session = proton.start(f"{folder}/proton", backend="instrumentation", data="trace", mode=mode)
                compiled[mode] = kernel.warmup(*args, True, grid=grid, num_warps=8)
                assert "clock" in compiled[mode].asm["ptx"], "Proton has left no clock in the kernel"
                proton.finalize(session)  # one session has one mode
                getattr(kernel, "device_caches", {}).clear()  # what Triton keeps may not tell the modes apart
        set_profile_allocator(lambda *_: buffer)
        launches = {name: functools.partial(one[grid], *args, name != "none") for name, one in compiled.items()}
        measured: dict[str, list[float]] = {name: [] for name in launches}
        for turn in range(22):
            names = list(launches)
            for name in names[turn % len(names) :] + names[: turn % len(names)]:
                measured[name].append(milliseconds(launches[name]))
        print(f"{title} ({compiled[name].metadata.shared} bytes of shared memory)", flush=True)
        for name, values in measured.items():
            each = [100 * (x / y - 1) for x, y in zip(values[1:], measured["none"][1:], strict=True)]
            low, middle, high = statistics.quantiles(each, n=4)
            shared, scratch = (
                compiled[name].metadata.shared,
                getattr(compiled[name].metadata, "profile_scratch_size", 0),
            )
            print(
                f"  {name:<64} {statistics.median(values[1:]):9.4f} ms  {middle:+8.2f} %  ({low:+.2f} to {high:+.2f})"
                f"  shared {shared}, buffer {scratch} a program",
                flush=True,
            )


if __name__ == "__main__":
    main()
