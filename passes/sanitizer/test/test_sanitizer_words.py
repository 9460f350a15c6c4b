# SPDX-License-Identifier: Apache-2.0
"""The shadow for `uninit`, a word at a time: boxes of a matrix are written and read, whose rows start and end anywhere
in the words of the shadow."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import triton_ext as tx

pytestmark = [pytest.mark.usefixtures("on_native_backend", "ways_to_look"), pytest.mark.keeps_kernels]

ROWS, COLUMNS = 4, 64
#: The first row and the one behind the last, and such columns; they may lie outside of the matrix.
BOX = st.tuples(st.integers(-1, ROWS), st.integers(0, ROWS + 1), st.integers(-1, COLUMNS), st.integers(0, COLUMNS + 1))
DTYPES = st.sampled_from([torch.int8, torch.float16, torch.float32, torch.float64])


# Otherwise nearly every box would be another kernel: of ends that are 1, multiples of 16, or neither.
ENDS = ["top", "bottom", "left", "right"]


@triton.jit(do_not_specialize=ENDS)
def write(x, stride, top, bottom, left, right, ROWS: tl.constexpr, COLUMNS: tl.constexpr):  # noqa: PLR0917
    i, j = tl.arange(0, ROWS)[:, None], tl.arange(0, COLUMNS)[None, :]
    tl.store(x + i * stride + j, 1, mask=(i >= top) & (i < bottom) & (j >= left) & (j < right))


@triton.jit(do_not_specialize=ENDS)
def read(x, out, stride, top, bottom, left, right, ROWS: tl.constexpr, COLUMNS: tl.constexpr):  # noqa: PLR0917
    i, j = tl.arange(0, ROWS)[:, None], tl.arange(0, COLUMNS)[None, :]
    mask = (i >= top) & (i < bottom) & (j >= left) & (j < right)
    tl.store(out + i * COLUMNS + j, tl.load(x + i * stride + j, mask=mask, other=0), mask=mask)


@pytest.mark.slow
@pytest.mark.usefixtures("decides")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None)
@given(dtype=DTYPES, shift=st.integers(0, 40), more=st.integers(0, 20), written=st.lists(BOX, max_size=3), box=BOX)
@example(dtype=torch.float32, shift=0, more=0, written=[(1, 3, 5, 37)], box=(0, ROWS, 0, COLUMNS))
@example(dtype=torch.float32, shift=3, more=2, written=[(1, 3, 5, 37)], box=(0, ROWS, 0, COLUMNS))
def test_boxes_with_both_ends(
    dtype: torch.dtype, shift: int, more: int, written: list[tuple[int, int, int, int]], box: tuple[int, int, int, int]
) -> None:
    stride = COLUMNS + more
    is_written = torch.zeros(ROWS, COLUMNS, dtype=torch.bool)
    with tx.sanitize("uninit") as report:
        memory = torch.empty(shift + ROWS * stride, dtype=dtype)
        for one in written:
            write[(1,)](memory[shift:], stride, *one, ROWS=ROWS, COLUMNS=COLUMNS)
            top, bottom, left, right = (max(end, 0) for end in one)
            is_written[top:bottom, left:right] = True
        out = torch.zeros(ROWS, COLUMNS, dtype=dtype)
        read[(1,)](memory[shift:], out, stride, *box, ROWS=ROWS, COLUMNS=COLUMNS)
    top, bottom, left, right = (max(end, 0) for end in box)
    missing = torch.zeros_like(is_written)
    missing[top:bottom, left:right] = ~is_written[top:bottom, left:right]
    assert sum(one.lanes for one in report.findings) == int(missing.sum())
    if missing.any():
        assert report.findings[0].lane == int(missing.flatten().int().argmax())


@triton.jit
def copy_every_second(x, out, N: tl.constexpr):
    i = 2 * tl.arange(0, N)
    tl.store(out + i, tl.load(x + i))


@pytest.mark.usefixtures("decides")
def test_every_second_element() -> None:
    """These lanes are looked at one by one. The store may go to memory that nothing has written."""
    with tx.sanitize("uninit") as report:
        copy_every_second[(1,)](torch.ones(64), torch.empty(64), N=32)
    assert not report.findings, report.text()
