# SPDX-License-Identifier: Apache-2.0
"""Kernels whose traffic and FLOPs are counted: in Triton's interpreter, and by `tx.intensity`."""

# ruff: noqa: N806, PLR0917 - kernels name sizes M, N, K and have many arguments

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import triton
import triton.language as tl


@triton.jit
def add(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(z + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


@triton.jit
def softmax(x, y, rows, columns, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        value = tl.load(x + row * columns + i, mask=i < columns, other=float("-inf"))
        e = tl.exp(value - tl.max(value, 0))
        tl.store(y + row * columns + i, e / tl.sum(e, 0), mask=i < columns)


@triton.jit
def matmul(x, y, z, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
    first = pid // (GROUP * columns) * GROUP
    height = min(rows - first, GROUP)
    pid_m = first + pid % (GROUP * columns) % height
    pid_n = pid % (GROUP * columns) // height
    m = (pid_m * BM + tl.arange(0, BM)) % M
    n = (pid_n * BN + tl.arange(0, BN)) % N
    k = tl.arange(0, BK)
    at_x = x + m[:, None] * K + k[None, :]
    at_y = y + k[:, None] * N + n[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for _ in range(tl.cdiv(K, BK)):
        a = tl.load(at_x, mask=k[None, :] < K, other=0.0)
        b = tl.load(at_y, mask=k[:, None] < K, other=0.0)
        total = tl.dot(a, b, total)
        at_x += BK
        at_y += BK * N
        k += BK
    m = pid_m * BM + tl.arange(0, BM)
    n = pid_n * BN + tl.arange(0, BN)
    tl.store(z + m[:, None] * N + n[None, :], total, mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def attention(q, k, v, o, N, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    start = tl.program_id(0) * BM
    head = tl.program_id(1) * N * D
    m = start + tl.arange(0, BM)
    d = tl.arange(0, D)
    query = tl.load(q + head + m[:, None] * D + d[None, :], mask=m[:, None] < N, other=0.0)
    most = tl.full((BM,), float("-inf"), tl.float32)
    result = tl.zeros((BM, D), tl.float32)
    for at in range(0, min(start + BM, N), BN):
        n = at + tl.arange(0, BN)
        keys = tl.load(k + head + n[:, None] * D + d[None, :], mask=n[:, None] < N, other=0.0)
        scores = tl.where(m[:, None] >= n[None, :], tl.dot(query, tl.trans(keys)), float("-inf"))
        more = tl.maximum(most, tl.max(scores, 1))
        p = tl.exp2(scores - more[:, None])
        values = tl.load(v + head + n[:, None] * D + d[None, :], mask=n[:, None] < N, other=0.0)
        result = tl.dot(p, values, result * tl.exp2(most - more)[:, None])
        most = more
    tl.store(o + head + m[:, None] * D + d[None, :], result, mask=m[:, None] < N)


@triton.jit
def layer_norm(x, y, w, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0) * columns
    total = tl.zeros((BLOCK,), tl.float32)
    for at in range(0, columns, BLOCK):
        i = at + tl.arange(0, BLOCK)
        total += tl.load(x + row + i, mask=i < columns, other=0.0)
    mean = tl.sum(total, 0) / columns
    for at in range(0, columns, BLOCK):
        i = at + tl.arange(0, BLOCK)
        value = tl.load(x + row + i, mask=i < columns, other=0.0)
        tl.store(y + row + i, (value - mean) * tl.load(w + i, mask=i < columns), mask=i < columns)


@triton.jit
def grouped(sizes, x, y, groups, BLOCK: tl.constexpr):
    """The number of tiles of each group is in memory."""
    for group in range(groups):
        size = tl.load(sizes + group)
        for at in range(tl.program_id(0) * BLOCK, size, tl.num_programs(0) * BLOCK):
            i = at + tl.arange(0, BLOCK)
            tl.store(y + i, tl.load(x + i, mask=i < size) * 2.0, mask=i < size)


@triton.jit
def histogram(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n, other=0)
    tl.atomic_add(y + value, 1.5, mask=i < n)


@triton.jit
def ragged(x, y, n, length, STEP: tl.constexpr):
    begin = tl.program_id(0) * length
    for at in range(begin, min(begin + length, n), STEP):
        i = at + tl.arange(0, STEP)
        mask = (i < begin + length) & (i < n)
        tl.store(y + i, tl.load(x + i, mask=mask) + 1.0, mask=mask)


@triton.jit
def triangle(x, y, n, B: tl.constexpr):
    """A mask that ties two dimensions, in loops whose bounds depend on each other."""
    for a in range(0, n, B):
        for b in range(0, a + B, B):
            i, j = a + tl.arange(0, B)[:, None], b + tl.arange(0, B)[None, :]
            mask = (i >= j) & (i < n)
            tl.store(y + i * n + j, tl.load(x + i * n + j, mask=mask) + 1.0, mask=mask)


@triton.jit
def branches(x, y, flags, n, B: tl.constexpr):
    """The first branch depends on the program, the second one on data."""
    pid = tl.program_id(0)
    i = pid * B + tl.arange(0, B)
    value = tl.load(x + i, mask=i < n, other=0.0)
    if pid % 3 == 1:
        value = tl.exp(value)
        tl.store(y + i, value, mask=i < n)
    if tl.load(flags + pid) > 0:
        tl.store(y + n + i, value * 2.0, mask=i < n)
    else:
        tl.store(y + n + i, value + tl.exp(value))


@triton.jit
def by_data(x, y, flags, n, B: tl.constexpr):
    """Two masks: one depends on data and on a bound."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    mask = (tl.load(flags + i) > 0) & (i < n)
    tl.store(y + i, tl.load(x + i, mask=mask) + 1.0, mask=mask)


@triton.jit
def early(x, y, n, B: tl.constexpr):
    pid = tl.program_id(0)
    if pid * B >= n:
        return
    i = pid * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i) + 1.0, mask=i < n)


@triton.jit
def odd_masks(x, y, n, m, B: tl.constexpr):
    """Strides, reversed indices, holes, alternatives, a remainder, one element."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i * 3 + 1 < n) + 1.0, mask=(n - 1 - i >= 0) & (i != m))
    tl.store(y + i, tl.load(x + i, mask=(i < m) | (i > n)) + 1.0, mask=i % 4 == m % 4)
    tl.store(y + i, tl.load(x + i, mask=~((i >= m) & (2 * i < n))) + 1.0, mask=(i == m) | (i >= n) | (i < 2))
    j = tl.arange(0, 1)
    tl.store(y + j, tl.load(x + j, mask=j < n) + 1.0, mask=j + n > m)


@triton.jit
def gaps(x, y, n, m, B: tl.constexpr):
    """Tiles that overlap or leave gaps, a triangle, quotients of negative numbers, rounding, and a branch."""
    pid = tl.program_id(0)
    for at in range(0, n, B // 2):
        i = at + tl.arange(0, B)
        tl.store(y + i, tl.load(x + i, mask=i < n) + 1.0, mask=3 * i >= m)
    for at in range(0, n, B * 2):
        i = at + tl.arange(0, B)
        tl.store(y + i, tl.load(x + i, mask=i < n) + 1.0, mask=(i - m) // 3 == 0)
    for at in range(pid * 8 + 3, 3 * pid * 8 + 9, 8):
        tl.store(y + at, 1.0)
    for at in range((m - 10) // 3, 4):
        tl.store(y + at + 99, 1.0)
    for at in range((4 * m - 3) // 4, 4):
        tl.store(y + at + 99, 1.0)
    for at in range(0, m):
        tl.store(y + at, 1.0)
    if pid % 2 == 1:
        i = tl.arange(0, B)
        tl.store(y + i, tl.load(x + i) / 3.0)


@triton.jit
def descriptors(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [M, N], [N, 1], [BM, BN])
    target = tl.make_tensor_descriptor(y, [M, N], [N, 1], [BM, BN])
    at = tl.program_id(0) * BM
    for n in range(0, N, BN):
        target.store([at, n], source.load([at, n]) * 2.0)


@triton.jit
def scans(x, y, n, B: tl.constexpr, C: tl.constexpr):
    i, j = tl.arange(0, B)[:, None], tl.arange(0, C)[None, :]
    value = tl.load(x + i * C + j, mask=i * C + j < n, other=0.0)
    value = tl.cumsum(value, 1) + tl.sum(value, 0)[None, :]
    tl.store(y + i * C + j, value / tl.sqrt(value + 2.0))


@triton.jit(noinline=True)
def double(x, y, pid, n, B: tl.constexpr):
    i = pid * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 2.0, mask=i < n)


@triton.jit
def calls(x, y, n, m, B: tl.constexpr):
    double(x, y, tl.program_id(0), n, B)
    double(x, y, tl.program_id(0) + 1, m, B)


@triton.jit
def whiles(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    value = tl.load(x + i, mask=i < n, other=0.0)
    left = tl.max(value, 0)
    while left > 0.5:
        value = value * 0.5
        left = tl.max(value, 0)
    tl.store(y + i, value, mask=i < n)


@dataclass(frozen=True)
class Case:
    """A launch.

    Attributes:
        kernel: the kernel.
        sizes: integers and constexprs, by name.
        grid: the grid.
        ints: the arguments that point to int32; the other pointers point to float32.
    """

    kernel: Any
    sizes: dict[str, int]
    grid: tuple[int, ...]
    ints: tuple[str, ...] = field(default=())

    @property
    def pointers(self) -> dict[str, str]:
        """The types of the pointers, by name."""
        names = [name for name in self.kernel.arg_names if name not in self.sizes]
        return {name: "*i32" if name in self.ints else "*fp32" for name in names}


def cases(seed: int, each: int = 3) -> Iterator[Case]:
    """Yields `each` launches of each kernel; the same ones for the same seed."""
    rng = random.Random(seed)
    some: Callable[..., int] = lambda high, low=0: rng.randint(low, high)  # noqa: E731
    for _ in range(each):
        yield Case(add, {"n": some(50), "BLOCK": 16}, (some(5, 1), some(2, 1)))
        yield Case(softmax, {"rows": some(7), "columns": some(16), "BLOCK": 16}, (some(3, 1),))
        M, N, K = some(40, 1), some(40, 1), some(40, 1)
        tiles = triton.cdiv(M, 16) * triton.cdiv(N, 16)
        yield Case(matmul, {"M": M, "N": N, "K": K, "BM": 16, "BN": 16, "BK": 16, "GROUP": some(3, 1)}, (tiles,))
        yield Case(attention, {"N": some(50, 1), "D": 16, "BM": 32, "BN": 16}, (some(2, 1), 2))
        yield Case(layer_norm, {"columns": some(40, 2), "BLOCK": 16}, (some(3, 1),))
        yield Case(grouped, {"groups": some(3), "BLOCK": 16}, (2,), ("sizes",))
        yield Case(histogram, {"n": some(40), "BLOCK": 16}, (3,), ("x",))
        yield Case(ragged, {"n": some(60), "length": some(20), "STEP": 8}, (some(4, 1),))
        yield Case(triangle, {"n": some(20), "B": 8}, (1,))
        yield Case(branches, {"n": some(20), "B": 8}, (some(6, 3),), ("flags",))
        yield Case(by_data, {"n": some(50), "B": 8}, (some(6, 1),), ("flags",))
        yield Case(early, {"n": some(50), "B": 8}, (some(6, 1),))
        yield Case(odd_masks, {"n": some(50), "m": some(20), "B": 16}, (some(4, 1),))
        yield Case(gaps, {"n": some(50, 20), "m": 3 * some(5) + 1, "B": 8}, (some(4, 2),))
        yield Case(gaps, {"n": some(50), "m": some(-1, -20), "B": 8}, (some(4, 2),))
        yield Case(descriptors, {"M": some(20, 1), "N": 4 * some(9, 1), "BM": 8, "BN": 8}, (some(4, 1),))
        yield Case(scans, {"n": some(70), "B": 8, "C": 8}, (1,))
        yield Case(calls, {"n": some(50), "m": some(50), "B": 8}, (some(4, 1),))
        yield Case(whiles, {"n": some(50), "B": 8}, (some(4, 1),))
