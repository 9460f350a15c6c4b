# SPDX-License-Identifier: Apache-2.0
"""What the trials of `tx.sanitize` on a GPU share: kernels, launches with a bug, and what a report has to say of it."""

from __future__ import annotations

from collections.abc import Callable

import torch
import triton
import triton.language as tl

N = 1000
TRIALS: list[Callable[[], None]] = []


@triton.jit
def add(x, y, out, n, B: tl.constexpr):  # noqa: N803
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n, other=0) + tl.load(y + i, mask=i < n, other=0), mask=i < n)


@triton.jit
def even(x, n, B: tl.constexpr):  # noqa: N803
    """Which bytes it writes, the host does not know exactly."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + i, 1.0, mask=(i < n) & (i % 2 == 0))


@triton.jit
def overlapping(x, n, B: tl.constexpr):  # noqa: N803
    """Each program also writes what the next one does."""
    i = tl.program_id(0) * B // 2 + tl.arange(0, B)
    tl.store(x + i, 1.0, mask=i < n)


def trial(function: Callable[[], None]) -> Callable[[], None]:
    TRIALS.append(function)
    return function


def arguments(size: int = N) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return torch.ones(size, device="cuda"), torch.ones(1024, device="cuda"), torch.empty(1024, device="cuda")


def launch(n: int = 1024, size: int = N) -> None:
    add[(4,)](*arguments(size), n, B=256)


def expect(report: object, lanes: int) -> None:
    found = [one for one in report.findings if one.check == "bounds"]  # type: ignore[attr-defined]
    assert len(found) == 1, report.text()  # type: ignore[attr-defined]
    one = found[0]
    seen = one.argument, one.coordinates, one.program, one.lane, one.lanes, one.distance
    assert seen == ("x", (N,), (3, 0, 0), N - 768, lanes, 4), seen


def lanes(report: object, check: str) -> int:
    return sum(one.lanes for one in report.findings if one.check == check)  # type: ignore[attr-defined]
