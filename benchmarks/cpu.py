# SPDX-License-Identifier: Apache-2.0
"""The CPU backend beside torch, NumPy and Triton's interpreter, in one run with the same threads: ``make bench``.

    .venv/bin/python benchmarks/cpu.py [--rows GROUP ...] [--threads N] [--compile] [--list]

Each row is checked against torch and printed when it is measured. In each of several rounds, it and what it is compared
with have a turn, which is the shortest run of 30 ms. Rows that are compared with one another and with torch, such as
the tiles of a product, share their rounds. A time is the median over the rounds, and a ratio is the median of the
quotients of two times in the same round. The best of a few tiles is chosen in earlier rounds, which are not counted.
Bandwidth and peaks are measured, too: the largest of torch's copy, sum and addition over as much memory, and a loop of
independent instructions of the unit in registers. With ``--compile``, ``torch.compile`` is timed; it needs a C++
compiler. ``--quick`` is what ``make demo-cpu`` runs: softmax and a product.
"""

from __future__ import annotations

import argparse
import itertools
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("TRITON_DEFAULT_BACKEND", "cpu")
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")

import cpu_products
import cpu_rows
import torch
from cpu_kernels import empty_kernel, softmax_kernel
from cpu_peaks import bandwidth, peak
from cpu_timing import Case, Rounds, Rows, Run, seconds

ROWS: Rows = {**cpu_rows.ROWS, **cpu_products.ROWS}
#: The groups that `--quick` runs.
QUICK = ("softmax", "wrapped")
COLUMNS = (
    f"""{"":48} {"ours":>8} {"torch":>8} {"ratio":>6} {"aim":>5} {"":5} {"1 thread":>8} {"torch":>8} {"ratio":>6}  """
    f"""{"GB/s":>6} {"share":>5} {"GFLOP/s":>8} {"share":>5} {"compile":>8}  beside"""
)


