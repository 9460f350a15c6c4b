# SPDX-License-Identifier: Apache-2.0
"""Blocks of `tx.sanitize` beside sessions of probes, and blocks in blocks: each has what is its own."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl

import triton_ext as tx
from triton_ext import probe
from triton_ext.loading import discovery

pytestmark = pytest.mark.usefixtures("on_native_backend")


@triton.jit
def ones(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    probe.count("lanes on", mask=i < n)
    probe.record("first", i, mask=i == 0)
    tl.store(x + i, 1.0, mask=i < n)


def memory(size: int = 100) -> Any:
    """Returns an array in a larger one, so that a store behind it hits nothing else."""
    return np.zeros(256, np.float32)[64 : 64 + size]


def launch(n: int = 101) -> None:
    ones[(1,)](memory(), n, B=128)


def expect(report: tx.sanitize.Report, lanes: int) -> None:
    (one,) = report.findings
    assert (one.check, one.argument, one.coordinates, one.lanes) == ("view", "x", (100,), lanes)


@pytest.mark.slow
@pytest.mark.parametrize("process", [False, True])
def test_a_block_in_a_session(process: bool) -> None:
    with probe.session(process=process) as s:
        launch(50)
        with tx.sanitize("bounds") as report:
            launch()
            expect(report, 1)
        launch()
    expect(report, 1)
    assert s.counts() == {"lanes on": 50 + 2 * 101}
    assert len(s.records("first")) == 3
    assert [site.name for site in s.sites()] == ["lanes on", "first"]


@pytest.mark.slow
@pytest.mark.parametrize("process", [False, True])
def test_a_session_in_a_block(process: bool) -> None:
    with tx.sanitize("bounds") as report:
        launch()
        with probe.session(process=process) as s:
            launch()
            with tx.sanitize("bounds") as inner:
                launch()
        launch()
    expect(report, 3)
    expect(inner, 1)
    assert s.counts() == {"lanes on": 2 * 101}
    assert len(s.records()) == 2
    assert [site.name for site in s.sites()] == ["lanes on", "first"]


@pytest.mark.slow
def test_a_session_of_another_thread() -> None:
    """It begins before the block, so its thread has two pipelines with the passes of probes."""
    has_begun, is_checked, counts = threading.Event(), threading.Event(), []

    def work() -> None:
        with probe.session() as s:
            has_begun.set()
            assert is_checked.wait(60)
            launch()
            counts.append(s.counts())

    thread = threading.Thread(target=work)
    thread.start()
    assert has_begun.wait(60)
    with tx.sanitize("bounds") as report:
        is_checked.set()
        thread.join()
    assert counts == [{"lanes on": 101}]
    expect(report, 1)


def test_a_block_looks_for_extensions_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []
    monkeypatch.setattr(discovery, "_discovered", lambda found=discovery._discovered: looks.append(1) or found())
    with tx.sanitize("bounds,lanes,hints"):
        assert looks == [1]
        tx.extensions()
    assert looks == [1, 1]


def test_a_block_with_a_session_raises() -> None:
    with probe.session(), tx.sanitize("bounds", raises=True):
        with pytest.raises(tx.sanitize.SanitizerError, match="outside of the view x"):
            launch()
        launch(100)


@pytest.mark.slow
def test_each_launch_raises() -> None:
    """Launches with equal arguments share the room for records, which 64 of them fill."""
    x = memory()
    with tx.sanitize("bounds", raises=True) as report:
        for _ in range(100):
            with pytest.raises(tx.sanitize.SanitizerError):
                ones[(1,)](x, 101, B=128)
        ones[(1,)](x, 100, B=128)
    expect(report, 100)


@pytest.mark.slow
def test_a_kernel_of_an_outer_block_has_checks_that_the_inner_one_has_not_chosen() -> None:
    aligned = np.zeros(256, np.float32)
    aligned = aligned[-aligned.ctypes.data // 4 % 16 :][:200]
    with tx.sanitize("bounds,hints") as outer:
        kernel = ones[(1,)](aligned[16:116], 64, B=128)
        with tx.sanitize("lanes") as lanes:
            kernel[(1, 1, 1)](aligned[17:117], 112, 128)
            assert {one.check for one in outer.findings} == {"hints", "view"}
        with tx.sanitize("bounds") as bounds:
            kernel[(1, 1, 1)](aligned[16:116], 112, 128)
    assert not lanes.findings
    assert not lanes.accesses
    assert [one.check for one in bounds.findings] == ["view"]
    assert {one.check for one in bounds.accesses} == {"bounds"}
    assert sorted(one.check for one in outer.findings) == ["hints", "view"]


@triton.jit
def doubled(index, x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    j = tl.load(index + i, mask=i < B - 1)
    tl.store(y + j, tl.load(x + j) * 2, mask=i < B - 1)


@pytest.mark.parametrize("static", [True, False])
def test_a_program_without_a_launch(static: bool, tmp_path: Path) -> None:
    """Code that is called by itself, with zeros as its hidden memory, computes the same, and reports nothing."""
    torch, units = pytest.importorskip("torch"), pytest.importorskip("support.cpu.emulated_units")
    index, x, y = torch.arange(8, dtype=torch.int32), torch.arange(8.0), torch.zeros(8)
    with tx.sanitize("all", static=static) as report:
        small = x[:4].clone()
        kernel = doubled[(1,)](index, small, torch.zeros(8), B=4)
        assert not report.findings
        assert kernel.metadata.profile_scratch_size > 0
        units.run(kernel, tmp_path, 1, (index, x, y))
        assert not report.findings
    assert y.tolist() == [0, 2, 4, 0, 0, 0, 0, 0]
