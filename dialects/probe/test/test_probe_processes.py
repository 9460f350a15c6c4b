# SPDX-License-Identifier: Apache-2.0
"""Sessions of several processes and threads at once: each sees what its own kernels do, and nothing else."""

from __future__ import annotations

import multiprocessing
import os
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl

from triton_ext import probe

pytestmark = pytest.mark.usefixtures("on_native_backend")

PROCESSES, LAUNCHES = 3, 8


@triton.jit
def observed(x, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    v = tl.load(x + i, mask=i < n, other=0)
    probe.count("negative", v < 0)
    probe.record("large", v, i, mask=v > 90)
    probe.check(v > -100, "above -100", v)
    with probe.region("store"):
        tl.store(x + i, v + 1, mask=i < n)


def work(seed: int) -> int:
    """Runs launches with data of their own in a session of their own, and compares what it has seen with NumPy.

    Returns the number of the process.
    """
    rng = np.random.default_rng(seed)
    negative, failed, programs = 0, 0, 0
    large: list[tuple[int, int]] = []
    with probe.session() as s:
        for _ in range(LAUNCHES):
            n = int(rng.integers(1, 2000))
            x = rng.integers(-101, 100, n).astype(np.int32)
            negative += int((x < 0).sum())
            failed += int((x <= -100).sum())
            large += [(int(x[i]), int(i)) for i in np.flatnonzero(x > 90)]
            programs += triton.cdiv(n, 64)
            expected = x + 1
            observed[(triton.cdiv(n, 64),)](x, n, N=64)
            np.testing.assert_array_equal(x, expected)
    assert s.counts() == {"negative": negative}
    assert s.failures() == {"above -100": failed}
    records = s.records("large")
    assert sorted(zip(records["v0"].tolist(), records["v1"].tolist(), strict=True)) == sorted(large)
    assert len(s.regions("store")) == programs
    assert not s.lost()
    return os.getpid()


def workers(method: str, number: int) -> Any:
    return ProcessPoolExecutor(number, mp_context=multiprocessing.get_context(method))


@pytest.mark.slow
def test_processes_that_are_spawned() -> None:
    """They compile the kernel at the same time, with the same cache."""
    with workers("spawn", PROCESSES) as pool:
        found = list(pool.map(work, range(2 * PROCESSES)))
    assert os.getpid() not in found
    assert len(set(found)) > 1


@pytest.mark.slow
def test_processes_that_are_forked_in_a_session() -> None:
    """A process that is forked while a session is open has a copy of it; the parent's does not see its launches."""
    x = np.full(64, -1, np.int32)
    with probe.session() as s:
        observed[(1,)](x, 64, N=64)
        with workers("fork", PROCESSES) as pool:
            found = list(pool.map(work, range(2 * PROCESSES)))
            observed[(1,)](np.full(64, -1, np.int32), 64, N=64)
        assert s.counts() == {"negative": 128}
    assert os.getpid() not in found
    assert len(s.regions("store")) == 2


@pytest.mark.slow
def test_threads() -> None:
    """Each has a session of its own."""
    start = threading.Barrier(4)

    def together(seed: int) -> int:
        start.wait()
        return work(seed)

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(together, range(4))) == {os.getpid()}


@pytest.mark.slow
def test_threads_in_a_session_of_the_process() -> None:
    def launch(value: int) -> None:
        for _ in range(LAUNCHES):
            observed[(2,)](np.full(128, value, np.int32), 128, N=64)

    with probe.session(process=True) as s:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(launch, (-1, -2, 95, 0)))
        assert s.counts() == {"negative": 2 * LAUNCHES * 128}
    assert len(s.records("large")) == LAUNCHES * 128
    assert set(s.records("large")["v0"].tolist()) == {95}
    assert len(s.regions("store")) == 4 * LAUNCHES * 2
