# SPDX-License-Identifier: Apache-2.0
"""Random kernels with offsets of 16 bits, and what each point of a launch of them does, computed by NumPy.

The text of an offset or a mask is evaluated twice: by Triton in a kernel, and by NumPy with 16 and with 64 bits. All
programs, iterations and lanes are looked at.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from support import modules

TEXT = """
@triton.jit
def {name}(x, n, m, B: tl.constexpr):
    p = tl.program_id(0).to(tl.int16)
    q = tl.program_id(1).to(tl.int16)
    s = n.to(tl.int16)
    t = m.to(tl.int16)
    i = tl.arange(0, B).to(tl.int16)
    for k in range({loop}):
        j = k.to(tl.int16)
        offset = {offset}
        mask = {mask}
        tl.store(x + offset, 0.0, mask=mask)
"""


@dataclass(frozen=True)
class Launched:
    """A kernel and the numbers of its launch: two integer arguments, the grid, the block and the iterations."""

    name: str
    offset: str
    mask: str
    n: int
    m: int
    grid: tuple[int, int]
    block: int
    trips: int

    @property
    def text(self) -> str:
        """The kernel."""
        return TEXT.format(name=self.name, loop=self.trips, offset=self.offset, mask=self.mask)


def expression(rng: random.Random, depth: int) -> str:
    """Returns the text of an integer of the lane i, the iteration j, the program ids p and q, and s and t."""
    if depth == 0 or rng.random() < 0.15:
        return rng.choice(
            ("i", "p", "q", "j", "s", "t", "(p * 600)", "(p * 8 + i)", "(q * 3000)", "(s * 3)", "(p * s)")
        )
    a, b = expression(rng, depth - 1), expression(rng, depth - 1)
    kind = rng.choice("++++**---%/&<MmW")
    constant = rng.choice((2, 3, 5, 7, 16, 100, 600))
    if kind in "%/":
        return f"(({a}) {kind * (1 + (kind == '/'))} {constant})"
    if kind == "&":
        return f"(({a}) & {rng.choice((3, 7, 12))})"
    if kind == "<":
        return f"(({a}) << {rng.choice((1, 2, 5))})"
    if kind in "Mm":
        return f"tl.{'maximum' if kind == 'M' else 'minimum'}({a}, {b})"
    if kind == "W":
        return f"tl.where(({a}) < ({b}), {a}, {b})"
    return f"(({a}) {kind} {rng.choice((b, str(constant)))})"


def launched(rng: random.Random, name: str) -> Launched:
    """Returns a random kernel with numbers. The block has 8 lanes."""
    offset = expression(rng, 3)
    mask = rng.choice(("i >= 0", "(p * 8 + i) < s", f"({expression(rng, 1)}) < ({expression(rng, 2)})"))
    if rng.random() < 0.3:
        mask = f"({mask}) & (i < s)"
    grid = (rng.randint(1, 40), rng.randint(1, 5))
    return Launched(
        name, f"{offset} + i * 0", f"({mask}) & (i >= 0)", rng.randint(2, 3000), rng.randint(2, 300), grid, 8, 3
    )


def imported(directory: Path, kernels: list[Launched]) -> Any:
    """Returns a module with the kernels."""
    file = directory / "generated_launches.py"
    file.write_text("import triton\nimport triton.language as tl\n" + "".join(one.text for one in kernels))
    return modules.imported(file)


class Number:
    """An array of integers whose quotients and remainders are rounded as in C."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def _with(self, other: Any) -> Any:
        return other.values if isinstance(other, Number) else self.values.dtype.type(other)

    def __add__(self, other: Any) -> Number:
        return Number(self.values + self._with(other))

    def __sub__(self, other: Any) -> Number:
        return Number(self.values - self._with(other))

    def __mul__(self, other: Any) -> Number:
        return Number(self.values * self._with(other))

    def __and__(self, other: Any) -> Number:
        return Number(self.values & self._with(other))

    def __lshift__(self, other: Any) -> Number:
        return Number(self.values << self._with(other))

    def __mod__(self, other: Any) -> Number:
        return Number(np.fmod(self.values, self._with(other)))

    def __floordiv__(self, other: Any) -> Number:
        by = self._with(other)
        return Number((self.values - np.fmod(self.values, by)) // by)

    def __lt__(self, other: Any) -> Number:
        return Number(self.values < self._with(other))

    def __ge__(self, other: Any) -> Number:
        return Number(self.values >= self._with(other))


class _Functions:
    maximum = staticmethod(lambda a, b: Number(np.maximum(a.values, b.values)))
    minimum = staticmethod(lambda a, b: Number(np.minimum(a.values, b.values)))
    where = staticmethod(lambda c, a, b: Number(np.where(c.values, a.values, b.values)))


def values(one: Launched, kind: type[Any], numbers: Mapping[str, int] | None = None) -> tuple[Any, Any]:
    """Returns the offset and the mask at each point, indexed by q, p, j and i, in integers of the NumPy type `kind`."""
    shape = (one.grid[1], one.grid[0], one.trips, one.block)
    q, p, j, i = (Number(axis.astype(kind)) for axis in np.indices(shape))
    given = {"n": one.n, "m": one.m, **(numbers or {})}
    s, t = (Number(np.full(shape, given[name]).astype(kind)) for name in ("n", "m"))
    names = {"q": q, "p": p, "j": j, "i": i, "s": s, "t": t, "tl": _Functions}
    with np.errstate(over="ignore"):
        offset, mask = (eval(text, {}, names).values for text in (one.offset, one.mask))
    return offset.astype(np.int64), mask


def wrong(one: Launched, numbers: Mapping[str, int] | None = None) -> Any:
    """Returns at which points integers of 16 bits make another access than those of 64 bits."""
    offset, mask = values(one, np.int16, numbers)
    exact_offset, exact_mask = values(one, np.int64, numbers)
    return (mask != exact_mask) | (mask & (offset != exact_offset))


def first(where: Any) -> tuple[int, ...] | None:
    """Returns the first point of those in `where`."""
    found = np.argwhere(where)
    return tuple(map(int, found[0])) if len(found) else None
