# SPDX-License-Identifier: Apache-2.0
"""What the check of bounds finds is what NumPy says, and the kernel's results stay the same to the last bit."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import triton_ext as tx
from support.sanitizer.cases import Tensors

pytestmark = [pytest.mark.usefixtures("on_native_backend"), pytest.mark.keeps_kernels]

generated = settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None
)


@triton.jit
def tile(x, out, rows, columns, stride, last, turns, BM: tl.constexpr, BN: tl.constexpr):  # noqa: PLR0917
    """Sums tiles of `x`, whose pointers a loop moves down, under a mask of a box."""
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BN)
    at = x + (m % last)[:, None] * stride + n[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for i in range(turns):
        total += tl.load(at, mask=(m[:, None] < rows) & (n[None, :] < columns - i), other=0)
        at += BM * stride
    tl.store(out + m[:, None] * BN + n[None, :], total)


def wrong_lanes(size: int, programs: int, a: dict[str, int]) -> int:
    """Returns how many lanes of `tile` read outside of the first `size` elements."""
    bm, bn = 8, 16
    m = np.arange(programs * bm)[:, None]
    n = np.arange(bn)[None, :]
    wrong = 0
    for i in range(a["turns"]):
        place = (m % a["last"] + i * bm) * a["stride"] + n
        mask = (m < a["rows"]) & (n < a["columns"] - i)
        wrong += int((mask & ((place < 0) | (place >= size))).sum())
    return wrong


def run(size: int, programs: int, a: dict[str, int], **options: Any) -> tuple[Any, Any]:
    """Runs `tile` on `size` elements; returns what was found and the result."""
    tensors = Tensors()
    x, out = tensors(size), tensors(programs * 8, 16)
    if not options:
        tile[(programs,)](x, out, **a, BM=8, BN=16)
        return None, out
    with tx.sanitize(**options) as report:
        tile[(programs,)](x, out, **a, BM=8, BN=16)
    return report.findings, out


@pytest.mark.slow
@generated
@given(
    size=st.integers(1, 600),
    programs=st.integers(1, 3),
    rows=st.integers(-1, 26),
    columns=st.integers(0, 18),
    stride=st.integers(1, 24),
    last=st.integers(1, 26),
    turns=st.integers(0, 3),
)
@example(size=100, programs=2, rows=26, columns=16, stride=20, last=8, turns=1)  # a remainder leads out
def test_tiles(size: int, programs: int, **a: int) -> None:
    wrong = wrong_lanes(size, programs, a)
    _, plain = run(size, programs, a)
    found, out = run(size, programs, a, checks="bounds")
    assert sum(one.lanes for one in found) == wrong
    assert [(one.check, one.argument) for one in found] == [("bounds", "x")] * bool(wrong)
    if not wrong:
        assert out.numpy().tobytes() == plain.numpy().tobytes()


@pytest.mark.slow
@pytest.mark.parametrize(("size", "lanes"), [(24, 32), (32, 0)])
def test_tiles_whose_rows_repeat(size: int, lanes: int) -> None:
    """Only what the remainder adds to the first row can be out, in the only turn of the loop."""
    a = {"rows": 8, "columns": 16, "stride": 16, "last": 2, "turns": 1}
    assert wrong_lanes(size, 1, a) == lanes
    found, _ = run(size, 1, a, checks="bounds")
    assert [(one.argument, one.lane, one.lanes) for one in found] == ([("x", 24, 32)] if lanes else [])


@pytest.mark.slow
def test_suppressed_lanes_read_zeros() -> None:
    a = {"rows": 8, "columns": 16, "stride": 16, "last": 8, "turns": 1}
    assert wrong_lanes(100, 1, a) == 28
    found, out = run(100, 1, a, checks="bounds", action="suppress")
    assert [(one.argument, one.lanes) for one in found] == [("x", 28)]
    expected = np.zeros(128, np.float32)
    expected[:100] = Tensors()(100).numpy()
    assert out.flatten().tolist() == expected.tolist()


@triton.jit
def half(x, out, n):
    i = tl.arange(0, 64)
    tl.store(out + i, tl.load(x + i) * 2, mask=i < n)


@pytest.mark.slow
def test_what_torch_and_kernels_write_is_written() -> None:
    with tx.sanitize(checks="uninit") as report:
        filled = torch.empty(64).fill_(3)
        made = torch.empty(64)
        half[(1,)](filled, made, 64)
        half[(1,)](made, torch.empty(64), 64)
        assert report.findings == []
        half[(1,)](filled, partly := torch.empty(64), 40)
        partly[40:50] = 1
        half[(1,)](partly, torch.empty(64), 64)
        found = [(one.check, one.argument, one.lane, one.lanes) for one in report.findings]
    assert found == [("uninit", "x", 50, 14)]


@pytest.mark.slow
def test_the_memory_of_a_freed_tensor_may_be_written_by_others() -> None:
    """Who gets the memory that torch has freed does not tell what it writes there.

    The array only looks at the freed memory: an allocation might get other memory. The tensor after it keeps the
    allocator from returning the memory to the operating system.
    """
    with tx.sanitize(checks="uninit") as report:
        out, freed, after = torch.zeros(64), torch.empty(64), torch.zeros(64)
        other = np.ctypeslib.as_array((ctypes.c_float * 64).from_address(freed.data_ptr()))
        half[(1,)](other, out, 64)
        assert len(report.findings) == 1
        del freed
        half[(1,)](other, after, 64)
        assert len(report.findings) == 1


@triton.jit
def rows(x, out, STEP: tl.constexpr, ATOMIC: tl.constexpr):
    i = tl.program_id(0) * STEP + tl.arange(0, 32)
    v = tl.load(x + tl.arange(0, 32))
    if ATOMIC:
        tl.atomic_add(out + i, v)
    else:
        tl.store(out + i, v)


@pytest.mark.slow
@pytest.mark.usefixtures("ways_to_look")
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_races_are_of_elements(dtype: torch.dtype) -> None:
    """Neighbours do not race, not even of 2 bytes; elements that two programs write do, but not if atomically."""
    x, out = torch.ones(32, dtype=dtype), torch.zeros(32 * 4, dtype=dtype)
    with tx.sanitize(checks="race") as report:
        rows[(4,)](x, out, 32, False)
        assert report.findings == []
        if dtype == torch.float32:
            rows[(4,)](x, out, 31, True)
            assert report.findings == []
        rows[(4,)](x, out, 31, False)
        assert [(one.check, one.argument, one.lanes) for one in report.findings] == [("race", "out", 3)]


@triton.jit
def marked_rows(x, out, n, BLOCK: tl.constexpr, COLUMNS: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.max_contiguous(tl.multiple_of(tl.where(i >= n, i, 0), BLOCK), BLOCK)
    at = j[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    tl.store(out + tl.arange(0, BLOCK)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :], tl.load(x + at))


def test_marks_are_of_the_whole_tile() -> None:
    """The look takes a tile's lanes row by row, where the marked numbers of the rows are not contiguous."""
    x, out = torch.zeros(37, 4), torch.zeros(32, 4)
    with tx.sanitize("bounds,hints") as report:
        marked_rows[(2,)](x, out, 0, BLOCK=32, COLUMNS=4)
    (one,) = report.findings
    assert (one.check, one.program, one.lane, one.lanes) == ("bounds", (1, 0, 0), 5 * 4, 27 * 4)
    assert one.coordinates == (37, 0)
