# SPDX-License-Identifier: Apache-2.0
"""Accesses outside of their tensor through pointers that loops, branches, functions, tables and integers make."""

from __future__ import annotations

import triton
import triton.language as tl

from support.sanitizer.cases import case


@case("bounds", "pointer carried by a loop", lambda t: {"x": t(128), "out": t(32)}, "x", lane=0, lanes=32, at=(128,))
@triton.jit
def pointer_in_a_loop(x, out, BUG: tl.constexpr):
    i = tl.arange(0, 32)
    p = x + i
    total = tl.zeros((32,), tl.float32)
    for _ in range(5 if BUG else 4):
        total += tl.load(p)  # BUG
        p += 32
    tl.store(out + i, total)


@case(
    "bounds",
    "offset carried by a loop",
    lambda t: {"x": t(100), "out": t(32), "n": 100},
    "x",
    lane=4,
    lanes=28,
    at=(100,),
)
@triton.jit
def offset_in_a_loop(x, out, n, BUG: tl.constexpr):
    i = tl.arange(0, 32)
    at = i
    total = tl.zeros((32,), tl.float32)
    for _ in range(4):
        total += tl.load(x + at, mask=i < n if BUG else at < n, other=0)  # BUG
        at += 32
    tl.store(out + i, total)


@case(
    "bounds", "induction variable", lambda t: {"x": t(128), "out": t(100), "n": 100}, "out", lane=4, lanes=28, at=(100,)
)
@triton.jit
def tail_of_a_loop(x, out, n, BUG: tl.constexpr):
    i = tl.arange(0, 32)
    for start in range(0, n, 32):
        v = tl.load(x + start + i)
        tl.store(out + start + i, v, mask=(i if BUG else start + i) < n)  # BUG


@case("bounds", "two nested loops", lambda t: {"x": t(6, 64), "out": t(32)}, "x", lane=0, lanes=64, at=(6, 0))
@triton.jit
def nested_loops(x, out, BUG: tl.constexpr):
    i = tl.arange(0, 32)
    total = tl.zeros((32,), tl.float32)
    row = x
    for _ in range(7 if BUG else 6):
        for start in range(0, 64, 32):
            total += tl.load(row + start + i)  # BUG
        row += 64
    tl.store(out + i, total)


@case("bounds", "while loop", lambda t: {"x": t(96), "out": t(32), "n": 96}, "x", lane=0, lanes=32, at=(96,))
@triton.jit
def while_loop(x, out, n, BUG: tl.constexpr):
    i = tl.arange(0, 32)
    total = tl.zeros((32,), tl.float32)
    start = 0
    while start < (n + 1 if BUG else n):
        total += tl.load(x + start + i)  # BUG
        start += 32
    tl.store(out + i, total)


@case("bounds", "pointer that doubles its step", lambda t: {"x": t(64), "out": t(8)}, "x", lane=0, lanes=8, at=(120,))
@triton.jit
def step_that_doubles(x, out, BUG: tl.constexpr):
    i = tl.arange(0, 8)
    total = tl.zeros((8,), tl.float32)
    at, step = i, 8
    for _ in range(5 if BUG else 3):
        total += tl.load(x + at, mask=i < 8, other=0)  # BUG
        at += step
        step *= 2
    tl.store(out + i, total)


@case(
    "bounds", "select between pointers", lambda t: {"x": t(64), "y": t(40), "out": t(128)},
    "y", grid=(2,), program=(1,), lane=40, lanes=24, at=(40,),
)  # fmt: skip
@triton.jit
def selected_pointer(x, y, out, BUG: tl.constexpr):
    pid = tl.program_id(0)
    i = tl.arange(0, 64)
    p = tl.where(pid == 0, x + i, y + i)
    v = tl.load(p, mask=(i < 40) | (pid == 0) | BUG, other=0)  # BUG
    tl.store(out + pid * 64 + i, v)


