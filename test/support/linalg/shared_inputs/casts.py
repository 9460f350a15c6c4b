# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PLR0917
"""Inputs about pointers as integers and of other types. All kernels have the same arguments; see the package."""

from __future__ import annotations

import triton
import triton.language as tl

from support.linalg.shared_inputs.inputs import stands_for


@stands_for("cast_with_int_ptr")
@triton.jit
def casts_of_scalar_pointers(x, idx, out, n, m, s):
    """The element that is loaded begins at any even address."""
    p = (x + 11).to(tl.pointer_type(tl.int8), bitcast=True) + 10
    rest = ((out + 9).to(tl.int64) % 4).to(tl.int32)
    q = p.to(tl.pointer_type(tl.int32), bitcast=True) + 1 + rest
    r = q.to(tl.pointer_type(tl.int64), bitcast=True) + 2 + n + 3
    t = r.to(tl.pointer_type(tl.int16), bitcast=True) + 4 + m + 3
    value = tl.load(t.to(tl.pointer_type(tl.int32), bitcast=True))
    tl.store((out.to(tl.int64) + n * 4).to(tl.pointer_type(tl.int32)), value)


@stands_for("bitcast_as_src_ptr_to_memref")
@triton.jit
def wide_elements_between_narrow_ones(x, idx, out, n, m, s):
    """Elements of eight bytes begin at any multiple of four."""
    i = tl.arange(0, 16)
    p = (x + n).to(tl.pointer_type(tl.int64), bitcast=True) + i + 2
    q = (out + 1).to(tl.pointer_type(tl.int64), bitcast=True) + i + 2
    tl.store(q, tl.load(p))


@stands_for("regular_load_store", "masked_load_store", "dynamic_masked_load_store", "triton_load_store_with_masks")
@triton.jit
def masks_that_pointers_lead_to(x, idx, out, n, m, s):
    i = tl.arange(0, 16)
    addresses = (out + 1024).to(tl.pointer_type(tl.int64), bitcast=True) + i
    tl.store(addresses, (x + i * n).to(tl.int64))
    p = tl.load(addresses).to(tl.pointer_type(tl.int32))
    tl.store(addresses, i.to(tl.int64))
    mask = tl.load(p + 16) > m
    values = tl.load(p, mask=mask, other=0)
    tl.store(out + i, values + 1)
    tl.store((out + 64 + i).to(tl.pointer_type(tl.int64), bitcast=True) + i, values.to(tl.int64), mask=mask)
    tl.store(out + 128 + i, tl.load(p, mask=i < s, other=-1), mask=i < s + 3)


@stands_for("stress_test")
@triton.jit
def eight_loops(x, idx, out, n, m, s):
    at = tl.arange(0, 2)[:, None] * s + tl.arange(0, 2)[None, :] * m
    p, q = x + at, out + at
    a = tl.load(p)
    for _ in range(2):
        a += tl.load(p)
        for _ in range(2):
            p += 1
            b = tl.load(p)
            for _ in range(2):
                p += 1
                c = a
                for _ in range(2):
                    d = tl.load(p)
                    for _ in range(2):
                        p += 1
                        for _ in range(2):
                            tl.store(q, b + c)
                            q += 4
                            e = tl.load(p)
                            for _ in range(2):
                                p += 1
                                b = d
                                for _ in range(2):
                                    tl.store(q, e - b)
                                    q += 2
                                    d = c
                                    c = e
                                    e = tl.load(p)
                            tl.store(q, d)
                            q += 1
                    a = d + 1
        p += 2
    tl.store(q, a)
