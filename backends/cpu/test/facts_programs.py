# SPDX-License-Identifier: Apache-2.0
"""Random straight-line programs on narrow integers, run with NumPy for every input at once.

This is an interpreter of arith of its own: it shares nothing with the compiler but the names of the operations.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]

BINARY = ["addi", "subi", "muli", "andi", "ori", "xori", "divsi", "divui", "remsi", "remui"]
BINARY += ["minsi", "minui", "maxsi", "maxui", "shli", "shrsi", "shrui"]
#: What address arithmetic is made of comes more often.
WEIGHTS = [5, 3, 4, 3, 1, 1, 3, 2, 4, 3, 2, 1, 2, 1, 3, 1, 2]


def signed(numbers: Numbers, width: int) -> Numbers:
    """The lowest `width` bits, read as a signed number."""
    sign = 1 << (width - 1)
    return ((numbers + sign) & ((1 << width) - 1)) - sign


def unsigned(numbers: Numbers, width: int) -> Numbers:
    """The lowest `width` bits, read as an unsigned number."""
    return numbers & ((1 << width) - 1)


def compute(name: str, a: Numbers, b: Numbers, width: int) -> tuple[Numbers, Flags]:
    """The results of an operation on signed numbers, and where it has one."""
    ua, ub = unsigned(a, width), unsigned(b, width)
    least = -(1 << (width - 1))
    fits = ub < width
    by = np.where(fits, ub, 0)
    magnitude = np.abs(a) // np.where(b == 0, 1, np.abs(b))
    quotient = np.where((a < 0) == (b < 0), magnitude, -magnitude)
    divides = (b != 0) & ~((a == least) & (b == -1))
    safe = np.where(ub == 0, 1, ub)
    always = np.ones(a.shape, np.bool_)
    results = {
        "addi": (a + b, always),
        "subi": (a - b, always),
        "muli": (a * b, always),
        "andi": (a & b, always),
        "ori": (a | b, always),
        "xori": (a ^ b, always),
        "divsi": (quotient, divides),
        "divui": (ua // safe, ub != 0),
        "remsi": (a - b * quotient, divides),
        "remui": (ua % safe, ub != 0),
        "minsi": (np.minimum(a, b), always),
        "minui": (np.minimum(ua, ub), always),
        "maxsi": (np.maximum(a, b), always),
        "maxui": (np.maximum(ua, ub), always),
        "shli": (a << by, fits),
        "shrsi": (a >> by, fits),
        "shrui": (ua >> by, fits),
    }
    number, defined = results[name]
    return signed(number, width), defined


@dataclass
class Value:
    """A value of a program: what it is for each input, read as signed, and the line that makes it."""

    name: str
    width: int
    numbers: Numbers
    line: int


@dataclass
class Program:
    """One function.

    Attributes:
        values: whose facts are printed, each at its line, in order.
        defined: the inputs for which no operation so far lacks a result.
    """

    random: Random
    name: str
    lines: list[str] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    arguments: list[Value] = field(default_factory=list)
    defined: Flags = field(default_factory=lambda: np.ones(0, np.bool_))
    checked: list[tuple[Value, Flags]] = field(default_factory=list)
    closes: int = 0

    def text(self) -> str:
        return "\n".join([*self.lines, *["}"] * self.closes, "tt.return", "}"])

    def add(self, text: str, width: int, numbers: Numbers) -> None:
        value = Value(f"%v{len(self.values)}", width, numbers, len(self.lines))
        self.lines.append(f"{value.name} = {text}")
        self.values.append(value)
        self.checked.append((value, self.defined))

    def pick(self, width: int) -> Value:
        """A value of that width: one that there is, mostly of the last ones, or a new constant."""
        known = [value for value in self.arguments + self.values if value.width == width]
        if known and self.random.random() < 0.7:
            return self.random.choice(known[-5:])
        self.constant(width)
        return self.values[-1]

    def constant(self, width: int) -> None:
        power = 1 << self.random.randrange(width)
        number = self.random.choice([power, power, -power, power - 1, self.random.randrange(1 << width), 0])
        (value,) = signed(np.array([number]), width)
        self.add(f"arith.constant {value} : i{width}", width, np.full(self.defined.shape, value))

    def step(self) -> None:
        """One more operation."""
        random = self.random
        widths = [value.width for value in self.arguments + self.values]
        width = random.choice(widths)
        kind = random.random()
        if kind < 0.25:
            a = self.pick(width)
            if random.random() < 0.5 and width > 3:
                to = random.randrange(2, width)
                self.add(f"arith.trunci {a.name} : i{width} to i{to}", to, signed(a.numbers, to))
            else:
                to = random.randrange(width + 1, max(12, width + 2))
                name = random.choice(["extsi", "extui"])
                wide = a.numbers if name == "extsi" else unsigned(a.numbers, width)
                self.add(f"arith.{name} {a.name} : i{width} to i{to}", to, signed(wide, to))
            return
        a, b = self.pick(width), self.pick(width)
        if kind < 0.35:
            c, d = self.pick(width), self.pick(width)
            self.lines.append(f"%c{len(self.lines)} = arith.cmpi slt, {a.name}, {b.name} : i{width}")
            condition = f"%c{len(self.lines) - 1}"
            chosen = np.where(a.numbers < b.numbers, c.numbers, d.numbers)
            self.add(f"arith.select {condition}, {c.name}, {d.name} : i{width}", width, chosen)
            return
        (name,) = random.choices(BINARY, WEIGHTS)
        numbers, hasResult = compute(name, a.numbers, b.numbers, width)
        self.defined = self.defined & hasResult
        self.add(f"arith.{name} {a.name}, {b.name} : i{width}", width, numbers)

    def loop(self) -> None:
        """What follows is in a loop; each of its iterations is an input of its own."""
        width = self.random.choice([value.width for value in self.arguments])
        lower, upper, limit = self.pick(width), self.pick(width), 1 << (width - 1)
        step = self.random.choice([1, 1, 2, 2, 4, 3])
        isUnsigned = self.random.random() < 0.3
        if step >= limit:
            step = 1
        count = (2 * limit + step - 1) // step
        read = unsigned if isUnsigned else signed
        trips = np.tile(np.arange(count), self.defined.size)
        for value in self.arguments + self.values:
            value.numbers = np.repeat(value.numbers, count)
        self.defined = np.repeat(self.defined, count)
        self.checked = [(value, np.repeat(defined, count)) for value, defined in self.checked]
        place = read(lower.numbers, width) + trips * step
        self.defined &= place < read(upper.numbers, width)
        self.lines.append(f"%step = arith.constant {step} : i{width}")
        value = Value("%i", width, signed(place, width), len(self.lines))
        how = "unsigned " if isUnsigned else ""
        self.lines.append(f"scf.for {how}%i = {lower.name} to {upper.name} step %step : i{width} {{")
        self.closes += 1
        self.values.append(value)
        self.checked.append((value, self.defined))


def program(random: Random, name: str) -> Program:
    """A program of two arguments and some ten operations, which has been run for every input."""
    made = Program(random, name)
    turns = random.randrange(-8, 5)
    # The iterations of a loop multiply the inputs.
    widths = [random.choice([4, 5] if turns >= 0 else [4, 5, 6, 8]), random.choice([4, 5])]
    every = np.meshgrid(*[np.arange(-(1 << (w - 1)), 1 << (w - 1)) for w in widths], indexing="ij")
    made.defined = np.ones(every[0].size, np.bool_)
    declared = []
    for k, (width, numbers) in enumerate(zip(widths, every, strict=True)):
        numbers = numbers.reshape(-1)
        divisor = random.choice([1, 1, 2, 4, 6, 8])
        promise = f"tt.divisibility = {divisor} : i32"
        made.defined &= numbers % divisor == 0
        if random.random() < 0.5:
            limit = random.randrange(1 << (width - 1))
            promise += f", tt.limit = {limit} : i32"
            made.defined &= (numbers >= 0) & (numbers <= limit)
        made.arguments.append(Value(f"%a{k}", width, numbers, 0))
        declared.append(f"%a{k}: i{width} {{{promise}}}")
    made.lines.append(f"tt.func @{name}({', '.join(declared)}) {{")
    for turn in range(10):
        if turn == turns:
            made.loop()
        made.step()
    return made
