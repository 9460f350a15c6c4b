# SPDX-License-Identifier: Apache-2.0
"""Random straight-line programs on tensors of narrow integers and of pointers, run with NumPy for every input at once.

A value has an array of its elements for each input. A second array marks neighbours between which an operation has
wrapped around, because their difference is not the stride.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

import numpy as np

from support.integers import Flags, Numbers, compute, signed, unsigned

#: Two scalar arguments of this width: 256 inputs.
NARROW = 4
WIDTHS = [4, 8, 32]
OPS = ["addi", "subi", "muli", "andi", "minsi", "remsi", "remui", "divui", "shli"]
WEIGHTS = [6, 5, 6, 1, 1, 2, 2, 1, 1]


def differences(numbers: Numbers, axis: int) -> Numbers:
    """Returns the differences of neighbouring elements along a dimension of the tensor, for each input."""
    return np.diff(numbers, axis=axis + 1)


@dataclass
class Value:
    """A tensor.

    Attributes:
        width: the bits of its integers; 64 for pointers, which count bytes.
        step: the size in bytes of the element that a pointer points to; None for integers.
        numbers: its elements for each input, read as signed.
        torn: for each dimension, which neighbours lie on two sides of a wrap.
        line: the line of the operation that defines it.
    """

    name: str
    width: int
    step: int | None
    numbers: Numbers
    torn: list[Flags]
    line: int

    @property
    def shape(self) -> tuple[int, ...]:
        return self.numbers.shape[1:]

    @property
    def element(self) -> str:
        return f"!tt.ptr<i{8 * self.step}>" if self.step else f"i{self.width}"

    @property
    def type(self) -> str:
        return f"tensor<{'x'.join(map(str, self.shape))}x{self.element}>"


@dataclass
class Program:
    """One function: its text, its values, and the inputs for which they are defined."""

    random: Random
    name: str
    lines: list[str] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    checked: list[tuple[Value, Flags]] = field(default_factory=list)
    defined: Flags = field(default_factory=lambda: np.ones(1 << (2 * NARROW), np.bool_))

    def text(self) -> str:
        return "\n".join([*self.lines, "tt.return", "}"])

    def add(self, text: str, like: tuple[int, int | None], numbers: Numbers, torn: list[Flags] | None = None) -> Value:
        """Adds an operation and returns its result. `torn` marks neighbours that are torn apart in an operand."""
        width, step = like
        torn = torn or [np.zeros_like(differences(numbers, axis), np.bool_) for axis in range(numbers.ndim - 1)]
        value = Value(f"%v{len(self.values)}", width, step, numbers, torn, len(self.lines))
        self.lines.append(f"{value.name} = {text} {value.type}")
        self.values.append(value)
        self.checked.append((value, self.defined))
        return value

    def constant(self, width: int, shape: tuple[int, ...]) -> Value:
        power = 1 << self.random.randrange(width)
        number = self.random.choice([1, 1, 2, 3, -1, -2, 7, power, power + 1, self.random.randrange(1 << width)])
        (number,) = signed(np.array([number]), width)
        numbers = np.full((self.defined.size, *shape), number)
        return self.add(f"arith.constant dense<{number}> :", (width, None), numbers)

    def begin(self, inputs: list[Numbers]) -> None:
        """A range, and the scalars in every element of a tensor."""
        size = self.random.choice([1, 4, 8, 16])
        start = self.random.choice([0, 0, 3])
        numbers = np.tile(np.arange(start, start + size), (self.defined.size, 1))
        self.add(f"tt.make_range {{start = {start} : i32, end = {start + size} : i32}} :", (32, None), numbers)
        for width in self.random.sample(WIDTHS[:2], self.random.randrange(1, 3)):
            self.narrow(self.values[0], width)
        for k, numbers in enumerate(inputs):
            spread = np.repeat(numbers[:, None], size, axis=1)
            self.add(f"tt.splat %a{k} : i{NARROW} ->", (NARROW, None), spread)
        bytes_ = self.random.choice([1, 2, 4])
        pointers = np.zeros((self.defined.size, size), np.int64)
        self.add(f"tt.splat %p{bytes_} : !tt.ptr<i{8 * bytes_}> ->", (64, bytes_), pointers)

    def narrow(self, a: Value, width: int) -> None:
        self.add(
            f"arith.trunci {a.name} : {a.type} to", (width, None), signed(a.numbers, width), [t.copy() for t in a.torn]
        )

    def convert(self, a: Value) -> None:
        """To another width."""
        width = self.random.choice([width for width in WIDTHS if width != a.width])
        if width < a.width:
            self.narrow(a, width)
            return
        name = self.random.choice(["extsi", "extui"])
        wide = a.numbers if name == "extsi" else unsigned(a.numbers, a.width)
        torn = []
        for axis, before in enumerate(a.torn):
            expected = signed(differences(a.numbers, axis), a.width)
            torn.append(before | (differences(wide, axis) != expected))
        self.add(f"arith.{name} {a.name} : {a.type} to", (width, None), wide, torn)

    def binary(self, a: Value) -> None:
        known = [value for value in self.values if value.type == a.type]
        b = self.random.choice(known[-4:]) if self.random.random() < 0.5 else self.constant(a.width, a.shape)
        (name,) = self.random.choices(OPS, WEIGHTS)
        if name == "shli":
            b = self.constant(a.width, a.shape)
        numbers, hasResult = compute(name, a.numbers, b.numbers, a.width)
        self.defined = self.defined & hasResult.reshape(self.defined.size, -1).all(axis=1)
        torn = [x | y for x, y in zip(a.torn, b.torn, strict=True)]
        if name in ("remsi", "remui"):
            for axis in range(len(torn)):
                apart = differences(numbers, axis) - differences(a.numbers, axis)
                torn[axis] = torn[axis] | (signed(apart, a.width) != 0)
        self.add(f"arith.{name} {a.name}, {b.name} :", (a.width, None), numbers, torn)

    def select(self, a: Value) -> None:
        known = [value for value in self.values if value.type == a.type]
        b, c, d = (self.random.choice(known) for _ in range(3))
        condition = f"%c{len(self.lines)}"
        flags = a.type.replace(f"x{a.element}>", "xi1>")
        self.lines.append(f"{condition} = arith.cmpi slt, {a.name}, {b.name} : {a.type}")
        torn = [x | y | z | w for x, y, z, w in zip(a.torn, b.torn, c.torn, d.torn, strict=True)]
        numbers = np.where(a.numbers < b.numbers, c.numbers, d.numbers)
        self.add(f"arith.select {condition}, {c.name}, {d.name} : {flags},", (a.width, None), numbers, torn)

    def move(self, a: Value) -> None:
        """Another shape."""
        like = (a.width, a.step)
        rank = len(a.shape)
        if 1 in a.shape and self.random.random() < 0.7:
            shape = tuple(4 if size == 1 else size for size in a.shape)
            numbers = np.ascontiguousarray(np.broadcast_to(a.numbers, (self.defined.size, *shape)))
            torn = []
            for axis, before in enumerate(a.torn):
                along = differences(numbers, axis)
                torn.append(np.broadcast_to(before if before.size else np.False_, along.shape))
            self.add(f"tt.broadcast {a.name} : {a.type} ->", like, numbers, torn)
        elif rank == 1:
            axis = self.random.randrange(2)
            torn = [np.expand_dims(t, axis + 1) for t in a.torn]
            numbers = np.expand_dims(a.numbers, axis + 1)
            torn.insert(axis, np.zeros_like(differences(numbers, axis), np.bool_))
            self.add(f"tt.expand_dims {a.name} {{axis = {axis} : i32}} : {a.type} ->", like, numbers, torn)
        else:
            torn = [np.swapaxes(t, 1, 2) for t in reversed(a.torn)]
            text = f"tt.trans {a.name} {{order = array<i32: 1, 0>}} : {a.type} ->"
            self.add(text, like, np.ascontiguousarray(np.swapaxes(a.numbers, 1, 2)), torn)

    def point(self, a: Value) -> None:
        """Another pointer, or a pointer to something else."""
        assert a.step
        offsets = [value for value in self.values if value.shape == a.shape and value.width == 32]
        if not offsets or self.random.random() < 0.3:
            step = self.random.choice([step for step in (1, 2, 4) if step != a.step])
            self.add(f"tt.bitcast {a.name} : {a.type} ->", (64, step), a.numbers, [t.copy() for t in a.torn])
            return
        by = self.random.choice(offsets[-3:])
        torn = []
        for axis, (x, y) in enumerate(zip(a.torn, by.torn, strict=True)):
            along = differences(by.numbers, axis)
            torn.append(x | y | (along != signed(along, 32)))
        line = f"{a.name}, {by.name} : {a.type}, {by.type}"
        value = self.add("", (64, a.step), a.numbers + a.step * by.numbers, torn)
        self.lines[-1] = f"{value.name} = tt.addptr {line}"

    def step(self) -> None:
        varying = [
            value
            for value in self.values[-10:]
            if any(differences(value.numbers, k).any() for k in range(len(value.shape)))
        ]
        a = self.random.choice(varying if varying and self.random.random() < 0.8 else self.values[-5:])
        kind = self.random.random()
        if kind < 0.2:
            self.move(a)
        elif a.step:
            self.point(a)
        elif kind < 0.4:
            self.convert(a)
        elif kind < 0.45:
            self.select(a)
        else:
            self.binary(a)


def program(random: Random, name: str) -> Program:
    """A program of two narrow scalars and some twenty operations, which has been run for every input."""
    made = Program(random, name)
    every = np.meshgrid(*[np.arange(-(1 << (NARROW - 1)), 1 << (NARROW - 1))] * 2, indexing="ij")
    pointers = ", ".join(f"%p{size}: !tt.ptr<i{8 * size}>" for size in (1, 2, 4))
    made.lines.append(f"tt.func @{name}(%a0: i{NARROW}, %a1: i{NARROW}, {pointers}) {{")
    made.begin([numbers.reshape(-1) for numbers in every])
    for _ in range(14):
        made.step()
    return made
