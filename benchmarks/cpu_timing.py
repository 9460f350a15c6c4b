# SPDX-License-Identifier: Apache-2.0
"""Rows of benchmarks/cpu.py, and how they are timed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

Run = Callable[[], object]


@dataclass(frozen=True)
class Case:
    """One row.

    Attributes:
        aim: the most that `ours` may take, in times of `other`.
        kernel: the kernel that `ours` launches, whose compilation is timed.
        versus: what `other` is.
        result: what `ours` has computed; compared with what `expected` returns, or `other` if it is None.
        operations: the operations of the vector code: an exp is 24, an erf 50.
        bytes: the bytes that must be read or written once.
        unit: the unit whose peak the operations are compared with: f32, fp16, bf16 or int8.
    """

    name: str
    aim: float
    kernel: Any
    ours: Run
    other: Run
    versus: str = "torch"
    result: torch.Tensor | None = None
    expected: Callable[[], torch.Tensor] | None = None
    atol: float = 1e-4
    numpy: Run | None = None
    operations: float = 0
    bytes: float = 0
    unit: str = "f32"

    def check(self) -> None:
        """Raises AssertionError if the result is not the expected one."""
        if self.result is None:
            return
        self.result.fill_(77)
        self.ours()
        expected = (self.expected or self.other)()
        assert isinstance(expected, torch.Tensor)
        found = self.result if self.result.is_floating_point() else self.result.double()
        torch.testing.assert_close(found, expected.to(found.dtype), atol=self.atol, rtol=1e-4)


#: Rows by the name of their group, made when they are asked for: their tensors need memory.
Rows = dict[str, Callable[[], Iterator[Case]]]


def seconds(run: Run, budget: float = 1.0, least: int = 5) -> float:
    """Returns the shortest of as many runs as fit, and of at least `least`; the first one if it takes a second."""
    start = time.perf_counter()
    run()
    first = time.perf_counter() - start
    if first > 1:
        return first
    times: list[float] = []
    end = time.perf_counter() + budget
    while len(times) < least or (time.perf_counter() < end and len(times) < 500):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def beside(*runs: Run, turns: int = 8, most: float = 4.0) -> list[float]:
    """Returns the shortest time of each, measured in turns: the bandwidth of the memory changes within seconds.

    The turns end after about `most` seconds: where one run takes a second, a single turn of one run each is left.
    """
    times, end = [], time.perf_counter() + most
    for _ in range(turns):
        start = time.perf_counter()
        times.append([seconds(run, 0.1, 1) for run in runs])
        now = time.perf_counter()
        if now + (now - start) > end:
            break
    return [min(column) for column in zip(*times, strict=True)]


def fastest(runs: dict[Any, Run]) -> Any:
    """Returns the key of the run that takes least, in three turns."""
    keys = list(runs)
    times = beside(*runs.values(), turns=3)
    return keys[times.index(min(times))]
