# SPDX-License-Identifier: Apache-2.0
"""The order in which the programs of a product run: each runs once, with its own number."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
import torch
import triton
import triton.language as tl

from support.cpu import emulated_units
from support.cpu.dots import compiled


@triton.jit
def numbered(a, b, c, log, columns, STEPS: tl.constexpr, HOW: tl.constexpr):
    """Adds to each program's tile of c, and notes the order of programs in log, a counter and numbers behind it."""
    if HOW == 0:
        pid = tl.program_id(0)
        row, column = pid // columns, pid % columns
    elif HOW == 1:  # a divisor that is computed
        pid = tl.program_id(0)
        n = tl.cdiv(columns * 16, 16)
        row, column = pid // n, pid % n
    elif HOW == 2:  # the order of the tutorial
        pid = tl.program_id(0)
        inside = 2 * columns
        row, column = pid // inside * 2 + pid % inside % 2, pid % inside // 2
    else:  # two axes
        row, column = tl.program_id(1), tl.program_id(0)
        pid = row * columns + column
    i, j = tl.arange(0, 16)[:, None], tl.arange(0, 16)[None, :]
    count = tl.load(log)
    tl.store(log, count + 1)
    tl.store(log + 1 + count, row * columns + column)
    total = tl.zeros((16, 16), tl.float32)
    for step in range(STEPS):
        x = tl.load(a + (row * STEPS + step) * 256 + i * 16 + j)
        y = tl.load(b + (column * STEPS + step) * 256 + i * 16 + j)
        total = tl.dot(x, y, total)
    at = c + (row * columns + column) * 256 + i * 16 + j
    tl.store(at, tl.load(at) + total)


class Number:
    """An integer argument of `emulated_units.run`, which puts the result of `data_ptr` into the argument's slot."""

    def __init__(self, value: int) -> None:
        self.value = value

    def data_ptr(self) -> int:
        return self.value


def order_of(how: int, rows: int, columns: int, directory: Path) -> list[int]:
    """Runs the programs in one thread, and returns their order."""
    steps = 3
    a, b = (torch.randint(-2, 3, (n, steps, 16, 16)).to(torch.bfloat16) for n in (rows, columns))
    c, log = torch.ones(rows, columns, 16, 16), torch.zeros(1 + rows * columns, dtype=torch.int32)
    types = {"a": "*bf16", "b": "*bf16", "c": "*fp32", "log": "*i32", "columns": "i32"}
    kernel = compiled(numbered, types, {"STEPS": steps, "HOW": how}, "haswell")
    arguments = (a, b, c, log, Number(columns))
    emulated_units.run(kernel, directory, rows * columns, arguments)
    expected = 1 + torch.einsum("rsij,csjk->rcik", a.double(), b.double())
    assert torch.equal(c.double(), expected)
    assert log[0] == rows * columns
    return log[1:].tolist()


@pytest.mark.parametrize("how", [0, 1])
@pytest.mark.parametrize(("rows", "columns"), [(16, 3), (32, 1), (16, 5), (48, 2)])
def test_groups_of_rows_run_column_by_column(how: int, rows: int, columns: int, tmp_path: Path) -> None:
    """Each group has 16 rows: 512 bytes in each column of a, 32 in each tile."""
    groups = itertools.product(range(0, rows, 16), range(columns), range(16))
    assert order_of(how, rows, columns, tmp_path) == [(first + row) * columns + column for first, column, row in groups]


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 7), (8, 3), (17, 2), (24, 2)])
def test_the_last_group_is_full_or_the_order_is_that_of_the_numbers(rows: int, columns: int, tmp_path: Path) -> None:
    assert order_of(0, rows, columns, tmp_path) == list(range(rows * columns))


def test_an_order_of_its_own_is_kept(tmp_path: Path) -> None:
    """The tutorial's kernel runs column by column in groups of two rows."""
    rows, columns = 32, 4  # of which `inside` could be taken for the columns
    groups = itertools.product(range(0, rows, 2), range(columns), range(2))
    expected = [(first + row) * columns + column for first, column, row in groups]
    assert order_of(2, rows, columns, tmp_path) == expected


# What must not be reordered


@triton.jit
def observed(a, c, columns, HOW: tl.constexpr):
    """A product in a loop, and something that shows the order of programs."""
    pid = tl.program_id(0)
    row, column = pid // columns, pid % columns
    i, j = tl.arange(0, 16)[:, None], tl.arange(0, 16)[None, :]
    total = tl.zeros((16, 16), tl.float32)
    for step in range(2):
        x = tl.load(a + step * 256 + i * 16 + j)
        total = tl.dot(x, x, total)
    if HOW == 0:
        tl.device_print("pid", pid)
    elif HOW == 1:
        tl.atomic_add(c, 1.0)
    tl.store(c + 1 + pid * 256 + i * 16 + j, total + row + column)


@pytest.mark.parametrize("how", range(3))
def test_what_shows_the_order(how: int) -> None:
    """Only the last of these kernels corrects the number that the runtime names after a fault."""
    kernel = compiled(observed, {"a": "*bf16", "c": "*fp32", "columns": "i32"}, {"HOW": how}, "haswell")
    assert kernel.asm["llir"].count("call ptr @triton_ext_cpu_program") == (2 if how == 2 else 1)


@triton.jit
def wild(a, c, columns, wrong, offset):
    """A product in a loop; the program of tile `wrong` stores outside of any memory."""
    pid = tl.program_id(0)
    row, column = pid // columns, pid % columns
    i, j = tl.arange(0, 16)[:, None], tl.arange(0, 16)[None, :]
    total = tl.zeros((16, 16), tl.float32)
    for step in range(2):
        x = tl.load(a + step * 256 + i * 16 + j)
        total = tl.dot(x, x, total)
    tl.store(c + tl.where(row * columns + column == wrong, offset, 0) + i * 16 + j, total)


def test_a_fault_names_the_program_that_faults() -> None:
    rows, columns = 16, 4
    a, c = torch.ones(2, 16, 16), torch.zeros(16, 16)
    wild[(rows * columns,)](a, c, columns, -1, 0)
    with pytest.raises(RuntimeError, match=r"program \(22, 0, 0\)"):
        wild[(rows * columns,)](a, c, columns, 22, 1 << 45)
