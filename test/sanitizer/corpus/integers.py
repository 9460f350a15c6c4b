# SPDX-License-Identifier: Apache-2.0
"""Offsets that wrap in 32 bits, and promises to the compiler that are false. Tensors of many gigabytes have no memory:
only the numbers of the launch matter.
"""

from __future__ import annotations

import triton
import triton.language as tl

from support.sanitizer.cases import case


@case(
    "overflow", "row times stride", lambda t: {"x": t.huge(40000, 65536), "out": t.huge(16), "row": 40000 - 2},
    launched=False,
)  # fmt: skip
@triton.jit
def row_times_stride(x, out, row, BUG: tl.constexpr):
    if not BUG:
        row = row.to(tl.int64)
    offset = row * 65536  # BUG
    i = tl.arange(0, 16)
    tl.store(out + i, tl.load(x + offset + i))


@case(
    "overflow", "rows of a tile", lambda t: {"x": t.huge(33000, 65536), "out": t.huge(16, 16), "first": 32760,
                                             "stride": 65536},
    launched=False,
)  # fmt: skip
@triton.jit
def rows_of_a_tile(x, out, first, stride, BUG: tl.constexpr):
    r, c = tl.arange(0, 16)[:, None], tl.arange(0, 16)[None, :]
    rows = first + r
    if not BUG:
        rows = rows.to(tl.int64)
    at = rows * stride  # BUG
    v = tl.load(x + at + c)
    tl.store(out + r * 16 + c, v)


@case(
    "overflow", "program id times block", lambda t: {"x": t.huge(2**32), "out": t.huge(2**32), "first": 2**21 - 2},
    grid=(3,), launched=False,
)  # fmt: skip
@triton.jit
def program_times_block(x, out, first, BUG: tl.constexpr):
    pid = first + tl.program_id(0)
    if not BUG:
        pid = pid.to(tl.int64)
    start = pid * 1024  # BUG
    i = start + tl.arange(0, 16)
    tl.store(out + i, tl.load(x + i))


@case(
    "overflow", "size of a batch", lambda t: {"x": t.huge(3, 50000, 50000), "out": t.huge(16), "rows": 50000,
                                              "columns": 50000},
    launched=False,
)  # fmt: skip
@triton.jit
def size_of_a_batch(x, out, rows, columns, BUG: tl.constexpr):
    if not BUG:
        rows = rows.to(tl.int64)
    size = rows * columns  # BUG
    i = tl.arange(0, 16)
    tl.store(out + i, tl.load(x + size + i))


@case(
    "overflow", "offset carried by a loop", lambda t: {"x": t.huge(5, 2**30), "out": t.huge(16), "step": 2**30},
    launched=False,
)  # fmt: skip
@triton.jit
def offset_of_a_loop(x, out, step, BUG: tl.constexpr):
    i = tl.arange(0, 16)
    total = tl.zeros((16,), tl.float32)
    at = i if BUG else i.to(tl.int64)
    for _ in range(3):
        total += tl.load(x + at)
        at += step  # BUG
    tl.store(out + i, total)


@case(
    "overflow", "sum of two offsets", lambda t: {"x": t.huge(2, 2**31 - 64), "out": t.huge(128), "start": 2**31 - 64},
    launched=False,
)  # fmt: skip
@triton.jit
def sum_of_two_offsets(x, out, start, BUG: tl.constexpr):
    i = tl.arange(0, 128)
    at = (start if BUG else start.to(tl.int64)) + i  # BUG
    tl.store(out + i, tl.load(x + at))


@case(
    "overflow", "a transposed tensor's columns", lambda t: {"x": t.huge(70000, 40000).T, "out": t.huge(16),
                                                            "stride": 40000, "column": 69000},
    launched=False,
)  # fmt: skip
@triton.jit
def column_times_stride(x, out, stride, column, BUG: tl.constexpr):
    i = tl.arange(0, 16)
    at = column.to(tl.int64) * stride if not BUG else column * stride  # BUG
    tl.store(out + i, tl.load(x + at + i))


