# SPDX-License-Identifier: Apache-2.0
"""Programs that take turns by a lock do not race, and those that do not hold it, or another one, do."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_ext as tx

pytestmark = [pytest.mark.usefixtures("on_native_backend", "ways_to_look"), pytest.mark.keeps_kernels]


@triton.jit
def sums(x, out, locks, N, GROUP: tl.constexpr, WRONG: tl.constexpr, BLOCK: tl.constexpr):  # noqa: PLR0917
    """Adds rows in groups, as the backward pass of the layer norm in Triton's tutorials does."""
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    mask = i < N
    lock, count = locks + row % GROUP, locks + GROUP + row % GROUP
    if WRONG == "lock":
        lock = locks + 2 * GROUP + row
    at = out + row % GROUP * N + i
    v = tl.load(x + row * N + i, mask=mask)
    if WRONG == "early":
        v += tl.load(at, mask=mask)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    if tl.load(count) == 0:
        tl.atomic_xchg(count, 1)
    elif WRONG != "early":
        v += tl.load(at, mask=mask)
    tl.store(at, v, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)
    if WRONG == "late":
        tl.store(at, v, mask=mask)


def found(wrong: str, dtype: torch.dtype, rows: int = 37, group: int = 4) -> tuple[list[Any], dict[str, int]]:
    x, out = torch.ones(rows, 20, dtype=dtype), torch.zeros(group, 20, dtype=dtype)
    locks = torch.zeros(2 * group + rows, dtype=torch.int32)
    with tx.sanitize("race") as report:
        sums[(rows,)](x, out, locks, 20, GROUP=group, WRONG=wrong, BLOCK=32)
    if not wrong:
        assert out.sum(0).tolist() == [rows] * 20
    return report.findings, report.counts()


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.int8, torch.float16, torch.float32, torch.float64])
def test_programs_that_take_turns(dtype: torch.dtype) -> None:
    for rows, group in ((37, 4), (37, 1), (64, 37)):
        findings, counts = found("", dtype, rows, group)
        assert [(one.line, one.program, one.other) for one in findings] == []
        assert counts["unsupported"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
@pytest.mark.parametrize("wrong", ["early", "late"])
def test_an_access_without_the_lock(wrong: str, dtype: torch.dtype) -> None:
    findings, _ = found(wrong, dtype)
    assert {one.check for one in findings} == {"race"}
    assert {one.argument for one in findings} == {"out"}
    for one in findings:  # programs of one group
        assert one.other is None or (one.other != one.program and (one.other[0] - one.program[0]) % 4 == 0)


@pytest.mark.slow
def test_programs_with_locks_of_their_own() -> None:
    findings, _ = found("lock", torch.float32)
    assert {one.check for one in findings} == {"race"}
    assert {one.argument for one in findings} == {"out", "locks"}  # also the count, which a plain load reads


@triton.jit
def through_two(x, locks, BOTH: tl.constexpr):
    """The outer lock is one for all; the inner one is that of a parity."""
    inner = locks + 1 + tl.program_id(0) % 2
    while tl.atomic_cas(locks, 0, 1) != 0:
        pass
    if BOTH:
        while tl.atomic_cas(inner, 0, 1) != 0:
            pass
        tl.store(x, tl.load(x) + 1)
        tl.debug_barrier()
        tl.atomic_xchg(inner, 0)
    else:
        tl.store(x, tl.load(x) + 1)
        tl.debug_barrier()
    tl.atomic_xchg(locks, 0)


@pytest.mark.slow
def test_what_is_under_two_locks_is_unsupported() -> None:
    for both in (False, True):
        x = torch.zeros(1)
        with tx.sanitize("race") as report:
            through_two[(16,)](x, torch.zeros(3, dtype=torch.int32), BOTH=both)
        assert report.findings == []
        assert report.counts()["unsupported"] == (2 if both else 0)
        assert x.item() == 16


@triton.jit
def turns_in_a_loop(x, out, locks, n, B: tl.constexpr):
    """A program takes a lock for each block of elements."""
    for block in range(n):
        i = block * B + tl.arange(0, B)
        while tl.atomic_cas(locks + block, 0, 1) != 0:
            pass
        for j in range(2):
            tl.store(out + i, tl.load(out + i) + tl.load(x + j * n * B + i))
        tl.debug_barrier()
        tl.atomic_xchg(locks + block, 0)


@pytest.mark.slow
def test_turns_in_a_loop() -> None:
    out = torch.zeros(64)
    with tx.sanitize("race") as report:
        turns_in_a_loop[(8,)](torch.ones(128), out, torch.zeros(4, dtype=torch.int32), 4, B=16)
    assert report.findings == []
    assert out.tolist() == [16] * 64
