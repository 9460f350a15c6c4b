# SPDX-License-Identifier: Apache-2.0
"""On a GPU: what the pass `instrument` costs, and whether it counts right.

Needs PyTorch with CUDA. Prints a table of slowdowns by option, and compares the bytes with those that the shapes say;
exits with 1 if they differ. ``--cpu`` measures the same kernels, smaller, on this machine's processor, in its time of
all threads. Kernels run in turns; a row is the median of the rounds' ratios to the kernel without the pass.
"""

from __future__ import annotations

import contextlib
import statistics
import sys
import time
from collections.abc import Callable, Mapping

import torch
import triton
from probe_kernels import add, attention, matmul

import triton_ext as tx
from triton_ext import probe

ON_CPU = "--cpu" in sys.argv
DEVICE = "cpu" if ON_CPU else "cuda"
ROUNDS, TIMES = (7, 3) if ON_CPU else (31, 4)
OPTIONS = {
    "none": (),
    "bytes": ("bytes",),
    "bytes, calls, masked": ("bytes", "calls", "masked"),
    "loops": ("loops",),
    "regions": ("regions",),
    "nan": ("nan",),
}


def cases() -> dict[str, tuple[Callable[[], object], int, int]]:
    """Returns for each kernel its launch, and the bytes that it loads and stores."""
    n = 2**20 - 7 if ON_CPU else 2**25 - 7
    x, y, z = (torch.randn(n, device=DEVICE) for _ in range(3))
    size, (heads, length, width) = (512, (2, 512, 64)) if ON_CPU else (4096, (32, 4096, 64))
    a, b, c = (torch.randn((size, size), device=DEVICE, dtype=torch.float16) for _ in range(3))
    q, k, v, o = (torch.randn((heads, length, width), device=DEVICE, dtype=torch.float16) for _ in range(4))
    m, inner = (64, 32) if ON_CPU else (128, 64)
    warps = {} if ON_CPU else {"num_warps": 8}
    tiles, rows = (size // m) ** 2, length // m
    return {
        "add, with a mask": (lambda: add[(triton.cdiv(n, 1024),)](x, y, z, n, 1, 1024, "none", False), 8 * n, 4 * n),
        "matmul": (
            lambda: matmul[(tiles,)](a, b, c, size, size, m, m, inner, "none", True, **warps),
            tiles * 2 * 2 * m * size,
            2 * size * size,
        ),
        "attention": (
            lambda: attention[(rows, heads)](q, k, v, o, 0.18, length, width, m, 64, "none", True, **warps),
            2 * heads * width * (length + 2 * rows * length),
            2 * heads * length * width,
        ),
    }


def milliseconds(launch: Callable[[], object]) -> float:
    """Returns how long one launch takes."""
    if ON_CPU:
        started = time.process_time()
        for _ in range(TIMES):
            launch()
        return (time.process_time() - started) / TIMES * 1e3
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(TIMES):
        launch()
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end)) / TIMES


def measured(launch: Callable[[], object]) -> Mapping[str, list[float]]:
    """Returns the milliseconds of a launch with each option, for each round."""
    times: dict[str, list[float]] = {name: [] for name in OPTIONS}
    for turn in range(ROUNDS + 1):
        for name, rules in OPTIONS.items():
            with contextlib.ExitStack() as stack:
                if rules:
                    # A new session each time, so that none measures a full buffer.
                    stack.enter_context(probe.session(capacity=2**28))
                    options = dict.fromkeys(rules, True)
                    stack.enter_context(tx.Pipeline().at_end("ttir", tx.passes.ttir.instrument(**options)))
                launch()
                spent = milliseconds(launch)
            if turn:  # the first one compiles
                times[name].append(spent)
    return times


def main() -> int:
    """Prints the table; returns the exit status."""
    wrong = 0
    for name, (launch, loaded, stored) in cases().items():
        with probe.session() as s, tx.Pipeline().at_end("ttir", tx.passes.ttir.instrument(bytes=True)):
            launch()
        found = int(s.lines()["loaded"].sum()), int(s.lines()["stored"].sum())
        wrong += found != (loaded, stored)
        print(f"{name}: loaded {found[0]}, stored {found[1]} bytes", "" if found == (loaded, stored) else "WRONG")
        times = measured(launch)
        for option, values in times.items():
            ratios = [100 * (one / plain - 1) for one, plain in zip(values, times["none"], strict=True)]
            print(
                f"  {option:<24} {statistics.median(values):9.4f} ms  {statistics.median(ratios):+8.1f} %", flush=True
            )
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