@case("hints", "multiple_of a scalar", lambda t: {"x": t(100), "out": t(128), "n": 100 if t.bug else 96}, lane=-1)
@triton.jit
def multiple_of_a_scalar(x, out, n, BUG: tl.constexpr):
    n = tl.multiple_of(n, 16)  # BUG
    i = tl.arange(0, 128)
    tl.store(out + i, tl.load(x + i, mask=i < n, other=0))


@case("hints", "multiple_of a tile", lambda t: {"x": t(64, 32), "out": t(64), "stride": 30 if t.bug else 32}, lane=1)
@triton.jit
def multiple_of_a_tile(x, out, stride, BUG: tl.constexpr):
    rows = tl.multiple_of(tl.arange(0, 64) * stride, 32)  # BUG
    tl.store(out + tl.arange(0, 64), tl.load(x + rows))


@case("hints", "multiple_of a start", lambda t: {"x": t(100), "out": t(64), "start": 3 if t.bug else 16}, lane=0)
@triton.jit
def multiple_of_a_start(x, out, start, BUG: tl.constexpr):
    """A run of contiguous numbers is a multiple if its first number is."""
    i = tl.multiple_of(start + tl.arange(0, 64), 16)  # BUG
    tl.store(out + tl.arange(0, 64), tl.load(x + i))


@case("hints", "max_contiguous", lambda t: {"x": t(128), "out": t(64), "stride": 2 if t.bug else 1}, lane=1)
@triton.jit
def contiguous_with_a_stride(x, out, stride, BUG: tl.constexpr):
    i = tl.max_contiguous(tl.arange(0, 64) * stride, 64)  # BUG
    tl.store(out + tl.arange(0, 64), tl.load(x + i))


@case(
    "hints", "max_contiguous of a remainder", lambda t: {"x": t(128), "out": t(64), "n": 40 if t.bug else 64}, lane=40
)
@triton.jit
def contiguous_remainder(x, out, n, BUG: tl.constexpr):
    """What matmuls do with rows; true only if the tile divides the number of rows."""
    i = tl.max_contiguous(tl.arange(0, 64) % n, 64)  # BUG
    tl.store(out + tl.arange(0, 64), tl.load(x + i))


@case("hints", "assume a size", lambda t: {"x": t(128), "out": t(64), "n": 64 if t.bug else 65}, lane=-1)
@triton.jit
def assumed_size(x, out, n, BUG: tl.constexpr):
    tl.assume(n > 64)  # BUG
    i = tl.arange(0, 64)
    tl.store(out + i, tl.load(x + i, mask=i < n, other=0))


@case("hints", "assume a remainder", lambda t: {"x": t(128), "out": t(64), "n": 50 if t.bug else 32}, lane=-1)
@triton.jit
def assumed_remainder(x, out, n, BUG: tl.constexpr):
    tl.assume(n % 32 == 0)  # BUG
    i = tl.arange(0, 64)
    tl.store(out + i, tl.load(x + i, mask=i < n, other=0))


@case(
    "hints", "assume a sign", lambda t: {"x": t(128), "out": t(64), "first": 64, "stride": -1 if t.bug else 1}, lane=-1
)
@triton.jit
def assumed_sign(x, out, first, stride, BUG: tl.constexpr):
    tl.assume(stride > 0)  # BUG
    i = tl.arange(0, 64)
    tl.store(out + i, tl.load(x + first + i * stride))


@case(
    "hints", "assume in one program", lambda t: {"x": t(128), "out": t(128), "n": 3 if t.bug else 4},
    grid=(4,), program=(3,), lane=-1,
)  # fmt: skip
@triton.jit
def assumed_programs(x, out, n, BUG: tl.constexpr):
    pid = tl.program_id(0)
    tl.assume(pid < n)  # BUG
    i = pid * 32 + tl.arange(0, 32)
    tl.store(out + i, tl.load(x + i))


@case("hints", "multiple_of an address", lambda t: {"x": t(80)[1 if t.bug else 16 :], "out": t(64)}, lane=-1)
@triton.jit
def multiple_of_an_address(x, out, BUG: tl.constexpr):
    p = tl.multiple_of(x, 16)  # BUG
    i = tl.arange(0, 64)
    tl.store(out + i, tl.load(p + i))
