# SPDX-License-Identifier: Apache-2.0
"""What the host decides of a launch from its numbers: whether an access may be outside of its tensor."""

from __future__ import annotations

import random
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import triton
import triton.language as tl
from triton_ext.probe._slots import Slots
from triton_ext.sanitize import _corners, _looks

import triton_ext as tx

pytestmark = [pytest.mark.usefixtures("on_native_backend"), pytest.mark.keeps_kernels]

BLOCK = 32


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x_ptr + at, mask=at < n) + tl.load(y_ptr + at, mask=at < n)
    tl.store(out_ptr + at, value, mask=at < n)


@triton.jit
def sum_rows(x_ptr, out_ptr, rows, columns, BLOCK: tl.constexpr):
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        total = tl.zeros((BLOCK,), tl.float32)
        for start in range(0, columns, BLOCK):
            at = start + tl.arange(0, BLOCK)
            total += tl.load(x_ptr + row * columns + at, mask=at < columns, other=0.0)
        tl.store(out_ptr + row, tl.sum(total))


@triton.jit
def transpose(x_ptr, out_ptr, rows, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    mask = (row < rows) & (column < columns)
    tl.store(out_ptr + column * rows + row, tl.load(x_ptr + row * columns + column, mask=mask), mask=mask)


@triton.jit
def back(x_ptr, n, least, BLOCK: tl.constexpr):
    at = n - 1 - tl.program_id(0) * BLOCK - tl.arange(0, BLOCK)
    if tl.program_id(0) > 0:
        tl.store(x_ptr + at, 1.0, mask=at >= least)


@triton.jit
def choose(x_ptr, y_ptr, n, first, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    pointer = x_ptr if first > 0 else y_ptr
    tl.store(pointer + at, 1.0, mask=at < n)


def memory(size: int, *, after: int = 0) -> torch.Tensor:
    """Returns zeros; with `after`, a view behind so many elements of its storage."""
    return torch.zeros(max(size, 1) + after)[after:]


def launch_add(n: int, slack: int) -> None:
    x, y, out = memory(n - slack, after=4), memory(n), memory(n)
    add[(triton.cdiv(n, BLOCK),)](x, y, out, n, BLOCK=BLOCK)


def launch_rows(n: int, slack: int) -> None:
    rows, columns = 1 + n % 7, 1 + n % 50
    sum_rows[(3,)](memory(rows * columns - slack), memory(rows, after=2), rows, columns, BLOCK=BLOCK)


def launch_transpose(n: int, slack: int) -> None:
    rows, columns = 1 + n % 61, 1 + n % 37
    x, out = memory(rows * columns), memory(rows * columns - slack)
    transpose[(triton.cdiv(rows, BLOCK), triton.cdiv(columns, BLOCK))](x, out, rows, columns, BLOCK=BLOCK)


def launch_back(n: int, slack: int) -> None:
    back[(1 + triton.cdiv(n, BLOCK),)](memory(n, after=64), n, -slack, BLOCK=BLOCK)


LAUNCHES: tuple[Callable[[int, int], None], ...] = (launch_add, launch_rows, launch_transpose)


@pytest.mark.parametrize("launch", LAUNCHES)
def test_launches_without_a_look(launch: Callable[[int, int], None], monkeypatch: pytest.MonkeyPatch) -> None:
    def unexpected(kernel: Any) -> None:
        raise AssertionError(kernel.metadata.name)

    monkeypatch.setattr(_looks, "_look_of", unexpected)
    rng = random.Random(1)
    with tx.sanitize("bounds") as report:
        for _ in range(8):
            launch(rng.randint(1, 200), 0)
            assert not report.findings


def outcomes(launch: Callable[[int, int], None], n: int, slack: int) -> list[Any]:
    with tx.sanitize("bounds", action="suppress") as report:
        launch(n, slack)
    return report.findings


def nothing(module: Any) -> None:
    """A pass of the user, with which all looks stay in the kernel."""


def assert_as_in_the_kernel(launch: Callable[[int, int], None], seed: int) -> None:
    """Random launches have the findings of a kernel that looks at its own lanes."""
    rng = random.Random(seed)
    number = 0
    for _ in range(12):
        n, slack = rng.randint(2, 200), rng.choice((0, 1, 1, 2, 40))
        found = outcomes(launch, n, slack)
        with tx.Pipeline().at_end("ttir", nothing):
            expected = outcomes(launch, n, slack)
        number += len(expected)
        assert [(one.line, one.lanes, one.coordinates) for one in found] == [
            (one.line, one.lanes, one.coordinates) for one in expected
        ]
    assert number


@pytest.mark.slow
@pytest.mark.parametrize("launch", [*LAUNCHES, launch_back])
def test_findings_as_in_the_kernel(launch: Callable[[int, int], None]) -> None:
    assert_as_in_the_kernel(launch, seed=2)


def test_pointer_of_two_arguments() -> None:
    """The host does not know which one it is, so the lanes are looked at."""
    with tx.sanitize("bounds", action="suppress") as report:
        choose[(1,)](memory(40), memory(40), 32, 1, BLOCK=BLOCK)
        assert not report.findings
        choose[(1,)](memory(40), memory(20), 32, 0, BLOCK=BLOCK)
        assert [one.lanes for one in report.findings] == [12]


def test_runs_of_a_captured_launch() -> None:
    """A graph runs a followed launch again. Its flag has a run for each, and each is looked at once."""
    seen: dict[str, Any] = {}
    end = Slots.end

    def kept(slots: Slots, slot: Any, call: Any = None, stream: int = 0, *, is_followed: bool = False) -> None:
        seen.update(slots=slots, slot=slot, call=call)
        end(slots, slot, call, stream, is_followed=is_followed)

    with pytest.MonkeyPatch.context() as patch, tx.sanitize("bounds", action="suppress") as report:
        patch.setattr(Slots, "end", kept)
        add[(1,)](memory(32), memory(32), memory(20), 32, BLOCK=BLOCK)
        assert [one.lanes for one in report.findings] == [12]
        slot = seen["slot"]
        slot.is_captured, slot.calls[seen["call"]] = True, 1
        seen["slots"]._called[id(slot)] = slot
        slot.memory[slot.flag()] += 3  # as three runs of the graph do
        assert [one.lanes for one in report.findings] == [4 * 12]
        assert [one.lanes for one in report.findings] == [4 * 12]


MUTATIONS = {
    "the last element may be behind the view": ("last >= limits", "last - 4 >= limits", launch_add),
    "the first byte does not matter": ("first < limits[number][0] or ", "", launch_back),
    "an argument points to its storage": ("view[1] - argument.address", "view[1] - argument.storage[0]", launch_add),
    "the stride of rows is forgotten": ("unit * reach for", "reach for", launch_rows),
    "one program decides": ("int(np.max(last))", "int(np.min(last))", launch_transpose),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTATIONS)
def test_a_bug_of_the_corners_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before, after, launch = MUTATIONS[name]
    text = Path(str(_corners.__file__)).read_text()
    assert text.count(before) == 1
    other = types.ModuleType(_corners.__name__)
    other.__package__ = _corners.__package__
    monkeypatch.setitem(sys.modules, _corners.__name__, other)
    exec(compile(text.replace(before, after), "_corners", "exec"), vars(other))
    monkeypatch.setattr(_looks, "corners_of", other.corners_of)
    with pytest.raises(AssertionError):
        assert_as_in_the_kernel(launch, seed=2)
