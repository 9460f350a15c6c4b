# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PLR0917
"""Inputs about the arithmetic of pointers. All kernels have the same arguments; see the package."""

from __future__ import annotations

import triton
import triton.language as tl

from support.linalg.shared_inputs.inputs import stands_for


@stands_for("addptr_2d_example", "addptr_loopback", "addptr_mul_const_const", "addptr_mul_value_const")
@triton.jit
def tile_times_numbers(x, idx, out, n, m, s):
    i, j = tl.arange(0, 4), tl.arange(0, 32)
    p = x + (i[:, None] + n) + j[None, :] * 6 + 2 * 3 * s
    tl.store(out + i[:, None] * 32 + j[None, :], tl.load(p) + tl.load(p + 2 * m))


@stands_for(
    "addptr_add_value", "addptr_chain", "sign_extend_i32_to_i64", "examples/test_addptr", "examples/test_sign_extend"
)
@triton.jit
def sums_of_scalars(x, idx, out, n, m, s):
    i = tl.arange(0, 16)
    far = (n + i).to(tl.int64) + m
    p = x + far
    p = p + s
    tl.store(out + i, tl.load(p - 3))


@stands_for("addptr_dim1", "splat_and_mask", "mask_ld_st_scalar_dim")
@triton.jit
def one_row(x, idx, out, n, m, s):
    j = tl.arange(0, 64)[None, :]
    row = tl.arange(0, 1)[:, None] + n
    mask = (row < m) & (j < s)
    tl.store(out + row * 64 + j, tl.load(x + row * s + j, mask=mask, other=-1), mask=mask)


@stands_for("addptr_nested", "use_mid_chain", "arith_not_ptr_arith")
@triton.jit
def chain_of_sums(x, idx, out, n, m, s):
    i, j = tl.arange(0, 8), tl.arange(0, 8)
    p = x + i[:, None] * s
    q = p + j[None, :]
    r = q + (i[:, None] + n)
    tl.store(out + i[:, None] * 8 + j[None, :], tl.load(q) * tl.load(r) + (i[:, None] * 3 - j[None, :]))


@stands_for("addptr_reshape_broadcast", "rank1_split_ptr")
@triton.jit
def split_in_two(x, idx, out, n, m, s):
    k = tl.reshape(tl.arange(0, 64) * s + n, (4, 16))
    tl.store(out + tl.reshape(tl.arange(0, 64), (4, 16)), tl.load(x + k))


@stands_for("addptr_scalar_broadcast", "addptr_scalar_splat", "addptr_scalar_splat_2d", "addptr_scalar_loopback")
@triton.jit
def scalar_pointers(x, idx, out, n, m, s):
    p = x + n * m
    i, j = tl.arange(0, 4), tl.arange(0, 8)
    tl.store(out + i[:, None] * 8 + j[None, :], tl.load(p + i[:, None] * s + j[None, :]))
    tl.store(out + 100, tl.load(p + 1))


@stands_for("addptr_minsi_maxsi")
@triton.jit
def clamped(x, idx, out, n, m, s):
    i = tl.arange(0, 64)
    tl.store(out + i, tl.load(x + tl.minimum(i, n)) + tl.load(x + tl.maximum(tl.minimum(i, m), s)))


@stands_for("addptr_bitcast", "bitcast_ptrs_tensor", "bitcast", "examples/test_bitcast_ptr")
@triton.jit
def other_type_of_one_size(x, idx, out, n, m, s):
    i = tl.arange(0, 32)
    p = (x + n + i).to(tl.pointer_type(tl.float32), bitcast=True)
    tl.store(out + i, tl.load(p).to(tl.int32, bitcast=True))


@stands_for("bitcast_ptr_unstructured")
@triton.jit
def casts_of_carried_pointers(x, idx, out, n, m, s):
    i = tl.arange(0, 32)
    p = x + i // 3
    for _ in range(m):
        q = (p.to(tl.pointer_type(tl.float32), bitcast=True) + n).to(tl.pointer_type(tl.int32), bitcast=True) + 16
        tl.store(out + i, tl.load(q))
        p += s
        out += 32


