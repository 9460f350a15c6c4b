# SPDX-License-Identifier: Apache-2.0
"""The check ``overflow`` of launches that happen: what wraps, what that does, and what a launch does not look at."""

from __future__ import annotations

import ctypes
import json
import mmap
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from triton_ext.sanitize import _launched, _overflows

import triton_ext as tx

pytestmark = pytest.mark.usefixtures("on_native_backend")


@triton.jit
def load_rows(x, out, stride, B: tl.constexpr):
    row = tl.program_id(0) + 1
    at = row * stride
    i = tl.arange(0, B)
    v = tl.load(x + at + i)
    tl.store(out + row * B + i, v)


@triton.jit
def load_wide_rows(x, out, stride, B: tl.constexpr):
    row = tl.program_id(0) + 1
    at = row.to(tl.int64) * stride
    i = tl.arange(0, B)
    v = tl.load(x + at + i)
    tl.store(out + row * B + i, v)


def launched(kernel: Any, stride: int, programs: int = 5, checks: str = "bounds,overflow") -> Any:
    """The products of rows and strides of 2**29 wrap from the fourth program on, whose row is 4."""
    x, out = torch.zeros(64), torch.zeros(16 * (programs + 1))
    with tx.sanitize(checks, action="suppress") as report:
        kernel[(programs,)](x, out, stride, B=16)
    return report


def line(kernel: Any, text: str) -> int:
    return int(kernel.starting_line_number) + next(i for i, one in enumerate(kernel.raw_src) if text in one)


@pytest.mark.slow
def test_what_wraps_and_what_it_does_are_one_finding() -> None:
    report = launched(load_rows, 2**29)
    wrapped, outside = report.findings
    assert (wrapped.check, wrapped.line, wrapped.argument) == ("overflow", line(load_rows, "at = "), "x")
    assert (wrapped.program, wrapped.lane) == ((3, 0, 0), 0)
    assert (wrapped.values["exact"], wrapped.values["actual"]) == (2**31, -(2**31))
    assert (wrapped.values["row"], wrapped.values["stride"], wrapped.values.get("at")) == (4, 2**29, None)
    assert (wrapped.lanes, wrapped.programs) == (32, 2)
    assert "tl.int64" in wrapped.suggestion
    assert "stride = 429,496,730 is the first that breaks, if the grid is (5,)" in wrapped.message
    # The first program is outside although its address has not wrapped: another bug.
    assert (outside.check, outside.program) == ("bounds", (0, 0, 0))


def at_a_low_address() -> Any:
    """Returns 64 floats less than 8 GB behind address 0, where the heap of a Python may be."""
    map_ = ctypes.CDLL(None).mmap
    map_.restype, map_.argtypes = (
        ctypes.c_void_p,
        [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long],
    )
    no_replace = 0x100000  # MAP_FIXED_NOREPLACE
    protection, flags = mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | no_replace
    address = next(one for one in range(2**28, 2**32, 2**26) if map_(one, 256, protection, flags, -1, 0) == one)
    return np.frombuffer((ctypes.c_char * 256).from_address(address), np.float32)


