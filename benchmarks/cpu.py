# SPDX-License-Identifier: Apache-2.0
"""The CPU backend beside torch, NumPy and Triton's interpreter, in one run with the same threads: ``make bench``.

``--quick`` is what ``make demo-cpu`` runs: softmax and a matrix product, checked against torch and timed beside it.
Times are the shortest of about a second of runs each, which other work on the machine disturbs least.
``torch.compile`` is timed where there is a C++ compiler. Bandwidth and FMA peak are measured by this program: the
largest of torch's copy, sum and addition over as much memory, and a loop of independent FMAs in registers.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("TRITON_DEFAULT_BACKEND", "cpu")
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")

import numpy as np
import torch
import triton
from cpu_kernels import (
    add_kernel,
    attention_kernel,
    empty_kernel,
    gelu_kernel,
    layer_norm_kernel,
    matmul_kernel,
    silu_mul_kernel,
    silu_strided_kernel,
    softmax_kernel,
    wrapped_matmul_kernel,
)
from rich.console import Console
from rich.table import Table
from torch.nn import functional

Run = Callable[[], object]


@dataclass(frozen=True)
class Case:
    """One row: our run and torch's, the aim for their ratio, and the amount of work."""

    name: str
    aim: float
    ours: Run
    eager: Run
    numpy: Run | None = None
    operations: float = 0  # operations of the vector code: an exp is 24, an erf 50
    bytes: float = 0  # bytes that must be read or written once
    compiled: Run | None = None


def seconds(run: Run, budget: float = 1.0, least: int = 5) -> float:
    """Returns the shortest of as many runs as fit, and of at least `least`."""
    run()
    times: list[float] = []
    end = time.perf_counter() + budget
    while len(times) < least or (time.perf_counter() < end and len(times) < 500):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def beside(*runs: Run, turns: int = 8) -> list[float]:
    """Returns the shortest time of each, measured in turns: the bandwidth of the memory changes within seconds."""
    times = [[seconds(run, 0.15, 3) for run in runs] for _ in range(turns)]
    return [min(column) for column in zip(*times, strict=True)]


def compiled(run: Run) -> Run | None:
    """Returns the function as ``torch.compile`` compiles it, or None without a C++ compiler."""
    return torch.compile(run) if shutil.which(os.environ.get("CXX", "g++")) else None


