# SPDX-License-Identifier: Apache-2.0
"""Looks at shadows that one loop does for several accesses, and programs whose numbers are far apart."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

import triton_ext as tx
from support.sanitizer.looking import always_look

pytestmark = [pytest.mark.usefixtures("on_native_backend", "ways_to_look"), pytest.mark.keeps_kernels]


@triton.jit
def copy(out, x, n, B: tl.constexpr):
    """The output comes before the input."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = (i < n) & (i % 3 != 1)
    tl.store(out + i, tl.load(x + i, mask=m, other=0.0), mask=m)


def test_unwritten_input_behind_the_output(monkeypatch: pytest.MonkeyPatch) -> None:
    always_look(monkeypatch)
    with tx.sanitize("uninit") as report:
        x, out = torch.zeros(1000), torch.empty(1000)
        copy[(8,)](out, x, 1000, B=128)
        assert report.findings == []
        other = torch.zeros(1000)
        copy[(8,)](other, torch.empty(1000), 1000, B=128)
    (found,) = report.findings
    assert (found.check, found.argument, found.coordinates) == ("uninit", "x", (0,))


@pytest.mark.slow
def test_races_of_an_output_before_the_input() -> None:
    both = torch.zeros(1024)
    with tx.sanitize("race", static=False) as report:
        copy[(8,)](torch.zeros(1000), torch.ones(1000), 1000, B=128)
        assert report.findings == []
        copy[(2,)](both[2:], both, 256, B=128)
    assert {found.check for found in report.findings} == {"race"}


@triton.jit
def slices(x, out, N, K, BN: tl.constexpr, BK: tl.constexpr):  # noqa: PLR0917
    """Programs of one tile store the sums of their slices of K to the same elements."""
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    k = tl.program_id(1) * BK + tl.arange(0, BK)
    v = tl.load(x + n[:, None] * K + k[None, :], mask=(n[:, None] < N) & (k[None, :] < K), other=0.0)
    tl.store(out + n, tl.sum(v, 1), mask=n < N)


@pytest.mark.slow
@pytest.mark.parametrize(("dtype", "tiles"), [(torch.int8, 31), (torch.int8, 64), (torch.float16, 256),
                                              (torch.float16, 4096), (torch.float32, 64)])  # fmt: skip
def test_races_of_programs_that_are_a_power_of_two_apart(dtype: torch.dtype, tiles: int) -> None:
    """There are 64 codes for a byte, and 4096 for two bytes."""
    x, out = torch.zeros(tiles * 4, 64, dtype=dtype), torch.zeros(tiles * 4, dtype=dtype)
    with tx.sanitize("race") as report:
        slices[(tiles, 4)](x, out, tiles * 4, 64, BN=4, BK=16)
    assert [(one.check, one.argument) for one in report.findings] == [("race", "out")]