@pytest.mark.slow
def test_an_access_that_is_wrong_because_of_a_wrap_has_no_finding_of_its_own() -> None:
    for x in (torch.zeros(64), at_a_low_address()):
        out = torch.zeros(64)
        with tx.sanitize("bounds,overflow", action="suppress") as report:
            load_wrapped[(2,)](x, out, 2**30, B=16)
        (found,) = report.findings
        assert (found.check, found.line, found.program) == ("overflow", line(load_wrapped, "at = "), (1, 0, 0))
        assert (found.lanes, found.programs, found.coordinates) == (16, 1, (-(2**31),))
        ((file, number, what),) = found.related
        assert (file, number) == (__file__, line(load_wrapped, "v = "))
        assert what.startswith(
            "so this is wrong, first in program (1, 0, 0), lane 0: load outside of x: 8589934592 bytes"
        )
        text = report.text()
        assert text.count("error[") == 1
        assert "help: convert an operand to tl.int64" in text
        (result,) = json.loads(report.sarif())["runs"][0]["results"]
        assert result["ruleId"] == "overflow"
        assert result["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] == number


@triton.jit
def load_wrapped(x, out, half, B: tl.constexpr):
    i = tl.arange(0, B)
    at = tl.program_id(0) * half * 2
    v = tl.load(x + at + i)
    tl.store(out + i, v)


@pytest.mark.slow
def test_nothing_wraps_in_64_bits() -> None:
    report = launched(load_wide_rows, 2**29)
    assert {one.verdict for one in report.accesses if one.check == "overflow"} == {"proved"}
    # Far outside, but not because of a wrap: nobody says so.
    (outside,) = report.findings
    assert outside.check == "bounds"
    assert "wrapped" not in outside.suggestion
    (alone,) = launched(load_wide_rows, 2**29, checks="bounds").findings
    assert "wrapped" in alone.suggestion


@pytest.mark.slow
def test_launches_add_up() -> None:
    x, out = torch.zeros(64), torch.zeros(64)
    with tx.sanitize("overflow,bounds", action="suppress") as report:
        for half in (2**30, 2**30, 16, 2**30 + 16):
            load_wrapped[(2,)](x, out, half, B=16)
    (found,) = [one for one in report.findings if one.check == "overflow"]
    assert (found.lanes, found.values["half"]) == (3 * 16, 2**30)


@triton.jit
def gather(x, indices, out, scale, B: tl.constexpr):
    i = tl.arange(0, B)
    index = tl.load(indices + i)
    tl.store(out + i, tl.load(x + index * scale))


@pytest.mark.slow
def test_what_depends_on_memory_is_unsupported() -> None:
    x, indices, out = torch.zeros(64), torch.zeros(16, dtype=torch.int32), torch.zeros(16)
    with tx.sanitize("overflow") as report:
        gather[(1,)](x, indices, out, 3, B=16)
    assert report.findings == []
    (unknown,) = [one for one in report.accesses if one.verdict == "unsupported"]
    assert (unknown.check, unknown.line) == ("overflow", line(gather, "tl.load(x"))
    assert "data from memory" in unknown.why


@pytest.mark.slow
def test_a_kernel_is_decided_once_for_many_launches(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []
    alone = _launched.Launches._looked_at

    def counted(self: Any, launch: Any, use: Any, found: Any) -> Any:
        looked.append(launch.integers)
        return alone(self, launch, use, found)

    monkeypatch.setattr(_launched.Launches, "_looked_at", counted)
    x, out = torch.zeros(64), torch.zeros(64)
    with tx.sanitize("overflow") as report:
        for half in range(16, 160, 16):
            load_wrapped[(1,)](x, out, half, B=16)
        assert report.findings == []
        assert looked == []
        assert {one.verdict for one in report.accesses} == {"proved"}
        load_wrapped[(1,)](x, out, 32, B=16)
        assert report.findings == []
        assert looked == []


@pytest.mark.slow
def test_launches_that_differ_are_told_apart() -> None:
    x, out = torch.zeros(64), torch.zeros(64)
    with tx.sanitize("overflow,bounds", action="suppress") as report:
        for programs, half in ((2, 16), (1, 2**30)):  # nothing wraps in either, but between them
            load_wrapped[(programs,)](x, out, half, B=16)
        assert [one for one in report.findings if one.check == "overflow"] == []
        assert {one.verdict for one in report.accesses if one.check == "overflow"} == {"proved"}
    for first, second in (((2, 32), (2, 2**30 + 32)), ((1, 2**30 + 64), (2, 2**30 + 64))):
        with tx.sanitize("overflow,bounds", action="suppress") as report:
            for programs, half in (first, second):
                load_wrapped[(programs,)](x, out, half, B=16)
        assert [one.program for one in report.findings if one.check == "overflow"] == [(1, 0, 0)]


@pytest.mark.slow
def test_launches_that_are_forgotten_have_been_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_overflows, "MOST_LAUNCHES", 4)
    x, out = torch.zeros(64), torch.zeros(64)
    with tx.sanitize("overflow,bounds", action="suppress") as report:
        load_wrapped[(2,)](x, out, 2**30, B=16)
        for half in range(16, 320, 16):
            load_wrapped[(1,)](x, out, half, B=16)
    (kept,) = report._overflows._launches.values()
    assert len(kept) <= 4
    (found,) = [one for one in report.findings if one.check == "overflow"]
    assert (found.lanes, found.values["half"]) == (16, 2**30)


@pytest.mark.slow
def test_a_launch_raises() -> None:
    x, out = torch.zeros(64), torch.zeros(64)
    with tx.sanitize("overflow,bounds", action="suppress", raises=True):
        load_wrapped[(1,)](x, out, 2**30, B=16)
        with pytest.raises(tx.sanitize.SanitizerError, match="wraps in i32"):
            load_wrapped[(2,)](x, out, 2**30, B=16)
        load_wrapped[(1,)](x, out, 2**30, B=16)


def test_numbers_of_a_launch() -> None:
    """Equal numbers have equal keys, and tensors, floats and constants do not matter."""
    kinds = {"x": "*fp32", "n": "i32", "scale": "fp32", "pair": ("*fp32", "i32"), "B": "constexpr"}
    kernel = SimpleNamespace(src=SimpleNamespace(signature=kinds), metadata=SimpleNamespace(name="kernel"))
    launches = _launched.Launches(kernel)
    x, y = torch.zeros(3), np.zeros(4)
    key = launches.key((1, 2, 3), (x, 5, 0.5, (x, 7), 64))
    assert key == launches.key((1, 2, 3), (y, np.int32(5), 1.5, (y, 7)))
    assert key != launches.key((1, 2, 3), (x, 5, 0.5, (x, 8), 64))
    assert key != launches.key((1, 2, 4), (x, 5, 0.5, (x, 7), 64))
    assert launches.key((1, 1, 1), (x, 5)) != launches.key((1, 1, 1), (x, 6))  # of which nobody knows what is missing
    kept = _launched._kept((x, y, np.int64(3), "text"))
    assert [getattr(one, "shape", one) for one in kept] == [(3,), (4,), 3, "text"]
