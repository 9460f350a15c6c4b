# SPDX-License-Identifier: Apache-2.0
"""The first kernels of Triton's tutorials, as a program: ``tutorial.py N [how]``, where `how` is how it ends."""

from __future__ import annotations

import os
import signal
import sys

import numpy as np
import triton
import triton.language as tl


@triton.jit
def add(x, y, z, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    m = i < n
    tl.store(z + i, tl.load(x + i, mask=m) + tl.load(y + i, mask=m), mask=m)  # <b>add</b>


@triton.jit
def softmax(x, y, columns, N: tl.constexpr):
    row = tl.program_id(0)
    j = tl.arange(0, N)
    v = tl.load(x + row * columns + j, mask=j < columns, other=float("-inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row * columns + j, e / tl.sum(e, axis=0), mask=j < columns)


@triton.jit
def matmul(a, b, c, M, N, K, B: tl.constexpr):  # noqa: PLR0917
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = tl.program_id(1) * B + tl.arange(0, B)
    acc = tl.zeros((B, B), tl.float32)
    for start in range(0, K, B):
        k = start + tl.arange(0, B)
        left = tl.load(a + i[:, None] * K + k[None, :], mask=(i < M)[:, None] & (k < K)[None, :], other=0.0)
        right = tl.load(b + k[:, None] * N + j[None, :], mask=(k < K)[:, None] & (j < N)[None, :], other=0.0)
        acc = tl.dot(left, right, acc)
    tl.store(c + i[:, None] * N + j[None, :], acc, mask=(i < M)[:, None] & (j < N)[None, :])


def main(n: int) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, n)).astype(np.float32)
    z = np.empty_like(x)
    add[(triton.cdiv(n, 256),)](x, y, z, n, N=256)
    np.testing.assert_array_equal(z, x + y)
    x = rng.standard_normal((30, 100)).astype(np.float32)
    y = np.empty_like(x)
    softmax[(30,)](x, y, 100, N=128)
    np.testing.assert_allclose(y, np.exp(x) / np.exp(x).sum(axis=1, keepdims=True), rtol=1e-5)
    a, b = rng.standard_normal((50, 70)).astype(np.float32), rng.standard_normal((70, 40)).astype(np.float32)
    c = np.zeros((50, 40), np.float32)
    matmul[(4, 3)](a, b, c, 50, 40, 70, B=16)
    np.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-4)


if __name__ == "__main__":
    size, how = [*sys.argv[1:], ""][:2]
    main(int(size))
    print("done")
    if how == "exit":
        sys.exit(3)
    if how == "text":
        sys.exit("it ends with a text")
    if how == "error":
        raise ValueError("it fails")
    if how == "interrupt":
        os.kill(os.getpid(), signal.SIGINT)
