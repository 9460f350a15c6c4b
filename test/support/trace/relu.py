# SPDX-License-Identifier: Apache-2.0
"""The kernel of the traces; tests refer to its line numbers."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def relu(x):
    """The positive part of `x`."""
    return tl.maximum(x, 0.0)


@triton.jit
def matmul(a, b, c, K, BLOCK: tl.constexpr):
    """C = relu(a @ b), one tile: a is BLOCK x K, b is K x BLOCK, row-major, fp16 in and fp32 out."""
    i = tl.arange(0, BLOCK)
    accumulator = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for k in range(0, K, BLOCK):
        left = tl.load(a + i[:, None] * K + (k + i)[None, :])
        right = tl.load(b + (k + i)[:, None] * BLOCK + i[None, :])
        accumulator = tl.dot(left, right, accumulator)
    tl.store(c + i[:, None] * BLOCK + i[None, :], relu(accumulator))
