# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PLR0917
"""Inputs about reductions, scans, and blocks. All kernels have the same arguments; see the package."""

from __future__ import annotations

import triton
import triton.language as tl

from support.linalg.shared_inputs.inputs import stands_for


@stands_for("convert_addi_reduce")
@triton.jit
def sum_of_a_constant(x, idx, out, n, m, s):
    tl.store(out, tl.sum(tl.full((4096,), 0, tl.int32), axis=0))
    tl.store(out + 1, tl.sum(tl.full((4096,), n, tl.int32), axis=0))


@triton.jit
def larger(a, b):
    return tl.where(a > b, a, b)


@triton.jit
def smaller(a, b):
    return tl.where(a < b, a, b)


@stands_for("convert_minmax_reduce")
@triton.jit
def comparisons_reduce(x, idx, out, n, m, s):
    signed = tl.load(x + n + tl.arange(0, 128))
    unsigned = signed.to(tl.uint32, bitcast=True)
    tl.store(out, tl.reduce(signed, 0, larger))
    tl.store(out + 1, tl.reduce(signed, 0, smaller))
    tl.store(out + 2, tl.reduce(unsigned, 0, larger).to(tl.int32, bitcast=True))
    tl.store(out + 3, tl.reduce(unsigned, 0, smaller).to(tl.int32, bitcast=True))


@stands_for("convert_minmax_fp_reduce")
@triton.jit
def extremes_of_floats(x, idx, out, n, m, s):
    values = tl.load(x + n + tl.arange(0, 128)).to(tl.float32) * 0.125
    tl.store(out, tl.max(values, axis=0).to(tl.int32, bitcast=True))
    tl.store(out + 1, tl.min(values, axis=0).to(tl.int32, bitcast=True))
    zeros = tl.zeros((4096,), tl.float32)
    tl.store(out + 2, (tl.max(zeros, axis=0) + tl.min(zeros, axis=0)).to(tl.int32))


@stands_for("convert_argmin_argmax")
@triton.jit
def places_of_extremes(x, idx, out, n, m, s):
    i = tl.arange(0, 512)
    values = tl.load(x + tl.program_id(0) * n + i).to(tl.float32)
    tl.store(out + tl.program_id(0), tl.argmax(values, axis=0))
    tl.store(out + 1 + tl.program_id(0), tl.argmin(values, axis=0))


@stands_for("convert_argmin_argmax_2d")
@triton.jit
def places_of_extremes_of_rows(x, idx, out, n, m, s):
    i, j = tl.arange(0, 16), tl.arange(0, 16)
    values = tl.load(x + i[:, None] * s + j[None, :] * m).to(tl.float32)
    tl.store(out + i, tl.argmax(values, axis=1).to(tl.float32).to(tl.int32, bitcast=True))
    tl.store(out + 16 + i, tl.argmin(values, axis=1).to(tl.float32).to(tl.int32, bitcast=True))


@stands_for("cumsum")
@triton.jit
def sums_up_to_each(x, idx, out, n, m, s):
    i = tl.program_id(0) * n + tl.arange(0, 1024)
    tl.store(out + i, tl.cumsum(tl.load(x + i).to(tl.float32), axis=0).to(tl.int32))


@stands_for(
    "reducesum_512_256_f32_axis0",
    "reducesum_512_256_f32_axis1",
    "reduce_notrans_axis_last",
    "use-alloc-tensor-option",
    "examples/test_reduce",
)
@triton.jit
def sums_of_floats(x, idx, out, n, m, s):
    i, j = tl.arange(0, 64), tl.arange(0, 32)
    values = tl.load(x + i[:, None] * 32 + j[None, :]).to(tl.float32)
    tl.store(out + j, tl.sum(values, axis=0).to(tl.int32, bitcast=True))
    tl.store(out + 32 + i, tl.sum(values, axis=1).to(tl.int32, bitcast=True))


@triton.jit
def both(a, b):
    return a & b


@stands_for("triton-to-structured-prepass")
@triton.jit
def carries_bits(x, idx, out, n, m, s):
    i, j = tl.arange(0, 8), tl.arange(0, 32)
    kept = tl.full((8, 32), True, tl.int1)
    for start in range(0, s * 8, 32):
        columns = start + j
        mask = (i < m)[:, None] & (columns < s * 8)[None, :]
        kept = kept & (tl.load(x + (i * s)[:, None] + columns[None, :], mask=mask, other=1) % 64 != 0)
    tl.store(out.to(tl.pointer_type(tl.int8), bitcast=True) + i, tl.reduce(kept, 1, both).to(tl.int8), mask=i < m)


@stands_for("block_ptr_advance")
@triton.jit
def blocks_that_advance(x, idx, out, n, m, s):
    """Descriptors are what Triton 3.9 has in place of pointers to blocks."""
    rows, columns = m * 3 + 5, s % 8 * 4 + 8
    source = tl.make_tensor_descriptor(x, [rows, columns], [columns, 1], [16, 8])
    total = tl.zeros((16, 8), tl.int32)
    for start in range(0, columns, 8):
        total += source.load([n, start + 8]) + source.load([n + start, 0])
    target = tl.make_tensor_descriptor(out, [rows, columns], [columns, 1], [16, 8])
    target.store([n, n // 3 * 4], total)


@stands_for(
    "block_ptr_complex_offset",
    "block_ptr_memref",
    "make_tensor_ptr",
    "make_tensor_ptr_structured",
    "descriptor_ops",
    "examples/test_blockptr_complex_offset",
)
@triton.jit
def blocks_of_moved_pointers(x, idx, out, n, m, s):
    moved = (s % m).to(tl.int64) * 64
    source = tl.make_tensor_descriptor(x + moved, [32, 16], [16, 1], [32, 16])
    target = tl.make_tensor_descriptor(out + moved, [32, 16], [16, 1], [32, 16])
    target.store([0, 0], source.load([0, 0]))


@stands_for("make_tensor_ptr_ordering_error")
@triton.jit
def block_to_its_transpose(x, idx, out, n, m, s):
    i, j = tl.arange(0, 16), tl.arange(0, 8)
    target = tl.make_tensor_descriptor(out, [8, 16], [16, 1], [8, 16])
    target.store([0, 0], tl.trans(tl.load(x + i[:, None] + j[None, :] * s)))
