# SPDX-License-Identifier: Apache-2.0
"""Random kernels of address arithmetic on tensors, run on the backend and with Python's integers.

Run as a program, with `test` on PYTHONPATH, prints how many values of the kernels of the seeds in its arguments are
wrong.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import triton
from numpy.typing import NDArray
from triton_ext.backends.cpu.driver import CPUDriver

from support.integers import Flags, compute, signed, unsigned

N, PROGRAMS, SIZE = 32, 3, 64
OPS = ["addi", "subi", "muli", "andi", "xori", "divsi", "remsi", "remui", "shli", "shrui", "minsi"]
WEIGHTS = [6, 3, 5, 1, 1, 2, 6, 2, 2, 1, 1]
#: A scalar that 16 divides, any scalar, and one of 64 bits.
INPUTS = [
    (0, 1, 1 << 31),
    (-32, -5, -1),
    (1 << 30, 3, (1 << 32) + 5),
    (-(1 << 31), (1 << 31) - 1, 1 << 33),
    ((1 << 31) - 16, -(1 << 31), (1 << 63) - 1),
    (48, (1 << 31) - 7, -(1 << 63)),
]


@dataclass
class Value:
    """A tensor: its numbers for each input, program and lane, as Python's integers."""

    name: str
    width: int
    numbers: NDArray[Any]


@dataclass
class Kernel:
    """One kernel and the numbers that it stores."""

    random: Random
    lines: list[str] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    defined: Flags = field(default_factory=lambda: np.ones((len(INPUTS), PROGRAMS, N), np.bool_))
    expected: list[tuple[NDArray[Any], Flags]] = field(default_factory=list)

    def add(self, text: str, width: int, numbers: NDArray[Any]) -> Value:
        value = Value(f"%v{len(self.lines)}", width, signed(numbers, width))
        self.lines.append(f"{value.name} = {text}")
        return value

    def fill(self, number: int) -> NDArray[Any]:
        return np.full(self.defined.shape, number, dtype=object)

    def splat(self, number: int, width: int) -> Value:
        """A constant, the same in each lane."""
        number = int(signed(np.array(number, dtype=object), width))
        text = f"arith.constant dense<{number}> : tensor<{N}xi{width}>"
        return self.add(text, width, self.fill(number))

    def begin(self) -> None:
        """A range, the number of the program times a constant, and the scalars."""
        for start in (0, self.random.choice([0, 5, 16])):
            numbers = self.fill(0) + np.arange(start, start + N).astype(object)
            text = f"tt.make_range {{start = {start} : i32, end = {start + N} : i32}} : tensor<{N}xi32>"
            self.values.append(self.add(text, 32, numbers))
        size = self.random.choice([N, 16, 1 << 20, 1 << 30, 7])
        numbers = self.fill(0) + (np.arange(PROGRAMS).astype(object) * size)[:, None]
        self.lines.append(f"%size = arith.constant {size} : i32")
        self.lines.append("%first = arith.muli %pid, %size : i32")
        self.values.append(self.add(f"tt.splat %first : i32 -> tensor<{N}xi32>", 32, numbers))
        for k, width in enumerate((32, 32, 64)):
            column = np.array([row[k] for row in INPUTS], dtype=object)[:, None, None]
            text = f"tt.splat %s{k} : i{width} -> tensor<{N}xi{width}>"
            self.values.append(self.add(text, width, self.fill(0) + column))
        self.binary("addi", self.values[0], self.values[self.random.randrange(2, 5)])

    def binary(self, name: str, a: Value, b: Value) -> None:
        numbers, hasResult = compute(name, a.numbers, b.numbers, a.width)
        self.defined = self.defined & hasResult.astype(np.bool_)
        self.values.append(self.add(f"arith.{name} {a.name}, {b.name} : tensor<{N}xi{a.width}>", a.width, numbers))

    def step(self) -> None:
        """Adds an operation, mostly on one of the last values."""
        random = self.random
        a = random.choice(self.values[-4:])
        if random.random() < 0.3:
            if a.width == 64:
                self.values.append(
                    self.add(f"arith.trunci {a.name} : tensor<{N}xi64> to tensor<{N}xi32>", 32, a.numbers)
                )
            else:
                name = random.choice(["extsi", "extui"])
                wide = a.numbers if name == "extsi" else unsigned(a.numbers, 32)
                self.values.append(self.add(f"arith.{name} {a.name} : tensor<{N}xi32> to tensor<{N}xi64>", 64, wide))
            return
        (name,) = random.choices(OPS, WEIGHTS)
        same = [value for value in self.values if value.width == a.width]
        if name in ("addi", "subi", "xori", "minsi") and random.random() < 0.7:
            b = random.choice(same)
        elif name in ("shli", "shrui"):
            b = self.splat(random.randrange(a.width), a.width)
        else:
            power = 1 << random.randrange(1, a.width - 1)
            b = self.splat(random.choice([16, 32, 64, power, -power, 3, -7]), a.width)
        self.binary(name, a, b)

    def store(self, value: Value) -> None:
        """Stores the lanes of `value`, widened to 64 bits."""
        k, name = len(self.expected), value.name
        if value.width == 32:
            self.lines.append(f"%wide{k} = arith.extsi {name} : tensor<{N}xi32> to tensor<{N}xi64>")
            name = f"%wide{k}"
        self.lines += [
            f"%shift{k} = arith.constant dense<{k * PROGRAMS * N}> : tensor<{N}xi32>",
            f"%at{k} = arith.addi %place, %shift{k} : tensor<{N}xi32>",
            f"%p{k} = tt.addptr %outs, %at{k} : tensor<{N}x!tt.ptr<i64>>, tensor<{N}xi32>",
            f"tt.store %p{k}, {name} : tensor<{N}x!tt.ptr<i64>>",
        ]
        self.expected.append((value.numbers, self.defined))

    def load(self, value: Value) -> None:
        """Loads from a table at a remainder, which may be negative, and stores the result."""
        k, type_ = len(self.lines), f"tensor<{N}xi{value.width}>"
        size = self.splat(SIZE, value.width)
        rest, _ = compute("remsi", value.numbers, size.numbers, value.width)
        self.lines += [
            f"%r{k} = arith.remsi {value.name}, {size.name} : {type_}",
            f"%q{k} = tt.addptr %tables, %r{k} : tensor<{N}x!tt.ptr<i64>>, {type_}",
            f"%l{k} = tt.load %q{k} : tensor<{N}x!tt.ptr<i64>>",
        ]
        self.store(Value(f"%l{k}", 64, rest * 3 + 1000))

    def text(self) -> str:
        body = "\n    ".join(self.lines)
        scalars = "%s0: i32 {tt.divisibility = 16 : i32}, %s1: i32, %s2: i64"
        return f"""module {{
  tt.func @kernel(%out: !tt.ptr<i64>, %table: !tt.ptr<i64>, {scalars}) {{
    %pid = tt.get_program_id x : i32
    %outs = tt.splat %out : !tt.ptr<i64> -> tensor<{N}x!tt.ptr<i64>>
    %tables = tt.splat %table : !tt.ptr<i64> -> tensor<{N}x!tt.ptr<i64>>
    %lane = tt.make_range {{start = 0 : i32, end = {N} : i32}} : tensor<{N}xi32>
    %n = arith.constant {N} : i32
    %start = arith.muli %pid, %n : i32
    %starts = tt.splat %start : i32 -> tensor<{N}xi32>
    %place = arith.addi %starts, %lane : tensor<{N}xi32>
    {body}
    tt.return
  }}
}}
"""


