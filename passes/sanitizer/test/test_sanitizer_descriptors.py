# SPDX-License-Identifier: Apache-2.0
"""Bounds of operations on descriptors, compared with a list of the elements that each one touches.

Triton turns descriptors into pointers where the hardware has none, before the sanitizer runs. Here that pass runs in
the next stage, so the CPU executes the checks of descriptors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl
from hypothesis import given, settings
from hypothesis import strategies as st

import triton_ext as tx

pytestmark = [pytest.mark.usefixtures("on_native_backend"), pytest.mark.keeps_kernels]

WIDTH = 64  # of the memory, in elements
ROWS, BOX = 8, 32

REWRITTEN_LAST = (
    tx.Pipeline()
    .skip("ttir.rewrite_tensor_descriptor_to_pointer")
    .at_start("cpuir", tx.builtin.ttir.rewrite_tensor_descriptor_to_pointer())
)


@triton.jit
def gather_rows(x, at, o, m, n, column, ROWS: tl.constexpr, BOX: tl.constexpr):  # noqa: PLR0917
    descriptor = tl.make_tensor_descriptor(x, [m, n], [n, 1], [1, BOX])
    i = tl.arange(0, ROWS)
    v = descriptor.gather(tl.load(at + i), column)
    tl.store(o + i[:, None] * BOX + tl.arange(0, BOX)[None, :], v)


@triton.jit
def scatter_rows(x, at, o, m, n, column, ROWS: tl.constexpr, BOX: tl.constexpr):  # noqa: PLR0917
    descriptor = tl.make_tensor_descriptor(x, [m, n], [n, 1], [1, BOX])
    i = tl.arange(0, ROWS)
    v = tl.load(o + i[:, None] * BOX + tl.arange(0, BOX)[None, :])
    descriptor.scatter(v, tl.load(at + i), column)


@triton.jit
def load_box(x, at, o, m, n, column, ROWS: tl.constexpr, BOX: tl.constexpr):  # noqa: PLR0917
    descriptor = tl.make_tensor_descriptor(x, [m, n], [n, 1], [ROWS, BOX])
    v = descriptor.load([tl.load(at), column])
    tl.store(o + tl.arange(0, ROWS)[:, None] * BOX + tl.arange(0, BOX)[None, :], v)


def outside(rows: np.ndarray, height: int, shape: int, column: int) -> np.ndarray:
    """Returns the lanes of a box that are in a descriptor of `shape` rows, and not in a view of `height` rows."""
    row = np.repeat(rows, BOX)
    at = np.tile(np.arange(column, column + BOX), ROWS)
    is_on = (row >= 0) & (row < shape) & (at >= 0) & (at < WIDTH)
    return np.flatnonzero(is_on & (row * WIDTH + at >= height * WIDTH))


#: Rows of the view, the descriptor's rows, the number of each row, the first column.
CASES = st.tuples(
    st.integers(1, 12),
    st.integers(1, 12),
    st.lists(st.integers(-2, 13), min_size=ROWS, max_size=ROWS),
    st.integers(-20, WIDTH + 2),
)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [gather_rows, scatter_rows, load_box], ids=lambda one: one.__name__)
@settings(max_examples=60, deadline=None, derandomize=True)
@given(case=CASES)
def test_each_element_outside_of_the_view_is_found(kernel: Any, case: tuple[int, int, list[int], int]) -> None:
    height, shape, numbers, column = case
    memory = np.zeros((64, WIDTH), np.float16)  # contains all that a case touches: an access may leave the view
    x, o = memory[:height], np.zeros((ROWS, BOX), np.float16)
    at = np.array(numbers, np.int32)
    rows = at[0] + np.arange(ROWS) if kernel is load_box else at
    with REWRITTEN_LAST, tx.sanitize("bounds") as report:
        kernel[(1,)](x, at, o, shape, WIDTH, column, ROWS, BOX)
    lanes = outside(rows, height, shape, column)
    assert report.counts()["unsupported"] == 0
    expected = [("view", "x", lanes[0], len(lanes))] if len(lanes) else []
    assert [(one.check, one.argument, one.lane, one.lanes) for one in report.findings] == expected
