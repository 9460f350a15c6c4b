# SPDX-License-Identifier: Apache-2.0
"""``make demo``: what one pass does to a real kernel, from its IR to the time it takes.

The kernel is a matrix product whose inner dimension is not a multiple of the tile, so that every load has a mask. The
pass is `loop_split`, which runs all iterations but the last without the mask. The demo shows the passes that compile
the kernel with the edit marked, the difference that the pass made, the binaries for an NVIDIA and an AMD GPU, the
kernel running on this machine's CPU, and what the pass gained on a GPU, as ``benchmarks/gpu/loop_split.py`` measured.
No GPU is needed.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import triton
import triton.language as tl
from rich.console import Console
from rich.progress_bar import ProgressBar
from rich.table import Column, Table
from triton.backends.compiler import GPUTarget

import triton_ext as tx
from triton_ext.loading.host import find_triton
from triton_ext.support.diff import diff
from triton_ext.support.scratch import scratch_dir

TARGETS = (GPUTarget("cuda", 90, 32), GPUTarget("hip", "gfx942", 64))
#: The shape of the product on the CPU; K is not a multiple of BLOCK. The rows of A are `STRIDE` elements apart.
M, N, K, BLOCK, STRIDE = 256, 256, 509, 64, 512
#: The known divisors of the arguments if K is not a multiple of 16: PyTorch aligns tensors, N is a multiple of BLOCK.
RAGGED = {"a": 16, "b": 16, "c": 16, "N": 16, "stride": 16}
RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "gpu-loop-split.json"
INTERPRET = "--interpret"


@triton.jit
def relu(x):  # type: ignore[no-untyped-def]
    """Returns the positive part of `x`."""
    return tl.maximum(x, 0.0)


@triton.jit
def matmul(a, b, c, N, K, stride, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]  # noqa: N803, PLR0917
    """C = relu(A @ B), row-major: A is M x K, B is K x N; M and N are multiples of BLOCK, K need not be.

    The rows of A are `stride` elements apart.
    """
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    accumulator = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for start in range(0, K, BLOCK):
        k = start + tl.arange(0, BLOCK)
        left = tl.load(a + i[:, None] * stride + k[None, :], mask=k[None, :] < K, other=0.0)
        right = tl.load(b + k[:, None] * N + j[None, :], mask=k[:, None] < K, other=0.0)
        accumulator = tl.dot(left, right, accumulator)
    tl.store(c + i[:, None] * N + j[None, :], relu(accumulator))


def compile_matmul(target: GPUTarget) -> Any:
    """Compiles `matmul` for `target` with Triton's whole pipeline; K is a multiple of 16."""
    return triton.compile(matmul_source({**RAGGED, "K": 16}), target=target)


def matmul_source(divisors: dict[str, int]) -> Any:
    """Returns the source of `matmul` for fp16 in and fp32 out, with arguments of these known divisors."""
    signature = {
        "a": "*fp16",
        "b": "*fp16",
        "c": "*fp32",
        "N": "i32",
        "K": "i32",
        "stride": "i32",
        "BLOCK": "constexpr",
    }
    known = {(list(signature).index(name),): [["tt.divisibility", divisor]] for name, divisor in divisors.items()}
    return triton.compiler.ASTSource(matmul, signature, {"BLOCK": 64}, known)


def main() -> None:
    """Prints the demonstration."""
    console = Console(highlight=False, soft_wrap=True)
    host = find_triton()
    console.print(f"triton-ext {tx.__version__}, Triton {host.version}, LLVM {host.llvm_commit[:8]}\n")
    pipeline = tx.Pipeline().after("ttir.loop_unroll", tx.passes.ttir.loop_split())
    show_passes(console, pipeline)
    show_binaries(console, pipeline)
    run_on_cpu(console, pipeline)
    show_gain(console)
    command = os.path.relpath(Path(sys.executable).with_name("triton-ext"))
    file = os.path.relpath(__file__)
    console.print(
        "\n[bold]Next[/]: a page with the IR around every pass, each line linked to its line of Python:\n"
        f"  [cyan]{command} trace {file}:matmul -t cuda:90 -s '*fp16:16, *fp16:16, *fp32:16, i32:16, i32, i32:16, 64' "
        f"-p '{pipeline}' --html matmul.html[/]\n"
        f"  [cyan]{command} list[/] shows the extensions, [cyan]{command} doctor[/] checks the installation;\n"
        "  CONTRIBUTING.md has the steps to a pass of your own."
    )


def show_passes(console: Console, pipeline: tx.Pipeline) -> None:
    """Prints the passes of the first stage with the edit marked, and what the pass did to the loop."""
    compilation = tx.describe(matmul_source(RAGGED), target=TARGETS[0], pipeline=pipeline)
    console.print(f"[bold]matmul[/] with a ragged K, compiled with [cyan]{pipeline}[/]\n")
    table = Table("ttir pass", "operations", "", box=None, pad_edge=False)
    for record in compilation.stages[0].passes:
        style = "green" if record.edit else ""
        change = f"{record.ops_before} → {record.ops_after}" if record.changed else ""
        table.add_row(record.name, change, "← the edit" if record.edit else "", style=style)
    console.print(table)
    others = ", ".join(f"{stage.name} {sum(r.ran for r in stage.passes)}" for stage in compilation.stages[1:])
    console.print(f"[dim]passes of the other stages: {others}[/]\n")