def kernel(seed: int) -> Kernel:
    """Returns a random kernel. Its results are not compared for inputs for which a division has no result."""
    made = Kernel(Random(seed))
    made.begin()
    for _ in range(10):
        made.step()
        made.store(made.values[-1])
        if made.random.random() < 0.5:
            made.load(made.values[-1])
    return made


def wrong_values(seed: int, directory: Path) -> list[str]:
    """Returns the differences between the results of the backend and Python's results."""
    made = kernel(seed)
    path = directory / f"kernel_{seed}.ttir"
    path.write_text(made.text())
    compiled = triton.compile(str(path), target=triton.runtime.driver.active.get_current_target())
    table = np.arange(-SIZE, SIZE) * 3 + 1000
    wrong = []
    for row, scalars in enumerate(INPUTS):
        out = np.zeros((len(made.expected), PROGRAMS, N), np.int64)
        compiled[(PROGRAMS, 1, 1)](out, table[SIZE:], *scalars)
        for k, (numbers, defined) in enumerate(made.expected):
            isWrong = (out[k] != numbers[row].astype(np.int64)) & defined[row]
            if isWrong.any():
                at = tuple(np.argwhere(isWrong)[0])
                wrong.append(
                    f"seed {seed}, {scalars}, value {k}, program and lane {at}: {out[k][at]}, not {numbers[row][at]}\n"
                    + made.text()
                )
    return wrong


if __name__ == "__main__":
    triton.runtime.driver.set_active(CPUDriver())
    with tempfile.TemporaryDirectory() as scratch:
        print(sum(len(wrong_values(int(seed), Path(scratch))) for seed in sys.argv[1:]))
