# SPDX-License-Identifier: Apache-2.0
"""A kernel whose code is smaller without unrolling, and launches of it, for searches that compare code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
import triton
import triton.language as tl


@triton.jit
def accumulate(x, y, n, BLOCK: tl.constexpr):
    """y = the sum of the rows of x, each halved once for every later row."""
    i = tl.arange(0, BLOCK)
    sums = tl.zeros([BLOCK], tl.float32)
    for k in range(n):
        sums = sums * 0.5 + tl.load(x + k * BLOCK + i)
    tl.store(y + i, sums)


CONFIGS = [triton.Config({"BLOCK": 64})]
GRID = (1,)


def make_inputs() -> Iterator[dict[str, Any]]:
    """Yields a launch of 4000 rows and one of 3, on the CPU."""
    for rows in (4000, 3):
        yield {"x": torch.randn(rows, 64), "y": torch.zeros(64), "n": rows}
