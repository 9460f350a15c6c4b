# SPDX-License-Identifier: Apache-2.0
"""Reads of memory that nothing has written, and programs that touch the same bytes."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from support.sanitizer.cases import Tensors, case


@case(
    "uninit", "adds to an output of torch.empty", lambda t: {"x": t(64), "out": t.unwritten(64)},
    "out", lane=0, lanes=64, at=(0,),
)  # fmt: skip
@triton.jit
def adds_to_unwritten(x, out, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    v = tl.load(x + i)
    if BUG:
        v += tl.load(out + i)  # BUG
    tl.store(out + i, v)


@case(
    "uninit", "a part was written", lambda t: {"scratch": t.unwritten(64, written=40), "out": t(64)},
    "scratch", lane=40, lanes=24, at=(40,),
)  # fmt: skip
@triton.jit
def tail_unwritten(scratch, out, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    tl.store(out + i, tl.load(scratch + i, mask=i < (64 if BUG else 40), other=0))  # BUG


@case(
    "uninit", "atomic add to a counter", lambda t: {"count": t.unwritten(1, written=0 if t.bug else 1)},
    "count", lane=-1, lanes=1, at=(0,),
)  # fmt: skip
@triton.jit
def counter_unwritten(count, BUG: tl.constexpr):
    tl.atomic_add(count, 1.0)  # BUG


@case(
    "uninit", "read before it is written", lambda t: {"scratch": t.unwritten(32), "out": t(32)},
    "scratch", lane=0, lanes=32, at=(0,),
)  # fmt: skip
@triton.jit
def read_before_write(scratch, out, BUG: tl.constexpr):
    i = tl.arange(0, 32)
    if not BUG:
        tl.store(scratch + i, 1.0)
    v = tl.load(scratch + i)  # BUG
    tl.store(scratch + i, v + 2.0)
    tl.store(out + i, v)


@case(
    "uninit", "the kernel wrote every second element", lambda t: {"scratch": t.unwritten(32), "out": t(32)},
    "scratch", lane=1, lanes=16, at=(1,),
)  # fmt: skip
@triton.jit
def every_second_unwritten(scratch, out, BUG: tl.constexpr):
    i = tl.arange(0, 32)
    tl.store(scratch + i, 1.0, mask=(i % 2 == 0) | (not BUG))
    tl.debug_barrier()
    tl.store(out + i, tl.load(scratch + i))  # BUG


@case(
    "uninit", "a row of another program", lambda t: {"scratch": t.unwritten(4, 16, written=48), "out": t(4, 16)},
    "scratch", grid=(4,), program=(3,), lane=0, lanes=16, at=(3, 0),
)  # fmt: skip
@triton.jit
def row_unwritten(scratch, out, BUG: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, 16)
    v = tl.load(scratch + row * 16 + i, mask=(row < 3) | BUG, other=0)  # BUG
    tl.store(out + row * 16 + i, v)


@case(
    "uninit", "half precision, odd length",
    lambda t: {"x": t.unwritten(33, written=32, dtype=torch.float16), "out": t(64, dtype=torch.float16)},
    "x", lane=32, lanes=1, at=(32,),
)  # fmt: skip
@triton.jit
def last_half_unwritten(x, out, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    tl.store(out + i, tl.load(x + i, mask=i < (33 if BUG else 32), other=0))  # BUG


@case("race", "all programs store to one element", lambda t: {"out": t(4)}, "out", grid=(4,))
@triton.jit
def all_store_to_one(out, BUG: tl.constexpr):
    pid = tl.program_id(0)
    tl.store(out + (0 if BUG else pid), pid.to(tl.float32))  # BUG


@case("race", "blocks overlap by one", lambda t: {"x": t(64), "out": t(64)}, "out", grid=(2,))
@triton.jit
def overlapping_blocks(x, out, BUG: tl.constexpr):
    i = tl.program_id(0) * (31 if BUG else 32) + tl.arange(0, 32)
    tl.store(out + i, tl.load(x + i))  # BUG


@case("race", "add without an atomic", lambda t: {"total": t(1)}, "total", grid=(4,))
@triton.jit
def add_without_atomic(total, BUG: tl.constexpr):
    if BUG:
        v = tl.load(total)
        tl.store(total, v + 1.0)  # BUG
    else:
        tl.atomic_add(total, 1.0)


@case("race", "atomic and plain store", lambda t: {"total": t(1)}, "total", grid=(3,))
@triton.jit
def atomic_and_store(total, BUG: tl.constexpr):
    if BUG & (tl.program_id(0) == 0):
        tl.store(total, 0.0)  # BUG
    tl.atomic_add(total, 1.0)


@case("race", "in place, reads the neighbour", lambda t: {"x": t(65), "out": t(65)}, "x", grid=(2,))
@triton.jit
def stencil_in_place(x, out, BUG: tl.constexpr):
    i = tl.program_id(0) * 32 + tl.arange(0, 32)
    v = tl.load(x + i) + tl.load(x + i + 1)
    tl.store((x if BUG else out) + i, v)  # BUG


@case("race", "an axis of the grid that is not used", lambda t: {"x": t(64), "out": t(64)}, "out", grid=(2, 2))
@triton.jit
def unused_axis(x, out, BUG: tl.constexpr):
    i = tl.program_id(0) * 32 + tl.arange(0, 32)
    tl.store(out + i, tl.load(x + i), mask=(tl.program_id(1) == 0) | BUG)  # BUG


@case("race", "rows wrapped by a remainder", lambda t: {"x": t(40), "out": t(40)}, "out", grid=(2,))
@triton.jit
def wrapped_rows(x, out, BUG: tl.constexpr):
    i = tl.program_id(0) * 32 + tl.arange(0, 32)
    v = tl.load(x + i % 40)
    tl.store(out + i % 40, v, mask=(i < 40) | BUG)  # BUG


@case(
    "race", "scatter with equal indices",
    lambda t: {"index": t(64, dtype=torch.int32, data=[i * 3 % 64 for i in range(63)] + [0 if t.bug else 61]),
               "out": t(64)},
    "out", grid=(2,),
)  # fmt: skip
@triton.jit
def scatter_with_equal_indices(index, out, BUG: tl.constexpr):
    i = tl.program_id(0) * 32 + tl.arange(0, 32)
    tl.store(out + tl.load(index + i), i.to(tl.float32))  # BUG


@case(
    "race", "neighbouring halves, one shared", lambda t: {"out": t(63, dtype=torch.float16)}, "out", grid=(2,),
)  # fmt: skip
@triton.jit
def neighbouring_halves(out, BUG: tl.constexpr):
    """In the twin two programs write the halves of one word, which is no race."""
    pid = tl.program_id(0)
    i = pid * 31 + tl.arange(0, 32)
    tl.store(out + i, 1.0, mask=(i < 31 + pid * 32) | BUG)  # BUG


@case("race", "neighbouring bytes, one shared", lambda t: {"out": t(63, dtype=torch.int8)}, "out", grid=(2,))
@triton.jit
def neighbouring_bytes(out, BUG: tl.constexpr):
    """In the twin two programs write bytes that share a word of the shadow, which is no race."""
    pid = tl.program_id(0)
    i = pid * 31 + tl.arange(0, 32)
    tl.store(out + i, 1, mask=(i < 31 + pid * 32) | BUG)  # BUG


@case(
    "race", "flags of one byte, in place",
    lambda t: {"flags": t(65, dtype=torch.uint8), "out": t(65, dtype=torch.uint8)},
    "flags", grid=(4,),
)  # fmt: skip
@triton.jit
def byte_flags_in_place(flags, out, BUG: tl.constexpr):
    i = tl.program_id(0) * 16 + tl.arange(0, 16)
    v = tl.load(flags + i) | tl.load(flags + i + 1)
    tl.store((flags if BUG else out) + i, v)  # BUG


def _locked(t: Tensors) -> dict[str, Any]:
    return {"x": t(8, 32), "total": t(2, 32), "locks": t(2, dtype=torch.int32, data=[0, 0])}


@case("race", "a store behind the release of its lock", _locked, "total", grid=(8,))
@triton.jit
def store_behind_the_release(x, total, locks, BUG: tl.constexpr):
    """Programs take turns, as in the layer norm of Triton's tutorials."""
    row = tl.program_id(0)
    lock = locks + row % 2
    i = row % 2 * 32 + tl.arange(0, 32)
    v = tl.load(x + row * 32 + tl.arange(0, 32))
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    v += tl.load(total + i)
    if not BUG:
        tl.store(total + i, v)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)
    if BUG:
        tl.store(total + i, v)  # BUG


@case(
    "race", "a lock for each program",
    lambda t: {**_locked(t), "locks": t(8, dtype=torch.int32, data=[0] * 8)},
    "total", grid=(8,),
)  # fmt: skip
@triton.jit
def lock_of_each_program(x, total, locks, BUG: tl.constexpr):
    row = tl.program_id(0)
    i = row % 2 * 32 + tl.arange(0, 32)
    v = tl.load(x + row * 32 + tl.arange(0, 32))
    while tl.atomic_cas(locks + (row if BUG else row % 2), 0, 1) != 0:
        pass
    tl.store(total + i, v + tl.load(total + i))  # BUG
    tl.debug_barrier()
    tl.atomic_xchg(locks + (row if BUG else row % 2), 0)