@case(
    "bounds", "pointer from an if", lambda t: {"x": t(64), "y": t(40), "out": t(64), "flag": 0},
    "y", lane=40, lanes=24, at=(40,),
)  # fmt: skip
@triton.jit
def pointer_from_an_if(x, y, out, flag, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    if flag > 0:
        p = x
        n = 64
    else:
        p = y
        n = 64 if BUG else 40
    v = tl.load(p + i, mask=i < n, other=0)  # BUG
    tl.store(out + i, v)


@triton.jit
def load_row(p, n, WIDTH: tl.constexpr):
    i = tl.arange(0, WIDTH)
    return tl.load(p + i, mask=i < n, other=0)  # BUG


@case(
    "bounds", "in a function", lambda t: {"x": t(50), "out": t(64), "n": 50},
    "x", lane=50, lanes=14, at=(50,), within=load_row,
)  # fmt: skip
@triton.jit
def in_a_function(x, out, n, BUG: tl.constexpr):
    v = load_row(x, 64 if BUG else n, 64)
    tl.store(out + tl.arange(0, 64), v)


@triton.jit(noinline=True)
def store_row(x, p, n):
    i = tl.arange(0, 64)
    tl.store(p + i, tl.load(x + i), mask=i < n)  # BUG


@case(
    "bounds", "in a function that is not inlined", lambda t: {"x": t(64), "out": t(50), "n": 50},
    "out", lane=50, lanes=14, at=(50,), within=store_row,
)  # fmt: skip
@triton.jit
def in_a_noinline_function(x, out, n, BUG: tl.constexpr):
    store_row(x, out, 64 if BUG else n)


def _table(t):
    x = t(48)
    return {"table": t.table(x, x), "x": x, "out": t(64)}


@case("bounds", "pointer from memory", _table, "x", lane=48, lanes=16, at=(48,))
@triton.jit
def pointer_from_memory(table, x, out, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    p = tl.load(table + 1).to(tl.pointer_type(tl.float32))
    v = tl.load(p + i, mask=i < (64 if BUG else 48), other=0)  # BUG
    tl.store(out + i, v + tl.load(x))


def _integer(t):
    x = t(48)
    return {"address": t.address(x), "x": x, "out": t(64)}


@case("bounds", "integer made a pointer", _integer, "x", lane=48, lanes=16, at=(48,))
@triton.jit
def integer_as_pointer(address, x, out, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    p = address.to(tl.int64).to(tl.pointer_type(tl.float32))  # a small address is an i32
    v = tl.load(p + i, mask=i < (64 if BUG else 48), other=0)  # BUG
    tl.store(out + i, v + tl.load(x))


@case(
    "bounds", "pointers in a tuple", lambda t: {"pair": (t(64), t(40)), "out": t(64)},
    "pair[1]", lane=40, lanes=24, at=(40,),
)  # fmt: skip
@triton.jit
def pointers_in_a_tuple(pair, out, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    v = tl.load(pair[0] + i) + tl.load(pair[1] + i, mask=i < (64 if BUG else 40), other=0)  # BUG
    tl.store(out + i, v)


@case(
    "bounds", "scf.if around the access", lambda t: {"x": t(64), "out": t(96)},
    "x", grid=(3,), program=(2,), lane=0, lanes=32, at=(64,),
)  # fmt: skip
@triton.jit
def guarded_by_an_if(x, out, BUG: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * 32 + tl.arange(0, 32)
    if pid <= (2 if BUG else 1):
        v = tl.load(x + i)  # BUG
        tl.store(out + i, v)


@case(
    "bounds", "early return", lambda t: {"x": t(70), "out": t(96), "n": 70},
    "x", grid=(3,), program=(2,), lane=6, lanes=26, at=(70,),
)  # fmt: skip
@triton.jit
def early_return(x, out, n, BUG: tl.constexpr):
    start = tl.program_id(0) * 32
    if start >= n:
        return
    i = start + tl.arange(0, 32)
    v = tl.load(x + i, mask=(i < n) | BUG, other=0)  # BUG
    tl.store(out + i, v)


@case(
    "bounds", "base of a row, made of scalars", lambda t: {"x": t(4, 30), "out": t(4, 32), "stride": 30},
    "x", grid=(4,), program=(3,), lane=30, lanes=2, at=(4, 0),
)  # fmt: skip
@triton.jit
def base_of_a_row(x, out, stride, BUG: tl.constexpr):
    row = x + tl.program_id(0) * stride
    c = tl.arange(0, 32)
    last = tl.program_id(0) == tl.num_programs(0) - 1
    v = tl.load(row + c, mask=(c < stride) | (last & BUG), other=0)  # BUG
    tl.store(out + tl.program_id(0) * 32 + c, v)


@case(
    "bounds", "grouped program ids", lambda t: {"x": t(96), "out": t(128), "tiles": 6},
    "x", grid=(8,), program=(5,), lane=0, lanes=32, at=(96,),
)  # fmt: skip
@triton.jit
def grouped_program_ids(x, out, tiles, BUG: tl.constexpr):
    pid = tl.program_id(0)
    tile = pid // 4 * 4 + (pid % 2) * 2 + pid // 2 % 2
    i = tl.arange(0, 16)
    v = tl.load(x + tile * 16 + i, mask=(tile < tiles) | BUG, other=0)  # BUG
    tl.store(out + tile * 16 + i, v)
