# SPDX-License-Identifier: Apache-2.0
"""Writes random kernels: loops, branches and accesses whose bounds and masks are random expressions."""

from __future__ import annotations

import random

_HEAD = """
@triton.jit
def kernel{number}(x, y, flags, n, m):
    a, b = tl.program_id(0), tl.program_id(1)
    i, j = tl.arange(0, 8)[:, None], tl.arange(0, 4)[None, :]
"""
_IMPORTS = "import triton\nimport triton.language as tl\n"


class _Writer:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.scalars = ["n", "m", "a", "b"]
        self.loops = 0

    def value(self, names: list[str], depth: int = 2) -> str:
        """Returns a random integer expression of `names`."""
        pick = self.rng.random()
        if depth == 0 or pick < 0.25:
            return self.rng.choice([*names, str(self.rng.randint(-3, 9))])
        one, other = self.value(names, depth - 1), self.value(names, depth - 1)
        if pick < 0.5:
            return f"({one} + {other})"
        if pick < 0.65:
            return f"({one} - {other})"
        if pick < 0.85:
            return f"({one} * {self.rng.randint(-2, 5)})"
        if pick < 0.95:
            return f"tl.{self.rng.choice(['minimum', 'maximum'])}({one}, {other})"
        return f"({one} {self.rng.choice(['//', '%'])} {self.rng.randint(1, 5)})"

    def test(self, names: list[str]) -> str:
        sign = self.rng.choice(["<", "<=", ">", ">=", "<", ">=", "==", "!="])
        return f"({self.value(names)} {sign} {self.value(names)} + {self.rng.choice(names)})"  # not of numbers alone

    def mask(self, data: float = 0.0) -> str:
        """Returns a random mask, which depends on data with the probability `data`."""
        tests = [self.test([*self.scalars, "i", "j", "i", "j"]) for _ in range(self.rng.randint(1, 3))]
        if self.rng.random() < data:
            tests.append("(tl.load(flags + i * 4 + j) > 0)")
        text = f" {self.rng.choice('&&&|')} ".join(tests)
        # In the interpreter, | and & of conditions with a scalar are integers, of which ~ is not the opposite.
        return f"({text}) {'==' if self.rng.random() < 0.15 else '!='} 0"

    def body(self, depth: int) -> None:
        """Writes one or two statements, indented by `depth`."""
        for _ in range(self.rng.randint(1, 2)):
            self.statement(depth)

    def statement(self, depth: int) -> None:
        room = "    " * depth
        pick = self.rng.random()
        if depth > 2 or pick < 0.45:
            # Triton merges two loads of the flags if there is no store between them; the interpreter counts both.
            mask = f"tl.broadcast_to({self.mask(data=0.15)}, (8, 4))"
            self.lines.append(f"{room}value = tl.load(x + i * 4 + j, mask={mask}, other=0.0)")
            mask = f"tl.broadcast_to({self.mask()}, (8, 4))"
            self.lines.append(f"{room}tl.store(y + i * 4 + j, tl.exp(value) * 2.0 + 1.0, mask={mask})")
        elif pick < 0.75:
            name = f"k{self.loops}"
            self.loops += 1
            low, high = self.value(self.scalars, 1), self.value(self.scalars, 1)
            self.lines.append(f"{room}for {name} in range({low}, tl.minimum({high}, 12), {self.rng.randint(1, 4)}):")
            self.scalars.append(name)
            self.body(depth + 1)
            self.scalars.remove(name)
        else:
            condition = "tl.load(flags + a) > 0" if self.rng.random() < 0.2 else self.test(self.scalars)
            self.lines.append(f"{room}if {condition}:")
            self.body(depth + 1)
            if self.rng.random() < 0.5:
                self.lines.append(f"{room}else:")
                self.body(depth + 1)


def module(seed: int, count: int) -> str:
    """Returns the text of a module with `count` kernels; the same text for the same seed."""
    rng = random.Random(seed)
    text = _IMPORTS
    for number in range(count):
        writer = _Writer(rng)
        writer.body(1)
        text += _HEAD.format(number=number) + "\n".join(writer.lines) + "\n"
    return text


def affine_module(seed: int, count: int) -> str:
    """Returns the text of a module with `count` kernels that store to affine addresses, whose images overlap or not."""
    rng = random.Random(seed)
    text = _IMPORTS
    for number in range(count):
        lines = []
        loops = rng.randint(0, 1)
        for loop in range(loops):
            low, step = rng.choice(["0", "a"]), rng.choice(["1", "2", "tl.num_programs(0)"])
            lines.append(f"{'    ' * (loop + 1)}for k{loop} in range({low}, {rng.choice(['m', '4'])}, {step}):")
        names = ["i", "j", "a", *(f"k{loop}" for loop in range(loops))]
        room = "    " * (loops + 1)
        for _ in range(rng.randint(1, 2)):
            sizes = rng.choice([[1, 4, 8, 32], [1, 2, 3, 5], [1, 8, 100, 400], [-1, 4, -8, 32]])
            terms = {name: rng.choice(sizes) for name in names if rng.random() < 0.8} or {"i": 1}
            offset = " + ".join(f"{n} * {name}" for name, n in terms.items())
            part = " + ".join(
                f"{n} * {name}" for name, n in rng.sample(sorted(terms.items()), rng.randint(1, len(terms)))
            )
            tests = ["(i >= 0)", *([f"({part} < {rng.choice(['n', 'm', '20'])})"] if rng.random() < 0.7 else [])]
            lines += [
                f"{room}at = 9000 + tl.broadcast_to({offset} + 0 * i + 0 * j, (8, 4))",
                f"{room}tl.store({rng.choice('xy')} + at, 1.0, mask=tl.broadcast_to({' & '.join(tests)}, (8, 4)))",
            ]
        text += _HEAD.format(number=number) + "\n".join(lines) + "\n"
    return text
