# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: N803, PLR0917 - kernels name sizes in capitals
"""A heuristic as an option: what recomputing a tensor may cost before the CPU backend stores it instead.

Times each kernel for each value of ``most_for_replication`` of ``cpu.lower_tiles`` (default: 8), on one thread.
"""

from __future__ import annotations

import numpy as np
import triton
import triton.language as tl

import triton_ext as tx

LIMITS = (0, 4, 8, 16, 32, 1000)
ROWS, COLUMNS = 1024, 1024


@triton.jit
def scaled(x, scale, out, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    offsets = rows[:, None] * columns + i[None, :]
    tl.store(out + offsets, tl.load(x + offsets) * (tl.load(scale + i) * 3 + 1)[None, :])


@triton.jit
def normalised(x, scale, out, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    offsets = rows[:, None] * columns + i[None, :]
    tl.store(out + offsets, tl.load(x + offsets) * (1 / (tl.load(scale + i) + 2))[None, :])


@triton.jit
def gated(x, scale, out, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    offsets = rows[:, None] * columns + i[None, :]
    tl.store(out + offsets, tl.load(x + offsets) * tl.sigmoid(tl.load(scale + i))[None, :])


def milliseconds(kernel: object, pipeline: tx.Pipeline, rows: int, block: int) -> float:
    """Returns the time of the fastest launch, because other programs only make launches slower."""
    random = np.random.default_rng(0)
    x = random.random((ROWS, COLUMNS), np.float32)
    scale, out = random.random(COLUMNS, np.float32), np.empty_like(x)
    grid = (ROWS // rows, COLUMNS // block)
    with pipeline:
        times = triton.testing.do_bench(
            lambda: kernel[grid](x, scale, out, COLUMNS, ROWS=rows, BLOCK=block, num_threads=1),  # type: ignore[index]
            warmup=100,
            rep=700,
            return_mode="min",
        )
    return float(times)


def main() -> None:
    """Prints a table in ms: a line for each kernel and tile, a column for each value of the option."""
    print(f"{'kernel':<12} {'tile':>7}" + "".join(f"{limit:>9}" for limit in LIMITS))
    with tx.target.active("cpu"):
        for kernel in (scaled, normalised, gated):
            for rows, block in ((8, 64), (64, 64)):
                swept = tx.sweep("cpu.lower_tiles", most_for_replication=LIMITS).values()
                times = [milliseconds(kernel, pipeline, rows, block) for pipeline in swept]
                name = kernel.fn.__name__
                print(f"{name:<12} {f'{rows}x{block}':>7}" + "".join(f"{time:9.3f}" for time in times), flush=True)


if __name__ == "__main__":
    main()
