# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PLR0917
"""Inputs about operations on whole tensors. All kernels have the same arguments; see the package."""

from __future__ import annotations

import triton
import triton.language as tl

from support.linalg.shared_inputs.inputs import stands_for


@stands_for("batched_matmul", "dot_3d")
@triton.jit
def products_of_batches(x, idx, out, n, m, s):
    b, i, j = tl.arange(0, 2)[:, None, None], tl.arange(0, 16)[None, :, None], tl.arange(0, 16)[None, None, :]
    left = tl.load(x + b * 256 + i * 16 + j).to(tl.float32)
    right = tl.load(x + n + b * 256 + i * 16 + j).to(tl.float32)
    start = tl.load(x + m + b * 256 + i * 16 + j).to(tl.float32)
    found = tl.dot(left, right, acc=start, input_precision="ieee")
    tl.store(out + b * 256 + i * 16 + j, found.to(tl.int32))


@stands_for("convert_argmin_argmax_3d")
@triton.jit
def places_of_extremes_of_planes(x, idx, out, n, m, s):
    i, j, k = tl.arange(0, 2), tl.arange(0, 4), tl.arange(0, 8)
    values = tl.load(x + i[:, None, None] * s + j[None, :, None] * 8 + k[None, None, :]).to(tl.float32)
    tl.store(out + i[:, None] * 4 + j[None, :], tl.argmax(values, axis=2))
    tl.store(out + 8 + i[:, None] * 4 + j[None, :], tl.argmin(values, axis=2))


@stands_for("convert_argmin_integer", "convert_int_argmin_with_indices")
@triton.jit
def places_of_least_bytes(x, idx, out, n, m, s):
    values = tl.load(x + n + tl.arange(0, 32)).to(tl.int8)
    tl.store(out, tl.argmin(values, axis=0))
    least, place = tl.min(tl.load(x + m + tl.arange(0, 32)), axis=0, return_indices=True)
    tl.store(out + 1, least * 100 + place)


@stands_for("cumsum-reverse-reject")
@triton.jit
def sums_from_each(x, idx, out, n, m, s):
    i = tl.arange(0, 64)
    values = tl.load(x + n + i).to(tl.float32)
    tl.store(out + i, tl.cumsum(values, axis=0).to(tl.int32))
    tl.store(out + 64 + i, tl.cumsum(values, axis=0, reverse=True).to(tl.int32))


@stands_for("histogram")
@triton.jit
def counts(x, idx, out, n, m, s):
    i = tl.arange(0, 32)
    tl.store(out + i, tl.histogram(tl.load(idx + i), 32))
    tl.store(out + 32 + tl.arange(0, 8), tl.histogram(tl.load(idx + i) % 8, 8, mask=i < n))


@stands_for("join", "split")
@triton.jit
def joined_and_split(x, idx, out, n, m, s):
    i = tl.arange(0, 16)
    a, b = tl.load(x + i), tl.load(x + n + i * m)
    pairs = tl.join(a, b)
    tl.store(out + i[:, None] * 2 + tl.arange(0, 2)[None, :], pairs)
    even, odd = tl.split(tl.reshape(pairs + 1, (8, 2, 2)))
    tl.store(out + 64 + i, tl.reshape(even - odd * 3, (16,)))
    tl.store(out + 128 + tl.arange(0, 32), tl.cat(a, b))


@stands_for("gather")
@triton.jit
def elements_at_indices(x, idx, out, n, m, s):
    i, j = tl.arange(0, 32), tl.arange(0, 8)
    values = tl.load(x + i[:, None] * 8 + j[None, :])
    rows = (tl.load(idx + i)[:, None] + j[None, :]) % 32
    tl.store(out + i[:, None] * 8 + j[None, :], tl.gather(values, rows, 0))


@triton.jit(noinline=True)
def moved_sum(p, number):
    return tl.load(p + number) + number


@stands_for("call")
@triton.jit
def calls_with_pointers(x, idx, out, n, m, s):
    tl.store(out + s, moved_sum(x, n) * moved_sum(x + m, s))


@triton.jit
def sum_and_sum(a, b, c, d):
    return a + c, b + d


@triton.jit
def sum_and_product(a, b, c, d):
    return a + c, b * d


@stands_for("reduce_multi_result", "reduce_multi_result_mixed_ops")
@triton.jit
def two_reductions_at_once(x, idx, out, n, m, s):
    i, j = tl.arange(0, 8), tl.arange(0, 32)
    values = tl.load(x + i[:, None] * 32 + j[None, :])
    total, squares = tl.reduce((values, values * values), 1, sum_and_sum)
    tl.store(out + i, total)
    tl.store(out + 8 + i, squares)
    total, product = tl.reduce((values, values | 1), 1, sum_and_product)
    tl.store(out + 16 + i, total * 3 + product)


@triton.jit
def difference(a, b):
    return a - b


@triton.jit
def crossed(a, b, c, d):
    return b + c, a - d


@stands_for("reduce_multi_result_negative")
@triton.jit
def reductions_that_are_not_associative(x, idx, out, n, m, s):
    """Two elements have one order."""
    i, j = tl.arange(0, 16), tl.arange(0, 2)
    values = tl.load(x + i[:, None] * s + j[None, :])
    tl.store(out + i, tl.reduce(values, 1, difference))
    first, second = tl.reduce((values, values * 5), 1, crossed)
    tl.store(out + 16 + i, first * 1000 + second)
    ends = tl.load(x + n + j)
    total, squares = tl.reduce((ends, ends * ends), 0, sum_and_sum)
    tl.store(out + 32, total + squares)


@stands_for("triton_tensor_ptr_ops")
@triton.jit
def pointers_through_memory(x, idx, out, n, m, s):
    i = tl.arange(0, 16)
    addresses = (out + 1024).to(tl.pointer_type(tl.int64), bitcast=True) + i
    tl.store(addresses, (x + i * m).to(tl.int64))
    values = tl.load(tl.load(addresses).to(tl.pointer_type(tl.int32)))
    tl.store(addresses, i.to(tl.int64))
    q = out + i
    apart = q.to(tl.int64) - out.to(tl.int64)
    wide = q.to(tl.pointer_type(tl.int64), bitcast=True) + 2
    tl.store(wide.to(tl.pointer_type(tl.int32), bitcast=True), values + apart.to(tl.int32))
