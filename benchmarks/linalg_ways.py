# SPDX-License-Identifier: Apache-2.0
"""Both ways to linalg on the same ten kernels: what stays structured, the size of the IR, and the speed executed.

Stock mlir-opt lowers the linalg of each way to loops, and libtriton's LLVM compiles these for this machine. Both ways
compute the same results as torch, which is checked first. The runs of the two ways take turns, all programs of a grid
one after the other; times are medians of the
processor time of a whole grid.

With the directory of an older checkout, ``linalg_ways.py DIRECTORY``, its first way takes turns, too. Its own
``.venv`` compiles the kernels of this file there, in another process.
"""

from __future__ import annotations

import ctypes
import itertools
import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import cpu_kernels
import linalg_kernels
import torch
import triton
from rich.console import Console
from rich.table import Table

import triton_ext as tx

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "test"))
from support.linalg import execute, ways_page
from support.linalg.signatures import signature_of

TURNS = 15
WAYS: tuple[Literal["structured"] | None, ...] = (None, "structured")

#: A program for an older checkout: compiles kernels, in its first way, from and to JSON.
OLDER = """
import importlib, json, sys
from triton_ext import linalg
for path, name, signature in json.load(sys.stdin):
    kernel = getattr(importlib.import_module(path), name)
    print(json.dumps(linalg.compile(kernel, signature, lowered=True)))
"""


@dataclass(frozen=True)
class Launch:
    """A launch and what it computes: the argument `out` becomes `expected`."""

    kernel: triton.JITFunction
    grid: tuple[int, ...]
    arguments: dict[str, Any]
    expected: torch.Tensor


def launches() -> dict[str, Launch]:
    """Returns the launches by name."""
    torch.manual_seed(0)
    made: dict[str, Launch] = {}

    def add(name: str, kernel: triton.JITFunction, grid: tuple[int, ...], expected: torch.Tensor, **given: Any) -> None:
        made[name] = Launch(kernel, grid, given, expected)

    ways, wide = cpu_kernels, torch.randn(256, 1000)
    result = torch.softmax(wide, 1)
    add("softmax", ways.softmax_kernel, (256,), result, x=wide, out=torch.zeros(256, 1000), columns=1000, BLOCK=1024)
    a, b = torch.randn(256, 256), torch.randn(256, 256)
    tile = {"BM": 32, "BN": 32, "BK": 32}
    square = {"a": a, "b": b, "M": 256, "N": 256, "K": 256, **tile}
    add("matmul", ways.matmul_kernel, (64,), a @ b, **square, c=torch.zeros(256, 256))
    add("matmul, transposed", ways.transposed_matmul_kernel, (64,), a @ b.T, **square, c=torch.zeros(256, 256))
    a, b = torch.randn(250, 250), torch.randn(250, 250)
    ragged = {"a": a, "b": b, "M": 250, "N": 250, "K": 250, **tile, "WRAPS": True}
    add("matmul, rows wrap around", ways.wrapped_matmul_kernel, (64,), a @ b, **ragged, c=torch.zeros(250, 250))
    q, k, v = (torch.randn(1, 4, 256, 64) for _ in range(3))
    result = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    given = {"q": q, "k": k, "v": v, "out": torch.zeros_like(q), "scale": 0.125, "N": 256, "D": 64, "BM": 32, "BN": 32}
    add("attention", ways.attention_kernel, (8, 4), result, **given)
    x = torch.randn(500, 500)
    given = {"x": x, "out": torch.zeros(500, 500), "rows": 500, "columns": 500, "row": 1, "column": 500}
    result = torch.nn.functional.silu(x).T.contiguous()
    add("silu, transposed at run time", ways.silu_strided_kernel, (16, 16), result, **given, BM=32, BN=32)
    x, index = torch.randn(1000, 128), torch.randint(1000, (512,), dtype=torch.int32)
    given = {"x": x, "index": index, "out": torch.zeros(512, 128), "D": 128, "BLOCK": 16}
    add("rows at indices", linalg_kernels.rows_kernel, (32,), x[index], **given)
    x, index = torch.randn(512, 1000), torch.randint(1000, (128,), dtype=torch.int32)
    given = {"x": x, "index": index, "out": torch.zeros(512, 128), "n": 1000, "D": 128, "BLOCK": 16}
    add("columns at indices", linalg_kernels.columns_kernel, (32,), x[:, index].contiguous(), **given)
    x, keep = torch.randn(512, 128), torch.randint(2, (512,), dtype=torch.int32)
    result = x * keep[:, None] * (torch.arange(128) < 100)
    given = {"x": x, "keep": keep, "out": torch.zeros(512, 128), "n": 100, "D": 128, "BLOCK": 16}
    add("rows with any mask", linalg_kernels.masked_rows_kernel, (32,), result, **given)
    x, y = torch.randn(64, 2048), torch.randn(64, 2048)
    blocks = torch.stack([x.view(64, 16, 128), y.view(64, 16, 128)])
    result = blocks[torch.arange(16) % 2, :, torch.arange(16)].sum(0)
    given = {"x": x, "y": y, "out": torch.zeros(64, 128), "n": 2048, "BLOCK": 128}
    add("pointers swapped in a loop", linalg_kernels.swapped_kernel, (64,), result, **given)
    return made


