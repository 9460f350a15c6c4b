# SPDX-License-Identifier: Apache-2.0
"""How long both ways to linalg take: beside Triton's own passes, and as kernels grow; ``make bench``.

Triton's are ``make_ttir`` and ``make_ttgir`` for cuda:90, on the same TTIR of the same kernel. Parsing, printing and
the driver's own work are measured and taken off. Everything in a table is measured in turns in one process; times are
medians of processor time.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import cpu_kernels
from rich.console import Console
from rich.table import Table
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, make_backend

import triton_ext as tx

TURNS = 15
TARGET = GPUTarget("cuda", 90, 32)
TO_LINALG, TO_METAL = "triton-to-linalg", "triton-to-linalg,lower-linalg-ext"
BY_WAY_OF_TTS = "triton-to-linalg-structured"
NOTHING = "module {\n}\n"

#: Kernel, signature, constants.
KERNELS = {
    "softmax": (cpu_kernels.softmax_kernel, ("*fp32", "*fp32", "i32"), {"BLOCK": 1024}),
    "layer norm": (cpu_kernels.layer_norm_kernel, ("*fp32",) * 4 + ("i32", "fp32"), {"BLOCK": 1024}),
    "matmul": (cpu_kernels.matmul_kernel, ("*fp32",) * 3 + ("i32",) * 3, {"BM": 64, "BN": 64, "BK": 32}),
    "attention": (cpu_kernels.attention_kernel, ("*fp32",) * 4 + ("fp32", "i32"), {"D": 64, "BM": 64, "BN": 64}),
}


def seconds(run: Callable[[], object]) -> float:
    """Returns the seconds of processor time of one run, to which other programs on the machine add little."""
    start = time.process_time()
    run()
    return time.process_time() - start


def in_turns(*runs: Callable[[], object]) -> list[float]:
    """Returns the median of each."""
    for run in runs:
        run()
    times = [[seconds(run) for run in runs] for _ in range(TURNS)]
    return [statistics.median(column) for column in zip(*times, strict=True)]


def conversion(ttir: str, pipeline: str) -> list[Callable[[], object]]:
    """Returns the runs to measure, of which `net` subtracts some."""
    return [
        lambda: tx.opt(ttir, pipeline),
        lambda: tx.opt(NOTHING, pipeline),
        lambda: tx.opt(ttir, "builtin.module()"),
        lambda: tx.opt(NOTHING, "builtin.module()"),
    ]


def net(whole: float, fixed: float, parsing: float, nothing: float) -> float:
    """Returns the time of the passes alone: without parsing and printing, and without the driver's own work."""
    return (whole - fixed) - (parsing - nothing)


class Stages:
    """Runs Triton's own passes from TTIR to TTGIR."""

    def __init__(self, kernel: object, signature: tuple[str, ...], constants: dict[str, int], scratch: Path) -> None:
        self.backend = make_backend(TARGET)
        self.options = self.backend.parse_options({})
        names = kernel.arg_names  # type: ignore[attr-defined]
        types = dict(zip(names, (*signature, *["constexpr"] * len(constants)), strict=True))
        source = ASTSource(kernel, types, {(names.index(name),): value for name, value in constants.items()})
        context = self.context()
        module = source.make_ir(
            TARGET,
            self.options,
            self.backend.get_codegen_implementation(self.options),
            self.backend.get_module_map(),
            context,
        )
        self.path = scratch / "kernel.ttir"
        self.path.write_text(str(module))
        self.ttir = self.path.read_text()

    def context(self) -> object:
        """Returns a context with Triton's dialects."""
        context = ir.context()
        ir.load_dialects(context)
        self.backend.load_dialects(context)
        return context

    def parse(self) -> tuple[object, object]:
        """Returns the module and its context."""
        context = self.context()
        module = ir.parse_mlir_module(str(self.path), context)
        module.context = context  # Triton's stages read it here
        return module, context

    def run(self) -> None:
        """Compiles the text to TTGIR."""
        module, _context = self.parse()
        module = self.backend.make_ttir(module, {}, self.options, 90)
        self.backend.make_ttgir(module, {}, self.options, 90)


def chain(operations: int) -> str:
    """Returns a kernel of that many operations: sums and products of a tensor, and a store of every hundredth."""
    lines = [
        "tt.func public @chain(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {",
        "  %i = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>",
        "  %p = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>",
        "  %at = tt.addptr %p, %i : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>",
        "  %v0 = tt.load %at : tensor<1024x!tt.ptr<f32>>",
    ]
    for n in range(operations):
        lines.append(f"  %v{n + 1} = arith.{('addf', 'mulf')[n % 2]} %v{n}, %v{max(0, n - 3)} : tensor<1024xf32>")
        if n % 100 == 99 or n == operations - 1:
            lines.append(f"  tt.store %at, %v{n + 1} : tensor<1024x!tt.ptr<f32>>")
    return "module {\n" + "\n".join([*lines, "  tt.return", "}"]) + "\n}\n"


def main() -> None:
    """Prints the tables."""
    console = Console(width=140)
    beside = Table(title="Milliseconds of passes", title_justify="left")
    columns = ("kernel", "operations", "Triton's ttir + ttgir", "to linalg", "ratio", "aim", "and to stock MLIR")
    for column in (*columns, "by way of tts", "ratio"):
        beside.add_column(column, justify="left" if column == "kernel" else "right")
    with tempfile.TemporaryDirectory() as scratch:
        for name, (kernel, signature, constants) in KERNELS.items():
            stages = Stages(kernel, signature, constants, Path(scratch))
            pipelines = [conversion(stages.ttir, pipeline) for pipeline in (TO_LINALG, TO_METAL, BY_WAY_OF_TTS)]
            whole, parsing, *ours = in_turns(stages.run, stages.parse, *(run for runs in pipelines for run in runs))
            theirs = whole - parsing
            linalg, metal, structured = (net(*ours[at : at + 4]) for at in (0, 4, 8))
            beside.add_row(
                name,
                str(stages.ttir.count(" = ")),
                f"{theirs * 1e3:.1f}",
                f"{linalg * 1e3:.1f}",
                f"{linalg / theirs:.2f}",
                "<= 2",
                f"{metal * 1e3:.1f}",
                f"{structured * 1e3:.1f}",
                f"{structured / theirs:.2f}",
            )
    console.print(beside)
    growth = Table(title="A longer and longer kernel", title_justify="left")
    for column in ("operations", "to linalg ms", "us for each", "and to stock MLIR ms", "us for each"):
        growth.add_column(column, justify="right")
    for operations in (1_000, 5_000, 10_000, 20_000):
        ttir = chain(operations)
        ours = in_turns(*conversion(ttir, TO_LINALG), *conversion(ttir, TO_METAL))
        linalg, metal = net(*ours[:4]), net(*ours[4:])
        growth.add_row(
            f"{operations:,}",
            f"{linalg * 1e3:.0f}",
            f"{linalg / operations * 1e6:.1f}",
            f"{metal * 1e3:.0f}",
            f"{metal / operations * 1e6:.1f}",
        )
    console.print(growth)


if __name__ == "__main__":
    main()
