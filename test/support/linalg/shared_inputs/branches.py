# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PLR0917, SIM108
"""Inputs about pointers that branches choose. All kernels have the same arguments; see the package."""

from __future__ import annotations

import triton
import triton.language as tl

from support.linalg.shared_inputs.inputs import stands_for


@stands_for(
    "gather_scatter_ptr_1d_with_if", "gather_if", "unstructured_in_if", "conditional_ptr_as_src_for_yield_input"
)
@triton.jit
def gathers_in_branches(x, idx, out, n, m, s):
    i = tl.arange(0, 32)
    at = tl.load(idx + i, mask=i < s, other=0)
    if n > 3:
        p = x + at * s + i
    else:
        p = x + m * s + at
    if m > 4:
        tl.store(out + at, tl.load(x + at), mask=at < 20)
    tl.store(out + 64 + i, tl.load(p, mask=i < 30), mask=i < 30)


@stands_for("conditional_ptr_as_src", "arith_select_ptr", "if_in_ptr_sequence", "if_simple_addptr", "if_multiple_ptrs")
@triton.jit
def chosen_pointers(x, idx, out, n, m, s):
    i, j = tl.arange(0, 8), tl.arange(0, 16)
    base = x
    if n > 3:
        base = x + 100
    places = i[:, None] * s + j[None, :]
    p, q = base + places, base + 7 + places
    if m > 4:
        p += 3
        q += s
    r = tl.where(n == 0, p, q)
    tl.store(out + i[:, None] * 16 + j[None, :], tl.load(p) + 2 * tl.load(q) + 3 * tl.load(r))


@stands_for("if_tensor_offset_in_conditional_kernel", "if_returning_multiple_results")
@triton.jit
def chosen_offsets(x, idx, out, n, m, s):
    i, j = tl.arange(0, 16), tl.arange(0, 8)
    if n > 2:
        rows, columns = i * s + n, j
    elif m > 5:
        rows, columns = i * 20 + m, j + 1
    else:
        rows, columns = i * m, j + s
    tl.store(out + i[:, None] * 8 + j[None, :], tl.load(x + rows[:, None] + columns[None, :]))


@stands_for("if_nested", "if_2d_nested", "if_followed_by_if", "if_diff_store_load_at_every_level")
@triton.jit
def nested_branches(x, idx, out, n, m, s):
    i, j = tl.arange(0, 8), tl.arange(0, 8)
    p = x + i[:, None] * 32 + j[None, :]
    if n > 2:
        p += 8
        tl.store(out + i[:, None] * 8 + j[None, :], tl.load(p))
        if m > 4:
            p += s
            tl.store(out + 64 + i[:, None] * 8 + j[None, :], tl.load(p))
        else:
            p = x + i[:, None] * 16 + j[None, :] * 2
    elif s > 8:
        p += m
    if m == 9:
        p += 1
    tl.store(out + 128 + i[:, None] * 8 + j[None, :], tl.load(p))


@stands_for("if_inside_loop", "if_postincrement", "if_preincrement", "if_loop_stress_test")
@triton.jit
def branches_in_loops(x, idx, out, n, m, s):
    i, j = tl.arange(0, 8), tl.arange(0, 8)
    p, q = x + i[:, None] * s + j[None, :], out + i[:, None] * 8 + j[None, :]
    for turn in range(4):
        tl.store(q, tl.load(p))
        q += 64
        p += turn
        for inner in range(3):
            if inner % 2 == 0:
                if turn % 2 == 1:
                    p += 3
                else:
                    p += 2
            tl.store(q, tl.load(p))
            q += 64
            p += inner


@stands_for("if_into_loop", "if_nested_if_wrapping_nested_loops")
@triton.jit
def loops_in_branches(x, idx, out, n, m, s):
    i = tl.arange(0, 16)
    p = x + i
    if n > 2:
        p += m
        if m < 5:
            for _ in range(3):
                p += 16
        else:
            for a in range(2):
                for _ in range(a + 1):
                    p += s
    for _ in range(3):
        tl.store(out + i, tl.load(p))
        p += 1
        out += 16


@stands_for("if_modulo_mixed")
@triton.jit
def one_arm_wraps(x, idx, out, n, m, s):
    i, j = tl.arange(0, 8), tl.arange(0, 8)
    if n > 2:
        p = x + i[:, None] * s + ((j + n) % m)[None, :]
    else:
        p = x + i[:, None] * 16 + j[None, :]
    tl.store(out + i[:, None] * 8 + j[None, :], tl.load(p))


@stands_for(
    "if_returning_mixed_structured_ptrs",
    "if_returning_mixed_structured_ptrs_nested",
    "if_returning_mixed_both_branches_unstructured",
)
@triton.jit
def one_result_is_strided(x, idx, out, n, m, s):
    i, j = tl.arange(0, 16), tl.arange(0, 8)
    places = i[:, None] * s + j[None, :]
    if n > 2:
        p, q = x + n + places, x + places // 2
    else:
        p, q = x + m * 3 + places, x + 50 + places // 3
    tl.store(out + i[:, None] * 8 + j[None, :], tl.load(p) + 3 * tl.load(q))


@stands_for("if_int_to_ptr")
@triton.jit
def pointers_from_integers(x, idx, out, n, m, s):
    i = tl.arange(0, 16)
    if n > 2:
        p = (x.to(tl.int64) + 4 * m).to(tl.pointer_type(tl.int32)) + i
        if m > 4:
            p += 5
    else:
        p = x + i * 2
    tl.store(out + i, tl.load(p))


@stands_for("conditional_block_ptr_as_src")
@triton.jit
def one_arm_without_offsets(x, idx, out, n, m, s):
    i = tl.arange(0, 16)
    if n > 0:
        if m > 4:
            p = x + tl.zeros((16,), tl.int32)
        else:
            p = x + (s * 3 + i)
    else:
        p = out + (64 + s + i)
    tl.store(out + i, tl.load(p))
