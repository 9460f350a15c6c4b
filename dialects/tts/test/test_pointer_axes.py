# SPDX-License-Identifier: Apache-2.0
"""What `tts` teaches the axis information holds for random pointers, which NumPy computes."""

from __future__ import annotations

import os
import random
import re
import subprocess
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from support import ROOT, mutants
from triton_ext.authoring.build import default_build_dir, tool

pytestmark = pytest.mark.slow

BUILT = default_build_dir(ROOT) / "test" / "analysis" / "print_analyses"
CLAIM = re.compile(r"remark: result 0: divisibility \[(.*?)\], stride \[(.*?)\], stride value \[(.*?)\]")
BYTES = {"i8": 1, "f16": 2, "f32": 4, "i64": 8}
FUNCTIONS = 300


class Pointers:
    """A random ``tts.make_tptr`` in a function of its own; numbers are static, or arguments with a divisor."""

    def __init__(self, seed: int) -> None:
        draw = random.Random(seed)
        self.kind = draw.choice(list(BYTES))
        self.sizes = [draw.choice([1, 2, 4, 16]) for _ in range(draw.randint(1, 3))]
        rank = len(self.sizes)
        self.strides = [draw.choice([0, 1, 2, 8, 24, -4]) for _ in range(rank)]
        self.offsets = [draw.choice([0, 0, 4, 7, 64]) for _ in range(rank)]
        self.shape = [draw.choice([0, 0, 12, 40]) for _ in range(rank)]
        self.is_block = draw.random() < 0.3
        self.base = draw.choice([1, 4, 16, 48]) * BYTES[self.kind]
        self.arguments = [f"%p: !tt.ptr<{self.kind}> {{tt.divisibility = {self.base & -self.base} : i32}}"]
        lists = [self.written(name, numbers, draw) for name, numbers in
                 (("s", self.strides), ("o", self.offsets), ("n", self.shape))]  # fmt: skip
        order = list(range(rank)) if self.is_block else []
        shape = "x".join(map(str, self.sizes))
        self.text = (
            f"tt.func @f{seed}({', '.join(self.arguments)}) {{\n"
            f"  %0 = tts.make_tptr %p to sizes: {self.sizes}, strides: {lists[0]}, offsets: {lists[1]}, "
            f"shape: {lists[2]}, order: {order} : <{self.kind}> to tensor<{shape}x!tt.ptr<{self.kind}>>\n"
            "  tt.return\n}\n"
        )

    def written(self, name: str, numbers: list[int], draw: random.Random) -> str:
        words = []
        for at, number in enumerate(numbers):
            if draw.random() < 0.6:
                words.append(str(number))
                continue
            words.append(f"%{name}{at}")
            divisor = number & -number if number else 32
            self.arguments.append(f"%{name}{at}: index {{tt.divisibility = {divisor} : i32}}")
        return f"[{', '.join(words)}]"

    def addresses(self) -> np.ndarray:
        total = np.zeros(self.sizes, dtype=np.int64)
        for dim, index in enumerate(np.indices(self.sizes)):
            term = self.offsets[dim] + index * self.strides[dim]
            wraps = self.shape[dim] and not self.is_block
            total += np.fmod(term, self.shape[dim]) if wraps else term
        return self.base + total * BYTES[self.kind]

    def check(self, divisors: list[int], lengths: list[int], steps: list[int]) -> None:
        addresses = self.addresses()
        for dim, (divisor, length, step) in enumerate(zip(divisors, lengths, steps, strict=True)):
            lines = np.moveaxis(addresses, dim, -1)
            assert not (lines[..., ::length] % divisor).any(), (self.text, dim, divisor)
            groups = lines.reshape(*lines.shape[:-1], -1, length)
            assert (np.diff(groups, axis=-1) == step).all(), (self.text, dim, length, step)


def test_claims_hold() -> None:
    functions = [Pointers(seed) for seed in range(FUNCTIONS)]
    command = [tool("triton-ext-opt"), "-", "--load-extension=tts", "-triton-ext-print-analyses=axis=1"]
    path = os.pathsep.join(filter(None, [str(BUILT), os.environ.get("TRITON_EXT_PATH")]))
    done = subprocess.run(
        command,
        input="".join(function.text for function in functions),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "TRITON_EXT_PATH": path},
    )
    claims = CLAIM.findall(done.stderr)
    assert len(claims) == len(functions)
    strided = 0
    for function, claim in zip(functions, claims, strict=True):
        divisors, lengths, steps = ([int(number) for number in numbers.split(", ")] for numbers in claim)
        function.check(divisors, lengths, steps)
        strided += max(lengths) > 1
    assert strided > FUNCTIONS // 4


bug = partial(mutants.Mutation, "Axes.cpp")

BUGS = {
    "what wraps around is strided": bug("!wraps[dim]", "true"),
    "a block wraps around": bug("make.getOrder().empty()", "!make.getOrder().empty()"),
    "no offset counts": bug("divisorOfNumber(offsets[dim])", "maxDivisor"),
    "no modulus counts": bug("divisorOfNumber(shape[dim])", "maxDivisor"),
    "no other dimension counts": bug("other != dim || !isStrided", "false"),
    "the base is at 0": bug("operands.front().divisibilityOfAll()", "maxDivisor"),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the dialect with all bugs in it and returns the directory of its libraries."""
    return mutants.build_with_bugs("dialects/tts", BUGS, tmp_path_factory.mktemp("bugs"))


@pytest.mark.parametrize("bug", ["", *BUGS])
def test_a_bug_is_noticed(bug: str, libraries: Path, tmp_path: Path) -> None:
    done = mutants.run_tests(Path(__file__), "test_claims_hold", libraries, bug, tmp_path)
    assert (done.returncode != 0) == bool(bug), done.stdout
