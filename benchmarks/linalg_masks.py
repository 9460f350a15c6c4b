# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ARG001, N803, PLR0917
"""What the option `fill-masks` of `-convert-triton-to-linalg` gains, with and without fusion of elementwise operations.

Stock mlir-opt lowers the linalg to loops, in one case after it has fused elementwise operations. Both forms compute the
same, which is checked first. Their runs take turns; times are medians of the processor time of a call.
"""

from __future__ import annotations

import ctypes
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import triton
import triton.language as tl
from rich.console import Console
from rich.table import Table

import triton_ext as tx

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "test"))
from support.linalg import execute
from support.linalg.signatures import signature_of

TURNS, CALLS = 15, 2000
FILL = tx.Pipeline().set("linalgir.convert_triton_to_linalg", fill_masks=True)
FUSE = "func.func(linalg-generalize-named-ops,linalg-fuse-elementwise-ops),canonicalize,cse,"


@triton.jit
def normalize(x, y, out, n, m, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Normalizes a row of n elements; what is behind them counts as the mean."""
    j = tl.arange(0, COLUMNS)
    v = tl.load(x + j, mask=j < n, other=0.0)
    d = tl.where(j < n, v - tl.sum(v) / n, 0.0)
    tl.store(out + j, d / tl.sqrt(tl.sum(d * d) / n + 1e-5))


@triton.jit
def choose(x, y, out, n, m, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Takes a box of one tile and the rest of another one."""
    i, j = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    at = i[:, None] * COLUMNS + j[None, :]
    tl.store(out + at, tl.where((i < m)[:, None] & (j < n)[None, :], tl.load(x + at), tl.load(y + at)))


@triton.jit
def multiply(x, y, out, n, m, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Multiplies a tile by a mask."""
    i, j = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    at = i[:, None] * COLUMNS + j[None, :]
    tl.store(out + at, tl.load(x + at) * ((i < m)[:, None] & (j < n)[None, :]))


LINE = {"n": 1000, "m": 1, "ROWS": 1, "COLUMNS": 1024}
TILE = {"n": 100, "m": 30, "ROWS": 32, "COLUMNS": 128}
CASES = {
    "where, one line": (normalize, LINE),
    "where, tile": (choose, TILE),
    "mask as numbers, one line": (multiply, LINE),
    "mask as numbers, tile": (multiply, TILE),
}


def runner(kernel: triton.JITFunction, arguments: dict[str, Any], fused: bool, fills: bool) -> Callable[[], None]:
    """Returns a function that calls the kernel many times."""
    signature = signature_of(kernel, arguments)
    lowered = tx.linalg.compile(kernel, signature, lowered=True, pipeline=FILL if fills else None)
    passes = execute.STOCK.replace("(", f"({FUSE}", 1) if fused else execute.STOCK
    function = getattr(execute.build(execute.to_llvm(lowered, passes), kernel.__name__), kernel.__name__)
    tensors = [ctypes.c_int64(arguments[name].data_ptr()) for name in ("x", "y", "out")]
    call = (*tensors, *map(ctypes.c_int32, (arguments["n"], arguments["m"], 1, 1, 1, 0, 0, 0)))

    def run() -> None:
        for _ in range(CALLS):
            function(*call)

    return run


def measure(kernel: triton.JITFunction, sizes: dict[str, int], fused: bool) -> tuple[float, float]:
    """Returns microseconds without and with the option."""
    count = sizes["ROWS"] * sizes["COLUMNS"]
    arguments = {name: torch.randn(count) for name in ("x", "y", "out")} | sizes
    runs, results = [], []
    for fills in (False, True):
        runs.append(runner(kernel, arguments, fused, fills))
        runs[-1]()
        results.append(arguments["out"].clone())
    torch.testing.assert_close(*results, rtol=0, atol=0)
    times: list[list[float]] = [[], []]
    for _ in range(TURNS):
        for run, seen in zip(runs, times, strict=True):
            start = time.thread_time()
            run()
            seen.append((time.thread_time() - start) / CALLS * 1e6)
    plain, filled = map(statistics.median, times)
    return plain, filled


def main() -> None:
    """Prints the table."""
    table = Table(title="us per call, and the time with fill-masks divided by that without", title_justify="left")
    for column in ("kernel", "us", "fill-masks", "ratio", "us, fused", "fill-masks", "ratio"):
        table.add_column(column, justify="left" if column == "kernel" else "right", no_wrap=True)
    torch.manual_seed(0)
    for name, (kernel, sizes) in CASES.items():
        cells = []
        for fused in (False, True):
            plain, filled = measure(kernel, sizes, fused)
            cells += [f"{plain:.3g}", f"{filled:.3g}", f"{filled / plain:.2f}"]
        table.add_row(name, *cells)
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
