# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: N803 - kernels name sizes in capitals
"""`tl.sort` and `tl.topk` on the CPU backend: lines of code, processor time to compile, and time of one program.

To compare two builds, run it once for each, with TRITON_EXT_LIBRARY_DIR as the directory of the libraries.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from typing import Any

import torch
import triton
import triton.language as tl
from triton import knobs

from triton_ext.backends import cpu

ROUNDS = 200


@triton.jit
def sort(x, y, ROWS: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, ROWS)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(y + i, tl.sort(tl.load(x + i), 1))


@triton.jit
def topk(x, y, ROWS: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, ROWS)[:, None] * N + tl.arange(0, N)[None, :]
    j = tl.arange(0, ROWS)[:, None] * K + tl.arange(0, K)[None, :]
    tl.store(y + j, tl.topk(tl.load(x + i), K))


def shortest(launch: Callable[[], Any]) -> float:
    """Returns the shortest time of a launch in ms."""
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        launch()
        times.append(time.perf_counter() - started)
    return min(times) * 1e3


def row(name: str, launch: Callable[[], Any], reference: Callable[[], Any]) -> None:
    """Prints one row of the table."""
    started = time.process_time()
    kernel = launch()
    compiled = time.process_time() - started
    lines = {stage: len(str(kernel.asm[stage]).splitlines()) for stage in ("cpuir", "llir", "asm")}
    ours, theirs = shortest(launch), shortest(reference)
    sizes = " ".join(f"{count:>7}" for count in lines.values())
    print(f"{name:<22} {sizes} {compiled:>9.2f} {ours:>9.4f} {theirs:>9.4f}", flush=True)


def main() -> None:
    """Prints the table."""
    cpu.activate()
    torch.set_num_threads(1)
    x = torch.rand(1 << 14)
    head = ("cpuir", "llir", "asm", "compile s", "ours ms", "torch ms")
    print(f"{'float32':<22} {head[0]:>7} {head[1]:>7} {head[2]:>7} {head[3]:>9} {head[4]:>9} {head[5]:>9}")
    with tempfile.TemporaryDirectory() as cache, knobs.cache.scope():
        knobs.cache.dir = cache
        for rows, n in ((1, 256), (1, 1024), (1, 4096), (1, 16384), (64, 256)):
            data, out = x[: rows * n].view(rows, n), torch.empty(rows, n)
            row(
                f"sort {rows}x{n}",
                lambda data=data, out=out, rows=rows, n=n: sort[(1,)](data, out, ROWS=rows, N=n),
                lambda data=data: torch.sort(data, 1),
            )
            assert torch.equal(out, data.sort(1)[0])
        for k, rows, n in ((8, 1, 4096), (64, 1, 4096), (8, 64, 256)):
            data, out = x[: rows * n].view(rows, n), torch.empty(rows, k)
            row(
                f"top {k} of {rows}x{n}",
                lambda data=data, out=out, rows=rows, n=n, k=k: topk[(1,)](data, out, ROWS=rows, N=n, K=k),
                lambda data=data, k=k: torch.topk(data, k, 1),
            )
            assert torch.equal(out, data.topk(k, 1)[0])


if __name__ == "__main__":
    main()
