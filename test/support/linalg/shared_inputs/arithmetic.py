# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PLR0917
"""Inputs about arithmetic and shapes. All kernels have the same arguments; see the package.

Floats are stored as their bits, and what a library's function returns in sixteenths, rounded down.
"""

from __future__ import annotations

import triton
import triton.language as tl

from support.linalg.shared_inputs.inputs import stands_for


@triton.jit
def five_operations(a, b):
    c = (a + b - b) * b / b
    return tl.where(c == b, a, b - c)


@stands_for("convert_1d_elemwise_arith_binary")
@triton.jit
def binary_along_one_dimension(x, idx, out, n, m, s):
    i = tl.arange(0, 64)
    a, b = tl.load(x + i).to(tl.float32), tl.load(x + i // 2 + n).to(tl.float32) + 200.25
    tl.store(out + i, five_operations(tl.where(i < m, b, a), b).to(tl.int32, bitcast=True))


@stands_for("convert_2d_elemwise_arith_binary")
@triton.jit
def binary_along_two_dimensions(x, idx, out, n, m, s):
    i, j = tl.arange(0, 16), tl.arange(0, 16)
    places = i[:, None] + j[None, :]
    a, b = tl.load(x + places).to(tl.float32), tl.load(x + places + n).to(tl.float32) + 200.25
    tl.store(out + i[:, None] * 16 + j[None, :], five_operations(a, b).to(tl.int32, bitcast=True))


@triton.jit
def five_casts_and_functions(out, places, apart, a):
    f = a.to(tl.float32)
    tl.store(out + places, f.to(tl.bfloat16).to(tl.float32).to(tl.int32, bitcast=True))
    tl.store(out + places + apart, tl.floor(tl.exp(f * 0.05) * 16.0).to(tl.int32))
    tl.store(out + places + apart * 2, f.to(tl.int32, bitcast=True))
    tl.store(out + places + apart * 3, (f * 0.25).to(tl.float16).to(tl.float32).to(tl.int32, bitcast=True))
    tl.store(out + places + apart * 4, tl.sqrt(tl.abs(f)).to(tl.int32, bitcast=True))


@stands_for("convert_1d_elemwise_arith_unary")
@triton.jit
def unary_along_one_dimension(x, idx, out, n, m, s):
    i = tl.arange(0, 64)
    five_casts_and_functions(out, i, 64, tl.load(x + i + n))


@stands_for("convert_2d_elemwise_arith_unary")
@triton.jit
def unary_along_two_dimensions(x, idx, out, n, m, s):
    i, j = tl.arange(0, 16), tl.arange(0, 16)
    five_casts_and_functions(out, i[:, None] * 16 + j[None, :], 256, tl.load(x + i[:, None] + j[None, :] * m))


@triton.jit
def selected_by_bytes(x, out, places, apart, condition, n):
    bits = (out + 2048).to(tl.pointer_type(tl.int1), bitcast=True)
    tl.store(bits + places, condition)
    chosen = tl.where(tl.load(bits + places), tl.load(x + places), tl.load(x + places + n))
    tl.store(out + places, chosen)


@stands_for("convert_1d_elemwise_arith_ternary")
@triton.jit
def ternary_along_one_dimension(x, idx, out, n, m, s):
    i = tl.arange(0, 64)
    selected_by_bytes(x, out, i, 64, tl.load(idx + i) > 10, n)


@stands_for("convert_2d_elemwise_arith_ternary")
@triton.jit
def ternary_along_two_dimensions(x, idx, out, n, m, s):
    i, j = tl.arange(0, 16), tl.arange(0, 16)
    condition = (tl.load(idx + i) > 10)[:, None] == (tl.load(idx + 20 + j) > 20)[None, :]
    selected_by_bytes(x, out, i[:, None] * 16 + j[None, :], 256, condition, n)


@stands_for("convert_minmax")
@triton.jit
def comparisons_that_are_no_minimum(x, idx, out, n, m, s):
    """Of a comparison with NaN, `tl.where` returns the second value; a minimum would be NaN."""
    a, b, zero = n.to(tl.float32), s.to(tl.float32), (m - m).to(tl.float32)
    nan = zero / zero
    tl.store(out, tl.where(a < b, a, b).to(tl.int32, bitcast=True))
    tl.store(out + 1, tl.where(a <= b, a, b).to(tl.int32, bitcast=True))
    tl.store(out + 2, tl.where(a > b, a, b).to(tl.int32, bitcast=True))
    tl.store(out + 3, tl.where(a >= b, a, b).to(tl.int32, bitcast=True))
    tl.store(out + 4, tl.where(nan < b, nan, b).to(tl.int32, bitcast=True))
    tl.store(out + 5, tl.where(nan >= b, nan, b).to(tl.int32, bitcast=True))


@stands_for("convert_splat_float", "examples/test_splat")
@triton.jit
def splats_to_one_place(x, idx, out, n, m, s):
    """All elements are stored to one address."""
    one, all_of = n.to(tl.float32) * 0.5, s.to(tl.float32).to(tl.bfloat16).to(tl.float32)
    tl.store(out + tl.zeros((64,), tl.int32), tl.full((64,), one, tl.float32).to(tl.int32, bitcast=True))
    everywhere = tl.full((16, 32), all_of, tl.float32).to(tl.int32, bitcast=True)
    tl.store(out + 1 + tl.zeros((16, 32), tl.int32), everywhere)


@stands_for("convert_tensor_reshape")
@triton.jit
def rows_repeated(x, idx, out, n, m, s):
    row = tl.reshape(tl.load(x + tl.program_id(0) * 32 + n + tl.arange(0, 32)), (1, 32))
    rows = tl.reshape(tl.broadcast_to(row, (32, 32)), (1024,))
    tl.store(out + tl.program_id(0) * 32 + tl.arange(0, 1024), rows)


@stands_for("early_return", "examples/test_early_return")
@triton.jit
def returns_early(x, idx, out, n, m, s):
    if tl.load(x + n * 0).to(tl.float32) * n.to(tl.float32) == 0.0:
        return
    i = tl.arange(0, 4)
    tl.store(out + i, (i + 1).to(tl.float32).to(tl.int32, bitcast=True))


@triton.jit(noinline=True)
def forty_two():
    return 42.0


@stands_for("call_empty_args")
@triton.jit
def calls_without_arguments(x, idx, out, n, m, s):
    tl.store(out + n + tl.arange(0, 4), tl.full((4,), forty_two(), tl.float32).to(tl.int32))
