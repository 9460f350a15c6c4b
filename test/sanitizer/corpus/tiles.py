# SPDX-License-Identifier: Apache-2.0
"""Accesses of two and three dimensions that leave their tensor: strides, transposed tiles, masks of one dimension."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from support.sanitizer.cases import case


@case(
    "bounds", "2-D, no mask of rows", lambda t: {"x": t(20, 30), "out": t(32, 32), "rows": 20, "columns": 30},
    "x", lane=640, lanes=360, at=(20, 0),
)  # fmt: skip
@triton.jit
def rows_without_mask(x, out, rows, columns, BUG: tl.constexpr):
    r, c = tl.arange(0, 32)[:, None], tl.arange(0, 32)[None, :]
    v = tl.load(x + r * columns + c, mask=(c < columns) & (r < (32 if BUG else rows)), other=0)  # BUG
    tl.store(out + r * 32 + c, v)


@case(
    "bounds", "2-D, strides swapped",
    lambda t: {"x": t(16, 24), "out": t(16, 32), "a": 1 if t.bug else 24, "b": 24 if t.bug else 1},
    "x", lane=16, lanes=128, at=(16, 0),
)  # fmt: skip
@triton.jit
def swapped_strides(x, out, a, b, BUG: tl.constexpr):
    r, c = tl.arange(0, 16)[:, None], tl.arange(0, 32)[None, :]
    v = tl.load(x + r * a + c * b, mask=c < 24, other=0)  # BUG
    tl.store(out + r * 32 + c, v)


@case(
    "bounds", "2-D, stride of padded rows", lambda t: {"x": t(10, 20), "out": t(16, 32), "stride": 32 if t.bug else 20},
    "x", lane=200, lanes=72, at=(10, 0),
)  # fmt: skip
@triton.jit
def stride_of_padded_rows(x, out, stride, BUG: tl.constexpr):
    r, c = tl.arange(0, 16)[:, None], tl.arange(0, 32)[None, :]
    v = tl.load(x + r * stride + c, mask=(r < 10) & (c < 20), other=0)  # BUG
    tl.store(out + r * 32 + c, v)


@case(
    "bounds", "3-D, a batch too many", lambda t: {"x": t(3, 8, 16), "out": t(4, 8, 16)},
    "x", grid=(1, 1, 4), program=(0, 0, 3), lane=0, lanes=128, at=(3, 0, 0),
)  # fmt: skip
@triton.jit
def batch_too_many(x, out, BUG: tl.constexpr):
    batch = tl.program_id(2)
    at = tl.arange(0, 8)[:, None] * 16 + tl.arange(0, 16)[None, :]
    v = tl.load(x + batch * 128 + at, mask=(batch < 3) | BUG, other=0)  # BUG
    tl.store(out + batch * 128 + at, v)


@case(
    "bounds", "2-D, rows from the end", lambda t: {"x": t(16, 8), "out": t(16, 8)},
    "x", lane=0, lanes=8, at=(16, 0),
)  # fmt: skip
@triton.jit
def rows_from_the_end(x, out, BUG: tl.constexpr):
    r, c = tl.arange(0, 16)[:, None], tl.arange(0, 8)[None, :]
    v = tl.load(x + ((16 if BUG else 15) - r) * 8 + c)  # BUG
    tl.store(out + r * 8 + c, v)


@case(
    "bounds", "a vector of rows indexed with columns", lambda t: {"bias": t(16), "out": t(16, 32)},
    "bias", lane=16, lanes=16, at=(16,),
)  # fmt: skip
@triton.jit
def vector_of_rows(bias, out, BUG: tl.constexpr):
    r, c = tl.arange(0, 16), tl.arange(0, 32)
    if BUG:
        v = tl.load(bias + c)[None, :]  # BUG
    else:
        v = tl.load(bias + r)[:, None]
    tl.store(out + r[:, None] * 32 + c[None, :], v.broadcast_to(16, 32))


@case(
    "bounds", "2-D, masks swapped", lambda t: {"x": t(10, 24), "out": t(32, 32), "rows": 10, "columns": 24},
    "x", lane=320, lanes=140, at=(10, 0),
)  # fmt: skip
@triton.jit
def swapped_masks(x, out, rows, columns, BUG: tl.constexpr):
    r, c = tl.arange(0, 32)[:, None], tl.arange(0, 32)[None, :]
    inside = (r < columns) & (c < rows) if BUG else (r < rows) & (c < columns)
    v = tl.load(x + r * columns + c, mask=inside, other=0)  # BUG
    tl.store(out + r * 32 + c, v)


@case(
    "bounds", "a diagonal", lambda t: {"x": t(16, 20), "out": t(32)},
    "x", lane=16, lanes=16, at=(16, 16),
)  # fmt: skip
@triton.jit
def diagonal(x, out, BUG: tl.constexpr):
    i = tl.arange(0, 32)
    v = tl.load(x + i * 21, mask=i < (32 if BUG else 16), other=0)  # BUG
    tl.store(out + i, v)


@case(
    "bounds", "transposed pointers, mask not transposed", lambda t: {"x": t(8, 30), "out": t(32, 32)},
    "x", lane=8, lanes=720, at=(8, 0),
)  # fmt: skip
@triton.jit
def transposed_pointers(x, out, BUG: tl.constexpr):
    r, c = tl.arange(0, 32)[:, None], tl.arange(0, 32)[None, :]
    inside = (r < 30) & (c < (32 if BUG else 8))
    pointers = tl.trans(x + r * 30 + c)
    v = tl.load(pointers, mask=inside, other=0)  # BUG
    tl.store(out + r * 32 + c, v)


@case(
    "bounds", "3-D tile", lambda t: {"x": t(3, 5, 6), "out": t(4, 8, 8)},
    "x", lane=192, lanes=30, at=(3, 0, 0),
)  # fmt: skip
@triton.jit
def tile_of_three_dimensions(x, out, BUG: tl.constexpr):
    a = tl.arange(0, 4)[:, None, None]
    b = tl.arange(0, 8)[None, :, None]
    c = tl.arange(0, 8)[None, None, :]
    inside = (b < 5) & (c < 6) & (a < (4 if BUG else 3))
    v = tl.load(x + a * 30 + b * 6 + c, mask=inside, other=0)  # BUG
    tl.store(out + a * 64 + b * 8 + c, v)


@case(
    "bounds", "program ids swapped", lambda t: {"x": t(32, 64), "out": t(64, 64)},
    "x", grid=(2, 4), program=(0, 2), lane=0, lanes=1024, at=(32, 0),
)  # fmt: skip
@triton.jit
def swapped_program_ids(x, out, BUG: tl.constexpr):
    row = tl.program_id(1) if BUG else tl.program_id(0)
    column = tl.program_id(0) if BUG else tl.program_id(1)
    r = row * 16 + tl.arange(0, 16)[:, None]
    c = column * 16 + tl.arange(0, 16)[None, :]
    v = tl.load(x + r * 64 + c)  # BUG
    tl.store(out + r * 64 + c, v)


@case(
    "bounds", "store, column-major", lambda t: {"x": t(16, 16), "out": t(16, 12)},
    "out", lane=12, lanes=64, at=(16, 0),
)  # fmt: skip
@triton.jit
def column_major_store(x, out, BUG: tl.constexpr):
    r, c = tl.arange(0, 16)[:, None], tl.arange(0, 16)[None, :]
    v = tl.load(x + r * 16 + c)
    tl.store(out + r + c * 16, v, mask=c < (16 if BUG else 12))  # BUG


@case(
    "bounds", "an expanded tensor, stride 0",
    lambda t: {"x": t(1, 32).expand(8, 32), "out": t(8, 32), "stride": 32 if t.bug else 0},
    "x", lane=32, lanes=224,
)  # fmt: skip
@triton.jit
def expanded(x, out, stride, BUG: tl.constexpr):
    r, c = tl.arange(0, 8)[:, None], tl.arange(0, 32)[None, :]
    v = tl.load(x + r * stride + c)  # BUG
    tl.store(out + r * 32 + c, v)


@case(
    "bounds", "matmul, tail of K", lambda t: {
        "x": t(16, 40, dtype=torch.float16), "y": t(40, 16, dtype=torch.float16), "out": t(16, 16), "K": 40
    },
    "y", lane=128, lanes=384, at=(40, 0),
)  # fmt: skip
@triton.jit
def tail_of_k(x, y, out, K, BUG: tl.constexpr):
    m, k = tl.arange(0, 16), tl.arange(0, 32)
    at_x, at_y = x + m[:, None] * K + k[None, :], y + k[:, None] * 16 + m[None, :]
    total = tl.zeros((16, 16), tl.float32)
    for start in range(0, K, 32):
        a = tl.load(at_x, mask=k[None, :] < K - start, other=0)
        b = tl.load(at_y, mask=k[:, None] < (K if BUG else K - start), other=0)  # BUG
        total = tl.dot(a, b, total)
        at_x += 32
        at_y += 32 * 16
    tl.store(out + m[:, None] * 16 + m[None, :], total)
