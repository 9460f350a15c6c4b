# SPDX-License-Identifier: Apache-2.0
"""Rows of benchmarks/cpu.py, and how they are timed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from statistics import median
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


#: Rows by the name of their group, made when they are asked for: their tensors need memory. A tuple of rows is measured
#: together.
Rows = dict[str, Callable[[], Iterator[Case | tuple[Case, ...]]]]


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


def turn(run: Run) -> float:
    """Returns the shortest of the runs of 30 ms, after runs of 20 ms; the first one if it takes a second.

    The first 20 ms are not counted: threads of the library that ran before spin for some ms before they sleep.
    """
    times: list[float] = []
    warm = time.perf_counter() + 0.02
    end = warm + 0.03
    while True:
        start = time.perf_counter()
        run()
        now = time.perf_counter()
        if start >= warm or now - start > 1:
            times.append(now - start)
        if times and now >= end:
            return min(times)


class Rounds:
    """The times of some runs in rounds, in each of which every run has one turn: in one order, then in the other one.

    The rounds end after about `most` seconds for each run: where a run takes a second, a round or two are left.

    Attributes:
        times: those of each run, by rounds.
    """

    def __init__(self, runs: Iterable[Run], count: int, most: float = 2.0) -> None:
        self.times: dict[Run, list[float]] = {run: [] for run in runs}
        order = [*self.times]
        for run in order:
            run()  # compiles
        end = time.perf_counter() + most * len(order)
        for _ in range(count):
            start = time.perf_counter()
            for run in order:
                self.times[run].append(turn(run))
            order.reverse()
            now = time.perf_counter()
            if now + (now - start) > end:
                break

    def seconds(self, run: Run) -> float:
        """Returns the median of its times."""
        return median(self.times[run])

    def ratio(self, run: Run, other: Run) -> float:
        """Returns the median of the quotients of the times of the same round: a machine's speed changes by minutes."""
        return median(ours / theirs for ours, theirs in zip(self.times[run], self.times[other], strict=True))


def fastest(runs: dict[Any, Run]) -> Any:
    """Returns the key of the run that takes least: by the median of its times over the medians of their rounds.

    These rounds only choose. The least of several times is often a lucky one, so a row is timed in rounds of its own.
    """
    rounds = Rounds(runs.values(), 5, 0.7)
    middle = [median(times) for times in zip(*rounds.times.values(), strict=True)]

    def relative(key: Any) -> float:
        return median(mine / other for mine, other in zip(rounds.times[runs[key]], middle, strict=True))

    return min(runs, key=relative)
