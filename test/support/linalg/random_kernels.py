# SPDX-License-Identifier: Apache-2.0
"""Random kernels for ``-triton-to-linalg`` and ``-lower-linalg-ext``: each converts, or is refused with its line.

Stock mlir-opt parses and verifies the results, if it is installed (``triton-ext sdk install --with mlir-opt``).
``python test/support/linalg/random_kernels.py --kernels 1000`` prints how many kernels convert, and why the others do
not.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import triton_ext as tx
from support import modules
from triton_ext.errors import PipelineError
from triton_ext.sdk.tools import find_tool

HEADER = "import triton\nimport triton.language as tl\nfrom triton.language.extra import libdevice\n\n"
T = TypeVar("T")
SIGNATURE = "*fp32, *fp32, *i32, *fp16, i32, i32, fp32"
PER_BATCH = 20
#: A diagnostic or a refusal with its place: FILE:LINE:COLUMN: error: why.
_LOCATED = re.compile(r"\.py:\d+:\d+: (?:error: )?(?P<why>.+)")


class Writer:
    """Writes one kernel: statements over tensors of one shape, each of which may use what is there already.

    Attributes:
        lines: the lines of the body.
    """

    def __init__(self, random: Random) -> None:
        self.random = random
        self.shape = random.choice([(16,), (64,), (128,), (8, 16), (16, 16), (32, 8)])
        self.lines: list[str] = []
        self.floats: list[str] = []
        self.integers: list[str] = []
        self.masks: list[str] = []
        self.indent = "    "
        self._names = 0

    def kernel(self, name: str) -> str:
        """Returns the whole function."""
        self._coordinates()
        for _ in range(self.random.randint(3, 14)):
            self._statement()
        self._store()
        return f"@triton.jit\ndef {name}(x, y, k, h, n, m, s):\n" + "\n".join(self.lines) + "\n\n"

    def _add(self, text: str) -> None:
        self.lines.append(self.indent + text)

    def _new(self, kind: list[str], text: str) -> str:
        self._names += 1
        name = f"v{self._names}"
        self._add(f"{name} = {text}")
        kind.append(name)
        return name

    def _any(self, kind: list[str]) -> str:
        return self.random.choice(kind)

    def _coordinates(self) -> None:
        if len(self.shape) == 1:
            self._add(f"i = tl.program_id(0) * {self.shape[0]} + tl.arange(0, {self.shape[0]})")
            self.places = ["i", "i * 2", "i + m", "n - 1 - i", "i % 7", "i // 2", "i * m", "tl.load(k + i)"]
            masks = ["i < n", "(i >= m) & (i < n)", "i % 2 == 0", "i != m", "(i < n) | (i > m)", "n > m"]
        else:
            rows, columns = self.shape
            self._add(f"r = (tl.program_id(0) * {rows} + tl.arange(0, {rows}))[:, None]")
            self._add(f"c = tl.arange(0, {columns})[None, :]")
            self.places = ["r * n + c", f"r * {columns} + c", "c * n + r", "r * n + c * 2", "r + c", "r * n + c % 5"]
            self.places += ["(n - 1 - r) * m + c", "tl.load(k + r) * n + c"]
            masks = ["(r < n) & (c < m)", "c < m", "r < n", "(r + c) < n", "(r < n) | (c < m)", "(c >= 2) & (c < m)"]
        shape = str(list(self.shape))
        for mask in masks:
            self._new(
                self.masks,
                f"tl.broadcast_to({mask}, {shape})"
                if "n > m" not in mask
                else f"tl.full({shape}, 1, tl.int1) & (n > m)",
            )
        self._new(self.integers, f"tl.broadcast_to({self.places[0]}, {shape})")
        self._new(self.floats, f"tl.load(x + {self.places[0]})")

    def _address(self, base: str) -> str:
        return f"{base} + {self.random.choice(self.places)}"

    def _mask(self) -> str:
        kind = self.random.random()
        return "" if kind < 0.3 else f", mask={self._any(self.masks)}"

    def _statement(self) -> None:
        choices = [
            self._load, self._load, self._arithmetic, self._arithmetic, self._integer, self._compare, self._function,
            self._reduce, self._reduce, self._scan, self._rearrange, self._store, self._branch, self._loop, self._while,
            self._atomic, self._dot, self._rare,
        ]  # fmt: skip
        self.random.choice(choices)()

    def _load(self) -> None:
        mask = self._mask()
        other = (
            f", other={self.random.choice(['0.0', '1.0', 's', self._any(self.floats)])}"
            if mask and self.random.random() < 0.7
            else ""
        )
        base = self.random.choice(["x", "y", "h"])
        self._new(self.floats, f"tl.load({self._address(base)}{mask}{other}).to(tl.float32)")

    def _store(self) -> None:
        self._add(f"tl.store({self._address('y')}, {self._any(self.floats)}{self._mask()})")

    def _arithmetic(self) -> None:
        a, b = self._any(self.floats), self.random.choice([self._any(self.floats), "s", "2.5"])
        operation = self.random.choice(
            ["{} + {}", "{} - {}", "{} * {}", "{} / {}", "tl.maximum({}, {})", "tl.minimum({}, {})"]
        )
        self._new(self.floats, operation.format(a, b))

    def _integer(self) -> None:
        a, b = self._any(self.integers), self.random.choice([self._any(self.integers), "n", "3"])
        operation = self.random.choice(
            ["{} + {}", "{} * {}", "{} // {}", "{} % {}", "{} & {}", "{} ^ {}", "{} >> ({} & 7)", "{} - {}"]
        )
        self._new(self.integers, operation.format(a, b))

    def _compare(self) -> None:
        sign = self.random.choice(["<", "<=", "==", "!=", ">", ">="])
        kind = self.random.choice([self.floats, self.integers])
        self._new(self.masks, f"{self._any(kind)} {sign} {self._any(kind)}")
        if self.random.random() < 0.5:
            self._new(
                self.floats, f"tl.where({self._any(self.masks)}, {self._any(self.floats)}, {self._any(self.floats)})"
            )

    def _function(self) -> None:
        a = self._any(self.floats)
        text = self.random.choice([
            "tl.exp({})", "tl.log({})", "tl.sin({})", "tl.sqrt(tl.abs({}))", "tl.math.erf({})", "tl.rsqrt({})",
            "tl.floor({})", "tl.sigmoid({})", "tl.clamp({}, -1.0, 1.0)", "{}.to(tl.float16).to(tl.float32)",
            "{}.to(tl.bfloat16).to(tl.float32)", "{}.to(tl.int32).to(tl.float32)", "libdevice.tanh({})",
            "tl.fma({0}, {0}, {0})",
        ])  # fmt: skip
        self._new(self.floats, text.format(a))

    def _reduce(self) -> None:
        a, axis = self._any(self.floats), self.random.randrange(len(self.shape))
        text = self.random.choice(
            [
                "tl.sum({}, {})",
                "tl.max({}, {})",
                "tl.min({}, {})",
                "tl.argmax({}, {}).to(tl.float32)",
                "tl.xor_sum({}.to(tl.int32), {}).to(tl.float32)",
            ]
        )
        small = text.format(a, axis)
        if len(self.shape) == 2:
            small = f"tl.expand_dims({small}, {axis})"
        self._new(self.floats, f"{a} + {small}")

    def _scan(self) -> None:
        a, axis = self._any(self.floats), self.random.randrange(len(self.shape))
        reverse = self.random.choice(["", ", reverse=True"])
        self._new(self.floats, f"tl.{self.random.choice(['cumsum', 'cumprod'])}({a}, {axis}{reverse})")

    def _rearrange(self) -> None:
        a = self._any(self.floats)
        total = 1
        for size in self.shape:
            total *= size
        shape = ", ".join(map(str, self.shape))
        text = self.random.choice([
            f"tl.reshape(tl.reshape({a}, [{total // 4}, 4]), [{shape}])",
            f"tl.reshape(tl.trans(tl.reshape({a}, [{total // 4}, 4])), [{shape}])",
            f"tl.flip({a}, {len(self.shape) - 1})",
            f"tl.sum(tl.join({a}, {a}), {len(self.shape)})",
            f"tl.sort({a})",
            f"tl.gather({a}, {self._any(self.integers)} & {self.shape[-1] - 1}, {len(self.shape) - 1})",
        ])  # fmt: skip
        self._new(self.floats, text)

    def _inside(self, count: int) -> None:
        """Writes statements one level deeper; their variables are local to that level."""
        kept = [list(kind) for kind in (self.floats, self.integers, self.masks)]
        self.indent += "    "
        for _ in range(count):
            self.random.choice([self._load, self._arithmetic, self._integer, self._function, self._store])()
        self.indent = self.indent[:-4]
        self._last = self.floats[-1]
        self.floats, self.integers, self.masks = kept

    def _branch(self) -> None:
        result = self._new(self.floats, self._any(self.floats))
        self._add(f"if {self.random.choice(['n > 3', 'n % 2 == m', 's > 0.5'])}:")
        self._inside(self.random.randint(1, 3))
        self._add(f"    {result} = {result} + {self._last}")

    def _loop(self) -> None:
        result = self._new(self.floats, self._any(self.floats))
        moving = self.random.random() < 0.5
        if moving:
            self._add(f"p = {self._address('x')}")
        self._add(f"for j in range({self.random.choice(['0, 4', '0, n', 'm, n, 3'])}):")
        self._inside(self.random.randint(1, 3))
        if moving:
            self._add(f"    {result} = {result} + tl.load(p{self._mask()})")
            self._add(f"    p += {self.random.choice(['16', 'n', 'm * 2'])}")
        self._add(f"    {result} = {result} * 0.5 + {self._last} + j")

    def _while(self) -> None:
        result = self._new(self.floats, self._any(self.floats))
        self._add("w = n")
        self._add("while w > m:")
        self._inside(1)
        self._add(f"    {result} = {result} + {self._last}")
        self._add("    w = w // 2")

    def _atomic(self) -> None:
        kind = self.random.choice(["add", "max", "min", "xchg"])
        value = self._any(self.floats)
        text = f"tl.atomic_{kind}({self._address('y')}, {value}{self._mask()})"
        if self.random.random() < 0.3:
            expected, new = self._any(self.integers), self._any(self.integers)
            text = f"tl.atomic_cas({self._address('k')}, {expected}, {new}).to(tl.float32)"
        self._new(self.floats, text)

    def _dot(self) -> None:
        if self.shape == (16, 16):
            self._new(
                self.floats, f"tl.dot({self._any(self.floats)}, {self._any(self.floats)}, {self._any(self.floats)})"
            )
        else:
            self._arithmetic()

    def _rare(self) -> None:
        text = self.random.choice([
            'tl.device_print("v", {})',
            'tl.device_assert({} == 0.0, "zero")',
            "tl.static_assert(True)",
            "tl.debug_barrier()",
        ])  # fmt: skip
        if self.random.random() < 0.1:
            asm = '"bar.sync 0; abs.f32 $0, $1;", "=r,r"'
            self._new(self.floats, f"tl.inline_asm_elementwise({asm}, [{self._any(self.floats)}], tl.float32, True, 1)")
        else:
            self._add(text.format(self._any(self.floats)))


@dataclass(frozen=True)
class Outcome:
    """What became of the kernel that `seed` makes: `why` it did not convert, or "", and the `module`."""

    seed: int
    why: str
    is_located: bool = True
    module: str = ""


def source(seed: int) -> str:
    """Returns the source of the kernel that `seed` gives."""
    return Writer(Random(seed)).kernel(f"random_{seed}")


def write(seeds: range, directory: Path) -> Path:
    """Writes the kernels of `seeds` to a module in the directory, and returns its file."""
    path = directory / f"linalg_random_{seeds.start}.py"
    path.write_text(HEADER + "\n".join(map(source, seeds)))
    return path


def check(seeds: range) -> list[Outcome]:
    """Converts the kernels of `seeds` in this process."""
    with tempfile.TemporaryDirectory() as directory:
        module = modules.imported(write(seeds, Path(directory)))
        outcomes = [_outcome(seed, getattr(module, f"random_{seed}")) for seed in seeds]
    refused = refused_by_stock([outcome.module for outcome in outcomes])
    return [
        Outcome(outcome.seed, f"stock mlir-opt: {refused[i]}", is_located=False)
        if i in refused
        else Outcome(outcome.seed, outcome.why, outcome.is_located)
        for i, outcome in enumerate(outcomes)
    ]


def refused_by_stock(modules: list[str]) -> dict[int, str]:
    """Returns which of the modules stock mlir-opt rejects, and why; without stock mlir-opt, returns nothing."""
    program = find_tool("mlir-opt")
    if program is None:
        return {}
    command = [str(program), "-split-input-file", "-o", os.devnull]
    text = "\n// -----\n".join(modules)
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    ends = list(accumulate(module.count("\n") + 2 for module in modules))
    refused: dict[int, str] = {}
    for line, why in re.findall(r"^<stdin>:(\d+):\d+: error: (.+)", done.stderr, re.MULTILINE):
        refused.setdefault(bisect_left(ends, int(line)), why)
    if done.returncode and not refused:
        raise RuntimeError(f"stock mlir-opt ended with {done.returncode}: {done.stderr}")
    return refused


def _outcome(seed: int, kernel: object) -> Outcome:
    try:
        module = tx.linalg.compile(kernel, SIGNATURE, lowered=True)
    except PipelineError as error:
        why = located(str(error))
        return Outcome(seed, why or str(error), bool(why))
    return Outcome(seed, "", module=module)


def located(error: str) -> str:
    """Returns the message of an error that has a line of the kernel, or an empty text."""
    found = _LOCATED.search(error)
    return found["why"] if found else ""


def check_all(kernels: int, jobs: int) -> Iterator[Outcome]:
    """Converts the first kernels."""
    return in_processes(check, range(kernels), jobs)


def in_processes(
    check: Callable[[range], list[T]], seeds: range, jobs: int, show: Callable[[int], object] = source
) -> Iterator[T]:
    """Calls `check` in processes of their own: one that crashes names its kernel by `show`.

    Raises:
        RuntimeError: a process ended; the message has the kernel.
    """
    batches = [seeds[first : first + PER_BATCH] for first in range(0, len(seeds), PER_BATCH)]
    with ProcessPoolExecutor(jobs) as pool:
        running = [pool.submit(check, batch) for batch in batches]
        for batch, future in zip(batches, running, strict=True):
            try:
                yield from future.result()
            except BrokenProcessPool:
                yield from _one_by_one(check, batch, show)


def _one_by_one(check: Callable[[range], list[T]], batch: range, show: Callable[[int], object]) -> Iterator[T]:
    for seed in batch:
        with ProcessPoolExecutor(1) as pool:
            try:
                yield from pool.submit(check, range(seed, seed + 1)).result()
            except BrokenProcessPool:
                raise RuntimeError(f"this kernel ended the process:\n{show(seed)}") from None


def main() -> None:
    """Prints the share of kernels that convert."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernels", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--show", type=int, metavar="SEED", help="print the kernel of a seed")
    arguments = parser.parse_args()
    if arguments.show is not None:
        print(HEADER + source(arguments.show))
        return
    start = time.perf_counter()
    outcomes = []
    for outcome in check_all(arguments.kernels, arguments.jobs):
        outcomes.append(outcome)
        print(f"\r{len(outcomes)} of {arguments.kernels}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    converted = sum(not outcome.why for outcome in outcomes)
    seconds = time.perf_counter() - start
    print(
        f"{converted} of {len(outcomes)} kernels convert ({converted / len(outcomes):.1%}); no crash; {seconds:.0f} s"
    )
    print("parsed and verified by stock mlir-opt" if find_tool("mlir-opt") else "stock mlir-opt is not installed")
    for why, count in Counter(outcome.why for outcome in outcomes if outcome.why).most_common():
        print(f"{count:5}  {why}")
    unlocated = [outcome for outcome in outcomes if not outcome.is_located]
    for outcome in unlocated:
        print(f"seed {outcome.seed}: no location: {outcome.why}")
    sys.exit(bool(unlocated))


if __name__ == "__main__":
    main()
