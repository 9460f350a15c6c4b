# SPDX-License-Identifier: Apache-2.0
"""Kernels for the CPU that have the runtime look at accesses at loaded indices: the report is that of kernels that look
themselves, which `corners=False` gives.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl
from hypothesis import example, given, settings
from hypothesis import strategies as st

import triton_ext as tx

pytestmark = pytest.mark.usefixtures("on_native_backend")


@triton.jit
def gather(index, x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = tl.load(index + i)
    tl.store(out + i, tl.load(x + j, mask=i < n, other=0))


@triton.jit
def scatter(index, out, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + tl.load(index + i), i)


@triton.jit
def bins(index, counts, R: tl.constexpr, C: tl.constexpr):
    r = (tl.program_id(1) * tl.num_programs(0) + tl.program_id(0)) * R + tl.arange(0, R)
    at = tl.load(index + r)[:, None] + tl.arange(0, C)[None, :]
    tl.atomic_add(counts + at, 1)


@triton.jit
def copy_twice(index, x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    j = tl.load(index + i)
    tl.store(index + i, 0)
    tl.store(out + i, tl.load(x + j) + tl.load(x + 2 * j))


#: Memory around the tensors, so that an access outside of them is inside of the process's memory.
MARGIN = 1024


def view(size: int, start: int, length: int) -> Any:
    """Returns a part of an array, which is its memory, in a larger array."""
    whole = np.zeros(size + 2 * MARGIN, np.int32)
    memory = np.frombuffer(memoryview(whole).cast("B")[4 * MARGIN : 4 * (MARGIN + size)], np.int32)
    return memory[start : start + length]


def reports(launch: Any) -> tuple[list[Any], list[Any]]:
    """Returns what is found if the runtime looks, and if the kernel does."""
    with tx.sanitize("bounds") as called:
        kernel = launch()
    assert "triton_ext_cpu_outside" in kernel.asm["ttir"]
    with tx.sanitize("bounds", corners=False) as own:
        kernel = launch()
    assert "triton_ext_cpu_outside" not in kernel.asm["ttir"]
    return called.findings, own.findings


INDICES = [0, 1, 9, 10, 11, 59, 60, 69, 70, 99, 100, -1, -10, -11, -50, 500]


@pytest.mark.slow
@settings(deadline=None)
@given(st.lists(st.sampled_from(INDICES), min_size=96, max_size=96), st.integers(0, 100), st.booleans())
@example([0] * 96, 96, True)
@example([*[0] * 90, *[500] * 6], 90, True)
@example([*[0] * 90, -1, 60, -11, 90, *[500] * 2], 95, True)
def test_a_view_in_the_middle(index: list[int], n: int, is_load: bool) -> None:
    """The view is [10, 70) of the memory [0, 100): there are lanes outside of the memory, of the view only, and masked
    ones, in 3 programs.
    """
    x = view(100, 10, 60)

    def launch() -> Any:
        at = np.array(index, np.int32)
        if is_load:
            return gather[(3,)](at, x, np.zeros(96, np.int32), n, B=32)
        return scatter[(3,)](at, x, B=32)

    called, own = reports(launch)
    assert called == own
    bad = [(lane, place) for lane, place in enumerate(index) if not 0 <= place < 60 and (not is_load or lane < n)]
    hard = [lane for lane, place in bad if not -10 <= place < 90]
    counts = {one.check: one.lanes for one in called}
    assert counts == {name: size for name, size in (("bounds", len(hard)), ("view", len(bad) - len(hard))) if size}
    firsts = {one.check: (one.program[0], one.lane) for one in called}
    if hard:
        assert firsts["bounds"] == divmod(hard[0], 32)


def test_programs_of_three_axes_and_tiles_of_two_dimensions() -> None:
    counts = view(64, 0, 64)
    index = np.zeros(12 * 4, np.int32)
    index[[21, 22, 40]] = 50, -3, 49

    called, own = reports(lambda: bins[(3, 4)](index, counts, R=4, C=16))
    assert called == own
    (one,) = called
    assert (one.check, one.program, one.lane, one.coordinates) == ("bounds", (2, 1, 0), 16 + 14, (64,))
    assert (one.lanes, one.programs, one.counted, one.at_least) == (2 + 3 + 1, 2, True, False)
    assert one.argument == "counts"


def test_indices_that_the_kernel_overwrites() -> None:
    x = view(64, 0, 64)

    def launch() -> Any:
        index = np.zeros(32, np.int32)
        index[[5, 9]] = 40, 64
        return copy_twice[(1,)](index, x, np.zeros(32, np.int32), B=32)

    called, own = reports(launch)
    assert called == own
    assert [(one.lane, one.coordinates, one.lanes) for one in called] == [(9, (64,), 1), (5, (80,), 2)]


def test_many_programs_have_64_records() -> None:
    x, out = view(64, 0, 64), np.zeros(100 * 32, np.int32)
    index = np.zeros(100 * 32, np.int32)
    index[7::32] = 64
    with tx.sanitize("bounds") as report:
        for _ in range(2):
            gather[(100,)](index, x, out, len(out), B=32)
    (one,) = report.findings
    assert (one.lane, one.lanes, one.programs, one.at_least) == (7, 200, 64, True)


def test_nothing_is_found_without_a_report() -> None:
    """The kernel with checks runs on, and its slot says that nobody listens."""
    x, index, out = view(64, 0, 64), np.full(32, 64, np.int32), np.zeros(32, np.int32)
    with tx.sanitize("bounds") as report:
        kernel = gather[(1,)](index, x, out, 32, B=32)
    assert len(report.findings) == 1
    kernel[(1, 1, 1)](index, x, out, 32, 32)
    assert len(report.findings) == 1
