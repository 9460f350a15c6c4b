# SPDX-License-Identifier: Apache-2.0
"""Pointers from memory and from integers: what points into no tensor of the launch counts as unsupported."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_ext as tx

pytestmark = [pytest.mark.usefixtures("on_native_backend"), pytest.mark.keeps_kernels]


@triton.jit
def sums_of_table(table, x, out, count, n, B: tl.constexpr):  # noqa: PLR0917
    """Adds up the tensors of a table, each in steps of B elements; x is only a tensor of the launch."""
    i = tl.arange(0, B)
    total = tl.load(x + i) * 0
    for number in range(count):
        p = tl.load(table + number).to(tl.pointer_type(tl.float32))
        for start in range(0, n, B):
            total += tl.load(p + start + i, mask=start + i < n, other=0)
    tl.store(out + i, total)


@triton.jit
def lanes_of_table(table, x, out, first, B: tl.constexpr):
    """Each lane has a pointer of its own; those before `first` are off."""
    i = tl.arange(0, B)
    p = tl.load(table + i).to(tl.pointer_type(tl.float32), bitcast=True)
    zero = tl.load(x).to(tl.int32) * 0
    v = tl.load(p + zero, mask=i >= first, other=0)
    tl.store(out + i, v)


@triton.jit
def of_integer(address, x, out):
    v = tl.load(address.to(tl.int64).to(tl.pointer_type(tl.float32)) + 1)
    tl.store(out, v + tl.load(x))


def table_of(*tensors: torch.Tensor) -> torch.Tensor:
    return torch.tensor([one.data_ptr() for one in tensors])


def verdict_of(report: Any, line: str) -> tuple[str, str]:
    """Returns the verdict and its reason on the bounds of the only load whose source line has `line`."""
    from triton_ext.sanitize import _source

    found = {
        (one.verdict, one.why)
        for one in report.accesses
        if one.check == "bounds" and line in _source.text_of(one.file, one.line)
    }
    ((verdict, why),) = found
    return verdict, why


NOWHERE = ("unsupported", "a pointer pointed into no tensor of the launch")


@pytest.mark.parametrize("static", [True, False])
@pytest.mark.parametrize(
    ("others", "expected", "places"),
    [((False,), "checked", 0), ((True,), "unsupported", 0), ((False, True), "unsupported", 0),
     ((True, False), "unsupported", 1)],
)  # fmt: skip
def test_table_of_pointers(others: tuple[bool, ...], expected: str, places: int, static: bool) -> None:
    x, other, out = torch.ones(20), torch.full((20 + places,), 2.0), torch.zeros(8)
    with tx.sanitize("bounds", static=static) as report:
        table = table_of(*(other if is_other else x for is_other in others))
        sums_of_table[(1,)](table, x, out, len(others), 20, B=8)
        verdict = verdict_of(report, "tl.load(p + start")
        assert not report.findings
    assert verdict[0] == expected
    assert (verdict == NOWHERE) == (expected == "unsupported")
    each = sum(2 if is_other else 1 for is_other in others)
    assert out.tolist() == [3 * each] * 4 + [2 * each] * 4


def test_a_wrong_access_beside_an_unknown_one() -> None:
    """A pointer into a tensor of the launch is checked, whatever the others are."""
    x, other = torch.ones(20), torch.ones(64)
    with tx.sanitize("bounds", action="suppress") as report:
        sums_of_table[(1,)](table_of(other, x), x, torch.zeros(8), 2, 21, B=8)
        (found,) = report.findings
        assert verdict_of(report, "tl.load(p + start") == NOWHERE
    assert (found.argument, found.coordinates, found.lanes) == ("x", (20,), 1)


@pytest.mark.parametrize(("first", "expected"), [(1, "checked"), (0, "unsupported")])
def test_lanes_with_pointers_of_their_own(first: int, expected: str) -> None:
    x, other, out = torch.zeros(4), torch.ones(4), torch.zeros(4)
    with tx.sanitize("bounds") as report:
        lanes_of_table[(1,)](table_of(other, x, x[1:], x[3:]), x, out, first, B=4)
        assert not report.findings
        assert verdict_of(report, "tl.load(p + zero")[0] == expected
    assert out.tolist() == [1.0 if first == 0 else 0.0, 0, 0, 0]


def test_an_integer_made_a_pointer() -> None:
    x, other, out = torch.ones(4), torch.full((4,), 2.0), torch.zeros(1)
    with tx.sanitize("bounds") as report:
        of_integer[(1,)](x.data_ptr(), x, out)
        assert verdict_of(report, "address.to")[0] == "checked"
        of_integer[(1,)](other.data_ptr(), x, out)
        assert verdict_of(report, "address.to") == NOWHERE
        of_integer[(1,)](x.data_ptr(), x, out)
        assert verdict_of(report, "address.to") == NOWHERE
        assert not report.findings


@triton.jit
def walks(table, x, y, out, count, B: tl.constexpr):  # noqa: PLR0917
    """Follows a table: the pointer of an iteration comes from the one before."""
    i = tl.arange(0, B)
    p = tl.load(table).to(tl.pointer_type(tl.float32))
    total = tl.load(x + i) * 0 + tl.load(y) * 0
    for number in range(1, count):
        total += tl.load(p + i)
        p = tl.load(table + number).to(tl.pointer_type(tl.float32))
    number = 0
    while number < count:
        p = tl.load(table + number).to(tl.pointer_type(tl.float32)) if number % 2 == 0 else x
        total += tl.load(i + p)
        number += 1
    tl.store(out + i, total)


@triton.jit
def advances(table, x, out, count, B: tl.constexpr):
    i = tl.arange(0, B)
    p = tl.load(table).to(tl.pointer_type(tl.float32))
    total = tl.load(x + i) * 0
    for number in range(count):
        if number == 2:
            p = tl.load(table + 1).to(tl.pointer_type(tl.float32))
        total += tl.load(p + i)
        p += B
    tl.store(out + i, total)


@pytest.mark.parametrize("static", [True, False])
def test_a_pointer_of_an_earlier_iteration_or_of_a_branch(static: bool) -> None:
    x, y, out = torch.ones(8), torch.full((5,), 2.0), torch.zeros(8)
    with tx.sanitize("bounds", static=static) as report:
        walks[(1,)](table_of(x, x, x), x, y, out, 3, B=8)
        assert [verdict_of(report, line)[0] for line in ("tl.load(p + i)", "tl.load(i + p)")] == ["checked"] * 2
        assert not report.findings
        assert out.tolist() == [5.0] * 8
    with tx.sanitize("bounds", action="suppress", static=static) as report:
        walks[(1,)](table_of(x, y, y), x, y, out, 3, B=8)
        found = {(one.line, one.argument, one.coordinates, one.lanes) for one in report.findings}
    lines = [number for number, _, _, _ in sorted(found)]
    assert {(argument, at, lanes) for _, argument, at, lanes in found} == {("y", (5,), 3)}
    assert lines[1] - lines[0] == 5


def test_a_pointer_that_a_loop_advances_is_not_supported() -> None:
    """The advanced pointer may point into the next tensor of the launch, so it says nothing about its own."""
    x, out = torch.ones(16), torch.zeros(8)
    with tx.sanitize("bounds") as report:
        advances[(1,)](table_of(x, x), x, out, 4, B=8)
        verdict, why = verdict_of(report, "tl.load(p + i)")
    assert verdict == "unsupported"
    assert why.startswith("a loop advances the pointer")
    assert out.tolist() == [4.0] * 8