def numpy_softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def numpy_layer_norm(x: np.ndarray, w: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * w + b


def bandwidth(size: float) -> float:
    """Returns the most bytes per second that torch moves in `size` bytes of memory, with all its threads."""
    count = int(size) // 12
    x, y, z = torch.randn(count), torch.randn(count), torch.empty(count)
    joined = torch.randn(3 * count)
    runs = ((12, lambda: torch.add(x, y, out=z)), (12, joined.sum), (8, lambda: z.copy_(x)))
    return max(width * count / seconds(run, 0.4) for width, run in runs)


PEAK = """
define void @peak(ptr %out, i64 %n) {{
entry:
  %x = load {vector}, ptr %out
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
{phis}
{fmas}
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %exit, label %loop
exit:
{stores}
  ret void
}}
declare {vector} @llvm.fma({vector}, {vector}, {vector})
"""


def fma_peak(threads: int) -> float:
    """Returns the FLOP/s of 12 independent chains of FMAs in each of `threads` threads, all in registers."""
    from triton._C.libtriton import llvm
    from triton_ext.backends.cpu import _library

    cpu, features = _library.compiler().host()
    lanes, chains, rounds = 16 if "+avx512f" in features else 8, 12, 2_000_000
    vector = f"<{lanes} x float>"
    text = PEAK.format(
        vector=vector,
        phis="\n".join(f"  %a{c} = phi {vector} [ %x, %entry ], [ %b{c}, %loop ]" for c in range(chains)),
        fmas="\n".join(
            f"  %b{c} = call {vector} @llvm.fma({vector} %a{c}, {vector} %x, {vector} %x)" for c in range(chains)
        ),
        stores="\n".join(
            f"  %p{c} = getelementptr {vector}, ptr %out, i64 {c}\n  store {vector} %b{c}, ptr %p{c}"
            for c in range(chains)
        ),
    )
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "peak.o")
        path.write_bytes(llvm.translate_to_asm(text, "x86_64-unknown-linux-gnu", cpu, features, [], True, True, False))
        _library.compiler().link(path.with_suffix(".so"), path)
        peak = ctypes.CDLL(str(path.with_suffix(".so"))).peak

        def run() -> None:
            buffers = [ctypes.create_string_buffer(64 * (chains + 1)) for _ in range(threads)]  # zeros
            work = [
                threading.Thread(
                    target=peak, args=(ctypes.c_void_p(-(-ctypes.addressof(b) // 64) * 64), ctypes.c_int64(rounds))
                )
                for b in buffers
            ]
            for thread in work:
                thread.start()
            for thread in work:
                thread.join()

        best = seconds(run, 2.0)
    return 2 * lanes * chains * rounds * threads / best


def cases(quick: bool) -> list[Case]:
    """Returns the rows, after a check of each against torch."""
    found = []

    torch.manual_seed(0)

    def case(
        name: str, aim: float, ours: Run, eager: Run, out: torch.Tensor, *, atol: float = 1e-4, **more: object
    ) -> None:
        ours()
        expected = eager()
        assert isinstance(expected, torch.Tensor)
        torch.testing.assert_close(out, expected, atol=atol, rtol=1e-4)
        found.append(Case(name, aim, ours, eager, **more))  # type: ignore[arg-type]

    n = 2**24
    x, y, out = torch.randn(n), torch.randn(n), torch.empty(n)
    grid = (triton.cdiv(n, 4096),)
    if not quick:
        case(
            "add 2^24",
            1.05,
            lambda: add_kernel[grid](x, y, out, n, BLOCK=4096),
            lambda: torch.add(x, y, out=out),
            out,
            numpy=lambda: np.add(x.numpy(), y.numpy(), out=out.numpy()),
            bytes=12 * n,
            operations=n,
            compiled=compiled(lambda: x + y),
        )
        gelu = torch.empty(n)
        case(
            "GELU 2^24",
            0.5,
            lambda: gelu_kernel[grid](x, gelu, n, BLOCK=4096),
            lambda: 0.5 * x * (1 + torch.erf(x * 0.7071067811865476)),
            gelu,
            bytes=8 * n,
            operations=54 * n,
            compiled=compiled(lambda: 0.5 * x * (1 + torch.erf(x * 0.7071067811865476))),
        )
        silu = torch.empty(n)
        case(
            "SiLU(x) * y 2^24",
            0.5,
            lambda: silu_mul_kernel[grid](x, y, silu, n, BLOCK=4096),
            lambda: functional.silu(x) * y,
            silu,
            numpy=lambda: x.numpy() / (1 + np.exp(-x.numpy())) * y.numpy(),
            bytes=12 * n,
            operations=28 * n,
            compiled=compiled(lambda: functional.silu(x) * y),
        )
    rows, columns = 4096, 1024
    s, soft, norm = torch.randn(rows, columns), torch.empty(rows, columns), torch.empty(rows, columns)
    case(
        "softmax 4096x1024",
        1.0,
        lambda: softmax_kernel[(rows,)](s, soft, columns, BLOCK=columns),
        lambda: torch.softmax(s, 1),
        soft,
        numpy=lambda: numpy_softmax(s.numpy()),
        bytes=8 * rows * columns,
        operations=28 * rows * columns,
        compiled=None if quick else compiled(lambda: torch.softmax(s, 1)),
    )
    w, b = torch.randn(columns), torch.randn(columns)
    if not quick:
        case(
            "layer norm 4096x1024",
            1.0,
            lambda: layer_norm_kernel[(rows,)](s, w, b, norm, columns, 1e-5, BLOCK=columns),
            lambda: functional.layer_norm(s, (columns,), w, b),
            norm,
            numpy=lambda: numpy_layer_norm(s.numpy(), w.numpy(), b.numpy()),
            bytes=8 * rows * columns,
            operations=8 * rows * columns,
            compiled=compiled(lambda: functional.layer_norm(s, (columns,), w, b)),
        )
    size, bm, bn, bk = 1024, 128, 128, 64
    left, right, product = torch.randn(size, size), torch.randn(size, size), torch.empty(size, size)
    case(
        "matmul fp32 1024^3",
        2.0,
        lambda: matmul_kernel[((size // bm) * (size // bn),)](
            left, right, product, size, size, size, BM=bm, BN=bn, BK=bk
        ),
        lambda: left @ right,
        product,
        atol=1e-3,  # 1,024 products are added in another order
        numpy=lambda: left.numpy() @ right.numpy(),
        bytes=12 * size**2,
        operations=2 * size**3,
        compiled=None if quick else compiled(lambda: left @ right),
    )
    if not quick:
        q, k, v = (torch.randn(8, 1024, 64) for _ in range(3))
        attention = torch.empty_like(q)
        case(
            "causal attention 8x1024x64",
            2.0,
            lambda: attention_kernel[(16, 8)](q, k, v, attention, 0.125, 1024, D=64, BM=64, BN=64),
            lambda: functional.scaled_dot_product_attention(q, k, v, is_causal=True),
            attention,
            bytes=16 * q.numel(),
            operations=8 * 1024 * 1024 / 2 * (2 * 2 * 64 + 28),
            compiled=compiled(lambda: functional.scaled_dot_product_attention(q, k, v, is_causal=True)),
        )
        tails(case)
    return found


def tails(case: Callable[..., None]) -> None:
    """Adds the rows with masks that end inside of a tile, indices that wrap around, and strides of the launch."""
    for dtype in (torch.float32, torch.bfloat16):
        x = torch.randn(2048, 3000).to(dtype)
        out = torch.empty_like(x)
        case(
            f"softmax 2048x3000 {str(dtype).removeprefix('torch.')}, BLOCK=4096",
            1.0,
            lambda x=x, out=out: softmax_kernel[(2048,)](x, out, 3000, BLOCK=4096),
            lambda x=x: torch.softmax(x, 1),
            out,
            atol=1e-4 if dtype == torch.float32 else 1e-2,
            bytes=2 * x.nbytes,
            operations=28 * x.numel(),
        )
    size, bm, bn, bk = 1000, 128, 128, 64
    a, b, c = torch.randn(size, size), torch.randn(size, size), torch.empty(size, size)
    grid = (triton.cdiv(size, bm) * triton.cdiv(size, bn),)
    for wraps in (False, True):
        case(
            f"matmul fp32 1000^3, masked{', wrapped' if wraps else ''}",
            2.0,
            lambda wraps=wraps: wrapped_matmul_kernel[grid](
                a, b, c, size, size, size, BM=bm, BN=bn, BK=bk, WRAPS=wraps
            ),
            lambda: a @ b,
            c,
            atol=1e-3,
            bytes=12 * size**2,
            operations=2 * size**3,
        )
    n = 4096
    s, silu = torch.randn(n, n), torch.empty(n, n)
    case(
        "SiLU 4096x4096, strides of the launch",
        1.0,
        lambda: silu_strided_kernel[(n // 32, n // 128)](s, silu, n, n, n, 1, BM=32, BN=128),
        lambda: functional.silu(s),
        silu,
        bytes=8 * n * n,
        operations=28 * n * n,
    )


INTERPRETED = """
import sys, time; sys.path.insert(0, {directory!r})
import cpu, cpu_kernels, torch, triton
n, size = 2**22, int(sys.argv[1])
x, y, out = torch.randn(n), torch.randn(n), torch.empty(n)
a, b, c = torch.randn(size, size), torch.randn(size, size), torch.empty(size, size)
def add(): cpu_kernels.add_kernel[(n // 1024,)](x, y, out, n, BLOCK=1024)
def matmul(): cpu_kernels.matmul_kernel[((size // 64)**2,)](a, b, c, size, size, size, BM=64, BN=64, BK=32)
print(*(cpu.seconds(run, 0.5, 1) for run in (add, matmul)))
"""


def against_interpreter(size: int) -> list[float]:
    """Returns the times of Triton's interpreter over ours: for an addition of 2^22, for a product of `size`^3."""
    times = []
    for interpret in ("1", "0"):
        done = subprocess.run(
            [sys.executable, "-c", INTERPRETED.format(directory=os.path.dirname(os.path.abspath(__file__))), str(size)],
            env={**os.environ, "TRITON_INTERPRET": interpret},
            capture_output=True,
            text=True,
            check=True,
        )
        times.append([float(word) for word in done.stdout.split()[-2:]])
    return [slow / fast for slow, fast in zip(*times, strict=True)]


def launch_microseconds() -> tuple[float, float]:
    """Returns the time of a launch of an empty kernel, and the launcher's part of it."""
    x = torch.zeros(1)
    kernel = empty_kernel[(1,)](x)

    def best(run: Run) -> float:
        def thousand() -> None:
            for _ in range(1000):
                run()

        return seconds(thousand, 0.5) * 1e3

    launch = (1, 1, 1, 0, kernel.function, kernel.packed_metadata, None, None, None, x)
    return best(lambda: empty_kernel[(1,)](x)), best(lambda: kernel.run(*launch))


def compile_seconds(block: int) -> float:
    """Returns the time to compile a softmax without caches."""
    x, out = torch.zeros(block), torch.empty(block)
    times = []
    for _ in range(5):
        softmax_kernel.device_caches.clear()
        start = time.perf_counter()
        softmax_kernel[(1,)](x, out, block, BLOCK=block)
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="softmax and a matrix product only")
    arguments = parser.parse_args()
    console = Console(width=150)
    threads = torch.get_num_threads()
    cpuinfo = Path("/proc/cpuinfo").read_text().splitlines()
    model = [line.partition(":")[2].strip() for line in cpuinfo if line.startswith("model name")]
    table = Table(
        title=f"CPU backend beside torch {torch.__version__} eager, {threads} threads of {model[0]}",
        title_justify="left",
    )
    for column in (
        "",
        "ours ms",
        "torch ms",
        "ratio",
        "aim",
        "torch.compile ms",
        "NumPy ms",
        "1 thread ms",
        "torch's",
        "ratio",
        "scaling",
        "rate",
    ):
        table.add_column(column, justify="left" if not column else "right")
    roofline = Table(title="Roofline", title_justify="left")
    for column in ("", "MB", "MFLOP", "GB/s", "of bandwidth", "GFLOP/s", "of FMA peak"):
        roofline.add_column(column, justify="left" if not column else "right")
    peak = 0.0 if arguments.quick else fma_peak(threads)
    for case in cases(arguments.quick):
        ours, eager = beside(case.ours, case.eager)
        torch.set_num_threads(1)  # a launch reads this
        single, single_eager = beside(case.ours, case.eager)
        torch.set_num_threads(threads)
        rate = case.operations / ours / 1e9
        if not arguments.quick:
            most = bandwidth(case.bytes)
            roofline.add_row(
                case.name,
                f"{case.bytes / 1e6:.0f}",
                f"{case.operations / 1e6:.0f}",
                f"{case.bytes / ours / 1e9:.1f}",
                f"{case.bytes / ours / most:.0%} of {most / 1e9:.1f}",
                f"{rate:.0f}",
                f"{case.operations / ours / peak:.0%} of {peak / 1e9:.0f}",
            )
        table.add_row(
            case.name,
            f"{ours * 1e3:.2f}",
            f"{eager * 1e3:.2f}",
            f"{ours / eager:.2f}",
            f"<= {case.aim}",
            f"{seconds(case.compiled) * 1e3:.2f}" if case.compiled else "",
            f"{seconds(case.numpy, 0.5) * 1e3:.2f}" if case.numpy else "",
            f"{single * 1e3:.2f}",
            f"{single_eager * 1e3:.2f}",
            f"{single / single_eager:.2f}",
            f"{single / ours:.2f}",
            f"{rate:.0f} GFLOP/s" if case.operations > 50 * case.bytes else f"{case.bytes / ours / 1e9:.1f} GB/s",
        )
    console.print(table)
    if arguments.quick:
        return
    console.print(roofline)
    console.print(
        f"one thread's FMA peak: {fma_peak(1) / 1e9:.0f} GFLOP/s; load of the machine {os.getloadavg()[0]:.1f}"
    )
    if not shutil.which(os.environ.get("CXX", "g++")):
        console.print("torch.compile is not timed: it needs a C++ compiler (g++)")
    for size in (512, 1024):
        add, matmul = against_interpreter(size)
        console.print(
            f"TRITON_INTERPRET=1 takes {add:.0f} times as long for add 2^22, {matmul:.0f} times for matmul {size}^3"
        )
    whole, launcher = launch_microseconds()
    console.print(f"a launch of an empty kernel takes {whole:.1f} us, {launcher:.2f} us of that in the launcher")
    os.environ["TRITON_ALWAYS_COMPILE"] = "1"
    small, large = compile_seconds(1024), compile_seconds(65536)
    console.print(
        f"compiling softmax: BLOCK 1024 {small * 1e3:.0f} ms, 65536 {large * 1e3:.0f} ms ({large / small:.2f}x)"
    )


if __name__ == "__main__":
    main()
