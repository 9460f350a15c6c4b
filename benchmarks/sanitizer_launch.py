# SPDX-License-Identifier: Apache-2.0
"""What a launch on the CPU backend costs the host with checks: ``TRITON_DEFAULT_BACKEND=cpu python FILE``.

A vector add of 1024 floats, whose arguments stay the same, with one thread. Warm: processor time of a launch, the least
of seven rounds. Cold: the time of a launch after 128 MiB of other memory were read and written, which leaves nothing of
the host's code in the caches: the median of 300.
"""

from __future__ import annotations

import statistics
import time

import numpy as np
import torch
import triton
import triton.language as tl

import triton_ext as tx

LAUNCHES, ROUNDS, COLD = 3000, 7, 300


@triton.jit
def add(x, y, out, n, B: tl.constexpr):  # noqa: N803
    i = tl.program_id(0) * B + tl.arange(0, B)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask, other=0) + tl.load(y + i, mask=mask, other=0), mask=mask)


def microseconds() -> tuple[float, float]:
    """Returns the processor time of a warm launch, and the time of a cold one."""
    x, y, out = (torch.zeros(1024) for _ in range(3))
    rounds, cold = [], []
    for count in (10, *[LAUNCHES] * ROUNDS):
        start = time.process_time()
        for _ in range(count):
            add[(1,)](x, y, out, 1024, B=1024, num_threads=1)
        rounds.append((time.process_time() - start) / count)
    read, written = (np.zeros(2**24, np.float32) for _ in range(2))
    for _ in range(COLD):
        np.add(read, 1, out=written)
        start = time.perf_counter()
        add[(1,)](x, y, out, 1024, B=1024, num_threads=1)
        cold.append(time.perf_counter() - start)
    return min(rounds[1:]) * 1e6, statistics.median(cold) * 1e6


def show(name: str) -> None:
    """Prints a row of the table."""
    warm, cold = microseconds()
    print(f"{name:28} {warm:6.1f} {cold:6.1f}", flush=True)


def main() -> None:
    torch.set_num_threads(1)
    print(f"{'us':28} {'warm':>6} {'cold':>6}")
    show("without checks")
    for checks in ("bounds", "bounds,lanes,overflow,hints", "all"):
        with tx.sanitize(checks):
            show(checks)
    show("without checks, afterwards")


if __name__ == "__main__":
    main()
