# SPDX-License-Identifier: Apache-2.0
"""Right operands that stay packed for later programs: every result is as if each program packed its own."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import pytest
import torch
import triton
import triton.language as tl
from triton.compiler.compiler import CompiledKernel

from support.cpu import emulated_units
from support.cpu.dots import BF16, FP16, FP32, HERE, INT8, compiled, numbers
from support.cpu.shared_programs import WAYS, Work, shares

pytestmark = pytest.mark.keeps_kernels


#: Types, and M, N and the size of a step. Products with the last two do not wait: one step is enough for their unit.
SHAPES = [
    (FP32, (4, 16, 16)), (BF16, (4, 16, 32)), (FP16, (8, 32, 8)), (INT8, (8, 32, 8)), (BF16, (1, 4, 4)),
    (FP32, (4, 16, 64)), (INT8, (4, 16, 256)),
]  # fmt: skip


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("arch", HERE)
def test_results_are_those_of_programs_that_pack_for_themselves(how: str, arch: str, tmp_path: Path) -> None:
    for number, (dtype, sizes) in enumerate(SHAPES):
        work = Work(how, dtype, sizes, (5, 3))
        expected, kernel = work.model(), work.kernel(arch)
        here = tmp_path / str(number)
        here.mkdir()
        emulated_units.run(kernel, here, work.rows * work.columns, work.arguments)
        assert torch.equal(work.memory, expected), (dtype, sizes)


@pytest.mark.parametrize(("dtype", "sizes"), SHAPES, ids=str)
def test_products_share_whether_they_wait_or_not(dtype: torch.dtype, sizes: tuple[int, int, int]) -> None:
    assert shares(Work("plain", dtype, sizes, (5, 3)).kernel("haswell"))


TILES = [(BF16, "sapphirerapids"), (INT8, "sapphirerapids"), (FP16, "sapphirerapids"), (FP16, "graniterapids")]


@pytest.mark.parametrize(("dtype", "arch"), TILES, ids=str)
@pytest.mark.parametrize("how", ["plain", "carried", "mask", "triangle", "first"])
def test_tiles(how: str, dtype: torch.dtype, arch: str, tmp_path: Path) -> None:
    """The zeros behind the last step of a program, which fill a tile, are not taken for another program's operand."""
    work = Work(how, dtype, (16, 16, 16), (5, 2))
    expected, kernel = work.model(), work.kernel(arch)
    assert shares(kernel)
    emulator = emulated_units.run_emulated(kernel, tmp_path, work.rows * work.columns, work.arguments)
    assert emulator.problems == []
    assert torch.equal(work.memory, expected)


@pytest.mark.parametrize("arch", HERE)
def test_an_operand_that_is_larger_than_what_is_kept(arch: str, tmp_path: Path) -> None:
    """The rest of the steps is packed by each program."""
    work = Work("plain", INT8, (1, 256, 64), (3, 1), steps=160)
    expected, kernel = work.model(), work.kernel(arch)
    assert shares(kernel)
    emulated_units.run(kernel, tmp_path, work.rows, work.arguments)
    assert torch.equal(work.memory, expected)


# Memory that the kernel writes