def lowered_before(checkout: Path, launches: Iterable[Launch]) -> list[str]:
    """Returns the kernels of launches as the first way of an older checkout lowers them."""
    asked = [
        (one.kernel.fn.__module__, one.kernel.__name__, signature_of(one.kernel, one.arguments)) for one in launches
    ]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent)}
    command = [str(checkout / ".venv" / "bin" / "python"), "-c", OLDER]
    done = subprocess.run(
        command, input=json.dumps(asked), capture_output=True, text=True, check=False, env=environment
    )
    if done.returncode:
        sys.exit(f"the kernels do not compile in {checkout}:\n{done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def runner(launch: Launch, lowered: str) -> Callable[[], None]:
    """Returns a function that runs all programs of a launch, whose kernel is `lowered`."""
    signature = signature_of(launch.kernel, launch.arguments)
    function = getattr(execute.build(execute.to_llvm(lowered), launch.kernel.__name__), launch.kernel.__name__)
    values: list[Any] = []
    for name in launch.kernel.arg_names:
        value, kind = launch.arguments[name], str(signature[name])
        if isinstance(value, torch.Tensor):
            values.append(ctypes.c_int64(value.data_ptr()))
        elif kind in {"i32", "fp32"}:
            values.append(ctypes.c_int32(value) if kind == "i32" else ctypes.c_float(value))
    sizes = [*launch.grid, 1, 1][:3]
    programs = [(*sizes, x, y, z) for z, y, x in itertools.product(*(range(size) for size in reversed(sizes)))]
    calls = [(*values, *map(ctypes.c_int32, program)) for program in programs]

    def run() -> None:
        for call in calls:
            function(*call)

    return run


def milliseconds(runs: list[Callable[[], None]]) -> list[float]:
    """Returns the medians of runs in turns."""
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(TURNS):
        for run, seen in zip(runs, times, strict=True):
            start = time.thread_time()
            run()
            seen.append((time.thread_time() - start) * 1e3)
    return [statistics.median(seen) for seen in times]


def measure(launch: Launch, before: str | None) -> list[str]:
    """Returns the cells of a row, after the name; `before` is what an older checkout lowers the kernel to."""
    signature = signature_of(launch.kernel, launch.arguments)
    structured: list[str] = []
    sizes, lowered = [], [] if before is None else [before]
    out = launch.arguments["c" if "c" in launch.arguments else "out"]
    for via in WAYS:
        found = ways_page.count(tx.linalg.compile(launch.kernel, signature, via=via))
        structured.append(f"{found.blocks} / {found.rows} / {found.elements}")
        generic = tx.linalg.compile(launch.kernel, signature, via=via, form="generic")
        sizes.append(len(re.findall(r"\"\w+\.[\w.]+\"[(<]", generic)))
        lowered.append(tx.linalg.compile(launch.kernel, signature, lowered=True, via=via))
    runs = [runner(launch, text) for text in lowered]
    for run in runs:
        out.zero_()
        run()
        torch.testing.assert_close(out, launch.expected.view_as(out), rtol=1e-3, atol=1e-3)
    *older, first, second = milliseconds(runs)
    ratios = [f"{second / one:.2f}" for one in (first, *older)]
    return [*structured, *map(str, sizes), *(f"{one:.3g}" for one in (first, second, *older)), *ratios]


def main() -> None:
    """Prints the table, beside the first way of an older checkout if one is given."""
    given, made = [Path(one).resolve() for one in sys.argv[1:2]], launches()
    before = lowered_before(given[0], made.values()) if given else [None] * len(made)
    table = Table(title="First way and by way of tts; accesses: blocks / rows / elements", title_justify="left")
    older = ("older", "ratio", "to older") if given else ("ratio",)
    for column in ("kernel", "accesses", "tts", "operations", "tts", "ms", "tts", *older):
        table.add_column(column, justify="left" if column == "kernel" else "right", no_wrap=True)
    for (name, launch), text in zip(made.items(), before, strict=True):
        table.add_row(name, *measure(launch, text))
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
