# SPDX-License-Identifier: Apache-2.0
"""A processor reads its clock once if a program starts with a region, and once if it ends with one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl

from triton_ext import probe

pytestmark = [pytest.mark.usefixtures("on_native_backend"), pytest.mark.keeps_kernels]


@triton.jit
def wrapped(x, n):
    with probe.region("program"):
        for k in range(n):
            tl.store(x + tl.program_id(0), k)


@triton.jit
def between(x, n):
    for k in range(n):
        tl.store(x + tl.program_id(0), k)
    with probe.region("part"):
        tl.store(x, n)
    tl.store(x + tl.program_id(0), n + 1)


def times_of(kernel: Any) -> tuple[Any, Any, Any, Any]:
    """Returns the start and the end of each region, and of its program, in cycles."""
    with probe.session() as s:
        kernel[(3,)](np.zeros(3, np.int32), 1000)
    (timing,) = s._see().timings
    regions, own = timing.regions, timing.threads[timing.regions["thread"]]
    assert len(regions) == 3
    assert (regions["cycles"] > 0).all()
    return regions["start"], regions["start"] + regions["cycles"], own["start"], own["end"]


def test_a_region_around_a_program_has_the_clocks_of_the_program() -> None:
    start, end, first, last = times_of(wrapped)
    np.testing.assert_array_equal(start, first)
    np.testing.assert_array_equal(end, last)


def test_a_program_that_does_more_starts_before_its_region_and_ends_behind_it() -> None:
    start, end, first, last = times_of(between)
    assert (first < start).all()
    assert (end < last).all()
