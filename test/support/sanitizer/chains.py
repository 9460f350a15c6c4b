# SPDX-License-Identifier: Apache-2.0
"""Chains of launches and of operators of torch that write parts of a tensor and read parts of it, and how many lanes
read what nothing has written."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl

import triton_ext as tx

#: The elements of the tensor, and those of a block of each kernel.
SIZE, BLOCK = 96, 16


@triton.jit
def write_block(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + i, 1.0, mask=i < n)


@triton.jit
def write_rows(x, rows, columns, stride, B: tl.constexpr):
    """A program has every grid-th row, in blocks."""
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        for start in range(0, columns, B):
            i = start + tl.arange(0, B)
            tl.store(x + row * stride + i, 1.0, mask=i < columns)


@triton.jit
def write_tiles(x, M, N, stride, BM: tl.constexpr, BN: tl.constexpr, GROUP: tl.constexpr):
    """Tiles of a matrix, in the order of a matrix product."""
    pid = tl.program_id(0)
    width = GROUP * tl.cdiv(N, BN)
    first = pid // width * GROUP
    height = min(tl.cdiv(M, BM) - first, GROUP)
    m = (first + pid % width % height) * BM + tl.arange(0, BM)
    n = pid % width // height * BN + tl.arange(0, BN)
    tl.store(x + m[:, None] * stride + n[None, :], 1.0, mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def write_if(x, flag, n, B: tl.constexpr):
    i = tl.arange(0, B)
    if tl.load(flag) > 0:
        tl.store(x + i, 1.0, mask=i < n)


@triton.jit
def write_first(x, flag, n, B: tl.constexpr):
    """Also stores behind a return that depends on memory."""
    i = tl.arange(0, B)
    tl.store(x + i, 1.0, mask=i < n)
    if tl.load(flag) > 0:
        return
    tl.store(x + B + i, 1.0, mask=i < n)


@triton.jit
def write_while(x, flag, n, B: tl.constexpr):
    i = tl.arange(0, B)
    left = tl.load(flag)
    while left > 0:
        tl.store(x + i, 1.0, mask=i < n)
        left -= 1


@triton.jit
def scatter(x, index, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(x + tl.load(index + i), 1.0, mask=i < n)


@triton.jit
def write_even(x, n, B: tl.constexpr):
    """The mask is not a box."""
    i = tl.arange(0, B)
    tl.store(x + i, 1.0, mask=(i < n) & (i % 2 == 0))


@triton.jit
def add(x, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.atomic_add(x + i, 1.0, mask=i < n)


@triton.jit
def read(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n))


@triton.jit
def gather(x, index, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.load(x + tl.load(index + i), mask=i < n))


def _flag(value: int) -> Any:
    return torch.full((1,), value, dtype=torch.int32)


def _index(first: int) -> Any:
    return (torch.arange(BLOCK, dtype=torch.int32) * 5 + first) % 40


def _lanes(n: int, programs: int = 1) -> Any:
    return np.arange(min(max(n, 0), BLOCK * programs))


def _box(rows: int, columns: int, stride: int) -> Any:
    return (np.arange(rows)[:, None] * stride + np.arange(columns)).reshape(-1)


#: What each step does to a tensor, and the elements that it reads and writes; from two numbers.
STEPS: dict[str, Callable[[Any, int, int], tuple[Any, Any]]] = {}


def _step(do: Callable[[Any, int, int], tuple[Any, Any]]) -> None:
    STEPS[do.__name__.strip("_")] = do


NOTHING = np.arange(0)


@_step
def _block(x: Any, a: int, b: int) -> tuple[Any, Any]:
    write_block[(b,)](x, 5 * a, B=BLOCK)
    return NOTHING, _lanes(5 * a, b)


@_step
def _rows(x: Any, a: int, b: int) -> tuple[Any, Any]:
    write_rows[(2,)](x, b, a, 17, B=8)
    return NOTHING, _box(b, a, 17)


@_step
def _tiles(x: Any, a: int, b: int) -> tuple[Any, Any]:
    write_tiles[(-(-a // 4) * -(-b // 2),)](x, b, a, 13, BM=2, BN=4, GROUP=2)
    return NOTHING, _box(b, a, 13)


@_step
def _part_of_tiles(x: Any, a: int, b: int) -> tuple[Any, Any]:
    """Only the first program, so one tile."""
    write_tiles[(1,)](x, b, a, 13, BM=2, BN=4, GROUP=2)
    return NOTHING, _box(min(b, 2), min(a, 4), 13)


@_step
def _if(x: Any, a: int, b: int) -> tuple[Any, Any]:
    write_if[(1,)](x, _flag(b % 2), a, B=BLOCK)
    return NOTHING, _lanes(a) if b % 2 else NOTHING


@_step
def _first(x: Any, a: int, b: int) -> tuple[Any, Any]:
    write_first[(1,)](x, _flag(b % 2), a, B=BLOCK)
    return NOTHING, _lanes(a) if b % 2 else np.r_[_lanes(a), BLOCK + _lanes(a)]


@_step
def _while(x: Any, a: int, b: int) -> tuple[Any, Any]:
    write_while[(1,)](x, _flag(b - 1), a, B=BLOCK)
    return NOTHING, _lanes(a) if b > 1 else NOTHING


@_step
def _scatter(x: Any, a: int, b: int) -> tuple[Any, Any]:
    scatter[(1,)](x, _index(b), a, B=BLOCK)
    return NOTHING, _index(b).numpy()[: max(a, 0)]


@_step
def _even(x: Any, a: int, b: int) -> tuple[Any, Any]:
    write_even[(1,)](x, a, B=BLOCK)
    return NOTHING, _lanes(a)[::2]


@_step
def _add(x: Any, a: int, b: int) -> tuple[Any, Any]:
    add[(1,)](x, a, B=BLOCK)
    return _lanes(a), _lanes(a)


@_step
def _torch(x: Any, a: int, b: int) -> tuple[Any, Any]:
    x[a : a + 7 * b] = 1
    return NOTHING, np.arange(a, a + 7 * b)


@_step
def _read(x: Any, a: int, b: int) -> tuple[Any, Any]:
    read[(b,)](x, torch.empty(BLOCK * b), 5 * a, B=BLOCK)
    return _lanes(5 * a, b), NOTHING


@_step
def _gather(x: Any, a: int, b: int) -> tuple[Any, Any]:
    gather[(1,)](x, _index(b), torch.empty(BLOCK), a, B=BLOCK)
    return _index(b).numpy()[: max(a, 0)], NOTHING


def unwritten(steps: Iterable[tuple[str, int, int, int]], dtype: torch.dtype = torch.float32) -> tuple[int, int]:
    """Runs steps. A step is a name, two numbers, and the element at which its part of the tensor begins. Returns how
    many lanes have read what nothing has written, as the report says and in truth.
    """
    written = np.zeros(SIZE + BLOCK * 8, bool)
    right = 0
    with tx.sanitize("uninit") as report:
        memory = torch.empty(len(written), dtype=dtype)
        for name, a, b, start in steps:
            read_too, written_too = STEPS[name](memory[start:], a, b)
            right += int(np.sum(~written[start + read_too]))
            written[start + written_too] = True
    return sum(one.lanes for one in report.findings), right
