# SPDX-License-Identifier: Apache-2.0
"""Accesses between the elements of a view, which the host finds at a launch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from hypothesis import given, settings
from hypothesis import strategies as st
from triton_ext.sanitize import _gaps

import triton_ext as tx

pytestmark = [pytest.mark.usefixtures("on_native_backend"), pytest.mark.keeps_kernels]


@triton.jit
def copy_rows(x, out, rows, columns, s0, s1, BR: tl.constexpr, BC: tl.constexpr):  # noqa: PLR0917
    r = tl.program_id(0) * BR + tl.arange(0, BR)[:, None]
    c = tl.arange(0, BC)[None, :]
    mask = (r < rows) & (c < columns)
    tl.store(out + r * BC + c, tl.load(x + r * s0 + c * s1, mask=mask, other=0))


def copied(x: Any, rows: int, columns: int, s0: int, s1: int) -> Any:
    blocks = 4, 16
    out = torch.zeros(-(-rows // blocks[0]) * blocks[0], blocks[1])
    with tx.sanitize("bounds") as report:
        copy_rows[(out.shape[0] // blocks[0],)](x, out, rows, columns, s0, s1, *blocks)
    return report


@pytest.mark.slow
def test_behind_the_end_of_rows() -> None:
    x = torch.zeros(8, 16)[:, :10]
    assert not copied(x, 8, 10, 16, 1).findings
    (found,) = copied(x, 7, 12, 16, 1).findings
    assert (found.check, found.severity, found.argument) == ("view", "warning", "x")
    assert (found.program, found.lane, found.coordinates) == ((0, 0, 0), 10, (0, 10))
    assert (found.lanes, found.programs, found.at_least) == (14, 2, False)
    # Behind the last row the view ends: the kernel finds this itself, and the line is told once.
    (found,) = copied(x, 8, 12, 16, 1).findings
    assert (found.program, found.lane, found.lanes) == ((1, 0, 0), 58, 2)


@pytest.mark.slow
def test_booleans() -> None:
    """Triton loads them by pointers to bytes, which it casts from pointers to i1."""
    x = torch.zeros(8, 16, dtype=torch.bool)[:, :10]
    assert not copied(x, 8, 10, 16, 1).findings
    (found,) = copied(x, 7, 12, 16, 1).findings
    assert (found.check, found.argument, found.lane, found.coordinates) == ("view", "x", 10, (0, 10))
    (found,) = copied(x, 8, 12, 16, 1).findings
    assert (found.lane, found.lanes) == (58, 2)
    decided = tx.sanitize.check_launch(copy_rows, x, torch.zeros(8, 16), 7, 12, 16, 1, BR=4, BC=16, grid=(2,))
    assert [(one.check, one.lane) for one in decided.findings] == [("view", 10)]


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 9), st.integers(1, 12), st.integers(0, 6), st.integers(1, 3), st.integers(1, 16), st.integers(1, 3)
)
def test_as_counted_one_by_one(  # noqa: PLR0917
    rows: int, size: int, more: int, step: int, columns: int, s1: int
) -> None:
    pitch = size * step + more
    memory = torch.zeros(rows * pitch + 64)
    x = torch.as_strided(memory, (rows, size), (pitch, step), 8)
    elements = {i * pitch + j * step for i in range(rows) for j in range(size)}
    last = max(elements)
    touched = [i * pitch + j * s1 for i in range(rows) for j in range(columns)]
    found = [one for one in copied(x, rows, columns, pitch, s1).findings if one.lane is not None and one.lanes]
    gaps = [one for one in touched if one <= last and one not in elements]
    if max(touched) > last:  # the kernel finds it
        assert found
        return
    assert sum(one.lanes for one in found) == len(gaps)


@pytest.mark.slow
def test_once_for_equal_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    launch_of = _gaps.launch_of
    monkeypatch.setattr(_gaps, "launch_of", lambda *args: seen.append(args) or launch_of(*args))
    monkeypatch.setattr(_gaps, "MOST_LAUNCHES", 2)
    own, out = triton.jit(copy_rows.fn), torch.zeros(4, 16)  # which no other test has launched
    with tx.sanitize("bounds") as report:
        for columns in (12, 12, 11, 13):
            own[(1,)](torch.zeros(8, 16)[:4, :10], out, 3, columns, 16, 1, 4, 16)
        for x in (torch.zeros(8, 16), torch.zeros(16, 8).t(), torch.zeros(8, 16)[2:]):  # without gaps
            own[(1,)](x, out, 2, 8, 16, 1, 4, 16)
    assert len(seen) == 2
    (found,) = report.findings
    assert found.lanes == 2 * 6 + 3


@pytest.mark.slow
def test_arrays_tuples_and_other_checks() -> None:
    x = np.zeros((8, 16), np.float32)[:, :10]
    (found,) = copied(x, 7, 12, 16, 1).findings
    assert (found.argument, found.lanes) == ("x", 14)
    out = torch.zeros(4, 16)
    with tx.sanitize("bounds") as report:
        copy_pair[(1,)]((torch.zeros(16), torch.zeros(8, 16)[:, :10]), out, 12)
    (found,) = report.findings
    assert (found.argument, found.lanes) == ("pair[1]", 6)
    with tx.sanitize("lanes") as report:
        copy_rows[(1,)](torch.zeros(8, 16)[:, :10], out, 3, 12, 16, 1, 4, 16)
    assert not report.findings


@triton.jit
def copy_pair(pair, out, columns):
    r, c = tl.arange(0, 4)[:, None], tl.arange(0, 16)[None, :]
    mask = (r < 3) & (c < columns)
    tl.store(out + r * 16 + c, tl.load(pair[1] + r * 16 + c, mask=mask, other=0))


@pytest.mark.slow
def test_numbers_of_numpy() -> None:
    own, out = triton.jit(copy_rows.fn), torch.zeros(4, 16)
    found = []
    for columns in (12, 10, 12):
        with tx.sanitize("bounds") as report:
            own[(1,)](torch.zeros(8, 16)[:, :10], out, 3, np.int64(columns), np.int32(16), 1, 4, 16)
        found.append([one.lanes for one in report.findings])
    assert found == [[6], [], [6]]


@triton.jit
def copy_some(x, chosen, out, n):
    i = tl.arange(0, 16)
    mask = (i < n) | (tl.load(chosen + i) > 0)
    tl.store(out + i, tl.load(x + i, mask=mask, other=0))


@pytest.mark.slow
def test_lanes_that_nobody_can_count() -> None:
    """Which lanes are on depends on data, or there are too many programs."""
    with tx.sanitize("bounds") as report:
        copy_some[(1,)](torch.zeros(32)[::2], torch.ones(16, dtype=torch.int32), torch.zeros(16), 2)
    (found,) = report.findings
    assert (found.lane, found.lanes, found.programs) == (1, 0, 0)
    assert "count:" not in report.text()
    x = torch.zeros(2048, 16)[:, :10]
    (found,) = copied(x, 2047, 12, 16, 1).findings
    assert (found.lane, found.lanes, found.programs) == (10, 0, 0)


@triton.jit
def gather(x, index, out):
    i = tl.arange(0, 16)
    tl.store(out + i, tl.load(x + tl.load(index + i)))


@pytest.mark.slow
def test_what_the_numbers_do_not_say() -> None:
    x, out = torch.zeros(8, 16)[:, :10], torch.zeros(16)
    with tx.sanitize("bounds") as report:
        gather[(1,)](x, torch.arange(16, dtype=torch.int32), out)
    assert not report.findings