@stands_for("bitcast_ptr_unstructured_invalid")
@triton.jit
def other_type_of_another_size(x, idx, out, n, m, s):
    i = tl.arange(0, 32)
    p = (x + n + i).to(tl.pointer_type(tl.int16), bitcast=True) + m
    tl.store(out + i, tl.load(p).to(tl.int32))


@stands_for("expand_dims_preserve_axis")
@triton.jit
def expanded_pointers(x, idx, out, n, m, s):
    i = tl.arange(0, 2)
    p, q = x + n + i, out + i
    tl.store(q[None, :], tl.load(p[None, :]))


@stands_for("cast_ptr")
@triton.jit
def bits_as_bytes(x, idx, out, n, m, s):
    i = tl.arange(0, 32)
    p = (out + i).to(tl.pointer_type(tl.int1), bitcast=True)
    tl.store(p + 3, tl.load(x + i) == tl.load(x + i + n))


@stands_for("atomics", "atomic_rmw", "examples/test_atomic_rmw")
@triton.jit
def atomics(x, idx, out, n, m, s):
    i, j = tl.arange(0, 16), tl.arange(0, 8)
    old = tl.atomic_add(out + i, tl.load(x + i))
    tl.atomic_add(out + i, old)
    tl.atomic_xchg(out + 64 + i, i + n)
    tl.atomic_add(out + 128 + j[:, None] * 16 + i[None, :], j[:, None] * i[None, :])
    tl.atomic_cas(out + 512 + i, i * 0, i + m)
    tl.atomic_max(out + 600 + tl.load(idx + i), i)


@stands_for("use_end_chain", "dot", "use_dot_opc")
@triton.jit
def product(x, idx, out, n, m, s):
    i, j = tl.arange(0, 16), tl.arange(0, 16)
    a = tl.load(x + i[:, None] * s + j[None, :]).to(tl.float32)
    b = tl.load(x + n + i[:, None] + j[None, :] * 16).to(tl.float32)
    c = tl.dot(a, b, acc=tl.full((16, 16), 2.0, tl.float32), input_precision="ieee")
    tl.store(out + i[:, None] * 16 + j[None, :], c.to(tl.int32) + i[:, None] * 256)


@stands_for("wraparound_side_by_side", "modulo_option", "examples/test_modulo")
@triton.jit
def wraps_along_rows(x, idx, out, n, m, s):
    i, j = tl.arange(0, 4), tl.arange(0, 16)
    columns = (n + j) % m
    p = x + i[:, None] * s + columns[None, :] * 3
    for _ in range(3):
        tl.store(out + i[:, None] * 16 + j[None, :], tl.load(p, mask=i[:, None] < 2, other=-99))
        p += 3
        out += 64


@stands_for("wraparound_stacked", "wraparound_stacked_load", "wraparound_1d", "wraparound_static_shape")
@triton.jit
def wraps_along_columns(x, idx, out, n, m, s):
    i, j = tl.arange(0, 16), tl.arange(0, 4)
    rows = (n + i) % m
    tl.store(out + i[:, None] * 4 + j[None, :], tl.load(x + rows[:, None] * s + j[None, :]))
    tl.store(out + 64 + i, tl.load(x + (n + i) % 7))


@stands_for("wraparound_unsupported_add_offset")
@triton.jit
def sum_after_a_remainder(x, idx, out, n, m, s):
    i, j = tl.arange(0, 4), tl.arange(0, 16)
    columns = j % m + n
    p = x + (i[:, None] + 2) * s + columns[None, :] * 5
    for _ in range(2):
        tl.store(out + i[:, None] * 16 + j[None, :], tl.load(p, mask=i[:, None] < 3, other=-99))
        p += 4 * s
        out += 64


@stands_for(
    "gather_scatter_ptr",
    "gather_scatter_ptr_simple",
    "gather_scatter_ptr_simple_to_memref",
    "indirect_ptr_simple",
    "examples/test_gather_scatter",
)
@triton.jit
def rows_by_index(x, idx, out, n, m, s):
    i, j = tl.arange(0, 8), tl.arange(0, 16)
    rows = tl.load(idx + i)
    tl.store(out + (i * 2)[:, None] * 16 + j[None, :], tl.load(x + rows[:, None] * s + j[None, :]))