def show_binaries(console: Console, pipeline: tx.Pipeline) -> None:
    """Prints, for two GPUs without and with the pass, the loops in TTIR and the size of each stage's output."""
    plain = [triton.compile(matmul_source(RAGGED), target=target) for target in TARGETS]
    with pipeline:
        split = [triton.compile(matmul_source(RAGGED), target=target) for target in TARGETS]
    before, after = (_outline(kernels[0].asm["ttir"]) for kernels in (plain, split))
    console.print("[bold]The loop[/], without and with the pass (loops, loads and products of its TTIR)\n")
    for is_equal, a, a_end, b, b_end in diff(before, after):
        for mark, color, lines in (("-", "red", before[a:a_end]), ("+", "green", after[b:b_end])):
            if not is_equal:
                console.print("\n".join(f"  {mark} {line}" for line in lines), style=color, markup=False)
            elif mark == "+":
                console.print("\n".join(f"    {line}" for line in lines), markup=False)
    table = Table("bytes of", *(f"{t.backend}:{t.arch}" for t in TARGETS), box=None, pad_edge=False)
    rows = [[(stage, len(text)) for stage, text in kernel.asm.items() if stage != "source"] for kernel in split]
    for row in zip(*rows, strict=True):
        table.add_row(f"{' / '.join(dict.fromkeys(stage for stage, _ in row))}", *(f"{size:,}" for _, size in row))
    console.print("\n[bold]Down to the binary[/], with no GPU\n")
    console.print(table)


def _outline(ir: str) -> list[str]:
    """Returns the loops, loads and products of the module `ir`, without types and attributes."""
    kept = re.findall(r"^( *(?:%[^=]*= )?(?:scf\.for|tt\.load|tt\.dot|scf\.yield) .*|    +}.*)$", ir, re.MULTILINE)
    return [re.sub(r"(?: : | \{tri|, inputPrecision| -> | loc\().*", "", line).removeprefix("    ") for line in kept]


def run_on_cpu(console: Console, pipeline: tx.Pipeline) -> None:
    """Runs the kernel on the CPU, with the pass and without, beside torch and Triton's interpreter."""
    try:
        import torch
    except ImportError:
        console.print("\n[dim]The kernel is not run on the CPU here: torch is not installed.[/]")
        return
    from triton.backends import backends

    triton.runtime.driver.set_active(backends["cpu"].driver())
    a, b, c = torch.randn(M, STRIDE)[:, :K], torch.randn(K, N), torch.empty(M, N)
    expected = torch.relu(a @ b)

    def launch() -> None:
        matmul[M // BLOCK, N // BLOCK](a, b, c, N, K, STRIDE, BLOCK)

    times = {}
    for name, edits in (("the kernel as it is", tx.Pipeline()), ("with loop_split", pipeline)):
        with edits:
            c.fill_(-1)
            launch()
            torch.testing.assert_close(c, expected, rtol=1e-4, atol=1e-3)
            times[name] = shortest(launch)
    times["torch, relu(a @ b)"] = shortest(lambda: torch.relu(a @ b))
    interpreted = subprocess.run(
        [sys.executable, "-P", __file__, INTERPRET],
        env={**os.environ, "TRITON_INTERPRET": "1"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    times["Triton's interpreter"] = float(interpreted.stdout)
    console.print(
        f"\n[bold]On this CPU[/], {torch.get_num_threads()} threads: {M} x {K} times {K} x {N} in fp32; "
        "the results agree with torch's\n"
    )
    table = Table("", "ms", box=None, pad_edge=False)
    for name, seconds in times.items():
        table.add_row(name, f"{seconds * 1e3:,.2f}")
    console.print(table)


def shortest(run: Callable[[], object], limit: float = 0.5) -> float:
    """Calls repeatedly for `limit` seconds, and returns the shortest time of one call in seconds."""
    times: list[float] = []
    while not times or sum(times) < limit:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def interpret() -> None:
    """Prints how many seconds `matmul` takes in Triton's interpreter, which ``TRITON_INTERPRET=1`` has chosen."""
    import torch

    a, b, c = torch.randn(M, STRIDE)[:, :K], torch.randn(K, N), torch.empty(M, N)
    print(shortest(lambda: matmul[M // BLOCK, N // BLOCK](a, b, c, N, K, STRIDE, BLOCK)))


def show_gain(console: Console) -> None:
    """Prints what the tuned pipelines gained on a GPU; only a clone of the repository has these results."""
    if not RESULTS.is_file():
        return
    results = json.loads(RESULTS.read_text())
    console.print(
        f"\n[bold]On a GPU[/]: time with loop_split, tuned, of the time without; {results['environment']['device']}\n"
    )
    table = Table(Column("", no_wrap=True), "", "", "ms", box=None, pad_edge=False)
    previous = ""
    for row in results["tuned"]:
        unsplit, tuned, family = row["ms"]["unsplit"], row["ms"]["tuned"], row["family"]
        bar = ProgressBar(total=unsplit, completed=tuned, width=30)
        name = family if family != previous else ""
        table.add_row(name, row["shape"], bar, f"{unsplit:.3f} → {tuned:.3f}")
        previous = family
    console.print(table)


if __name__ == "__main__":
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # the default of Triton 3.9, which warns if it is not set
    if sys.argv[1:] == [INTERPRET]:
        interpret()
    else:
        # With an empty cache, so that everything is compiled.
        with scratch_dir("triton-ext-demo-") as cache:
            os.environ["TRITON_CACHE_DIR"] = str(cache)
            main()
