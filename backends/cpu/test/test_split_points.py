# SPDX-License-Identifier: Apache-2.0
"""Loops over tiles are split where a mask ends; the results are those of NumPy, wherever that is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

SIZE = 256
#: Ends of a mask: outside of the tile, and in front of, at and behind the ends of groups of lanes.
ENDS = [-(2**31), -3, 0, 1, 7, 8, 15, 16, 17, 63, 64, 65, 127, 128, 200, 255, 256, 300, 2**31 - 1]
LANE = np.arange(SIZE)


def compared(i: Any, n: Any, kind: str) -> Any:
    return {"slt": lambda: i < n, "sle": lambda: i <= n, "sgt": lambda: n > i, "sge": lambda: n >= i}[kind]()


@triton.jit
def is_on(i, n, KIND: tl.constexpr):
    on = i < n
    if KIND == "sle":
        on = i <= n
    if KIND == "sgt":
        on = n > i
    if KIND == "sge":
        on = n >= i
    return on


@triton.jit
def doubled(x, y, n, SIZE: tl.constexpr, KIND: tl.constexpr):
    i = tl.arange(0, SIZE)
    mask = is_on(i, n, KIND)
    tl.store(y + i, tl.load(x + i, mask) * 2, mask)


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        *((kind, torch.float32) for kind in ("slt", "sle", "sgt", "sge")),
        *(("slt", dtype) for dtype in (torch.bfloat16, torch.int8, torch.float64)),
    ],
)
def test_a_store_ends_where_its_mask_does(kind: str, dtype: torch.dtype) -> None:
    x = torch.arange(SIZE).remainder(50).to(dtype)
    for n in ENDS:
        y = torch.full((SIZE,), 99).to(dtype)
        doubled[(1,)](x, y, n, SIZE=SIZE, KIND=kind)
        mask = torch.from_numpy(compared(LANE, n, kind))
        assert y.equal(torch.where(mask, x * 2, 99).to(dtype)), n


@triton.jit
def two_masks(x, y, n, m, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    loaded = tl.load(x + i, i < m, other=7)
    tl.store(y + i, loaded + tl.where(i - 20 < m, 1, 100), (i < n) & (i < m + 30) & (n != 63))


def test_masks_with_other_ends() -> None:
    x = torch.arange(SIZE, dtype=torch.int32)
    for n in ENDS[1:-1]:
        for m in (0, 40, 64, 250):
            y = torch.full((SIZE,), -1, dtype=torch.int32)
            two_masks[(1,)](x, y, n, m, SIZE=SIZE)
            value = np.where(m > LANE, LANE, 7) + np.where(m > LANE - 20, 1, 100)
            on = (n > LANE) & (m + 30 > LANE) & (n != 63)
            assert y.tolist() == np.where(on, value, -1).tolist(), (n, m)


@triton.jit
def near_the_end(y, base, n, SIZE: tl.constexpr, WIDE: tl.constexpr):
    i = base + tl.arange(0, SIZE)
    if WIDE:
        i = i.to(tl.int64)
    tl.store(y + tl.arange(0, SIZE), 1, i < n)


@pytest.mark.parametrize("wide", [False, True])
def test_an_index_that_wraps(wide: bool) -> None:
    for base in (2**31 - 100, 2**31 - SIZE, 2**31 - SIZE + 1, -(2**31), -40):
        for n in (-(2**31) + 20, -(2**31), 0, 30, 2**31 - 60, 2**31 - 1):
            y = torch.zeros(SIZE, dtype=torch.int32)
            near_the_end[(1,)](y, base, n, SIZE=SIZE, WIDE=wide)
            index = (base + LANE + 2**31) % 2**32 - 2**31
            assert y.tolist() == (index < n).astype(int).tolist(), (base, n)


@triton.jit
def longer(a, b):
    return a + b + 1


@triton.jit
def reductions(x, y, n, other, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    v = tl.load(x + i, i < n, other=other)
    tl.store(y, tl.sum(v, 0))
    tl.store(y + 1, tl.max(v, 0))
    tl.store(y + 2, tl.xor_sum(v, 0))
    tl.store(y + 3, tl.reduce(v, 0, longer))
    best, at = tl.max(v, 0, return_indices=True)
    tl.store(y + 4, best)
    tl.store(y + 5, at)
    tl.store(y + 6, tl.sum(tl.where(i < n, v * v, 3), 0))
    tl.store(y + 7, tl.sum(tl.where(i < n, 3, i), 0))


@pytest.mark.parametrize("other", [0, 1, -5, 1000])
def test_reductions_of_what_is_masked_off(other: int) -> None:
    """What is masked off counts, whether it is neutral (0 in a sum) or not (1 in a sum)."""
    x = torch.arange(SIZE, dtype=torch.int32).flip(0).remainder(101)
    for n in ENDS:
        y = torch.zeros(8, dtype=torch.int32)
        reductions[(1,)](x, y, n, other, SIZE=SIZE)
        v = np.where(n > LANE, x.numpy(), other)
        squares = np.where(n > LANE, v * v, 3)
        expected = [v.sum(), v.max(), np.bitwise_xor.reduce(v), v.sum() + SIZE - 1, v.max(), v.argmax()]
        expected += [squares.sum(), np.where(n > LANE, 3, LANE).sum()]
        assert y.tolist() == [int(number) for number in expected], n


@triton.jit
def total(x, y, n, other, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    tl.store(y, tl.sum(tl.load(x + i, i < n, other=other), 0))


def test_a_sum_of_negative_zeros() -> None:
    """A positive zero behind the mask makes the sum positive, although it is neutral for every other number."""
    x, y = torch.full((SIZE,), -0.0), torch.zeros(1)
    for n, other, sign in ((100, 0.0, 1.0), (100, -0.0, -1.0), (SIZE, 0.0, -1.0)):
        total[(1,)](x, y, n, other, SIZE=SIZE)
        assert y.item() == 0
        assert torch.copysign(torch.ones(1), y).item() == sign, (n, other)


def test_a_sum_with_nan_behind_the_mask() -> None:
    x, y = torch.ones(SIZE), torch.zeros(1)
    for n in ENDS:
        total[(1,)](x, y, n, float("nan"), SIZE=SIZE)
        assert y.isnan().item() == (n < SIZE), n


@triton.jit
def sum_of_squares(x, y, unrelated, n, m, other, STORED: tl.constexpr, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    v = tl.load(x + i, (i < n) & (i < m + 30), other=other)
    if STORED:  # a load does not move across an atomic operation, so `v` goes to scratch memory
        tl.atomic_add(unrelated, 1)
    tl.store(y, tl.sum(v * v, 0))


@pytest.mark.parametrize("other", [0.0, 0.1])
def test_a_sum_of_what_is_in_scratch_memory_has_the_same_bits(other: float) -> None:
    """Checks may put a tensor there, and must not change a bit. The bounds of its mask are scalars."""
    x, unrelated = torch.rand(SIZE, generator=torch.Generator().manual_seed(0)), torch.zeros(1, dtype=torch.int32)
    for n in ENDS:
        for m in (40, 200, 2**31 - 40):
            sums = torch.zeros(2)
            for stored in (False, True):
                sum_of_squares[(1,)](x, sums[stored:], unrelated, n, m, other, STORED=stored, SIZE=SIZE)
            assert sums[0] == sums[1], (n, m)


@triton.jit
def softmax(x, y, n, stride, SIZE: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, SIZE)
    v = tl.load(x + row * stride + i, i < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + row * stride + i, e / tl.sum(e, 0), i < n)


def test_softmax() -> None:
    for n in ENDS[3:-2]:
        x, y = torch.randn(3, SIZE), torch.full((3, SIZE), -1.0)
        softmax[(3,)](x, y, n, SIZE, SIZE=SIZE)
        torch.testing.assert_close(y[:, :n], x[:, :n].softmax(1), atol=1e-6, rtol=1e-5)
        assert (y[:, n:] == -1).all()


@triton.jit
def triangle(x, y, n, m, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    i, j = tl.arange(0, ROWS)[:, None], tl.arange(0, COLUMNS)[None, :]
    v = tl.load(x + i * COLUMNS + j, (j <= i * 2) & (i < m), other=0)
    tl.store(y + i * COLUMNS + j, v + tl.sum(v, 1)[:, None], (i < m) & (j < n))


def test_an_end_in_each_row() -> None:
    x = torch.arange(16 * 64, dtype=torch.int32).reshape(16, 64)
    i, j = np.arange(16)[:, None], np.arange(64)[None, :]
    for n in (0, 20, 33, 64, 70):
        for m in (0, 5, 16, 20):
            y = torch.full((16, 64), -1, dtype=torch.int32)
            triangle[(1,)](x, y, n, m, ROWS=16, COLUMNS=64)
            v = np.where((j <= i * 2) & (i < m), x.numpy(), 0)
            expected = np.where((i < m) & (j < n), v + v.sum(1, keepdims=True), -1)
            assert y.tolist() == expected.tolist(), (n, m)


@triton.jit
def bounds_that_change(x, ends, y, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    i, j = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    v = tl.load(x + i[:, None] * COLUMNS + j[None, :], j[None, :] < tl.load(ends + i)[:, None], other=0)
    tl.store(ends + i, 0)
    tl.store(y + i, tl.sum(v, 1))


@triton.jit
def carried_bounds(x, ends, y, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    i, j = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    n = tl.load(ends + i)
    for k in range(2):
        v = tl.load(x + i[:, None] * COLUMNS + j[None, :], j[None, :] < n[:, None], other=0)
        tl.store(ends + i, k)
        n = tl.sum((v == 2).to(tl.int32), 1)
        tl.store(y + k * ROWS + i, tl.sum(v, 1))


def test_bounds_that_have_changed() -> None:
    """The bound of a mask that was used earlier is in memory that has been written since."""
    rows, columns = np.arange(8)[:, None], np.arange(128)[None, :]
    x = torch.tensor([1, 2], dtype=torch.int32).repeat(8, 64)
    ends = torch.arange(8, dtype=torch.int32) * 12 + 40
    y = torch.zeros(8, dtype=torch.int32)
    bounds_that_change[(1,)](x, ends.clone(), y, ROWS=8, COLUMNS=128)
    expected = np.where(columns < rows * 12 + 40, x.numpy(), 0)
    assert y.tolist() == expected.sum(1).tolist()
    y = torch.zeros(2, 8, dtype=torch.int32)
    carried_bounds[(1,)](x, ends, y, ROWS=8, COLUMNS=128)
    second = np.where(columns < (expected == 2).sum(1, keepdims=True), x.numpy(), 0)
    assert y.tolist() == [expected.sum(1).tolist(), second.sum(1).tolist()]


@triton.jit
def wrapped(x, y, start, n, m, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    i = (start + tl.arange(0, ROWS)) % m
    j = (start + tl.arange(0, COLUMNS)) % n
    p = x + i[:, None] * 64 + j[None, :]
    total = tl.zeros((ROWS, COLUMNS), tl.int32)
    for _ in range(2):
        total += tl.load(p)
        p += 1
    tl.store(y + tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :], total)


ROWS, COLUMNS = np.arange(8)[:, None], np.arange(64)[None, :]


def test_indices_that_wrap_around() -> None:
    x = torch.randint(-100, 100, (10_000,), dtype=torch.int32)
    for start, n, m in ((0, 64, 8), (0, 100, 5), (60, 100, 3), (64, 100, 99), (5, 1, 1), (30, 7, 2), (1000, 33, 9)):
        y = torch.zeros(8, 64, dtype=torch.int32)
        wrapped[(1,)](x, y, start, n, m, ROWS=8, COLUMNS=64)
        at = (start + ROWS) % m * 64 + (start + COLUMNS) % n
        assert y.tolist() == (x.numpy()[at] + x.numpy()[at + 1]).tolist(), (start, n, m)


@triton.jit(do_not_specialize=["s", "t", "u"])
def strided(x, y, s, t, u, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    i, j = tl.arange(0, ROWS)[:, None], tl.arange(0, COLUMNS)[None, :]
    tl.store(y + i * COLUMNS + j * u, tl.load(x + i * s + j * t + 7))


def test_strides_of_the_launch() -> None:
    x = torch.randint(-100, 100, (2048,), dtype=torch.int32)
    for s, t in ((64, 1), (1, 16), (64, 2), (3, 0), (0, 1), (5, -1)):
        for u in (1, -1):
            y = torch.zeros(9 * 64, dtype=torch.int32)
            strided[(1,)](x[64:], y[64:] if u < 0 else y, s, t, u, ROWS=8, COLUMNS=64)
            found = y[1 : 1 + 8 * 64].reshape(8, 64).flip(1) if u < 0 else y[: 8 * 64].reshape(8, 64)
            assert found.tolist() == x.numpy()[64 + ROWS * s + COLUMNS * t + 7].tolist(), (s, t, u)
