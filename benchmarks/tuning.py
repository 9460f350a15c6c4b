# SPDX-License-Identifier: Apache-2.0
"""What tuning over pipelines costs and gives here, on the CPU backend; ``benchmarks/gpu/tuning.py`` is for GPUs.

Needs PyTorch. Prints the table of what was tried for a softmax and a matmul, then: compiling all candidates for cuda:90
with one thread and with one for each core, tuning in two processes, tuning again with the results on disk, and what a
launch of a tuned kernel costs against `triton.autotune`. Results are checked; exits with 1 if one is wrong.
"""

from __future__ import annotations

import functools
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any
from unittest import mock

import torch
import triton
import triton.language as tl
from rich.console import Console
from rich.table import Table
from triton.backends.compiler import GPUTarget
from triton.runtime import driver

import triton_ext as tx

PIPELINES = {
    "plain": tx.Pipeline(),
    "skip(triton_licm)": tx.Pipeline().skip("cpuir:ttir.triton_licm"),
    "skip(scalarize_induction)": tx.Pipeline().skip("cpuir:cpu.scalarize_induction"),
    "skip(ttir cse)": tx.Pipeline().skip("ttir:common.cse"),
    "skip(last cse)": tx.Pipeline().skip("llir:common.cse"),
}


@triton.jit
def softmax(x, y, n, BLOCK: tl.constexpr):  # noqa: N803
    """Computes one row of a softmax."""
    i = tl.arange(0, BLOCK)
    row = tl.load(x + tl.program_id(0) * n + i, mask=i < n, other=float("-inf"))
    e = tl.exp(row - tl.max(row, 0))
    tl.store(y + tl.program_id(0) * n + i, e / tl.sum(e, 0), mask=i < n)


@triton.jit
def matmul(a, b, c, n, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):  # noqa: N803, PLR0917
    """C = A @ B for square matrices, without masks."""
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, n, BK):
        x = tl.load(a + i[:, None] * n + (start + k)[None, :])
        y = tl.load(b + (start + k)[:, None] * n + j[None, :])
        total = tl.dot(x, y, total)
    tl.store(c + i[:, None] * n + j[None, :], total)


def rows_of_softmax(arguments: dict[str, Any]) -> dict[str, torch.Tensor]:
    """Returns the expected result of `softmax`."""
    return {"y": torch.softmax(arguments["x"], 1)}


def product_of_matrices(arguments: dict[str, Any]) -> dict[str, torch.Tensor]:
    """Returns the expected result of `matmul`."""
    return {"c": arguments["a"] @ arguments["b"]}


SOFTMAX = [triton.Config({"BLOCK": block}) for block in (1024, 2048)]
MATMUL = [triton.Config({"BM": bm, "BN": bn, "BK": bk}) for bm, bn in ((32, 32), (32, 64), (64, 64)) for bk in (16, 32)]


def tiles(meta: dict[str, int]) -> tuple[int, int]:
    """Returns the grid of `matmul`."""
    return 512 // meta["BM"], 512 // meta["BN"]


tuned_softmax = tx.autotune(
    SOFTMAX, ["n"], pipelines=PIPELINES, reference=rows_of_softmax, tolerance=(1e-4, 1e-6), cache_results=True
)(softmax)
tuned_matmul = tx.autotune(
    MATMUL, ["n"], pipelines=PIPELINES, reference=product_of_matrices, tolerance=(1e-3, 1e-3), cache_results=True
)(matmul)


