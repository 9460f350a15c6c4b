# SPDX-License-Identifier: Apache-2.0
"""Kernels that are checked without proofs (``static=False``), and lane by lane (``corners=False``), have the findings
of those that are checked as usual."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton_ext.probe._sites import followed_by, raised_by
from triton_ext.sanitize import _looks

import triton_ext as tx

pytestmark = pytest.mark.usefixtures("on_native_backend")

MODES: dict[str, dict[str, bool]] = {"default": {}, "static": {"static": False}, "corners": {"corners": False}}


def findings(checks: str, launch: Callable[[], Any]) -> dict[str, list[tuple[Any, ...]]]:
    """Returns what is found, by the option that is off."""
    found = {}
    for mode, options in MODES.items():
        with tx.sanitize(checks, **options) as report:
            launch()
        found[mode] = sorted(
            (
                (one.check, one.line, one.argument, one.coordinates, one.program, one.lane, one.lanes, one.programs)
                for one in report.findings
            ),
            key=str,
        )
        if options:
            assert report.counts()["proved"] == 0
    return found


@triton.jit
def copy(x, out, n, m, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n), mask=i < m)


@pytest.mark.parametrize(("n", "m"), [(200, 200), (199, 200), (200, 199), (0, 1), (256, 250), (130, 256), (-1, 64)])
def test_lanes_that_are_off(n: int, m: int) -> None:
    x, out = np.zeros(256, np.float32), np.zeros(256, np.float32)
    found = findings("bounds,lanes", lambda: copy[(4,)](x, out, n, m, B=64))
    assert found["default"] == found["static"] == found["corners"]
    assert sum(one[6] for one in found["static"]) == max(0, m - max(n, 0))


@pytest.mark.parametrize(("n", "m", "looks"), [(200, 200, False), (200, 199, False), (199, 200, True)])
def test_a_right_launch_is_not_looked_at(n: int, m: int, looks: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """No lane that the load has turned off is one of the store, which the numbers that both masks compare with tell."""
    looked = []
    monkeypatch.setattr(_looks, "look", lambda *given: looked.append(given))
    x, out = np.zeros(256, np.float32), np.zeros(256, np.float32)
    with tx.sanitize("lanes", static=False) as report:
        copy[(4,)](x, out, n, m, B=64)
    assert not report.findings
    assert bool(looked) == looks


@triton.jit
def of_both(x, out, n, k, m, B: tl.constexpr):  # noqa: PLR0917
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=(i < n) & (i < k)), mask=i < m)


@pytest.mark.parametrize(("n", "k"), [(200, 256), (256, 200), (256, 256)])
def test_one_of_two_conditions_fails(n: int, k: int) -> None:
    x, out = np.zeros(256, np.float32), np.zeros(256, np.float32)
    found = findings("lanes", lambda: of_both[(4,)](x, out, n, k, 220, B=64))
    assert found["default"] == found["static"] == found["corners"]
    assert sum(one[6] for one in found["static"]) == max(0, 220 - min(n, k))


@triton.jit
def rows(x, out, columns, m, B: tl.constexpr):
    row = tl.program_id(0) * columns
    for start in range(0, columns, B):
        i = start + tl.arange(0, B)
        tl.store(out + row + i, tl.load(x + row + i, mask=i < columns) * 2, mask=i < m)


@pytest.mark.parametrize("m", [100, 101, 99])
def test_a_loop(m: int) -> None:
    """The store goes one element too far, which is out of bounds in the last row, and has no value in each."""
    x, out = np.zeros((3, 100), np.float32), np.zeros(301, np.float32)[:300].reshape(3, 100)
    found = findings("bounds,lanes", lambda: rows[(3,)](x, out, 100, m, B=32))
    assert found["default"] == found["static"] == found["corners"]
    expected = {"lanes": 3, "view": 1} if m > 100 else {}
    assert {one[0]: one[6] for one in found["static"]} == expected


@triton.jit
def twice(out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, 1.0, mask=i < n)
    tl.store(out + i, 2.0, mask=i < n)


def test_what_repeats_another_access_is_checked() -> None:
    memory = np.zeros(64, np.float32)
    found = findings("bounds", lambda: twice[(1,)](memory[:32], 40, B=64))
    assert [one[0] for one in found["default"]] == ["view"]
    assert found["static"] == found["corners"]
    (first, second) = found["static"]
    assert found["default"] == [first]
    assert second[1] == first[1] + 1
    assert first[6] == second[6] == 8


def test_the_kernel_raises_the_flag() -> None:
    """The kernel compares corners, and the host decides nothing from the numbers of the launch."""
    x, out = np.zeros(256, np.float32), np.zeros(256, np.float32)
    for checks, static in (("bounds", True), ("bounds", False), ("lanes", False)):
        with tx.sanitize(checks, static=static) as report:
            kernel = copy[(4,)](x, out, 200, 200, B=64)
        assert report.findings == []
        assert (raised_by(kernel), followed_by(kernel)) == (((), (checks,)) if static else ((checks,), ()))


@triton.jit
def gather(x, index, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = tl.load(index + i, mask=i < n, other=0)
    tl.store(out + i, tl.load(x + j, mask=i < n), mask=i < n + 1)


def test_lanes_of_a_gather() -> None:
    x, out, index = np.zeros(64, np.float32), np.zeros(64, np.float32), np.full(64, 5, np.int32)
    found = findings("lanes", lambda: gather[(1,)](x, index, out, 40, B=64))
    assert found["default"] == found["static"] == found["corners"]
    ((check, _, argument, coordinates, _, lane, lanes, _),) = found["static"]
    assert (check, argument, coordinates, lane, lanes) == ("lanes", "x", (0,), 40, 1)


@triton.jit
def copy_with_one_mask(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    on = i < n
    tl.store(out + i, tl.load(x + i, mask=on), mask=on)


def test_no_lane_that_is_off_meets_its_own_mask() -> None:
    """The kernel compares nothing, where nothing but the same mask could tell."""
    x, out = np.zeros(256, np.float32), np.zeros(256, np.float32)
    with tx.sanitize("lanes", static=False) as report:
        kernel = copy_with_one_mask[(4,)](x, out, 200, B=64)
    assert report.findings == []
    assert raised_by(kernel) == ()
    assert "lanes" not in "".join(kernel.asm["ttir"].split("probe.sites")[1:]).partition("sanitize.")[0]


def test_a_kernel_for_a_gpu_has_no_look_at_lanes_that_are_off() -> None:
    """Its look has a kernel of its own, in which nobody knows addresses that come from memory."""
    kinds = {"x": "*fp32", "index": "*i32", "out": "*fp32", "n": "i32", "B": "constexpr"}
    source = ASTSource(gather, signature=kinds, constexprs={"B": 1024})
    with tx.sanitize("lanes", static=False):
        kernel = triton.compile(source, target=GPUTarget("cuda", 90, 32))
    assert "scf.if" not in kernel.asm["ttir"]
    assert "tt.reduce" not in kernel.asm["ttir"]
    assert raised_by(kernel) == ("lanes",)
    look = _looks._look_of(kernel)
    assert "scf.if" in look.asm["ttir"]
    assert "tt.load %x" not in look.asm["ttir"]


@triton.jit
def carried(x, ends, out, inner, n, m, turns, B: tl.constexpr):  # noqa: PLR0917
    """A store reaches, in the next turn, what a load behind another loop has read."""
    i = tl.arange(0, B)
    before = tl.zeros((B,), tl.float32)
    for turn in range(turns):
        tl.store(out + turn * B + i, before, mask=i < n)
        for j in range(tl.load(ends + turn), tl.load(ends + turn + 1)):
            tl.store(inner + j * B + i, tl.load(x + j * B + i, mask=i < m), mask=i < n)
        before = tl.load(x + turn * B + i, mask=i < m)


@pytest.mark.parametrize(("m", "count"), [(60, 0), (40, 2)])
def test_lanes_that_a_loop_carries_around_another_one(m: int, count: int) -> None:
    """The look of the carried value stands before the inner loop, its load behind it."""
    x, out, inner = (np.ones(512, np.float32) for _ in range(3))
    found = findings("lanes", lambda: carried[(1,)](x, np.arange(5, dtype=np.int32), out, inner, 60, m, 4, B=64))
    assert found["default"] == found["static"] == found["corners"]
    assert len(found["static"]) == count
