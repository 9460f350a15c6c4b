# SPDX-License-Identifier: Apache-2.0
"""A kernel that needs its masks only in its last iteration, for which `loop_split` is made."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def matmul(a, b, c, K, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK)):
        left = tl.load(a + i[:, None] * K + (k * BLOCK + i)[None, :], mask=i[None, :] < K - k * BLOCK, other=0.0)
        right = tl.load(b + (k * BLOCK + i)[:, None] * BLOCK + i[None, :], mask=i[:, None] < K - k * BLOCK, other=0.0)
        acc = tl.dot(left, right, acc)
    tl.store(c + i[:, None] * BLOCK + i[None, :], acc)