def seconds(function: Callable[[], object]) -> float:
    """Returns the wall time of one call."""
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def compile_seconds(workers: int) -> float:
    """Returns the wall time to compile the matmul's candidates for cuda:90 into an empty cache."""
    configs = [triton.Config({"BM": m, "BN": n, "BK": 32}, num_warps=4) for m in (64, 128) for n in (64, 128)]
    pipelines = {"plain": tx.Pipeline()} | tx.sweep("ttgpuir.assign_latencies", num_stages=[2, 4])
    kernel = tx.autotune(configs, [], pipelines=pipelines, workers=workers)(triton.jit(matmul.fn))
    pointer = triton.runtime.jit.MockTensor(tl.float16)
    # The part of a driver that a compilation for an absent GPU needs.
    compiling = mock.Mock()
    compiling.get_current_target.return_value = GPUTarget("cuda", 90, 32)
    compiling.get_current_device.return_value = 0
    with (
        tempfile.TemporaryDirectory() as cache,
        mock.patch.dict(os.environ, TRITON_CACHE_DIR=cache),
        mock.patch.object(driver, "_active", compiling),
    ):
        return seconds(lambda: kernel.warmup(pointer, pointer, pointer, 1024, grid=(1,)))


def launch_microseconds(function: Callable[[], object], launches: int = 2000) -> float:
    """Returns the time of one launch, the median of seven runs."""
    return statistics.median(seconds(lambda: [function() for _ in range(launches)]) / launches * 1e6 for _ in range(7))


@dataclass(frozen=True)
class Case:
    """A tuned kernel, and a launch of it."""

    name: str
    kernel: Any
    grid: Any
    arguments: tuple[Any, ...]
    output: str

    def launch(self) -> None:
        """Launches the kernel, and tunes it if there is no result yet."""
        self.kernel[self.grid](*self.arguments)

    def rows(self, console: Console) -> Iterator[tuple[str, float]]:
        """Prints the candidates that were tried, and yields the time of each way of tuning."""
        yield f"tuning {self.name}", seconds(self.launch)
        console.print(self.kernel.tuning_report, "")
        self.kernel.cache.clear()
        yield f"tuning {self.name}, results on disk", seconds(self.launch)
        self.kernel.cache.clear()
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            self.kernel.cache_results, self.kernel.executor = False, pool
            yield f"tuning {self.name} in another process", seconds(self.launch)
        named = dict(zip(self.kernel.arg_names, self.arguments, strict=False))
        expected = self.kernel._reference(named)[self.output]
        torch.testing.assert_close(named[self.output], expected, rtol=1e-3, atol=1e-3)


def main() -> None:
    """Prints the tables."""
    console = Console(width=None if sys.stdout.isatty() else 140)
    target = driver.active.get_current_target()
    table = Table("what", "seconds", title=f"{os.cpu_count()} cores, Triton {triton.__version__}, {target.backend}")
    torch.manual_seed(0)
    x, a, b = torch.randn(4096, 1000), torch.randn(512, 512), torch.randn(512, 512)
    cases = [
        Case("softmax 4096x1000", tuned_softmax, (4096,), (x, torch.empty_like(x), 1000), "y"),
        Case("matmul 512^3", tuned_matmul, tiles, (a, b, torch.empty_like(a), 512), "c"),
    ]
    with tempfile.TemporaryDirectory() as cache, mock.patch.dict(os.environ, TRITON_CACHE_DIR=cache):
        for case in cases:
            for what, took in case.rows(console):
                table.add_row(what, f"{took:.3f}")
    for workers in (1, len(os.sched_getaffinity(0))):
        table.add_row(f"compiling 12 matmuls for cuda:90, threads: {workers}", f"{compile_seconds(workers):.3f}")
    console.print(table)

    small = torch.zeros(8)
    theirs, ours = (autotune(SOFTMAX, ["n"])(softmax) for autotune in (triton.autotune, tx.autotune))
    other = {name: pipeline for name, pipeline in PIPELINES.items() if name == "skip(last cse)"}
    both = tx.autotune(SOFTMAX, ["n"], pipelines=other)(softmax)
    names = ("triton.autotune", "tx.autotune", "tx.autotune, in a pipeline")
    for name, kernel in zip(names, (theirs, ours, both), strict=True):
        kernel[(1,)](small, small, 8)
        took = launch_microseconds(functools.partial(kernel[(1,)], small, small, 8))
        print(f"launch with {name}: {took:.2f} us")


if __name__ == "__main__":
    main()
