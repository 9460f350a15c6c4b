# SPDX-License-Identifier: Apache-2.0
"""The order in which programs run: each runs once, with its own number."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
import torch
import triton
import triton.language as tl

from support.cpu import emulated_units
from support.cpu.dots import compiled

pytestmark = pytest.mark.keeps_kernels


@triton.jit
def numbered(a, b, c, log, columns, STEPS: tl.constexpr, HOW: tl.constexpr):
    """Adds to each program's tile of c, and notes the order of programs in log, a counter and numbers behind it."""
    if HOW % 4 == 0:
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
        total = tl.dot(-x if HOW == 4 else x, y, total)
    at = c + (row * columns + column) * 256 + i * 16 + j
    tl.store(at, tl.load(at) + total)


class Number:
    """An integer argument of `emulated_units.run`, which puts the result of `data_ptr` into the argument's slot."""

    def __init__(self, value: int) -> None:
        self.value = value

    def data_ptr(self) -> int:
        return self.value


def order_of(
    how: int, rows: int, columns: int, directory: Path, *, missing: int = 0, dtype: torch.dtype = torch.bfloat16
) -> list[int]:
    """Runs the programs but the last `missing` ones in one thread, and returns their order."""
    steps, count = 3, rows * columns - missing
    a, b = (torch.randint(-2, 3, (n, steps, 16, 16)).to(dtype) for n in (rows, columns))
    c, log = torch.ones(rows, columns, 16, 16), torch.zeros(1 + rows * columns, dtype=torch.int32)
    element = {torch.bfloat16: "*bf16", torch.float16: "*fp16", torch.float32: "*fp32"}[dtype]
    types = {"a": element, "b": element, "c": "*fp32", "log": "*i32", "columns": "i32"}
    kernel = compiled(numbered, types, {"STEPS": steps, "HOW": how}, "haswell")
    arguments = (a, b, c, log, Number(columns))
    emulated_units.run(kernel, directory, count, arguments)
    expected = 1 + (-1 if how == 4 else 1) * torch.einsum("rsij,csjk->rcik", a.double(), b.double())
    assert torch.equal(c.double().flatten(0, 1)[:count], expected.flatten(0, 1)[:count])
    assert (c.flatten(0, 1)[count:] == 1).all()
    assert log[0] == count
    return log[1 : 1 + count].tolist()


@pytest.mark.parametrize("how", [0, 1])
@pytest.mark.parametrize(
    ("rows", "columns"), [(32, 3), (64, 1), (16, 5), (96, 2), (8, 3), (24, 2), (6, 5), (1, 7), (17, 2)]
)
def test_groups_of_rows_run_column_by_column(how: int, rows: int, columns: int, tmp_path: Path) -> None:
    """A group has 32 rows of tiles, 512 rows of a, or the power of two that divides the rows."""
    group = min(32, rows & -rows)
    groups = itertools.product(range(0, rows, group), range(columns), range(group))
    assert order_of(how, rows, columns, tmp_path) == [(first + row) * columns + column for first, column, row in groups]


@pytest.mark.parametrize(
    ("dtype", "how", "most"),
    [(torch.float32, 0, 64), (torch.float32, 4, 32), (torch.float16, 0, 64)],
)
@pytest.mark.parametrize(("rows", "columns"), [(128, 2), (64, 3), (48, 3), (96, 2)])
def test_groups_of_slow_products(
    dtype: torch.dtype, how: int, most: int, rows: int, columns: int, tmp_path: Path
) -> None:
    """A group has 64 rows of tiles, 1,024 rows of a; 512 rows of a if the left operand is computed."""
    group = min(most, rows & -rows)
    groups = itertools.product(range(0, rows, group), range(columns), range(group))
    expected = [(first + row) * columns + column for first, column, row in groups]
    assert order_of(how, rows, columns, tmp_path, dtype=dtype) == expected


