# SPDX-License-Identifier: Apache-2.0
"""What a launch on the CPU backend costs the host with checks: ``TRITON_DEFAULT_BACKEND=cpu python FILE``.

Processor time of a launch of a vector add of 1024 floats, whose arguments stay the same, with one thread: the least of
seven rounds.
"""

from __future__ import annotations

import time

import torch
import triton
import triton.language as tl

import triton_ext as tx

LAUNCHES, ROUNDS = 3000, 7


@triton.jit
def add(x, y, out, n, B: tl.constexpr):  # noqa: N803
    i = tl.program_id(0) * B + tl.arange(0, B)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask, other=0) + tl.load(y + i, mask=mask, other=0), mask=mask)


def microseconds() -> float:
    """Returns the processor time of a launch."""
    x, y, out = (torch.zeros(1024) for _ in range(3))
    rounds = []
    for count in (10, *[LAUNCHES] * ROUNDS):
        start = time.process_time()
        for _ in range(count):
            add[(1,)](x, y, out, 1024, B=1024, num_threads=1)
        rounds.append((time.process_time() - start) / count)
    return min(rounds[1:]) * 1e6


def main() -> None:
    torch.set_num_threads(1)
    print(f"{'without checks':24} {microseconds():6.1f} us")
    for checks in ("bounds", "bounds,lanes,overflow,hints", "all"):
        with tx.sanitize(checks):
            print(f"{checks:24} {microseconds():6.1f} us", flush=True)


if __name__ == "__main__":
    main()