@stands_for("indirect_ptr", "gather_scatter_ptr_to_linalg")
@triton.jit
def rows_of_groups(x, idx, out, n, m, s):
    i, j = tl.arange(0, 16), tl.arange(0, 16)
    place = (i % 8 + n)[:, None] * s + (i // 8 + m)[:, None] * 100
    mask = (j[None, :] < 9) & (i[:, None] < n * 3)
    tl.store(out + i[:, None] * 16 + j[None, :], tl.load(x + place + j[None, :], mask=mask), mask=mask)


@stands_for("gather_scatter_ptr_3d", "gather_scatter_ptr_3d_to_linalg")
@triton.jit
def planes_by_index(x, idx, out, n, m, s):
    i, j, k = tl.arange(0, 4), tl.arange(0, 2), tl.arange(0, 8)
    rows = tl.load(idx + j)
    p = x + i[:, None, None] * 100 + rows[None, :, None] * s + k[None, None, :]
    q = out + i[:, None, None] * 16 + j[None, :, None] * 8 + k[None, None, :]
    tl.store(q, tl.load(p, mask=k[None, None, :] < n, other=0))


@stands_for("gather_scatter_double_mod")
@triton.jit
def remainders_of_both(x, idx, out, n, m, s):
    i, j = tl.arange(0, 8), tl.arange(0, 8)
    rows, columns = (i + n) % m, (j * 2 + m) % (s + 1)
    tl.store(out + i[:, None] * 8 + j[None, :], tl.load(x + rows[:, None] * s + columns[None, :]))


@stands_for("index_select_row_i64_index", "examples/test_index_select")
@triton.jit
def rows_by_wide_index(x, idx, out, n, m, s):
    i, j = tl.arange(0, 4), tl.arange(0, 16)
    rows = tl.load(idx + i).to(tl.int64)
    tl.store(out + i[:, None] * 16 + j[None, :], tl.load(x + rows[:, None] * s + j[None, :]))


@stands_for("index_select_row_with_mod_plus_offset")
@triton.jit
def rows_by_remainder_of_index(x, idx, out, n, m, s):
    i, j = tl.arange(0, 4), tl.arange(0, 16)
    rows = tl.load(idx + i) % m + n
    tl.store(out + i[:, None] * 16 + j[None, :], tl.load(x + rows[:, None] * s + j[None, :] + 2))


@stands_for("kernel-01-vector-add", "masked_ldst_1d", "get_num_programs", "examples/test_vec_add")
@triton.jit
def vector_add(x, idx, out, n, m, s):
    i = tl.program_id(0) * 16 + tl.arange(0, 16)
    mask = i < m + tl.num_programs(0)
    tl.store(out + i, tl.load(x + i, mask=mask) + tl.load(x + n + i, mask=mask), mask=mask)


@stands_for("kernel-03-matrix-multiplication", "examples/test_matmul", "examples/test_mm", "examples/bare_matmul")
@triton.jit
def matrix_product(x, idx, out, n, m, s):
    i, j, k = tl.arange(0, 16), tl.arange(0, 16), tl.arange(0, 16)
    rows, columns = (n * 16 + i) % (m + 9), (j + 3) % (s + 8)
    a = x + rows[:, None] * 48 + k[None, :]
    b = x + k[:, None] * 20 + columns[None, :]
    total = tl.zeros((16, 16), tl.float32)
    for turn in range(3):
        left = tl.load(a, mask=k[None, :] < 40 - turn * 16, other=0).to(tl.float32)
        right = tl.load(b, mask=k[:, None] < 40 - turn * 16, other=0).to(tl.float32)
        total = tl.dot(left, right, acc=total, input_precision="ieee")
        a += 16
        b += 16 * 20
    mask = (i[:, None] < m + 9) & (j[None, :] < s + 8)
    tl.store(out + i[:, None] * 16 + j[None, :], total.to(tl.int32), mask=mask)
