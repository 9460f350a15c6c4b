# SPDX-License-Identifier: Apache-2.0
"""On a GPU: a matmul and a softmax tuned over configurations and pipelines, against configurations alone.

Needs PyTorch with CUDA. For each kernel: the table of what was tried; what compiling the candidates costs with one
thread and with one for each core; the best of `triton.autotune` against the best of `tx.autotune`, measured again in
turns; and what a launch costs. Results are checked against PyTorch. Exits with 1 if one is wrong, a candidate fails
that should not, or the tuned pipeline is slower than the best configuration alone by more than 2 %.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import torch
import triton
import triton.language as tl

import triton_ext as tx

#: Pipelines to try beside the plain one. ``prefetch`` is in the pipelines of older chips only: on others it is reported
#: as a candidate that does not compile.
PIPELINES = (
    {"plain": tx.Pipeline()}
    | tx.sweep("ttgpuir.assign_latencies", num_stages=[2, 4])
    | {
        "skip(prefetch)": tx.Pipeline().skip("ttgpuir.prefetch"),
        "skip(reorder_instructions)": tx.Pipeline().skip("ttgpuir.reorder_instructions"),
        "skip(coalesce_async_copy)": tx.Pipeline().skip("ttgpuir.coalesce_async_copy"),
        "licm again": tx.Pipeline().at_end("ttir", tx.builtin.ttir.triton_licm()),
    }
)
MAY_FAIL = ("skip(prefetch)",)


@triton.jit
def matmul(a, b, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):  # noqa: N803, PLR0917
    """C = A @ B, row major, no masks."""
    columns = tl.cdiv(N, BN)
    i = tl.program_id(0) // columns * BM + tl.arange(0, BM)
    j = tl.program_id(0) % columns * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        x = tl.load(a + i[:, None] * K + (start + k)[None, :])
        y = tl.load(b + (start + k)[:, None] * N + j[None, :])
        total = tl.dot(x, y, total)
    tl.store(c + i[:, None] * N + j[None, :], total.to(tl.float16))


@triton.jit
def softmax(x, y, n, BLOCK: tl.constexpr):  # noqa: N803
    """Computes one row of a softmax."""
    i = tl.arange(0, BLOCK)
    row = tl.load(x + tl.program_id(0) * n + i, mask=i < n, other=float("-inf"))
    e = tl.exp(row - tl.max(row, 0))
    tl.store(y + tl.program_id(0) * n + i, e / tl.sum(e, 0), mask=i < n)


@dataclass(frozen=True)
class Case:
    """A kernel with what it is tuned over, launched with and checked against.

    Attributes:
        output: name of the argument that it writes.
        tolerance: relative and absolute.
    """

    name: str
    function: Any
    configs: list[Any]
    key: list[str]
    arguments: tuple[Any, ...]
    grid: Any
    output: str
    reference: Callable[[dict[str, Any]], dict[str, torch.Tensor]]
    tolerance: tuple[float, float]

    def tuned(self) -> Any:
        """Returns a new kernel that is also tuned over pipelines."""
        options: dict[str, Any] = {"reference": self.reference, "tolerance": self.tolerance, "cache_results": True}
        return tx.autotune(self.configs, self.key, pipelines=PIPELINES, **options)(triton.jit(self.function.fn))

    def compile_seconds(self, workers: int | None) -> float:
        """Returns the wall time to compile every candidate into an empty cache."""
        pipelines = {name: pipeline for name, pipeline in PIPELINES.items() if name not in MAY_FAIL}
        kernel = tx.autotune(self.configs, self.key, pipelines=pipelines, workers=workers)(triton.jit(self.function.fn))
        with tempfile.TemporaryDirectory() as cache, mock.patch.dict(os.environ, TRITON_CACHE_DIR=cache):
            begin = time.perf_counter()
            kernel.warmup(*self.arguments, grid=(1,))
            return time.perf_counter() - begin


def cases() -> Iterator[Case]:
    """Returns the matmul and the softmax."""
    torch.manual_seed(0)
    size = 4096
    a, b = (torch.randn(size, size, device="cuda", dtype=torch.float16) / size**0.25 for _ in range(2))
    yield Case(
        name=f"matmul fp16 {size}^3",
        function=matmul,
        configs=[
            triton.Config({"BM": bm, "BN": bn, "BK": bk}, num_warps=warps, num_stages=stages)
            for bm, bn, bk, warps in ((128, 128, 64, 8), (128, 256, 64, 8), (128, 128, 32, 4), (64, 128, 64, 4))
            for stages in (3, 4)
        ],
        key=["N", "K"],
        arguments=(a, b, torch.empty_like(a), size, size),
        grid=lambda meta: (triton.cdiv(size, meta["BM"]) * triton.cdiv(size, meta["BN"]),),
        output="c",
        reference=lambda arguments: {"c": arguments["a"] @ arguments["b"]},
        tolerance=(1e-2, 1e-2),
    )
    x = torch.randn(8192, 4000, device="cuda")
    yield Case(
        name="softmax fp32 8192x4000",
        function=softmax,
        configs=[triton.Config({"BLOCK": 4096}, num_warps=warps) for warps in (4, 8, 16)],
        key=["n"],
        arguments=(x, torch.empty_like(x), 4000),
        grid=(8192,),
        output="y",
        reference=lambda arguments: {"y": torch.softmax(arguments["x"], 1)},
        tolerance=(1e-4, 1e-6),
    )


def in_turns(functions: list[Callable[[], object]], rounds: int = 7) -> list[float]:
    """Returns the median milliseconds of each, measured in turns, so that all see the same clocks."""
    times: list[list[float]] = [[] for _ in functions]
    for _ in range(rounds):
        for function, seen in zip(functions, times, strict=True):
            seen.append(triton.testing.do_bench(function, warmup=10, rep=60, return_mode="median"))
    return [statistics.median(seen) for seen in times]


def launch_microseconds(function: Callable[[], object], launches: int = 500) -> float:
    """Returns the host time of one launch, the median of 15 runs that fit into the queue of the GPU."""
    runs = []
    for _ in range(15):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(launches):
            function()
        runs.append((time.perf_counter() - begin) / launches * 1e6)
        torch.cuda.synchronize()
    return statistics.median(runs)


def seconds(function: Callable[[], object]) -> float:
    """Returns the wall time of one call, including its work on the GPU."""
    begin = time.perf_counter()
    function()
    torch.cuda.synchronize()
    return time.perf_counter() - begin


def compare(case: Case) -> bool:
    """Tunes a kernel both ways and prints the results; returns whether all is as expected."""
    theirs = triton.autotune(case.configs, case.key)(triton.jit(case.function.fn))
    ours, again = case.tuned(), case.tuned()
    alone, both, cached = (
        seconds(lambda kernel=kernel: kernel[case.grid](*case.arguments)) for kernel in (theirs, ours, again)
    )
    report = ours.tuning_report
    print(f"\n== {case.name}\n{report}\n")
    print(f"tuning: triton.autotune {alone:.1f} s for {len(case.configs)} candidates, ours {both:.1f} s for", end=" ")
    print(f"{len(report.rows)}, {cached:.2f} s with the results on disk")

    named = dict(zip(case.function.arg_names, case.arguments, strict=False))
    result, expected = named[case.output], case.reference(named)[case.output]
    right = torch.allclose(result, expected, *case.tolerance)
    may_fail = ("ok", "out of resources")
    failed = [row for row in report.rows if row.status not in may_fail and row.pipeline not in MAY_FAIL]

    plain, tuned = in_turns([lambda k=k: k[case.grid](*case.arguments) for k in (theirs, ours)])  # type: ignore[misc]
    print(f"best configuration {plain:.4f} ms ({theirs.best_config})")
    print(f"with pipelines     {tuned:.4f} ms ({ours.best_config}), {(plain / tuned - 1) * 100:+.1f} %")

    one, many = case.compile_seconds(1), case.compile_seconds(None)
    count, cores = len(case.configs) * (len(PIPELINES) - len(MAY_FAIL)), len(os.sched_getaffinity(0))
    print(f"compiling {count} candidates: {one:.1f} s with one thread, {many:.1f} s with {cores}, {one / many:.1f}x")
    launches = [launch_microseconds(lambda k=k: k[(1,)](*case.arguments)) for k in (theirs, ours)]  # type: ignore[misc]
    print(f"launch: {launches[0]:.2f} us with triton.autotune, {launches[1]:.2f} us with ours")

    if "OUT" in os.environ:
        short = case.name.partition(" ")[0]
        Path(os.environ["OUT"], f"tuning-{short}.json").write_text(report.to_json())
    ok = right and not failed and again.tuning_report.cached and tuned < plain * 1.02
    if not ok:
        print(f"WRONG: right {right}, cached {again.tuning_report.cached}, failed {failed}")
    return ok


def main() -> None:
    """Runs every case."""
    print(f"{torch.cuda.get_device_name()}, Triton {triton.__version__}, PyTorch {torch.__version__}")
    results = [compare(case) for case in cases()]
    sys.exit(not all(results))


if __name__ == "__main__":
    main()
