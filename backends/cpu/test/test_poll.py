# SPDX-License-Identifier: Apache-2.0
"""tl.atomic_poll: waiting for a value, with and without a timeout, for other programs and for the host."""

from __future__ import annotations

import threading
import time

import pytest
import torch
import triton
import triton.language as tl


@triton.jit
def poll_all(flags, expected, out, timeout, SEM: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    hit = tl.atomic_poll(flags + i, tl.load(expected + i), sem=SEM, timeout_ns=timeout)
    tl.store(out + i, hit.to(tl.int32))
    tl.store(out + BLOCK + i, tl.atomic_poll(flags + i, tl.load(expected), sem=SEM, timeout_ns=0).to(tl.int32))


@pytest.mark.parametrize("sem", ["acquire", "relaxed"])
@pytest.mark.parametrize("dtype", [torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32], ids=str)
def test_elements(sem: str, dtype: torch.dtype) -> None:
    flags = torch.randint(0, 3, (64,)).to(dtype)
    if dtype.is_signed:
        flags[::2] = -flags[::2]
    expected = flags.clone()
    expected[::5] = 7
    out = torch.zeros(128, dtype=torch.int32)
    poll_all[(1,)](flags, expected, out, 0, SEM=sem, BLOCK=64)
    same = [a == b for a, b in zip(flags.tolist(), expected.tolist(), strict=True)]
    assert out[:64].tolist() == [int(hit) for hit in same]
    assert out[64:].tolist() == [int(a == expected[0].item()) for a in flags.tolist()]


def test_a_timeout_is_shared() -> None:
    flags, expected = torch.zeros(64, dtype=torch.int32), torch.ones(64, dtype=torch.int32)
    out = torch.zeros(128, dtype=torch.int32)
    poll_all[(1,)](flags, expected, out, 0, SEM="acquire", BLOCK=64)
    start = time.perf_counter()
    poll_all[(1,)](flags, expected, out, 50_000_000, SEM="acquire", BLOCK=64)
    # All elements share one budget of 50 ms; 64 budgets would take 3.2 s.
    assert 0.05 <= time.perf_counter() - start < 1.6
    assert not out.any()


@triton.jit
def scalar_poll(flag, out):
    tl.store(out, tl.atomic_poll(flag, 5).to(tl.int32))
    tl.store(out + 1, tl.load(flag + 1))


def test_waiting_for_the_host() -> None:
    flag, out = torch.zeros(2, dtype=torch.int32), torch.zeros(2, dtype=torch.int32)
    warm = torch.tensor([5, 1], dtype=torch.int32)
    scalar_poll[(1,)](warm, out)
    assert out.tolist() == [1, 1]
    waiting = threading.Thread(target=lambda: scalar_poll[(1,)](flag, out))
    out.zero_()
    waiting.start()
    time.sleep(0.05)
    assert waiting.is_alive() and not out.any(), "it waits"
    flag[1] = 9
    flag[0] = 5
    waiting.join(10)
    assert not waiting.is_alive() and out.tolist() == [1, 9]


@triton.jit
def chain(flags, data, n, BLOCK: tl.constexpr):
    p = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    if p > 0:
        tl.atomic_poll(flags + p - 1, 1)
        tl.store(data + p * BLOCK + i, tl.load(data + (p - 1) * BLOCK + i) + 1)
    tl.atomic_xchg(flags + p, 1, sem="release")


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_waiting_for_earlier_programs(threads: int) -> None:
    """A program may wait for earlier programs, on any number of threads."""
    flags, data = torch.zeros(200, dtype=torch.int32), torch.zeros(200, 16)
    chain[(200,)](flags, data, 200, BLOCK=16, num_threads=threads)
    assert torch.equal(data, torch.arange(200.0)[:, None].expand(200, 16))


@triton.jit
def never(flag):
    if tl.program_id(0) == 0:
        tl.atomic_poll(flag, 1)
    else:
        # This wait lets the other program begin to poll first, so that the failure ends its poll.
        tl.atomic_poll(flag, 1, timeout_ns=20_000_000)
        tl.device_assert(False, "nobody writes")


def test_a_failure_elsewhere_ends_the_wait() -> None:
    with pytest.raises(RuntimeError, match="nobody writes"):
        never[(2,)](torch.zeros(1, dtype=torch.int32), debug=True, num_threads=2)
