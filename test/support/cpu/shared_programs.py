# SPDX-License-Identifier: Apache-2.0
"""Programs that multiply the same right operand, and a model that runs them one after the other."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from triton.compiler.compiler import CompiledKernel

from support.cpu.dots import INT8, NAMES, compiled, numbers, sum_type


@triton.jit
def columns_first(
    a, b, c, rows, steps, wrap, HOW: tl.constexpr, M: tl.constexpr, N: tl.constexpr, STEP: tl.constexpr,
    LDB: tl.constexpr, LDC: tl.constexpr,
):  # fmt: skip
    """A tile of a @ b for each program; the programs of a column of tiles have neighbouring numbers."""
    pid = tl.program_id(0)
    column = pid // rows
    row = pid - column * rows
    m, n, k = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, STEP)
    first, count = 0, steps
    if HOW == "triangle":  # other programs of the column have more steps, or fewer
        count = tl.minimum(steps, (row * 5) % 7 + 1)
    if HOW == "first":  # pairs of programs begin at different steps
        first = pid // 2 % 3
    total = tl.zeros((M, N), c.dtype.element_ty)
    pb = b + k[:, None] * LDB + column * N + n
    later = tl.zeros((STEP, N), b.dtype.element_ty)
    for step in range(first, count):
        at = step * STEP + k
        x = tl.load(a + (row * M + m) * (steps * STEP) + at[None, :])
        if HOW == "carried":
            y = tl.load(pb)
            pb += STEP * LDB
        elif HOW == "early":  # each step loads what the next one multiplies
            y = later
            later = tl.load(pb)
            tl.store(pb, later + later)
            pb += STEP * LDB
        elif HOW == "transposed":
            y = tl.load(b + at[:, None] + (column * N + n) * (steps * STEP))
        elif HOW == "mask":  # pairs of programs have different masks
            y = tl.load(b + at[:, None] * LDB + column * N + n, mask=(n < pid // 2 % 5 * 3) & (at[:, None] < wrap))
        elif HOW == "wrapped":
            y = tl.load(b + at[:, None] * LDB + (column * N + n) % wrap)
        elif HOW == "batch":  # pairs of programs have a matrix of their own
            y = tl.load(b + pid // 2 % 2 * wrap + at[:, None] * LDB + column * N + n)
        else:
            y = tl.load(b + at[:, None] * LDB + column * N + n)
        if HOW == "between" and row == 0:  # a store between the load and the product
            tl.store(b + at[:, None] * LDB + column * N + n, y + 1)
        total = tl.dot(x, y, total, out_dtype=total.dtype)
        if HOW == "ahead":  # a store to the next step's rows
            tl.store(b + (at[:, None] + STEP) * LDB + column * N + n, y)
        if HOW == "back" and step == 4:  # a store to the rows of a step before
            tl.store(b + (at[:, None] - 3 * STEP) * LDB + column * N + n, later)
    tl.store(c + (row * M + m) * LDC + column * N + n, total)


WAYS = [
    "plain",
    "carried",
    "transposed",
    "mask",
    "wrapped",
    "batch",
    "triangle",
    "first",
    "between",
    "ahead",
    "back",
    "early",
]


class Work:
    """The operands of `columns_first`, and a model that runs its programs one after the other.

    `offset` is the distance in bytes from b to c if they share memory, else None.
    """

    def __init__(
        self,
        how: str,
        dtype: torch.dtype,
        sizes: tuple[int, int, int],
        grid: tuple[int, int],
        *,
        offset: int | None = None,
        steps: int = 9,
    ) -> None:
        self.how, self.dtype, self.steps = how, dtype, steps
        self.M, self.N, self.step = sizes
        self.rows, self.columns = grid
        depth, width = self.steps * self.step, self.columns * self.N
        self.ldb = width + 3
        self.wrap = {"mask": depth - 5, "wrapped": self.N + 5, "batch": depth * self.ldb}.get(how, 1)
        self.a = numbers(dtype, self.rows * self.M, depth)
        size = 2 * depth * self.ldb + self.step * self.ldb
        bytes_b, bytes_c = size * self.a.element_size(), self.rows * self.M * width * 4
        place = bytes_b if offset is None else offset
        self.memory = torch.zeros(max(bytes_b, place + bytes_c) + 64, dtype=torch.uint8)
        self.b = self.memory[:bytes_b].view(dtype)
        self.b[:] = numbers(dtype, size)
        self.place, self.width = place, width
        self.c = self.memory[place : place + bytes_c].view(sum_type(dtype)).view(self.rows * self.M, width)
        if offset is None:
            self.c.fill_(7)

    def kernel(self, arch: str) -> CompiledKernel:
        types = {"a": NAMES[self.dtype], "b": NAMES[self.dtype], "c": NAMES[sum_type(self.dtype)]}
        types |= dict.fromkeys(("rows", "steps", "wrap"), "i32")
        constants = {"HOW": self.how, "M": self.M, "N": self.N, "STEP": self.step, "LDB": self.ldb, "LDC": self.width}
        return compiled(columns_first, types, constants, arch)

    @property
    def arguments(self) -> tuple[torch.Tensor | int, ...]:
        return (self.a, self.b, self.c, self.rows, self.steps, self.wrap)

    def model(self) -> torch.Tensor:
        """Returns the memory of b and c after all programs."""
        memory = self.memory.clone()
        b = memory[: self.b.nbytes].view(self.dtype)
        c = memory[self.place : self.place + self.c.nbytes].view(self.c.dtype).view(self.c.shape)
        n = torch.arange(self.N)[None, :]
        for pid in range(self.rows * self.columns):
            column, row = pid // self.rows, pid % self.rows
            first = pid // 2 % 3 if self.how == "first" else 0
            count = min(self.steps, row * 5 % 7 + 1) if self.how == "triangle" else self.steps
            total = torch.zeros(self.M, self.N, dtype=torch.float64)
            later = torch.zeros(self.step, self.N, dtype=self.dtype)
            for step in range(first, count):
                at = torch.arange(step * self.step, (step + 1) * self.step)
                places = at[:, None] * self.ldb + column * self.N + n
                if self.how == "transposed":
                    places = at[:, None] + (column * self.N + n) * (self.steps * self.step)
                if self.how == "wrapped":
                    places = at[:, None] * self.ldb + (column * self.N + n) % self.wrap
                if self.how == "batch":
                    places = places + pid // 2 % 2 * self.wrap
                y = b[places].clone()
                if self.how == "early":
                    b[places] = y + y
                    y, later = later, y
                if self.how == "mask":
                    y = y.where((n < pid // 2 % 5 * 3) & (at[:, None] < self.wrap), torch.zeros((), dtype=y.dtype))
                if self.how == "between" and row == 0:
                    b[places] = y + 1
                if self.how == "ahead":
                    b[places + self.step * self.ldb] = y
                if self.how == "back" and step == 4:
                    b[places - 3 * self.step * self.ldb] = later
                total += self.a[row * self.M : (row + 1) * self.M, at].double() @ y.double()
            if self.dtype == INT8:
                total = (total.long() + 2**31) % 2**32 - 2**31
            c[row * self.M : (row + 1) * self.M, column * self.N : (column + 1) * self.N] = total.to(c.dtype)
        return memory


def shares(kernel: CompiledKernel) -> bool:
    return kernel.metadata.together > 1
