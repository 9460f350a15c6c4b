# SPDX-License-Identifier: Apache-2.0
"""What `instrument` counts on this machine's processor is what NumPy says, and the kernel's results stay the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import triton_ext as tx
from support.instrument import counted
from triton_ext import probe
from triton_ext.errors import PipelineError

pytestmark = [pytest.mark.usefixtures("on_native_backend"), pytest.mark.keeps_kernels]


def same(array: Any) -> Any:
    return array


generated = settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None
)
SIZES = st.integers(1, 40)


@pytest.mark.slow
@generated
@given(n=st.integers(0, 400), programs=st.integers(1, 6))
def test_masks(n: int, programs: int) -> None:
    counted.masks(same, same, n, programs)


@pytest.mark.slow
@generated
@given(rows=SIZES, columns=SIZES)
def test_tiles(rows: int, columns: int) -> None:
    counted.tiles(same, same, rows, columns)


@pytest.mark.slow
@generated
@given(n=st.integers(0, 200), programs=st.integers(1, 6))
def test_atomics(n: int, programs: int) -> None:
    counted.atomics(same, same, n, programs)


@pytest.mark.slow
@generated
@given(n=st.integers(0, 40), programs=st.integers(1, 4))
def test_repeated_masks(n: int, programs: int) -> None:
    counted.repeated_masks(same, same, n, programs)


@pytest.mark.slow
@generated
@example(first=0, last=5, step=2, programs=1)  # the last iteration is not whole
@given(first=st.integers(-9, 9), last=st.integers(-9, 9), step=st.integers(1, 5), programs=st.integers(1, 8))
def test_loops(first: int, last: int, step: int, programs: int) -> None:
    counted.loops(same, same, (first, last, step), programs)


@pytest.mark.slow
@generated
@given(rows=SIZES, columns=SIZES)
def test_descriptors(rows: int, columns: int) -> None:
    counted.descriptors(same, same, rows, columns)


@pytest.mark.slow
def test_nans() -> None:
    counted.nans(same, same)


@triton.jit
def returning_early(x, n):
    program = tl.program_id(0)
    if program >= n:
        return
    for _ in range(program):
        tl.atomic_add(x, 1)
    if program == 1:
        return
    tl.atomic_add(x + 1, 1)


@pytest.mark.slow
def test_the_time_of_programs_that_return_early() -> None:
    x = np.zeros(2, np.int32)
    with (
        probe.session() as s,
        tx.Pipeline().at_end("ttir", tx.passes.ttir.instrument(regions=True)),
    ):
        returning_early[(8,)](x, 5)
    assert x.tolist() == [0 + 1 + 2 + 3 + 4, 4]
    programs = s.regions("returning_early")
    assert sorted(programs["x"].tolist()) == list(range(8))
    loops = s.regions("scf.for")
    assert sorted(loops["x"].tolist()) == list(range(5))
    for loop in loops:
        (whole,) = programs[programs["x"] == loop["x"]]
        assert whole["start"] <= loop["start"] <= loop["end"] <= whole["end"]


@pytest.mark.slow
def test_without_a_session_the_kernel_is_the_same() -> None:
    x = np.zeros(64, np.float32)
    plain = counted.adding.warmup(x, x, x, 64, N=64, grid=(1,))
    with tx.Pipeline().at_end("ttir", tx.passes.ttir.instrument(**counted.EVERYTHING)):
        off = counted.adding.warmup(x, x, x, 64, N=64, grid=(1,))
    assert off.asm["ttir"] == plain.asm["ttir"]
    assert off.asm["so"] == plain.asm["so"]
    with probe.session(), tx.Pipeline().at_end("ttir", tx.passes.ttir.instrument(**counted.EVERYTHING)):
        assert counted.adding.warmup(x, x, x, 64, N=64, grid=(1,)).asm["so"] != plain.asm["so"]


def test_the_session_has_to_be_around_it() -> None:
    x = np.zeros(64, np.float32)
    instrumented = tx.Pipeline().at_end("ttir", tx.passes.ttir.instrument(bytes=True))
    with instrumented, probe.session(), pytest.raises(PipelineError, match="expected a session of probes around"):
        counted.adding[(1,)](x, x, x, 64, N=64)


@pytest.mark.slow
def test_summary() -> None:
    x = np.ones(200, np.float32)
    s = counted.observed(counted.adding, (3,), x, x, x.copy(), 150, N=64)
    head, *rows = s.summary().splitlines()
    assert head.split() == ["line", "programs", "calls", "loaded", "stored", "lanes", "off", "source"]
    (stored,) = [row for row in rows if "tl.store" in row]
    assert stored.split()[1:5] == ["3", "600", "192", "21.9%"]
