# SPDX-License-Identifier: Apache-2.0
"""Every claim of the axis information holds: it is checked on random integer functions, computed with NumPy."""

from __future__ import annotations

import itertools
import os
import random
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support import ROOT, integers
from triton_ext.authoring.build import default_build_dir

BUILT = default_build_dir(ROOT) / "test" / "analysis" / "print_analyses"
CLAIM = re.compile(
    r"<stdin>:(\d+):\d+: remark: result 0: divisibility \[(.*?)\], stride \[(.*?)\], stride value \[(.*?)\], "
    r"constancy \[(.*?)\](?:, constant value (-?\d+))?(, not negative)?"
)
WIDTHS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64}


@dataclass
class Value:
    """A value of the function: its name, element type, and elements as Python integers, signed."""

    name: str
    kind: str
    data: np.ndarray  # of Python integers, which do not wrap
    line: int = 0

    @property
    def type(self) -> str:
        shape = "".join(f"{size}x" for size in self.data.shape)
        return f"tensor<{shape}{self.kind}>" if self.data.shape else self.kind


def signed(number: int, kind: str) -> int:
    """Returns `number` truncated to the type `kind`, read as signed."""
    return int(integers.signed(np.array(number, dtype=object), WIDTHS[kind]))


@dataclass
class Function:
    """A random function, which is written and computed one operation at a time."""

    choose: random.Random
    small: bool
    lines: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    wraps: bool = False

    def add(self, text: str, kind: str, data: np.ndarray) -> Value:
        value = Value(f"%v{len(self.values)}", kind, data, line=len(self.lines))
        self.lines.append(f"{value.name} = {text}")
        self.values.append(value)
        return value

    def argument(self, kind: str) -> Value:
        divisor = self.choose.choice([1, 1, 2, 8, 16, 64])
        limit = 100 if self.small else (1 << (WIDTHS[kind] - 1)) - 1
        number = self.choose.choice(
            [self.choose.randint(-limit, limit), self.choose.choice([-limit - 1, limit, -1, 0])]
        )
        number = signed(number // divisor * divisor, kind)
        name = f"%a{len(self.arguments)}"
        self.arguments.append(f"{name}: {kind} {{tt.divisibility = {divisor} : i32}}")
        return Value(name, kind, np.array(number, dtype=object))

    def splat(self, scalar: Value, shape: tuple[int, ...]) -> Value:
        target = Value("", scalar.kind, np.full(shape, int(scalar.data), dtype=object))
        return self.add(f"tt.splat {scalar.name} : {scalar.kind} -> {target.type}", scalar.kind, target.data)

    def index(self) -> None:
        """Adds an index as at the beginning of a kernel: a range plus a start."""
        moved = self.range()
        kind = self.choose.choice(["i8", "i32", "i32", "i64"])
        if kind != "i32":
            moved = self.convert(moved, kind, "extsi" if kind == "i64" else "trunci")
        start = self.splat(self.argument(kind), moved.data.shape)
        self.combine("addi", moved, start)

    def range(self) -> Value:
        size = self.choose.choice([4, 8, 16])
        start = self.choose.choice([0, 0, 4, 5, 16, 24])
        data = np.array(range(start, start + size), dtype=object)
        return self.add(
            f"tt.make_range {{start = {start} : i32, end = {start + size} : i32}} : tensor<{size}xi32>", "i32", data
        )

    def constant(self, like: Value, number: int) -> Value:
        number = signed(number, like.kind)
        text = str(number) if like.kind != "i1" else str(bool(number)).lower()
        return self.add(
            f"arith.constant dense<{text}> : {like.type}", like.kind, np.full(like.data.shape, number, dtype=object)
        )

    def partner(self, value: Value) -> Value:
        others = [v for v in self.values if v.type == value.type]
        if self.choose.random() < 0.5 and others:
            return self.choose.choice(others)
        return self.constant(value, self.choose.choice([0, 1, 2, 3, 4, 4, 6, 7, 8, 8, 12, 15, 16, 64, -1, -4, -8, -3]))

    def binary(self) -> None:
        a = self.choose.choice(self.values)
        name = self.choose.choice(integers.BINARY)
        if name.startswith("sh"):
            b = self.constant(a, self.choose.randrange(min(WIDTHS[a.kind], 8)))
            if WIDTHS[a.kind] == 1:
                return
        else:
            b = self.partner(a)
        self.combine(name, a, b)

    def combine(self, name: str, a: Value, b: Value) -> None:
        if name[:3] in ("div", "rem"):
            divisors = b.data.flatten()
            least = -(1 << (WIDTHS[a.kind] - 1))
            if 0 in divisors or (-1 in divisors and least in a.data.flatten()):
                return
        width, shape = WIDTHS[a.kind], a.data.shape
        left, right = np.atleast_1d(a.data), np.atleast_1d(b.data)
        data, _ = integers.compute(name, left, right, width)
        if name in ("addi", "subi", "muli", "shli") and width >= 32:
            self.wraps |= bool(integers.wraps(name, left, right, width, data).any())
        data = data.reshape(shape)
        self.add(f"arith.{name} {a.name}, {b.name} : {a.type}", a.kind, data)

    def compare(self) -> None:
        a = self.choose.choice(self.values)
        b = self.partner(a)
        predicate = self.choose.choice(list(integers.PREDICATES))
        holds = integers.compare(predicate, a.data, b.data, WIDTHS[a.kind])
        data = np.where(holds, -1, 0).astype(object)
        self.add(f"arith.cmpi {predicate}, {a.name}, {b.name} : {a.type}", "i1", data)

    def select(self) -> None:
        masks = [v for v in self.values if v.kind == "i1"]
        if not masks:
            return
        mask = self.choose.choice(masks)
        others = [v for v in self.values if v.data.shape == mask.data.shape]
        a = self.choose.choice(others)
        b = self.partner(a)
        data = np.where(mask.data.astype(bool), a.data, b.data)
        self.add(f"arith.select {mask.name}, {a.name}, {b.name} : {mask.type}, {a.type}", a.kind, data)

    def cast(self) -> None:
        a = self.choose.choice(self.values)
        kind = self.choose.choice([k for k in WIDTHS if k != a.kind])
        wider = WIDTHS[kind] > WIDTHS[a.kind]
        self.convert(a, kind, self.choose.choice(["extsi", "extui"]) if wider else "trunci")

    def convert(self, a: Value, kind: str, name: str) -> Value:
        numbers = integers.unsigned(a.data, WIDTHS[a.kind]) if name == "extui" else a.data
        data = np.array(integers.signed(np.atleast_1d(numbers), WIDTHS[kind]), dtype=object).reshape(a.data.shape)
        target = Value("", kind, data)
        return self.add(f"arith.{name} {a.name} : {a.type} to {target.type}", kind, data)

    def shape(self) -> None:
        a = self.choose.choice(self.values)
        rank = a.data.ndim
        form = self.choose.choice(["expand_dims", "broadcast", "trans", "reshape"])
        if form == "expand_dims" and rank < 3:
            axis = self.choose.randrange(rank + 1)
            data = np.expand_dims(a.data, axis)
            text = f"tt.expand_dims {a.name} {{axis = {axis} : i32}}"
        elif form == "broadcast" and 1 in a.data.shape:
            data = np.broadcast_to(a.data, [4 if size == 1 else size for size in a.data.shape]).copy()
            text = f"tt.broadcast {a.name}"
        elif form == "trans" and rank > 1:
            order = list(range(rank))
            self.choose.shuffle(order)
            data = np.transpose(a.data, order).copy()
            text = f"tt.trans {a.name} {{order = array<i32: {', '.join(map(str, order))}>}}"
        elif form == "reshape":
            count = a.data.size
            shape = self.choose.choice([(count,), (count // 4, 4), (2, count // 2), (2, count // 4, 2)])
            if 0 in shape or int(np.prod(shape)) != count:
                return
            data = a.data.reshape(shape)
            text = f"tt.reshape {a.name}"
        else:
            return
        if data.size > 256:
            return
        self.add(f"{text} : {a.type} -> {Value('', a.kind, data).type}", a.kind, data)

    def text(self, name: str) -> list[str]:
        return [f"tt.func @{name}({', '.join(self.arguments)}) {{", *self.lines, "tt.return", "}"]


def generate(seed: int, small: bool) -> Function:
    function = Function(random.Random(seed), small)
    function.index()
    function.index()
    steps = [function.binary] * 4 + [function.compare, function.select, function.shape, function.cast, function.cast]
    for _ in range(14):
        step = function.choose.choice(steps)
        step()
    return function


def analyse(text: str, option: str) -> dict[int, re.Match[str]]:
    """Returns the claims, by the line of the operation."""
    opt = Path(sys.executable).parent / "triton-ext-opt"
    done = subprocess.run(
        [opt, "-", f"-triton-ext-print-analyses={option}=1", "-o", os.devnull],
        input=text, capture_output=True, text=True, check=False, env={**os.environ, "TRITON_EXT_PATH": str(BUILT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[:2000]
    return {int(claim[1]): claim for claim in CLAIM.finditer(done.stderr)}


def numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


def check(value: Value, claim: re.Match[str]) -> int:
    """Fails unless every claim holds. Returns the number of claims that say something."""
    data = value.data if value.data.ndim else value.data.reshape(1)
    modulus = 1 << WIDTHS[value.kind]
    said = 0
    for axis, (divisor, stride, step, constancy) in enumerate(
        zip(*(numbers(claim[k]) for k in (2, 3, 4, 5)), strict=True)
    ):
        lines = np.moveaxis(data, axis, -1).reshape(-1, data.shape[axis]).tolist()  # Python integers do not wrap
        said += (divisor > 1) + (stride > 1)
        for line in lines:
            for start in range(0, len(line), stride):
                group = line[start : start + stride]
                assert group[0] % divisor == 0, f"{group[0]} is not a multiple of {divisor}"
                assert all((b - a - step) % modulus == 0 for a, b in itertools.pairwise(group)), (
                    f"{list(group)} does not grow by {step}"
                )
            assert all(len(set(line[k : k + constancy])) == 1 for k in range(0, len(line), constancy))
    if claim[6] is not None:
        assert set(data.flat) == {signed(int(claim[6]), value.kind)}
    if claim[7]:
        assert min(data.flat) >= 0
    return said


@pytest.mark.slow
@pytest.mark.parametrize("option", ["wraps", "axis"])
@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(first=st.integers(0, 1 << 30))
def test_what_is_claimed_holds(option: str, first: int) -> None:
    functions = [generate(first + k, small=option == "axis") for k in range(60)]
    if option == "axis":  # its claims need not hold if sums wrap
        functions = [f for f in functions if not f.wraps]
    assert len(functions) >= 20
    lines: list[str] = []
    starts = []
    for k, function in enumerate(functions):
        starts.append(len(lines) + 2)  # of the first operation, counted from 1
        lines += function.text(f"f{k}")
    claims = analyse("\n".join(lines), option)
    said = 0
    for function, start in zip(functions, starts, strict=True):
        for value in function.values:
            claim = claims[start + value.line]
            try:
                said += check(value, claim)
            except AssertionError as error:
                text = "\n".join(function.text("f")[: value.line + 2])
                raise AssertionError(f"{error}: {claim[0]}\n{text}\n{value.data}") from None
    assert said > 5 * len(functions)  # of functions of some twenty values
