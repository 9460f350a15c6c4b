# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PLR0917
"""Inputs about masks and rows. All kernels have the same arguments; see the package."""

from __future__ import annotations

import triton
import triton.language as tl

from support.linalg.shared_inputs.inputs import stands_for


@stands_for("addptr_cmpge")
@triton.jit
def low_bounds(x, idx, out, n, m, s):
    i, j = tl.arange(0, 16), tl.arange(0, 16)
    mask = (j + m)[None, :] >= n + m
    tl.store(out + i[:, None] * 16 + j[None, :], tl.load(x + i[:, None] + j[None, :] * 0, mask=mask, other=7))
    tl.store(out + 512 + i[:, None] * 16 + j[None, :], i[:, None] + j[None, :], mask=(i >= n)[:, None])


@stands_for("masked_ldst_2d", "masked_ldst_sitofp_other")
@triton.jit
def boxes(x, idx, out, n, m, s):
    i, j = tl.arange(0, 16), tl.arange(0, 32)
    mask = (i[:, None] + 2 < m * 2) & (j[None, :] + 3 < s)
    other = n.to(tl.float32)
    values = tl.load(x + (i[:, None] + 2) * 64 + j[None, :] + 3, mask=mask, other=other.to(tl.int32))
    tl.store(out + i[:, None] * 32 + j[None, :], values, mask=mask)
    tl.store(out + 1024 + i[:, None] * 32 + j[None, :], values)


@stands_for(
    "unstructured_mask_2d_kernel",
    "generic_mask_2d_kernel",
    "gather_scatter_all_mask",
    "gather_mask_no_other",
    "examples/test_generic_mask",
    "examples/test_unstructured_mask",
)
@triton.jit
def any_mask_of_rows(x, idx, out, n, m, s):
    i, j = tl.arange(0, 8), tl.arange(0, 16)
    mask = (tl.load(idx + i) > 10)[:, None] & (j < s)[None, :]
    values = tl.load(x + i[:, None] * 16 + j[None, :], mask=mask, other=-2)
    tl.store(out + i[:, None] * 16 + j[None, :], values, mask=mask)


@stands_for("unstructured_mask_2d_non_continuous_load_kernel", "generic_mask_2d_non_continuous_load_kernel")
@triton.jit
def any_mask_of_gathered_rows(x, idx, out, n, m, s):
    i, j = tl.arange(0, 8), tl.arange(0, 16)
    rows = tl.load(idx + i)
    mask = (rows > 10)[:, None] & (j < s)[None, :]
    tl.store(out + i[:, None] * 16 + j[None, :], tl.load(x + rows[:, None] * 16 + j[None, :], mask=mask, other=4))


@stands_for("unstructured_mask_2d_non_continuous_store_kernel", "generic_mask_2d_non_continuous_store_kernel")
@triton.jit
def any_mask_of_scattered_rows(x, idx, out, n, m, s):
    i, j = tl.arange(0, 8), tl.arange(0, 16)
    rows = tl.load(idx + i) + i * 32
    mask = (rows % 3 > 0)[:, None] & (j < s)[None, :]
    tl.store(out + rows[:, None] * 16 + j[None, :], tl.load(x + i[:, None] * 16 + j[None, :]), mask=mask)


@stands_for("unstructured_mask_3d_kernel", "generic_mask_3d_kernel")
@triton.jit
def any_mask_of_planes(x, idx, out, n, m, s):
    i, j, k = tl.arange(0, 4), tl.arange(0, 2), tl.arange(0, 8)
    mask = (i < m)[:, None, None] & (tl.load(idx + j) > 7)[None, :, None] & (k < s)[None, None, :]
    places = i[:, None, None] * 16 + j[None, :, None] * 8 + k[None, None, :]
    tl.store(out + places, tl.load(x + places, mask=mask, other=1), mask=(tl.load(idx + k) > 9)[None, None, :])


