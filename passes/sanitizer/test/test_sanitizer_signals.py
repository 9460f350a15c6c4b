# SPDX-License-Identifier: Apache-2.0
"""Programs that wait for each other's signals do not race; a race that no signal can order is found."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_ext as tx

pytestmark = [pytest.mark.usefixtures("on_native_backend", "ways_to_look"), pytest.mark.keeps_kernels]


@triton.jit
def chain(flags, data, WRONG: tl.constexpr, BLOCK: tl.constexpr):
    """Each program adds one to what the program before it has stored."""
    p = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    if p > 0:
        if WRONG == "relaxed wait":
            tl.atomic_poll(flags + p - 1, 1, sem="relaxed")
        elif WRONG != "no wait":
            tl.atomic_poll(flags + p - 1, 1)
        tl.store(data + p * BLOCK + i, tl.load(data + (p - 1) * BLOCK + i) + 1)
    if WRONG == "relaxed signal":
        tl.atomic_xchg(flags + p, 1, sem="relaxed")
    elif WRONG == "signal of one program":
        tl.atomic_xchg(flags + p, 1, scope="cta")
    else:
        tl.atomic_xchg(flags + p, 1, sem="release")


def found_in_chain(wrong: str, dtype: torch.dtype) -> tuple[list[Any], dict[str, int]]:
    flags, data = torch.zeros(40, dtype=torch.int32), torch.zeros(40, 16, dtype=dtype)
    with tx.sanitize("race") as report:
        chain[(40,)](flags, data, WRONG=wrong, BLOCK=16)
    if not wrong:
        assert torch.equal(data, torch.arange(40, dtype=dtype)[:, None].expand(40, 16))
    return report.findings, report.counts()


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.int8, torch.float16, torch.float32])
def test_a_chain_of_programs_does_not_race(dtype: torch.dtype) -> None:
    """Nothing is said of the load and the store, which waits and signals order."""
    findings, counts = found_in_chain("", dtype)
    assert findings == []
    assert (counts["checked"], counts["unsupported"]) == (0, 4)


@pytest.mark.slow
@pytest.mark.parametrize("wrong", ["relaxed wait", "no wait", "relaxed signal", "signal of one program"])
def test_a_chain_without_its_order_races(wrong: str) -> None:
    findings, counts = found_in_chain(wrong, torch.float32)
    assert {(one.check, one.argument) for one in findings} == {("race", "data")}
    assert counts["unsupported"] == 0


@triton.jit
def last_one_adds(x, parts, out, count, WRONG: tl.constexpr, BLOCK: tl.constexpr):  # noqa: PLR0917
    """The program that comes last adds what all have stored."""
    p, programs = tl.program_id(0), tl.num_programs(0)
    i = tl.arange(0, BLOCK)
    tl.store(parts + (0 if WRONG == "part" else p) * BLOCK + i, tl.load(x + p * BLOCK + i))
    if WRONG == "at least":
        is_last = tl.atomic_add(count, 1) >= programs - 1
    else:
        is_last = tl.atomic_add(count, 1) == programs - 1
    if is_last:
        total = tl.zeros([BLOCK], tl.float32)
        for k in range(programs):
            total += tl.load(parts + k * BLOCK + i)
        tl.store(out + i, total)
    elif WRONG == "out":
        tl.store(out + i, 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
@pytest.mark.parametrize("wrong", ["", "at least", "part", "out"])
def test_the_last_program_adds(wrong: str, dtype: torch.dtype) -> None:
    """Two programs that store before their signals race, and so do two that store behind their waits.

    The loads of `x` may have a size of their own, with which no access races.
    """
    x, parts, out = torch.ones(20, 16, dtype=dtype), torch.zeros(20, 16), torch.zeros(16)
    with tx.sanitize("race") as report:
        last_one_adds[(20,)](x, parts, out, torch.zeros(1, dtype=torch.int32), WRONG=wrong, BLOCK=16)
    argument = {"part": {"parts"}, "out": {"out"}}.get(wrong, set())
    assert {one.argument for one in report.findings} == argument
    assert report.counts()["unsupported"] >= 1, "the load of the parts"
    if wrong in {"", "at least"}:
        assert out.tolist() == [20] * 16


@triton.jit
def signal_beside_a_lock(data, flag, lock, total, BLOCK: tl.constexpr):
    """The first program stores and signals, but its signal releases nothing; a lock orders something else."""
    p = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    if p == 0:
        tl.store(data + i, 1.0)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(total, tl.load(total) + 1)
    tl.atomic_xchg(lock, 0)
    if p == 0:
        tl.atomic_xchg(flag, 1, sem="relaxed")
    else:
        tl.atomic_poll(flag, 1)
        tl.store(data + BLOCK * p + i, tl.load(data + i))


@pytest.mark.slow
def test_a_lock_is_no_signal() -> None:
    flag, lock = torch.zeros(2, 1, dtype=torch.int32)
    total = torch.zeros(1)
    with tx.sanitize("race") as report:
        signal_beside_a_lock[(8,)](torch.zeros(8, 16), flag, lock, total, BLOCK=16)
    assert {one.argument for one in report.findings} == {"data"}
    assert total.item() == 8


@triton.jit
def tickets(out, count, n, BLOCK: tl.constexpr):
    """Programs take tiles by a counter, which orders nothing."""
    ticket = tl.atomic_add(count, 1)
    while ticket < n:
        tl.store(out + ticket * BLOCK + tl.arange(0, BLOCK), ticket)
        ticket = tl.atomic_add(count, 1)


@triton.jit
def spins(flag, out, BLOCK: tl.constexpr):
    """The first program stores, and the others wait for it."""
    i = tl.arange(0, BLOCK)
    if tl.program_id(0) == 0:
        tl.store(out + i, 1.0)
        tl.atomic_xchg(flag, 1)
    else:
        while tl.atomic_add(flag, 0) < 1:
            pass
        tl.store(out + BLOCK * tl.program_id(0) + i, tl.load(out + i))


@pytest.mark.slow
def test_a_counter_of_tiles_is_no_wait() -> None:
    out, count = torch.zeros(20, 16, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    with tx.sanitize("race") as report:
        tickets[(4,)](out, count, 20, BLOCK=16)
    assert report.findings == []
    assert report.counts()["unsupported"] == 0
    assert torch.equal(out, torch.arange(20, dtype=torch.int32)[:, None].expand(20, 16))


@pytest.mark.slow
def test_a_loop_that_adds_nothing_is_a_wait() -> None:
    out = torch.zeros(8, 16)
    with tx.sanitize("race") as report:
        spins[(8,)](torch.zeros(1, dtype=torch.int32), out, BLOCK=16)
    assert report.findings == []
    assert report.counts()["unsupported"] > 0
    assert out.sum() == 8 * 16
