# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PLR0917
"""Inputs about pointers that loops carry. All kernels have the same arguments; see the package."""

from __future__ import annotations

import triton
import triton.language as tl

from support.linalg.shared_inputs.inputs import stands_for


@stands_for("addptr_for_accumulation", "addptr_for_used_before_update", "addptr_scalar_for")
@triton.jit
def advances_after_use(x, idx, out, n, m, s):
    i, j = tl.arange(0, 4), tl.arange(0, 16)
    p, q = x + i[:, None] * s + j[None, :], x + n
    total = tl.zeros((4, 16), tl.int32)
    for _ in range(m):
        total += tl.load(p) + tl.load(q)
        p += 3
        q += s
    tl.store(out + i[:, None] * 16 + j[None, :], total)


@stands_for("addptr_for_used_after_update", "addptr_scalar_for_2d")
@triton.jit
def advances_before_use(x, idx, out, n, m, s):
    i = tl.arange(0, 64)
    p, q = x + i, x + n
    for _ in range(m):
        p += s
        q += 5
        tl.store(out + i, tl.load(p) - tl.load(q + i))
        out += 64


@stands_for("addptr_for_expand_ptr")
@triton.jit
def expanded_in_the_loop(x, idx, out, n, m, s):
    i, j = tl.arange(0, 16), tl.arange(0, 8)
    p = x + i * s
    for _ in range(m):
        tl.store(out + i[:, None] * 8 + j[None, :], tl.load(p[:, None] + j[None, :] * 2))
        p += n
        out += 128


@stands_for("addptr_for_more_init_args")
@triton.jit
def carries_numbers_between_pointers(x, idx, out, n, m, s):
    i = tl.arange(0, 32)
    p, q, a, b = x + i, x + n + i * 2, n, m
    total = i * 0
    for _ in range(m):
        total += tl.load(p) * a - tl.load(q) * b
        p, q, a, b = p + a, q + 3, b, a + 1
    tl.store(out + i, total)


@stands_for(
    "addptr_scalar_nested",
    "nested_loops",
    "nested_ptr_in_iterargs",
    "scf_for_ptr_in_iterargs",
    "examples/test_nested_loops",
)
@triton.jit
def nested_loops(x, idx, out, n, m, s):
    i, j = tl.arange(0, 2), tl.arange(0, 8)
    p = x + i[:, None] * s + j[None, :]
    q = out + i[:, None] * 8 + j[None, :]
    for _ in range(2):
        p += 1
        for _ in range(3):
            tl.store(q, tl.load(p))
            p += tl.full((2, 8), 3, tl.int64)
            q += 16
        p += s * 2


@stands_for("ridiculously_nested_loops")
@triton.jit
def four_loops(x, idx, out, n, m, s):
    i = tl.arange(0, 8)
    p, q = x + i * 2, out + i
    for a in range(2):
        for b in range(3):
            p += b
            for _ in range(2):
                tl.store(q, tl.load(p))
                q += 8
                for d in range(n):
                    p += a + d
                    tl.store(q, tl.load(p) + d)
                q += 8
        p += s


@stands_for(
    "tensor_indices_loop_iterargs_nested",
    "tensor_indices_loop_iterargs_not_used_ptranalysis_e2e",
    "tensor_indices_loop_iterargs_not_used_ptranalysis_prepass",
    "examples/test_tensor_index_iterargs",
)
@triton.jit
def carries_indices(x, idx, out, n, m, s):
    i = tl.arange(0, 16)
    a, b, unused = i, i, i
    for turn in range(3):
        a += turn * 2
        tl.store(out + b, tl.load(x + a))
        b += 16
        unused += a
        for inner in range(2):
            a += inner * 3
            tl.store(out + b, tl.load(x + a))
            a += 4
            b += 16
    tl.store(out + 512 + i, unused)


@stands_for(
    "tensor_indices_loop_iterarg_with_masks",
    "mask_loop_iter_arg",
    "mask_loop_iter_arg_scalar",
    "examples/test_mask_loop_iter_arg",
)
@triton.jit
def masks_of_carried_indices(x, idx, out, n, m, s):
    i, one = tl.arange(0, 16), tl.arange(0, 1)
    a, b = i, one + n
    for _ in range(4):
        tl.store(out + a, tl.load(x + a, mask=a < s, other=-11), mask=a < 40)
        tl.store(out + 100 + b, tl.load(x + b, mask=b < s), mask=b < s)
        a += 16
        b += 2


@stands_for(
    "scalar_store_loop",
    "scalar_store_loop_iterargs",
    "scalar_store",
    "scalar_store_nested_loop",
    "scalar_store_no_iterargs",
    "triton_to_unstructured_scalar_ptr_loop",
    "examples/test_scalar_store",
)
@triton.jit
def scalars_in_loops(x, idx, out, n, m, s):
    p = out
    for a in range(m):
        for b in range(n):
            tl.store(p, tl.load(x + a * s + b))
            p += 1
    tl.store(out + 2000, m)


@stands_for(
    "gather_simple_loop",
    "gather_no_mask",
    "gather_nested",
    "gather_reuse_loop_results",
    "test_offset_bitwidth",
    "examples/test_gather",
)
@triton.jit
def gathers_in_loops(x, idx, out, n, m, s):
    i = tl.arange(0, 16)
    a, p = (i // 3) + n.to(tl.int64), x + i // 5
    total = i * 0
    for turn in range(3):
        total += tl.load(x + a) + tl.load(p)
        a += s
        for _ in range(turn):
            total += tl.load(x + a)
            p += 7
            a += m
    tl.store(out + i, total + tl.load(x + a))


@stands_for(
    "gather_scatter_ptr_1d_with_loop",
    "gather_scatter_ptr_in_loop",
    "gather_scatter_ptr_in_loop_to_linalg",
    "gather_no_loop",
)
@triton.jit
def groups_in_a_loop(x, idx, out, n, m, s):
    i = tl.arange(0, 16)
    p, q = x + i // 4, out + i
    for _ in range(m):
        tl.store(q, tl.load(p))
        p += 10
        q += 16
