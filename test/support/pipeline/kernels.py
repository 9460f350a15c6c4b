# SPDX-License-Identifier: Apache-2.0
"""Kernels for the pipeline tests."""

from __future__ import annotations

import triton
import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@triton.jit
def softmax(x, y, n, BLOCK: tl.constexpr):
    """One row of a softmax."""
    i = tl.arange(0, BLOCK)
    row = tl.load(x + tl.program_id(0) * n + i, mask=i < n, other=float("-inf"))
    e = tl.exp(row - tl.max(row, 0))
    tl.store(y + tl.program_id(0) * n + i, e / tl.sum(e, 0), mask=i < n)


@triton.jit(noinline=True)
def square(x):
    """Stays a function: it is not inlined."""
    return x * x


@triton.jit
def squares(x, y, n, BLOCK: tl.constexpr):
    """y = x for the first n * n elements, through a call."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < square(n)
    tl.store(y + i, tl.load(x + i, mask=mask), mask=mask)


@triton.jit
def matmul(a, b, c, K, BLOCK: tl.constexpr):
    """c = a @ b, one tile of it."""
    i = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in range(0, K, BLOCK):
        x = tl.load(a + i[:, None] * K + k + i[None, :])
        y = tl.load(b + (k + i[:, None]) * BLOCK + i[None, :])
        total += tl.dot(x, y)
    tl.store(c + i[:, None] * BLOCK + i[None, :], total)


@gluon.jit
def add_one(x, y, BLOCK: gl.constexpr, THREADS: gl.constexpr):
    """y = x + 1 in Gluon."""
    layout: gl.constexpr = gl.BlockedLayout([1], [THREADS], [4], [0])
    i = gl.arange(0, BLOCK, layout=layout)
    gl.store(y + i, gl.load(x + i) + 1)


SIGNATURE = {"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": "constexpr"}


def source(kernel: triton.JITFunction) -> triton.compiler.ASTSource:
    """Returns `kernel` as a source for `triton.compile`."""
    return triton.compiler.ASTSource(kernel, SIGNATURE, {"BLOCK": 256})
