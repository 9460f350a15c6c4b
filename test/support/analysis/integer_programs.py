# SPDX-License-Identifier: Apache-2.0
"""Programs of arith, tt and scf on narrow integers, and an interpreter that runs them for every input at once.

A program is a tree of operations. Each operation writes a line of the function and computes its result for all inputs
with NumPy. `Machine.trace` records each computed value, with the inputs for which the program is defined so far.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

import numpy as np
from numpy.typing import NDArray

from support.integers import Flags, Numbers

PROGRAMS = 3  # along the axis y
ROWS = 64  # of the table that a lookup reads, on both sides of zero
LONGEST = 40  # iterations; inputs with a longer loop are ignored
INDEX = 64  # bits of an index, and of a pointer
IN_TENSORS = (1, 4, 8, 16, 32, 64)  # bits of the integers that Triton's operations accept


@dataclass(eq=False)
class Value:
    """A value of a program.

    Attributes:
        name: its name in the function.
        width: the bits of an element.
        element: the type of an element.
        shape: the shape of a tensor; empty for a scalar.
        line: the line that defines it, counted from the function's first line.
        slot: its place in that line: ``r0`` is the first result, ``a0`` the first argument of the first region.
    """

    name: str
    width: int
    element: str
    shape: tuple[int, ...] = ()
    line: int = 0
    slot: str = "r0"

    @property
    def type(self) -> str:
        return f"tensor<{''.join(f'{size}x' for size in self.shape)}{self.element}>" if self.shape else self.element

    @property
    def is_pointer(self) -> bool:
        return self.element.startswith("!")

    @property
    def step(self) -> int:
        """The size in bytes of the element that a pointer points to."""
        return int(self.element[len("!tt.ptr<i") : -1]) // 8


@dataclass
class Record:
    """A value as it was computed at one time.

    Attributes:
        tick: the time, as a count of computed values; it orders records.
        numbers: the elements for each input.
        defined: the inputs for which it is computed, and every operation before it had a result.
        exact: the inputs of `defined` for which no sum or product before it has wrapped: first those of 32 bits or
            more, second those of any width.
    """

    tick: int
    numbers: NDArray[np.signedinteger]
    defined: Flags
    exact: tuple[Flags, Flags]


class Machine:
    """Runs one program for `count` inputs.

    Attributes:
        values: the numbers of each value; they are correct only for the inputs that reach the value.
        bad: the inputs for which an operation has no result.
        endless: the inputs for which an induction variable overflows its type, so that a compiled loop does not end.
        wrapped: the inputs for which an operation has wrapped: in 32 bits or more, and in any width.
        starts: the ticks at which the loop of each induction variable begins.
    """

    def __init__(self, count: int) -> None:
        self.values: dict[Value, Numbers] = {}
        self.bad = np.zeros(count, np.bool_)
        self.endless = np.zeros(count, np.bool_)
        self.wrapped = (self.bad, self.bad)
        self.tick = 0
        self.starts: dict[Value, list[int]] = {}
        self.trace: dict[Value, list[Record]] = {}

    def drop(self, inputs: Flags) -> None:
        if inputs.any():
            self.bad = self.bad | inputs

    def set(self, value: Value, numbers: Numbers, active: Flags) -> None:
        self.values[value] = numbers
        self.tick += 1
        defined = active & ~self.bad
        exact = (defined & ~self.wrapped[0], defined & ~self.wrapped[1])
        kept = numbers.astype(np.int16) if value.width <= 16 else numbers
        self.trace.setdefault(value, []).append(Record(self.tick, kept, defined, exact))


def each(flags: Flags) -> Flags:
    """Returns, for each input, whether one of its elements has the flag."""
    return np.asarray(flags.reshape(flags.shape[0], -1).any(axis=1))


def fit(flags: Flags, like: NDArray[np.generic]) -> Flags:
    """Returns the flags of inputs in a shape that broadcasts with the elements of `like`."""
    return flags.reshape(-1, *[1] * (like.ndim - 1))


@dataclass
class Op:
    """One operation: its line without the result, and the function that runs it."""

    text: str
    results: list[Value]
    run: Callable[[Machine, Flags], None]
    regions: list[Region] = field(default_factory=list)
    between: str = ""  # the line between two regions


@dataclass
class Region:
    arguments: list[Value] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)
    yields: list[Value] = field(default_factory=list)

    def run(self, machine: Machine, active: Flags) -> None:
        for op in self.ops:
            op.run(machine, active)


@dataclass
class Program:
    """One function.

    Attributes:
        inputs: the numbers of each argument and of the program's id, for each input.
        lines: the text.
        top: the values at the top level, which every run computes.
    """

    random: Random
    name: str
    arguments: list[Value] = field(default_factory=list)
    inputs: list[Numbers] = field(default_factory=list)
    head: str = ""
    body: Region = field(default_factory=Region)
    lines: list[str] = field(default_factory=list)

    @property
    def top(self) -> list[Value]:
        return [result for op in self.body.ops for result in op.results]

    def text(self) -> str:
        return "\n".join(self.lines)

    def run(self) -> Machine:
        machine = Machine(self.inputs[0].size)
        everyone = np.ones(machine.bad.size, np.bool_)
        for value, numbers in zip(self.arguments, self.inputs, strict=True):
            machine.values[value] = numbers
        self.body.run(machine, everyone)
        return machine


def write(program: Program) -> None:
    """Writes the lines of the program, and sets the line and the slot of each value."""
    lines = program.lines

    def block(region: Region, loop: bool) -> None:
        for op in region.ops:
            for k, result in enumerate(op.results):
                result.line, result.slot = len(lines), f"r{k}"
            for n, inner in enumerate(op.regions):
                for k, argument in enumerate(inner.arguments):
                    argument.line, argument.slot = len(lines), f"a{k}" if n == 0 else f"b{k}"
            names = ", ".join(result.name for result in op.results)
            lines.append(f"{names} = {op.text}" if names else op.text)
            for n, inner in enumerate(op.regions):
                if n:
                    lines.append(op.between)
                block(inner, loop=True)
            if op.regions:
                lines.append("}")
        if loop and region.yields:
            names = ", ".join(value.name for value in region.yields)
            lines.append(f"scf.yield {names} : {', '.join(value.type for value in region.yields)}")

    lines.append(program.head)
    block(program.body, loop=False)
    lines += ["tt.return", "}"]