@stands_for("unstructured_mask_3d_non_continuous_load_kernel", "generic_mask_3d_non_continuous_load_kernel")
@triton.jit
def any_mask_of_gathered_planes(x, idx, out, n, m, s):
    i, j, k = tl.arange(0, 4), tl.arange(0, 2), tl.arange(0, 8)
    rows = tl.load(idx + j)
    mask = (i < m)[:, None, None] & (rows > 7)[None, :, None]
    p = x + i[:, None, None] * 512 + rows[None, :, None] * 8 + k[None, None, :]
    tl.store(out + i[:, None, None] * 16 + j[None, :, None] * 8 + k[None, None, :], tl.load(p, mask=mask, other=1))


@stands_for("unstructured_mask_3d_non_continuous_store_kernel", "generic_mask_3d_non_continuous_store_kernel")
@triton.jit
def any_mask_of_scattered_planes(x, idx, out, n, m, s):
    i, j, k = tl.arange(0, 4), tl.arange(0, 2), tl.arange(0, 8)
    rows = tl.load(idx + j) + j * 32
    mask = (i < m)[:, None, None] & (rows > 7)[None, :, None]
    q = out + i[:, None, None] * 600 + rows[None, :, None] * 8 + k[None, None, :]
    tl.store(q, i[:, None, None] + k[None, None, :] * (j[None, :, None] + 1), mask=mask)


@stands_for("unstructured_mask_nested_bool_and_fallback")
@triton.jit
def bounds_of_multiples(x, idx, out, n, m, s):
    i, j = tl.arange(0, 4), tl.arange(0, 4)
    rows, columns = i * 3, j * 2
    inside = ((rows >= 0) & (rows < 6))[:, None] & ((columns >= 0) & (columns < 4))[None, :]
    tl.store(out + i[:, None] * 4 + j[None, :], tl.load(x + rows[:, None] + columns[None, :], mask=inside, other=-128))


@stands_for("gather_scatter_ptr_1d_with_mask", "gather_mask_with_other")
@triton.jit
def masked_gather(x, idx, out, n, m, s):
    i = tl.arange(0, 64)
    tl.store(out + i, tl.load(x + tl.load(idx + i) * 2, mask=i < s, other=3), mask=i < 60)


@stands_for("kernel-02-fused-softmax", "examples/test_softmax")
@triton.jit
def softmax_of_integers(x, idx, out, n, m, s):
    j = tl.arange(0, 64)
    row = tl.load(x + n * 64 + j, mask=j < s, other=-1000)
    row = row - tl.max(row, axis=0)
    tl.store(out + j, row * 100 // (tl.sum(row, axis=0) - 1), mask=j < s)


@stands_for("kernel-05-layer-norm-fwd", "examples/test_layernorm")
@triton.jit
def layer_norm_of_integers(x, idx, out, n, m, s):
    total = tl.zeros((32,), tl.int32)
    for start in range(0, s * 8, 32):
        j = start + tl.arange(0, 32)
        total += tl.load(x + n * s + j, mask=j < s * 8, other=0)
    mean = tl.sum(total, axis=0) // (s * 8)
    for start in range(0, s * 8, 32):
        j = start + tl.arange(0, 32)
        mask = j < s * 8
        tl.store(out + j, (tl.load(x + n * s + j, mask=mask) - mean) * tl.load(x + 9 + j, mask=mask), mask=mask)


@stands_for("kernel-05-layer-norm-dwdb")
@triton.jit
def sums_of_columns(x, idx, out, n, m, s):
    i, j = tl.arange(0, 8), tl.arange(0, 16)
    total = tl.zeros((8, 16), tl.int32)
    for start in range(0, 24, 8):
        rows = start + i
        mask = (rows[:, None] < m * 3) & (j[None, :] < s)
        total += tl.load(x + rows[:, None] * 16 + j[None, :], mask=mask, other=0)
    tl.store(out + j, tl.sum(total, axis=0), mask=j < s)
