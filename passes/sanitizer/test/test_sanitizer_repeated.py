# SPDX-License-Identifier: Apache-2.0
"""Launches with the same arguments as before: what is known of them is computed once, and each block has its own."""

from __future__ import annotations

import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import triton
import triton.language as tl

import triton_ext as tx
from triton_ext import probe
from triton_ext.patches import kernel_launches

pytestmark = pytest.mark.usefixtures("on_native_backend")
torch = pytest.importorskip("torch")


@triton.jit
def ones(x, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(x + i, 1.0, mask=i < n)


@triton.jit
def far(x, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(x + i * n // n, 1.0)


@triton.jit
def scatter(x, index, B: tl.constexpr):
    i = tl.arange(0, B)
    probe.record("first", i, mask=i == 0)
    tl.store(x + tl.load(index + i), 1.0)


@triton.jit
def unchecked(x, B: tl.constexpr):
    tl.store(x + tl.arange(0, B), 1.0)


def lanes_of(report: tx.sanitize.Report) -> list[tuple[str, int]]:
    return [(one.check, one.lanes) for one in report.findings]


def test_each_block_counts_its_launches() -> None:
    x = torch.zeros(128)[:100]
    with tx.sanitize("bounds") as outer:
        for _ in range(3):
            ones[(1,)](x, 101, B=128)
        with tx.sanitize("bounds") as inner:
            for _ in range(2):
                ones[(1,)](x, 101, B=128)
        ones[(1,)](x, 101, B=128)
    with tx.sanitize("bounds") as last:
        ones[(1,)](x, 101, B=128)
    assert [lanes_of(one) for one in (outer, inner, last)] == [[("view", 4)], [("view", 2)], [("view", 1)]]


def test_each_block_knows_what_wraps() -> None:
    """The kernel and the arguments are those of the block before, in which the launch was noted."""
    x, reports = torch.zeros(128)[64:], []
    for times in (3, 1):
        with tx.sanitize("overflow") as report:
            for _ in range(times):
                far[(1,)](x, 2**30, B=4)
        reports.append(report)
    assert [lanes_of(one) for one in reports] == [[("overflow", 6)], [("overflow", 2)]]


def test_a_block_sees_threads_that_have_launched_before() -> None:
    x = torch.zeros(128)[:100]
    with tx.sanitize("bounds") as outer, ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: ones[(1,)](x, 101, B=128)).result()
        with tx.sanitize("bounds") as inner:
            pool.submit(lambda: ones[(1,)](x, 101, B=128)).result()
    assert lanes_of(outer) == lanes_of(inner) == [("view", 1)]


def test_a_session_sees_threads_that_have_launched_before() -> None:
    x, index = torch.zeros(128), torch.zeros(128, dtype=torch.int32)
    with tx.sanitize("bounds"), ThreadPoolExecutor(1) as pool:
        kernel = pool.submit(lambda: scatter[(1,)](x, index, B=128)).result()
        with probe.session(process=True) as session:
            pool.submit(lambda: kernel[(1, 1, 1)](x, index, 128)).result()
    assert len(session.records("first")) == 1


def test_tensors_that_change_in_place() -> None:
    x = torch.zeros(128)
    with tx.sanitize("bounds") as report:
        for _ in range(2):
            ones[(1,)](x, 100, B=128)
        x.resize_(64)
        ones[(1,)](x, 100, B=128)
    assert lanes_of(report) == [("view", 36)]


def test_threads_count_all_launches() -> None:
    x, n = torch.zeros(128)[:100], 200
    with tx.sanitize("bounds") as report:
        ones[(1,)](x, 101, B=128)
        begin = threading.Barrier(4)

        def work() -> None:
            begin.wait()
            for _ in range(n):
                ones[(1,)](x, 101, B=128)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    assert lanes_of(report) == [("view", 4 * n + 1)]


def test_a_block_that_has_ended_is_freed() -> None:
    """Its buffers take megabytes; the kernels that have run in it stay."""
    x = torch.zeros(128)
    with tx.sanitize("bounds") as report:
        for _ in range(2):
            ones[(1,)](x, 100, B=128)
    session = weakref.ref(report._session)
    del report
    gc.collect()
    assert session() is None


def test_a_kernel_without_checks_asks_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def ask(kernel: Any, _: Any) -> None:
        asked.append(kernel.metadata.name)

    with tx.sanitize("bounds"):
        pass
    monkeypatch.setattr(kernel_launches, "_wrappers", [*kernel_launches._wrappers, ask])
    x = torch.zeros(128)
    for _ in range(3):
        unchecked[(1,)](x, B=128)
    assert asked == ["unchecked"]