@pytest.mark.parametrize(("rows", "columns", "missing"), [(2, 4, 1), (16, 3, 2), (9, 5, 4), (1, 2, 1)])
def test_the_last_group_is_full_or_the_order_is_that_of_the_numbers(
    rows: int, columns: int, missing: int, tmp_path: Path
) -> None:
    count = rows * columns - missing
    assert order_of(0, rows, columns, tmp_path, missing=missing) == list(range(count))


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


# Kernels whose tiles lie side by side along one axis of the grid


@triton.jit(do_not_specialize=["row", "column"])
def tiled(x, out, log, rows, columns, row, column, wrong, offset, HOW: tl.constexpr):
    """Copies tiles of 2 x 8, and notes the order of programs in log, a counter and numbers behind it."""
    a, b, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    number = (z * tl.num_programs(1) + b) * tl.num_programs(0) + a
    if HOW == 1:  # neighbours along x lie side by side
        a, b = b, a
    i, j = a * 2 + tl.arange(0, 2)[:, None], b * 8 + tl.arange(0, 8)[None, :]
    inside = (i < rows) & (j < columns)
    start, at = z * rows * columns, i * columns + j
    if HOW == 2:  # as many tiles lie side by side along x as along y
        v = tl.load(x + start + j * rows + i, mask=inside)
    elif HOW == 3:  # most tiles lie side by side along x
        v = tl.load(x + start + j * rows + i, mask=inside)
        at = j * rows + i
    elif HOW == 4:  # it depends on an argument
        v = tl.load(x + start + i * row + j * column, mask=inside)
    else:
        v = tl.load(x + start + at, mask=inside)
    tl.store(out + start + at + tl.where(number == wrong, offset, 0), v, mask=inside)
    if HOW == 5:
        count = tl.atomic_add(log, 1)
    else:
        count = tl.load(log)
        tl.store(log, count + 1)
    tl.store(log + 1 + count, number)


def launched(how: int, grid: tuple[int, int, int], wrong: int = -1, is_down: bool = False) -> list[int]:
    """Runs the programs in one thread, and returns their order. `is_down`: x has its columns one behind the other."""
    rows, columns = (grid[1] * 2 - 1, grid[0] * 8 - 3) if how == 1 else (grid[0] * 2 - 1, grid[1] * 8 - 3)
    x = torch.randn(grid[2], rows, columns)
    out, log = torch.zeros_like(x), torch.zeros(1 + grid[0] * grid[1] * grid[2], dtype=torch.int32)
    if is_down:
        x = x.mT.contiguous().mT
    strides = (columns, 1) if how == 3 else x.stride()[1:]
    tiled[grid](x, out, log, rows, columns, *strides, wrong, 1 << 45, HOW=how, num_threads=1)
    assert torch.equal(out, x)
    assert log[0] == log.numel() - 1
    return log[1:].tolist()


GRIDS = [(1, 1, 1), (5, 3, 2), (1, 7, 2), (4, 1, 3), (7, 11, 1)]


@pytest.mark.parametrize("grid", GRIDS, ids=str)
@pytest.mark.parametrize(
    ("how", "is_down", "along_y"),
    [(0, False, True), (1, False, False), (2, True, False), (3, False, False), (4, False, True), (4, True, False),
     (5, False, False)],
)  # fmt: skip
def test_programs_run_along_rows(how: int, is_down: bool, along_y: bool, grid: tuple[int, int, int]) -> None:
    nx, ny, nz = grid
    rows_first = [(z * ny + y) * nx + x for z in range(nz) for x in range(nx) for y in range(ny)]
    assert launched(how, grid, is_down=is_down) == (rows_first if along_y else list(range(nx * ny * nz)))


@pytest.mark.parametrize(("how", "is_down"), [(0, False), (1, False), (4, False), (4, True)])
def test_a_fault_names_the_program_of_two_axes(how: int, is_down: bool) -> None:
    with pytest.raises(RuntimeError, match=r"program \(3, 1, 1\)"):
        launched(how, (5, 4, 2), wrong=(1 * 4 + 1) * 5 + 3, is_down=is_down)
