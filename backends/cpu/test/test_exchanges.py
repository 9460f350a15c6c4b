# SPDX-License-Identifier: Apache-2.0
"""The partner of an element along a dimension of size 2, which `tl.sort` and `tl.topk` compute by `xor`, is a load."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

pytestmark = pytest.mark.keeps_kernels


@triton.jit
def partners(x, y, BEFORE: tl.constexpr, BEHIND: tl.constexpr, WORD: tl.constexpr, IS_LEFT: tl.constexpr):
    """Stores the partner of each element, and an expression of both."""
    n: tl.constexpr = BEFORE * 2 * BEHIND
    i = tl.arange(0, n)
    v = tl.reshape(tl.load(x + i), (BEFORE, 2, BEHIND))
    word = v.to(WORD, bitcast=True)
    both = tl.xor_sum(word, 1, keep_dims=True)
    partner = (both ^ word if IS_LEFT else word ^ both).to(v.dtype, bitcast=True)
    tl.store(y + i, tl.reshape(partner, (n,)))
    tl.store(y + n + i, tl.reshape(tl.where(v > partner, v, partner), (n,)))


@pytest.mark.sampled
@pytest.mark.parametrize("is_left", [False, True])
@pytest.mark.parametrize(("before", "behind"), [(1, 1), (1, 8), (8, 1), (4, 2), (16, 4), (2, 64), (64, 2), (1, 256)])
@pytest.mark.parametrize(
    ("kind", "word"), [("i1", tl.int8), ("f2", tl.int16), ("f4", tl.int32), ("i4", tl.int32), ("f8", tl.int64)]
)
def test_partners(kind: str, word: Any, before: int, behind: int, is_left: bool) -> None:
    rng = np.random.default_rng(0)
    n = before * 2 * behind
    x = rng.integers(0, 256, n * np.dtype(kind).itemsize, np.uint8).view(kind)
    y = np.zeros(2 * n, kind)
    partners[(1,)](x, y, BEFORE=before, BEHIND=behind, WORD=word, IS_LEFT=is_left)
    partner = x.reshape(before, 2, behind)[:, ::-1].reshape(n)
    assert y[:n].tobytes() == partner.tobytes()  # the bits, also of NaN
    with np.errstate(invalid="ignore"):
        assert y[n:].tobytes() == np.where(x > partner, x, partner).tobytes()


@triton.jit
def partners_in_a_loop(x, rounds, BEFORE: tl.constexpr, BEHIND: tl.constexpr):
    i = tl.arange(0, BEFORE * 2 * BEHIND)
    v = tl.reshape(tl.load(x + i), (BEFORE, 2, BEHIND))
    for _ in range(rounds):
        v = 3 * v + (v ^ tl.xor_sum(v, 1, keep_dims=True))
    tl.store(x + i, tl.reshape(v, (BEFORE * 2 * BEHIND,)))


@pytest.mark.parametrize(("before", "behind"), [(8, 1), (4, 8), (1, 64), (64, 4)])
def test_partners_in_a_loop(before: int, behind: int) -> None:
    """A loop writes a carried tensor in place only if no element needs another one."""
    x = np.arange(before * 2 * behind, dtype=np.int32)
    expected = x.reshape(before, 2, behind).copy()
    partners_in_a_loop[(1,)](x, 5, BEFORE=before, BEHIND=behind)
    for _ in range(5):
        expected = 3 * expected + expected[:, ::-1]
    assert (x == expected.reshape(-1)).all()


@triton.jit
def of_one(a, b):
    return b ^ b


@triton.jit
def not_partners(x, z, y, KIND: tl.constexpr):
    i = tl.arange(0, 2)[:, None] * 2 + tl.arange(0, 2)[None, :]
    v, w = tl.load(x + i), tl.load(z + i)
    if KIND == 0:  # of another tensor
        tl.store(y + i, v ^ tl.xor_sum(w, 1, keep_dims=True))
    if KIND == 1:  # along another dimension
        tl.store(y + i, v ^ tl.expand_dims(tl.xor_sum(v, 0), 1))
    if KIND == 2:  # another combination
        tl.store(y + i, v ^ tl.sum(v, 1, keep_dims=True))
    if KIND == 3:  # not of both elements
        tl.store(y + i, v ^ tl.reduce(v, 1, of_one, keep_dims=True))
    if KIND == 4:  # of four elements
        j = tl.arange(0, 4)
        v = tl.load(x + j)
        v = tl.reshape(v, (1, 4))
        tl.store(y + tl.reshape(j, (1, 4)), v ^ tl.xor_sum(v, 1, keep_dims=True))


@pytest.mark.parametrize("kind", range(5))
def test_what_is_not_a_partner(kind: int) -> None:
    x, z = np.array([3, 12, 21, 101], np.int32), np.array([7, 1000, -5, 64], np.int32)
    y = np.zeros(4, np.int32)
    not_partners[(1,)](x, z, y, KIND=kind)
    v, w = x.reshape(2, 2), z.reshape(2, 2)
    expected = {
        0: v ^ np.bitwise_xor.reduce(w, 1)[:, None],
        1: v ^ np.bitwise_xor.reduce(v, 0)[:, None],
        2: v ^ v.sum(1)[:, None],
        3: v,
        4: v ^ np.bitwise_xor.reduce(x),
    }[kind]
    assert y.tolist() == expected.reshape(-1).tolist()


@triton.jit
def sort(x, y, ROWS: tl.constexpr, N: tl.constexpr, DESCENDING: tl.constexpr):
    i = tl.arange(0, ROWS)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(y + i, tl.sort(tl.load(x + i), 1, descending=DESCENDING))


@triton.jit
def topk(x, y, ROWS: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, ROWS)[:, None] * N + tl.arange(0, N)[None, :]
    j = tl.arange(0, ROWS)[:, None] * K + tl.arange(0, K)[None, :]
    tl.store(y + j, tl.topk(tl.load(x + i), K))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.float16, torch.bfloat16, torch.int64, torch.float64])
@pytest.mark.parametrize(("rows", "n"), [(1, 512), (4, 64), (32, 8)])
def test_sorted_rows(rows: int, n: int, dtype: torch.dtype) -> None:
    x = (torch.randn(rows, n) * 50).to(dtype)
    y = torch.empty_like(x)
    for descending in (False, True):
        sort[(1,)](x, y, ROWS=rows, N=n, DESCENDING=descending)
        assert torch.equal(y, x.sort(1, descending=descending)[0])
    y = torch.empty(rows, 4, dtype=dtype)
    topk[(1,)](x, y, ROWS=rows, N=n, K=4)
    assert torch.equal(y, x.sort(1, descending=True)[0][:, :4])


@pytest.mark.slow
@pytest.mark.parametrize("n", [256, 1024, 4096])
def test_the_code_of_a_sort_is_one_loop_for_each_stage(n: int) -> None:
    x, y = torch.randn(1, n), torch.empty(1, n)
    kernel = sort[(1,)](x, y, ROWS=1, N=n, DESCENDING=False)
    assert torch.equal(y, x.sort(1)[0])
    stages = n.bit_length() * (n.bit_length() - 1) // 2
    loops = str(kernel.asm["cpuir"]).count("scf.for")
    assert loops <= stages + 1
    assert len(kernel.asm["asm"].splitlines()) < 100 * stages + 5000
