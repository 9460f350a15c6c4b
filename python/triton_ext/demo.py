# SPDX-License-Identifier: Apache-2.0
"""The main job, on real input: a pass inside the compilation of a real kernel, down to the binary, with no GPU.

``python -m triton_ext.demo``. Compiles a matrix product with a loop and a ``tl.dot`` with and without the pass
``rename``, shows what changed, and lists the stages that ran.
"""

from __future__ import annotations

import difflib
import os
import platform
import re
import sys
from pathlib import Path
from typing import Any

import triton
import triton.language as tl
from rich.console import Console
from rich.table import Table
from triton.backends.compiler import GPUTarget

import triton_ext as tx
from triton_ext.loading.host import find_triton
from triton_ext.support.storage import scratch_dir

TARGETS = (GPUTarget("cuda", 90, 32), GPUTarget("hip", "gfx942", 64))


@triton.jit
def relu(x):  # type: ignore[no-untyped-def]
    """The positive part of `x`."""
    return tl.maximum(x, 0.0)


@triton.jit
def matmul(a, b, c, K, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]  # noqa: N803
    """C = relu(a @ b), one tile: a is BLOCK x K, b is K x BLOCK, row-major, fp16 in and fp32 out."""
    i = tl.arange(0, BLOCK)
    accumulator = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for k in range(0, K, BLOCK):
        left = tl.load(a + i[:, None] * K + (k + i)[None, :])
        right = tl.load(b + (k + i)[:, None] * BLOCK + i[None, :])
        accumulator = tl.dot(left, right, accumulator)
    tl.store(c + i[:, None] * BLOCK + i[None, :], relu(accumulator))


def compile_matmul(target: GPUTarget) -> Any:
    """Compiles `matmul` for `target`, through Triton's whole pipeline."""
    signature = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "K": "i32", "BLOCK": "constexpr"}
    aligned = {(i,): [["tt.divisibility", 16]] for i in range(4)}  # as of arguments that PyTorch allocates
    return triton.compile(triton.compiler.ASTSource(matmul, signature, {"BLOCK": 64}, aligned), target=target)


def without_locations(ir: str) -> list[str]:
    """Lines of the module `ir`, source locations left out."""
    text = re.sub(r" loc\((?:[^()]|\([^()]*\))*\)", "", ir)
    return [line for line in text.splitlines() if line and not line.startswith("#loc")]


def main() -> None:
    """Prints the demonstration; everything goes to a cache of its own, so that it compiles each time."""
    console = Console(highlight=False, soft_wrap=True)
    host = find_triton()
    console.print(f"[bold]Python[/]  {platform.python_version()}, triton-ext {tx.__version__}")
    console.print(f"[bold]Triton[/]  {host.version} in {host.root}")
    console.print(f"[bold]LLVM[/]    {host.llvm_version} ({host.llvm_commit[:8]}), as libtriton says of itself")

    pipeline = tx.Pipeline().at_end("ttir", tx.passes.ttir.rename(old="matmul", new="my_matmul"))
    plain = [compile_matmul(target) for target in TARGETS]
    with pipeline:
        edited = [compile_matmul(target) for target in TARGETS]

    before, after = (without_locations(kernels[0].asm["ttir"]) for kernels in (plain, edited))
    console.print(f"\n[bold]TTIR of matmul[/], without and with [cyan]{pipeline}[/]\n")
    diff = difflib.unified_diff(before, after, "without", "with", lineterm="", n=len(before))
    for line in diff:
        style = {"+": "green", "-": "red", "@": "cyan"}.get(line[0])
        console.print(line, style=style, markup=False)

    table = Table("stage", *(f"{t.backend}:{t.arch}" for t in TARGETS), title="\nStages that ran, bytes", box=None)
    rows = [[(stage, len(text)) for stage, text in kernel.asm.items() if stage != "source"] for kernel in edited]
    for row in zip(*rows, strict=True):
        table.add_row(f"{' / '.join(dict.fromkeys(stage for stage, _ in row))}", *(f"{size:,}" for _, size in row))
    table.add_row("kernel name", *(kernel.metadata.name for kernel in edited))
    console.print(table)
    if any(kernel.metadata.name != "my_matmul" for kernel in edited):
        sys.exit("the pass left the kernel's name as it was")
    command = os.path.relpath(Path(sys.executable).with_name("triton-ext"))
    console.print(
        f"\n[bold]Next[/]: [cyan]{command} list[/] and [cyan]{command} doctor[/]; passes/rename/ is the pass that you "
        "just saw; CONTRIBUTING.md has the steps to one of your own."
    )


if __name__ == "__main__":
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # what Triton 3.9 does when it is unset, after a warning
    with scratch_dir("triton-ext-demo-") as cache:
        os.environ["TRITON_CACHE_DIR"] = str(cache)
        main()
