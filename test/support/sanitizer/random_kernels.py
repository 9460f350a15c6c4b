# SPDX-License-Identifier: Apache-2.0
"""Writes random kernels whose accesses may be out of bounds.

They have affine offsets, strides, negative strides, gathers, masks of all forms, branches, and loops that carry
pointers. Half of the accesses are those of a correct kernel of which a part was changed, the others are random. Every
access has a line of its own, and what it loads is stored in the end. Offsets are less than 10,000 elements.
"""

from __future__ import annotations

import random

_IMPORTS = "import triton\nimport triton.language as tl\n"
_SIZES = ("n", "rows", "columns", "a", "b")
_HEAD = """
@triton.jit{options}
def kernel{number}(x, y, index, out, n, rows, columns, a, b):
    p, q = tl.program_id(0), tl.program_id(1)
    i = tl.arange(0, 16)
    r, c = tl.arange(0, 4)[:, None], tl.arange(0, 8)[None, :]
    flat, tile = tl.zeros((16,), tl.float32), tl.zeros((4, 8), tl.float32)
"""
_END = """
    tl.store(out + 512 + i, flat)
    tl.store(out + 512 + r * 8 + c, tile)
"""


class _Writer:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.scalars = ["n", "rows", "columns", "p", "q"]
        self.names = 0

    def add(self, depth: int, line: str) -> None:
        self.lines.append("    " * depth + line)

    def new(self, letter: str) -> str:
        self.names += 1
        return f"{letter}{self.names}"

    def few(self) -> int:
        """Returns a small number, often 0."""
        return self.rng.choice([0, 0, 0, 0, 1, -1, 2, -2, 5])

    def scalar(self, depth: int = 1) -> str:
        """Returns a random expression that is the same in all lanes."""
        pick = self.rng.random()
        if depth == 0 or pick < 0.4:
            return self.rng.choice([*self.scalars, str(self.rng.randint(-3, 9))])
        one, other = self.scalar(depth - 1), self.scalar(depth - 1)
        if pick < 0.7:
            return f"({one} {self.rng.choice('+-')} {other})"
        if pick < 0.85:
            return f"({one} * {self.rng.randint(-2, 4)})"
        if pick < 0.93:
            return f"tl.{self.rng.choice(['minimum', 'maximum'])}({one} + n * 0, {other})"
        return f"(({one} + n * 0) {self.rng.choice(['//', '%'])} {self.rng.randint(1, 5)})"

    def offset(self, flat: bool) -> str:
        """Returns a random offset of the lanes, most often an affine one."""
        lanes = ["i"] if flat else ["r", "c"]
        terms = [f"{lane} * {self.rng.choice([1, 1, 1, 2, -1, -3, 8, 0])}" for lane in lanes]
        if self.rng.random() < 0.7:
            terms.append(self.scalar())
        text = " + ".join(terms)
        pick = self.rng.random()
        if pick < 0.1:
            return f"({text}) % tl.maximum(n, 1)"
        if pick < 0.15:
            return f"({text}) // 2"
        if pick < 0.2:
            return f"tl.minimum({text}, n{self.few():+d})"
        return text

    def mask(self, flat: bool, right: list[str], free: bool) -> str:
        """Returns the argument of an access: `right` conditions, some of which are changed, or random ones."""
        tests = []
        for test in right:
            pick = self.rng.random()
            if pick < 0.7:
                tests.append(test)
            elif pick < 0.9:
                tests.append(f"({test[1:-1]} + {self.rng.randint(1, 6)})")
        if free:
            sign = self.rng.choice(["<", "<=", ">", ">=", "==", "!="])
            tests.append(f"({self.offset(flat)} {sign} {self.scalar()})")
        if self.rng.random() < 0.08:
            tests.append(f"(tl.load(index + {'i' if flat else 'r * 8 + c'}) > {self.rng.randint(0, 30)})")
        if not tests:
            return ""
        text = tests[0]
        for test in tests[1:]:
            text = f"({text} {'|' if self.rng.random() < 0.1 else '&'} {test})"
        shape = "(16,)" if flat else "(4, 8)"
        # In the interpreter, the conjunction of a scalar and a tensor is an integer.
        return f", mask=tl.broadcast_to({text} != 0, {shape})"

    def address(self, flat: bool, array: str | None = None) -> tuple[str, str]:
        """Returns an address, and the mask that belongs to it."""
        array = array or self.rng.choice(["x", "y"])
        if self.rng.random() < 0.5:
            return f"{array} + {self.offset(flat)}", self.mask(flat, [], free=self.rng.random() < 0.8)
        if flat:
            start = self.rng.choice(["0", "p * 16", "p * 16", "q * 16"])
            if self.rng.random() < 0.3:  # from the end
                return f"{array} + n - {1 - self.few()} - ({start} + i)", self.mask(flat, [f"({start} + i < n)"], False)
            return f"{array} + {start} + i + {self.few()}", self.mask(flat, [f"({start} + i < n)"], False)
        row, column = self.rng.choice([("r", "c"), ("p * 4 + r", "c"), ("p * 4 + r", "q * 8 + c")])
        at = f"{array} + ({row}) * a + ({column} + {self.few()}) * b"
        return at, self.mask(flat, [f"({row} < rows)", f"({column} < columns)"], False)

    def access(self, depth: int) -> None:
        flat = self.rng.random() < 0.5
        into, other = ("flat" if flat else "tile"), self.rng.choice(["", ", other=1.0"])
        pick = self.rng.random()
        if pick < 0.55:
            at, mask = self.address(flat)
            self.add(depth, f"{into} += tl.load({at}{mask}{other if mask else ''})")
        elif pick < 0.7:
            at, mask = self.address(flat, "out")
            self.add(depth, f"tl.store({at}, {into}{mask})")
        elif pick < 0.76:
            at, mask = self.address(flat, "out")
            self.add(depth, f"tl.atomic_add({at}, {into}{mask})")
        elif pick < 0.88:
            name = self.new("j")
            self.add(depth, f"{name} = tl.load(index + {'i' if flat else 'r * 8 + c'} + {self.rng.randint(0, 8)})")
            free = self.rng.random() < 0.5
            right = self.rng.choice([[], [f"({name} < n)"], [f"({name} < n)", f"({name} >= 0)"]])
            mask = self.mask(flat, right, free)
            if self.rng.random() < 0.5:
                self.add(depth, f"{into} += tl.load(x + {name}{mask}{other if mask else ''})")
            else:
                self.add(depth, f"tl.store(out + {name} * 3{mask.replace('mask', 'value=1.0, mask') or ', 1.0'})")
        elif pick < 0.94:
            self.add(depth, f"{into} += tl.load({self.rng.choice('xy')} + {self.scalar()})")
        else:
            name, shape = self.new("z"), "i" if flat else "r + c"
            at, mask = self.address(flat, "x")
            to, _ = self.address(flat, "y")
            self.add(depth, f"{name} = tl.where({self.scalar()} + {shape} * 0 < {self.scalar()} + n * 0, {at}, {to})")
            self.add(depth, f"{into} += tl.load({name}{mask}{other if mask else ''})")

    def loop(self, depth: int) -> None:
        name, counter = self.new("k"), self.new("t")
        low, high, step = self.rng.randint(-1, 3), self.scalar(), self.rng.randint(1, 4)
        carried = None
        if self.rng.random() < 0.5:
            flat = self.rng.random() < 0.5
            carried, (at, mask) = self.new("w"), self.address(flat)
            self.add(depth, f"{carried} = {at}")
        self.add(depth, f"for {counter} in range({low}, tl.minimum({high} + n * 0, 9), {step}):")
        # The interpreter's counter is an integer of Python, which divides differently.
        self.add(depth + 1, f"{name} = {counter} + n * 0")
        self.scalars.append(name)
        if carried:
            into = "flat" if flat else "tile"
            self.add(depth + 1, f"{into} += tl.load({carried}{mask})")
            self.add(depth + 1, f"{carried} += {self.rng.choice(['16', 'a', 'b * 8', '-16', 'n', self.scalar(0)])}")
        if not carried or self.rng.random() < 0.4:
            self.body(depth + 1)
        self.scalars.remove(name)

    def body(self, depth: int) -> None:
        for _ in range(self.rng.randint(1, 3)):
            pick = self.rng.random()
            if depth > 2 or pick < 0.65:
                self.access(depth)
            elif pick < 0.85:
                self.loop(depth)
            else:
                sign = self.rng.choice(["<", ">", "==", ">="])
                load = "tl.load(index + p)" if self.rng.random() < 0.3 else f"{self.scalar()} + n * 0"
                self.add(depth, f"if {load} {sign} {self.scalar(0)}:")
                self.body(depth + 1)
                if self.rng.random() < 0.5:
                    self.add(depth, "else:")
                    self.body(depth + 1)


def module(seed: int, count: int) -> str:
    """Returns the text of a module with `count` kernels; the same text for the same seed."""
    rng = random.Random(seed)
    text = _IMPORTS
    for number in range(count):
        writer = _Writer(rng)
        while len(writer.lines) < 4:
            writer.body(1)
        options = "" if rng.random() < 0.2 else f"(do_not_specialize={list(_SIZES)})"
        text += _HEAD.format(number=number, options=options) + "\n".join(writer.lines) + _END
    return text
