# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PLR0917
"""Inputs for python/examples, where no other stands for them. All kernels have the same arguments; see the package."""

from __future__ import annotations

import triton
import triton.language as tl

from support.linalg.shared_inputs.inputs import stands_for


@stands_for("examples/test_swap")
@triton.jit
def swaps(x, idx, out, n, m, s):
    i = tl.program_id(0) * 64 + tl.arange(0, 64)
    p, q = out + i, out + 64 + n + i
    a, b = tl.load(p), tl.load(q)
    tl.store(p, b * 2)
    tl.store(q, a)


@stands_for("examples/test_mask")
@triton.jit
def boxes_that_are_empty(x, idx, out, n, m, s):
    i = tl.arange(0, 8)
    far = 100 + i
    tl.store(out + i, tl.load(x + far, mask=far < m, other=-1))
    tl.store(out + 8 + i, i + n, mask=i < -n)


@stands_for("examples/test_mulhiui")
@triton.jit
def high_halves(x, idx, out, n, m, s):
    i = tl.arange(0, 64)
    tl.store(out + i, tl.umulhi(tl.load(x + i) * 1000003, tl.load(x + n + i) * 65539))


@stands_for("examples/test_binary")
@triton.jit
def integers_by_integers(x, idx, out, n, m, s):
    i = tl.arange(0, 64)
    a, b = tl.load(x + i), tl.load(idx + i) + 1
    tl.store(out + i, (a + b) * (a - n) // b)
    tl.store(out + 64 + i, a % b + n % b)
    tl.store(out + 128 + i, a // s * b)
    bytes_of, halves = a.to(tl.int8), b.to(tl.int16)
    tl.store(out + 192 + i, (bytes_of * halves).to(tl.int32) + (bytes_of + bytes_of).to(tl.int32))


@stands_for("examples/test_einsum_qhmd_hmpd_to_qhmp", "examples/test_fix_einsum")
@triton.jit
def products_of_groups(x, idx, out, n, m, s):
    flat, p = tl.program_id(0) * 16 + tl.arange(0, 16), tl.arange(0, 4)
    groups, width = 2, m
    inside = (flat < groups * width * 2)[:, None] & (p < 3)[None, :]
    q, rest = flat // (groups * width), flat % (groups * width)
    h, k = rest // width, rest % width
    total = tl.zeros((16, 4), tl.int32)
    for d in range(n + 1):
        left = tl.load(x + q * 200 + h * 50 + k * 7 + d, mask=flat < groups * width * 2, other=0)
        right = tl.load(x + (h * 50 + k * 9 + d * 3)[:, None] + p[None, :] * s, mask=inside, other=0)
        total += left[:, None] * right
    tl.store(out + (q * 400 + h * 100 + k * 8)[:, None] + p[None, :], total, mask=inside)


@stands_for("examples/test_load_2d_tensor_block", "examples/test_load_2d_tensor_col")
@triton.jit
def tiles_and_columns(x, idx, out, n, m, s):
    rows, columns = 16, 24
    source = tl.make_tensor_descriptor(x, [rows, columns], [columns, 1], [4, 8])
    target = tl.make_tensor_descriptor(out, [rows, columns], [columns, 1], [4, 8])
    for tile in range(2):
        target.store([n + tile * 4, tile * 8], source.load([n + tile * 4, tile * 8]) * 2 + 1)
    i = tl.arange(0, 16)
    tl.store(out + 512 + i * columns + m, tl.load(x + i * columns + m) * 2 + 1)


@stands_for("examples/torch_inductor")
@triton.jit
def columns_first(x, idx, out, n, m, s):
    i, j = tl.program_id(0) * 4 + tl.arange(0, 4)[:, None], tl.arange(0, 64)[None, :]
    tl.store(out + (4 * j + i), tl.load(x + (j + 128 * i), mask=j < s, other=77))
    wrapped = n + (4 * j + i) % 37
    tl.store(out + 512 + (4 * j + i), tl.load(x + wrapped))


@stands_for("examples/unsupported_row_gather", "examples/test_gather_scatter_continuous")
@triton.jit
def neighbours_in_groups(x, idx, out, n, m, s):
    i, j = tl.arange(0, 4) // 4, tl.arange(0, 4)
    at = i[:, None] * s + j[None, :] * m
    p, q = x + at, out + j[:, None] * 4 + j[None, :]
    for _ in range(2):
        tl.store(q, tl.load(p))
        p += 10
        q += 16
    a, b, c = tl.arange(0, 2)[:, None, None], tl.arange(0, 32)[None, :, None], tl.arange(0, 16)[None, None, :]
    whole = a * 512 + b // 8 * 128 + b % 8 * 16 + c
    tl.store(out + 64 + whole, tl.load(x + whole, mask=(a < n) & (c < 8), other=0), mask=(a < 1) | (c < m))
