# SPDX-License-Identifier: Apache-2.0
"""Accesses in loops, whose lanes are looked at behind the loops: each wrong lane of each iteration is counted, and the
iteration that is reported is the first one with a wrong lane."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import triton_ext as tx
from support.sanitizer.cases import Tensors

pytestmark = pytest.mark.usefixtures("on_native_backend")

BLOCK = 16
generated = settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None
)


@triton.jit
def triangle(x, out, n, wide, gap, BLOCK: tl.constexpr):  # noqa: PLR0917
    """Sums blocks of `x` in nested loops, which leave out `gap`, and only if `wide` is not 0."""
    lane = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    if wide != 0:
        for i in range(n):
            for j in range(i):
                if j != gap:
                    total += tl.load(x + (i * wide + j) * BLOCK + lane)
    tl.store(out + tl.program_id(0) * BLOCK + lane, total)


@triton.jit
def by_rows(starts, x, out, rows, BLOCK: tl.constexpr):
    """The inner loop's addresses are loaded in the outer one, so only the inner loop can run again."""
    lane = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for row in range(rows):
        first, last = tl.load(starts + row), tl.load(starts + row + 1)
        for at in range(first, last, BLOCK):
            total += tl.load(x + at + lane, mask=at + lane < last, other=0)
        tl.store(starts + row, -1)
    tl.store(out + lane, total)


def findings(kernel: Any, *given: Any) -> list[tuple[str, str, int, Any]]:
    with tx.sanitize(checks="bounds") as report:
        kernel[1,](*given, BLOCK=BLOCK)
    return [(one.check, one.argument, one.lanes, one.coordinates) for one in report.findings]


@pytest.mark.slow
@generated
@given(
    blocks=st.integers(1, 20),
    less=st.integers(0, BLOCK - 1),
    n=st.integers(0, 6),
    wide=st.integers(0, 3),
    gap=st.integers(-1, 5),
)
def test_nested_loops_in_a_branch(blocks: int, less: int, n: int, wide: int, gap: int) -> None:
    size = blocks * BLOCK - less
    touched = np.array(
        [(i * wide + j) * BLOCK + lane for i in range(n) for j in range(i) if j != gap for lane in range(BLOCK)]
        if wide
        else [],
        dtype=int,
    )
    wrong = touched[touched >= size]
    tensors = Tensors()
    found = findings(triangle, tensors(size), tensors(BLOCK), n, wide, gap)
    # Of the least lane, the first iteration.
    assert found == ([("bounds", "x", len(wrong), (int(min(wrong, key=lambda at: at % BLOCK)),))] if wrong.size else [])


@pytest.mark.slow
def test_wrong_in_one_iteration() -> None:
    """Only the last block of the last row is past the end, by 3 elements."""
    tensors = Tensors()
    x, out = tensors(9 * BLOCK - 3), tensors(BLOCK)
    assert findings(triangle, x, out, 4, 2, -1) == [("bounds", "x", 3, (9 * BLOCK - 3,))]
    assert findings(triangle, x, out, 4, 2, 2) == []
    assert findings(triangle, x, out, 4, 0, -1) == []


@pytest.mark.slow
def test_addresses_from_memory() -> None:
    """The kernel overwrites the starts of its rows, so a second run of the outer loop would read others."""
    tensors = Tensors()
    starts = tensors(4, dtype=torch.int32, data=[0, 20, 50, 61])
    assert findings(by_rows, starts, tensors(56), tensors(BLOCK), 3) == [("bounds", "x", 5, (56,))]
    assert starts.tolist() == [-1, -1, -1, 61]


@triton.jit
def by_float(x, seen, squares, out, n, h, only):  # noqa: PLR0917
    """Reads `x` in the iteration `only` at an index that is made of a difference of floats."""
    lane = tl.arange(0, 16)
    total = tl.zeros((16,), tl.float32)
    a = h * 11
    for i in range(n):
        square = a * a
        tl.store(squares + i, square)
        index = (square - h).to(tl.int32, bitcast=True) & 7
        tl.store(seen + i, index)
        if i == only:
            total += tl.load(x + index + lane)
        a += h
    tl.store(out + lane, total)


@pytest.mark.slow
@pytest.mark.parametrize("only", [1, 18])
def test_an_index_made_of_floats(only: int) -> None:
    """A copy of the loop without the store of the square would round `square - h` once."""
    seen, squares, out = np.zeros(40, np.int32), np.zeros(40, np.float32), np.zeros(16, np.float32)
    by_float[(1,)](Tensors()(64), seen, squares, out, 40, 0.1, only)
    x = Tensors()(int(seen[only]) + 15)  # one element too few
    with tx.sanitize("bounds") as report:
        by_float[(1,)](x, seen, squares, out, 40, 0.1, only)
    assert [(one.lanes, one.coordinates) for one in report.findings] == [(1, (len(x),))]