INTERPRETED = """
import sys, time; sys.path.insert(0, {directory!r})
import cpu_kernels, cpu_timing, torch, triton
n, size = 2**22, int(sys.argv[1])
x, y, out = torch.randn(n), torch.randn(n), torch.empty(n)
a, b, c = torch.randn(size, size), torch.randn(size, size), torch.empty(size, size)
def add(): cpu_kernels.add_kernel[(n // 1024,)](x, y, out, n, BLOCK=1024)
def matmul(): cpu_kernels.matmul_kernel[((size // 64)**2,)](a, b, c, size, size, size, BM=64, BN=64, BK=32)
print(*(cpu_timing.seconds(run, 0.5, 1) for run in (add, matmul)))
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


def compile_seconds(run: Run, kernel: object, turns: int = 1) -> float:
    """Returns the time to compile what `run` launches, without caches."""
    times = []
    os.environ["TRITON_ALWAYS_COMPILE"] = "1"
    for _ in range(turns):
        kernel.device_caches.clear()  # type: ignore[attr-defined]
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    del os.environ["TRITON_ALWAYS_COMPILE"]
    return max(min(times) - seconds(run, 0, 1), 0)


def together(groups: list[str]) -> Iterator[tuple[Case, ...]]:
    """Yields the rows of some groups, each after a check: those that are measured together."""
    for group in groups:
        torch.manual_seed(0)
        for made in ROWS[group]():
            rows = made if isinstance(made, tuple) else (made,)
            for case in rows:
                case.check()
            yield rows


def cases(groups: list[str]) -> Iterator[Case]:
    """Yields the rows of some groups, each after a check."""
    return itertools.chain.from_iterable(together(groups))


def line(case: Case, many: Rounds, one: Rounds, threads: int, compiles: bool) -> str:
    """Returns the line of a row: its times with `threads` threads and with one."""
    ours, other, ratio = many.seconds(case.ours), many.seconds(case.other), many.ratio(case.ours, case.other)
    single, single_other = one.seconds(case.ours), one.seconds(case.other)
    most, (_, operations) = bandwidth(int(case.bytes), threads), peak(case.unit, threads)
    rate = case.operations / ours
    more = case.versus if case.versus != "torch" else ""
    if case.numpy:
        more += f" NumPy {seconds(case.numpy, 0.3, 3) * 1e3:.2f} ms"
    if compiles and case.versus == "torch":
        more += f" torch.compile {seconds(torch.compile(case.other)) * 1e3:.2f} ms"
    text = (
        f"{case.name:48} {ours * 1e3:8.3f} {other * 1e3:8.3f} {ratio:6.2f} {case.aim:5.2f} "
        f"{'ABOVE' if ratio > case.aim else '':5} "
        f"{single * 1e3:8.3f} {single_other * 1e3:8.3f} {one.ratio(case.ours, case.other):6.2f}  "
        f"{case.bytes / ours / 1e9:6.1f} {case.bytes / ours / most:5.0%} "
        f"{rate / 1e9:8.0f} {f'{rate / operations:.0%}' if operations else '':>5} "
        f"{compile_seconds(case.ours, case.kernel):6.2f} s  {more.strip()}"
    )
    return text.rstrip()


def measure(groups: list[str], threads: int, compiles: bool, count: int) -> None:
    """Prints a line for each row, measured in `count` rounds, and which rows are above their aims."""
    print(f"times in ms, {threads} threads and one\n\n{COLUMNS.rstrip()}", flush=True)
    above = []
    for rows in together(groups):
        runs = [run for case in rows for run in (case.ours, case.other)]
        many = Rounds(runs, count)
        torch.set_num_threads(1)  # a launch reads this
        one = Rounds(runs, count // 2)
        torch.set_num_threads(threads)
        for case in rows:
            print(line(case, many, one, threads, compiles), flush=True)
            if (ratio := many.ratio(case.ours, case.other)) > case.aim:
                above.append(f"{case.name} {ratio:.2f} ({case.aim})")
    print(f"\nabove the aim: {'; '.join(above) or 'none'}", flush=True)


def softmax_of(columns: int) -> Run:
    """Returns a run of the softmax of one row."""
    x = torch.zeros(columns)
    return lambda: softmax_kernel[(1,)](x, x, columns, BLOCK=columns)


def finish() -> None:
    """Prints what has no row: the interpreter, launches, and compilations."""
    for size in (512, 1024):
        add, matmul = against_interpreter(size)
        print(f"TRITON_INTERPRET=1 takes {add:.0f} times as long for add 2^22, {matmul:.0f} times for matmul {size}^3")
    whole, launcher = launch_microseconds()
    print(f"a launch of an empty kernel takes {whole:.1f} us, {launcher:.2f} us of that in the launcher")
    small, large = (compile_seconds(softmax_of(columns), softmax_kernel, 5) for columns in (1024, 65536))
    print(f"compiling softmax: BLOCK 1024 {small * 1e3:.0f} ms, 65536 {large * 1e3:.0f} ms ({large / small:.2f}x)")


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="softmax and a matrix product only")
    parser.add_argument("--rows", nargs="+", choices=ROWS, metavar="GROUP", help="groups of rows; all without it")
    parser.add_argument("--threads", type=int, help="instead of torch's number")
    parser.add_argument("--compile", action="store_true", help="time torch.compile, too")
    parser.add_argument("--list", action="store_true", help="print the groups of rows")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(ROWS))
        return
    if arguments.compile and not shutil.which(os.environ.get("CXX", "g++")):
        parser.error("torch.compile needs a C++ compiler (g++)")
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    threads = torch.get_num_threads()
    model = next(row for row in Path("/proc/cpuinfo").read_text().splitlines() if row.startswith("model name"))
    print(f"CPU backend beside torch {torch.__version__} eager, {threads} threads of{model.partition(':')[2]}")
    for unit in () if arguments.quick else ("f32", "fp16", "bf16", "int8"):
        for count in (1, threads):
            name, most = peak(unit, count)
            print(f"peak of {unit} with {count} threads: {most / 1e9:.0f} GFLOP/s ({name or 'no such unit'})")
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")
    rows, count = (QUICK, 7) if arguments.quick else (arguments.rows or ROWS, 15)
    measure([*rows], threads, arguments.compile, count)
    if not arguments.quick and not arguments.rows:
        finish()


if __name__ == "__main__":
    main()