@pytest.mark.parametrize("arch", HERE)
@pytest.mark.parametrize("place", ["before", "first", "inside", "end", "last", "behind"])
def test_tensors_that_overlap(place: str, arch: str, tmp_path: Path) -> None:
    """A store to memory of the right operand is seen by the next program. int8 has one right result."""
    rows, columns, n, step = 4, 2, 16, 32
    ldb, depth = columns * n + 3, 9 * step
    last = (depth - 1) * ldb + n - 1  # the last byte of the first column
    size = rows * 4 * columns * n * 4
    offset = {
        "before": 0,
        "first": 0,
        "inside": 3 * step * ldb,
        "end": last - size + 1,
        "last": last,
        "behind": last + 1,
    }
    work = Work("plain", INT8, (4, n, step), (rows, columns), offset=offset[place] // 4 * 4)
    expected, kernel = work.model(), work.kernel(arch)
    assert shares(kernel)
    emulated_units.run(kernel, tmp_path, rows * columns, work.arguments)
    assert torch.equal(work.memory, expected)


class Thread:
    """One thread of a launch: a library, and scratch memory that it keeps between the calls of a kernel."""

    def __init__(self, kernel: CompiledKernel, directory: Path) -> None:
        self.entry = emulated_units.loaded(kernel.asm["so"], directory)[kernel.metadata.name]
        self.entry.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p]
        self.memory = torch.zeros(kernel.metadata.scratch + 64, dtype=torch.uint8)
        self.scratch = -(-self.memory.data_ptr() // 64) * 64

    def call(self, arguments: tuple[torch.Tensor | int, ...], program: int, programs: int) -> None:
        """Runs one of `programs` programs."""
        slots = (ctypes.c_uint64 * len(arguments))(*(a if isinstance(a, int) else a.data_ptr() for a in arguments))
        assert self.entry(slots, program, program + 1, (ctypes.c_int32 * 3)(programs, 1, 1), self.scratch) == 0

    def run(self, work: Work, program: int) -> torch.Tensor:
        """Runs one program, and returns its tile of c."""
        self.call(work.arguments, program, work.rows * work.columns)
        rows = slice(program % work.rows * work.M, (program % work.rows + 1) * work.M)
        return work.c[rows, program // work.rows * work.N : (program // work.rows + 1) * work.N]


@pytest.mark.parametrize("how", ["plain", "carried", "transposed", "wrapped"])
def test_the_next_program_of_a_column_does_not_read_the_right_operand(how: str, tmp_path: Path) -> None:
    """It does not see that the memory has changed: that would be a race. The first of the next column does."""
    work = Work(how, INT8, (4, 16, 32), (3, 2))
    expected = work.model()[work.place :].view(torch.int32)[: work.c.numel()].view(work.c.shape)
    thread = Thread(work.kernel("haswell"), tmp_path)
    thread.run(work, 0)
    work.b.zero_()
    assert torch.equal(thread.run(work, 1), expected[4:8, :16])
    assert not thread.run(work, 3).any()
    assert not thread.run(work, 2).any()


@triton.jit
def several(a, b, c, steps, COUNT: tl.constexpr, N: tl.constexpr):
    """The products of a row of tiles of a with COUNT matrices, which lie behind each other."""
    pid = tl.program_id(0)
    i, j, k = tl.arange(0, 4)[:, None], tl.arange(0, N)[None, :], tl.arange(0, 64)
    first, second, third = (tl.zeros((4, N), tl.int32),) * 3
    for step in range(steps):
        x = tl.load(a + (pid * 4 + i) * steps * 64 + step * 64 + k[None, :])
        at = b + (step * 64 + k[:, None]) * N + j
        first = tl.dot(x, tl.load(at), first)
        if COUNT > 1:
            second = tl.dot(x, tl.load(at + steps * 64 * N), second)
        if COUNT > 2:
            third = tl.dot(x, tl.load(at + 2 * steps * 64 * N), third)
    tl.store(c + (pid * 4 + i) * N + j, first + 3 * second + 5 * third)


def launch_of_several(count: int, steps: int, n: int) -> tuple[CompiledKernel, tuple[Any, ...], torch.Tensor]:
    """Returns a kernel for two programs, its arguments, and what it has to write to c."""
    a, b = numbers(INT8, 8, steps * 64), numbers(INT8, count, steps * 64, n)
    expected = sum(factor * (a.long() @ right.long()) for factor, right in zip((1, 3, 5), b, strict=False))
    types = {"a": "*i8", "b": "*i8", "c": "*i32", "steps": "i32"}
    kernel = compiled(several, types, {"COUNT": count, "N": n}, "haswell")
    return kernel, (a, b, torch.zeros(8, n, dtype=torch.int32), steps), torch.as_tensor(expected)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_all_products_of_a_loop_share(count: int, tmp_path: Path) -> None:
    """The first one leaves room: the next program reads none of the right operands."""
    kernel, arguments, expected = launch_of_several(count, steps=2, n=16)
    _, right, result, _ = arguments
    thread = Thread(kernel, tmp_path)
    for program in range(2):
        thread.call(arguments, program, 2)
        right.zero_()
    assert torch.equal(result, expected)


@pytest.mark.parametrize("count", [2, 3])
def test_products_that_share_the_room_have_their_own_part(count: int, tmp_path: Path) -> None:
    """A step has 64 KB of int8 in words of 2 bytes for each element: of 40 steps, not all have room."""
    kernel, arguments, expected = launch_of_several(count, steps=40, n=512)
    emulated_units.run(kernel, tmp_path, 2, arguments)
    assert torch.equal(arguments[2], expected)


# Kernels that share nothing


@triton.jit
def told(a, b, c, rows, HOW: tl.constexpr):
    """A product whose programs may tell each other something, or whose neighbours have other columns."""
    pid = tl.program_id(0)
    column = pid // rows
    i, j = tl.arange(0, 16)[:, None], tl.arange(0, 16)[None, :]
    if HOW == "order":
        column = pid
    if HOW == "atomic":
        tl.atomic_add(c, 1)
    if HOW == "volatile":
        column += tl.load(c, volatile=True)
    if HOW == "barrier":
        tl.debug_barrier()
    table = tl.load(c + j)
    total = tl.zeros((16, 16), tl.int32)
    for step in range(4):
        at = step * 256 + i * 16 + j
        if HOW == "scalar":
            at += tl.load(c + step)
        if HOW == "table":
            at += table
        y = tl.load(b + column * 1024 + at)
        total = tl.dot(tl.load(a + step * 256 + i * 16 + j), y, total)
    tl.store(c + pid * 256 + i * 16 + j, total)


@pytest.mark.parametrize("how", ["", "order", "atomic", "volatile", "barrier", "scalar", "table"])
def test_what_programs_may_tell_each_other(how: str) -> None:
    types = {"a": "*i8", "b": "*i8", "c": "*i32", "rows": "i32"}
    assert shares(compiled(told, types, {"HOW": how}, "haswell")) == (how == "")


# Launches


@triton.jit
def product(a, b, c, size, TILE: tl.constexpr, STEP: tl.constexpr):
    """A product of square matrices on a grid of two axes; programs go down columns."""
    m, n = tl.program_id(0) * TILE + tl.arange(0, TILE), tl.program_id(1) * TILE + tl.arange(0, TILE)
    total = tl.zeros((TILE, TILE), tl.int32)
    for first in range(0, size, STEP):
        k = first + tl.arange(0, STEP)
        x, y = tl.load(a + m[:, None] * size + k[None, :]), tl.load(b + k[:, None] * size + n[None, :])
        total = tl.dot(x, y, total)
    tl.store(c + m[:, None] * size + n[None, :], total)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_each_launch_packs_anew(threads: int) -> None:
    size, tile = 256, 16
    for _ in range(3):
        a, b = numbers(INT8, size, size), numbers(INT8, size, size)
        c = torch.empty(size, size, dtype=torch.int32)
        for right in (b, b.zero_()):
            product[(size // tile, size // tile)](a, b, c, size, TILE=tile, STEP=32, num_threads=threads)
            assert torch.equal(c, (a.long() @ right.long()).int())
