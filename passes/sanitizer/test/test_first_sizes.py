# SPDX-License-Identifier: Apache-2.0
"""The first size that breaks: of equal arguments, of grids whose numbers alone are known; and why there is none."""

from __future__ import annotations

import json
from typing import Any

import pytest
import triton
import triton.language as tl
from triton_ext.sanitize._expression import guessed

import triton_ext as tx

Tensor = tx.sanitize.Tensor


@triton.jit
def copy_rows(x, out, M, N, stride, B: tl.constexpr):  # noqa: PLR0917
    row = tl.program_id(0)
    i = tl.arange(0, B)
    tl.store(out + row * N + i, tl.load(x + row * stride + i, mask=i < N, other=0.0), mask=i < N)


def checked(rows: int, columns: int, stride: int, grid: Any, vary: Any = None) -> Any:
    x = Tensor((rows, max(columns, stride)), dtype="fp32")
    arguments = (x, x, rows, columns, stride)
    return tx.sanitize.check_launch(copy_rows, *arguments, B=65536, grid=grid, vary=vary, target="cuda:90")


@pytest.mark.slow
def test_equal_sizes_grow_together() -> None:
    """Neither the number of columns nor the stride breaks alone: the other one has broken already."""
    report = checked(70000, 40000, 40000, (70000,))
    last = (2**31 - 1) // 69999  # the last row begins at 69999 times the stride
    for name, other in (("N", "stride"), ("stride", "N")):
        size = report.first_sizes[name]
        assert (size.value, size.is_first, size.others) == (last + 1, True, (other,))
    (text,) = {one.message.rpartition("; ")[2] for one in report.findings}
    assert text == f"N = stride = {last + 1:,} is the first that breaks"
    assert checked(70000, last + 1, last + 1, (70000,))
    assert not checked(70000, last, last, (70000,))


@pytest.mark.slow
def test_sizes_that_differ_do_not_grow_together() -> None:
    report = checked(70000, 40000, 20000, lambda meta: (meta["M"],))
    assert report.first_sizes["N"].others == ()
    assert report.first_sizes["N"].value == (2**31 - 1) // 69999 + 1
    assert report.first_sizes["M"].value == (2**31 - 1) // 40000 + 2
    assert report.without_first_size == {
        "stride": "integers wrap for every value of stride, because of the other arguments"
    }


@pytest.mark.slow
def test_a_size_without_a_first_one_has_a_reason() -> None:
    report = checked(70000, 40000, 40000, (70000,), vary="M")
    assert not report.first_sizes
    reason = (
        "integers wrap for every value of M, because of the other arguments; "
        "the grid stays as it is, and would follow if it were a function"
    )
    assert report.without_first_size == {"M": reason}
    assert f"no first size of M: {reason}" in report.text()
    assert json.loads(report.json())["without_first_size"] == {"M": reason}


def values_of(meta: dict[str, int], text: str) -> Any:
    return eval(text, {"cdiv": triton.cdiv, **meta})


#: Grids, and what they are taken to be.
GUESSES = {
    (40, 1, 1): "(cdiv(n, BLOCK),)",
    (2500, 1, 1): "(n,)",
    (40, 7, 1): "(cdiv(n, BLOCK), m)",
    (280, 1, 1): "(m * cdiv(n, BLOCK),)",
    (3, 1, 1): "(3,)",
    (1, 5, 7): "(1, 5, m)",
    (1, 1, 1): "(1,)",
}


def check_guesses() -> None:
    integers, constants = {"n": 2500, "m": 7, "unit": 1}, {"BLOCK": 64, "STAGES": 1}
    for grid, text in GUESSES.items():
        compute, guess = guessed(grid, integers, constants)
        assert guess == text
        for n in (2500, 1, 64, 65, 9999):
            given = {**integers, **constants, "n": n}
            assert tuple(compute(given)) == tuple(values_of(given, text))
        assert (*compute({**integers, **constants}), 1, 1)[:3] == grid


def test_a_grid_is_guessed() -> None:
    check_guesses()
