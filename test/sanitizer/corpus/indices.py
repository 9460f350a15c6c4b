# SPDX-License-Identifier: Apache-2.0
"""Accesses outside of their tensor with loaded indices, of atomics, and of tensor descriptors with a wrong shape."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from support.sanitizer.cases import case


def _indices(t, bad, at=17, size=40):
    """Returns indices into a tensor of `size`, of which one is `bad` in the kernel with the bug."""
    numbers = [(7 * i) % size for i in range(32)]
    if t.bug:
        numbers[at] = bad
    return t(32, dtype=torch.int32, data=numbers)


@case(
    "bounds", "gather", lambda t: {"x": t(40), "index": _indices(t, 40), "out": t(32)}, "x", lane=17, lanes=1, at=(40,)
)
@triton.jit
def gather(x, index, out, BUG: tl.constexpr):
    i = tl.arange(0, 32)
    v = tl.load(x + tl.load(index + i))  # BUG
    tl.store(out + i, v)


@case(
    "bounds", "gather, index -1", lambda t: {"x": t(40), "index": _indices(t, -1), "out": t(32)},
    "x", lane=17, lanes=1, at=(-1,),
)  # fmt: skip
@triton.jit
def gather_of_minus_one(x, index, out, BUG: tl.constexpr):
    i = tl.arange(0, 32)
    j = tl.load(index + i)
    v = tl.load(x + j, mask=j < 40, other=0)  # BUG
    tl.store(out + i, v)


@case(
    "bounds", "scatter", lambda t: {"x": t(32), "index": _indices(t, 51, 3), "out": t(40)},
    "out", lane=3, lanes=1, at=(51,),
)  # fmt: skip
@triton.jit
def scatter(x, index, out, BUG: tl.constexpr):
    i = tl.arange(0, 32)
    tl.store(out + tl.load(index + i), tl.load(x + i))  # BUG


@case(
    "bounds", "gather of rows", lambda t: {"x": t(40, 16), "index": _indices(t, 41), "out": t(32, 16)},
    "x", lane=272, lanes=16, at=(41, 0),
)  # fmt: skip
@triton.jit
def gather_of_rows(x, index, out, BUG: tl.constexpr):
    i, c = tl.arange(0, 32), tl.arange(0, 16)
    row = tl.load(index + i)
    v = tl.load(x + row[:, None] * 16 + c[None, :])  # BUG
    tl.store(out + i[:, None] * 16 + c[None, :], v)


@case(
    "bounds", "gather in two steps",
    lambda t: {"x": t(40), "page": _indices(t, 50, 29), "index": t(32, dtype=torch.int64), "out": t(32)},
    "x", lane=29, lanes=1, at=(50,),
)  # fmt: skip
@triton.jit
def gather_in_two_steps(x, page, index, out, BUG: tl.constexpr):
    i = tl.arange(0, 32)
    j = tl.load(page + (i + tl.load(index + i) * 0))
    v = tl.load(x + j)  # BUG
    tl.store(out + i, v)


@case(
    "bounds", "paged rows in a loop",
    lambda t: {"cache": t(6, 4, 8), "pages": t(3, dtype=torch.int32, data=[5, 0, 6 if t.bug else 3]), "out": t(4, 8)},
    "cache", lane=0, lanes=32, at=(6, 0, 0),
)  # fmt: skip
@triton.jit
def paged_rows(cache, pages, out, BUG: tl.constexpr):
    at = tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :]
    total = tl.zeros((4, 8), tl.float32)
    for page in range(3):
        number = tl.load(pages + page)
        total += tl.load(cache + number * 32 + at)  # BUG
    tl.store(out + at, total)


@case("bounds", "index of float arithmetic", lambda t: {"x": t(64), "out": t(64)}, "x", lane=63, lanes=1, at=(64,))
@triton.jit
def index_from_floats(x, out, BUG: tl.constexpr):
    i = tl.arange(0, 64)
    j = (i.to(tl.float32) * (1.0 if BUG else 0.5) + 1.25).to(tl.int32)
    v = tl.load(x + j)  # BUG
    tl.store(out + i, v)


@case(
    "bounds", "atomic add, histogram",
    lambda t: {"x": t(32, dtype=torch.int32, data=[i % 7 + 1 for i in range(32)]), "bins": t(7, dtype=torch.int32)},
    "bins", lane=6, lanes=4, at=(7,),
)  # fmt: skip
@triton.jit
def histogram(x, bins, BUG: tl.constexpr):
    v = tl.load(x + tl.arange(0, 32))
    tl.atomic_add(bins + (v if BUG else v - 1), 1)  # BUG


@case(
    "bounds", "atomic max, mask too wide", lambda t: {"x": t(32), "most": t(20), "n": 20},
    "most", lane=20, lanes=12, at=(20,),
)  # fmt: skip
@triton.jit
def atomic_max(x, most, n, BUG: tl.constexpr):
    i = tl.arange(0, 32)
    tl.atomic_max(most + i, tl.load(x + i), mask=i < (32 if BUG else n))  # BUG


@case(
    "bounds", "atomic compare and swap", lambda t: {"lock": t(2, dtype=torch.int32)},
    "lock", grid=(3,), program=(2,), lane=-1, lanes=1, at=(2,),
)  # fmt: skip
@triton.jit
def atomic_cas(lock, BUG: tl.constexpr):
    pid = tl.program_id(0)
    tl.atomic_cas(lock + (pid if BUG else tl.minimum(pid, 1)), 0, 1)  # BUG


@case(
    "bounds", "atomic exchange of a scalar", lambda t: {"slots": t(4, dtype=torch.int32)},
    "slots", grid=(4,), program=(0,), lane=-1, lanes=1, at=(-1,),
)  # fmt: skip
@triton.jit
def atomic_exchange(slots, BUG: tl.constexpr):
    pid = tl.program_id(0)
    tl.atomic_xchg(slots + pid - (1 if BUG else 0), pid)  # BUG


@case(
    "bounds", "descriptor made in the kernel, load", lambda t: {"x": t(12, 16), "out": t(16, 16)},
    "x", lane=192, lanes=64, at=(12, 0),
)  # fmt: skip
@triton.jit
def descriptor_load(x, out, BUG: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [16 if BUG else 12, 16], [16, 1], [16, 16])
    v = source.load([0, 0])  # BUG
    tl.store(out + tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :], v)


@case(
    "bounds", "descriptor made in the kernel, store", lambda t: {"x": t(16, 16), "out": t(16, 12)},
    "out", lane=192, lanes=64, at=(16, 0),
)  # fmt: skip
@triton.jit
def descriptor_store(x, out, BUG: tl.constexpr):
    v = tl.load(x + tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :])
    target = tl.make_tensor_descriptor(out, [16, 16] if BUG else [16, 12], [16, 1] if BUG else [12, 1], [16, 16])
    target.store([0, 0], v)  # BUG


def _host_descriptor(t):
    x = t(12, 16)
    return {"source": TensorDescriptor(x, [16 if t.bug else 12, 16], [16, 1], [16, 16]), "out": t(16, 16)}


@case("bounds", "descriptor made on the host", _host_descriptor, "source", lane=192, lanes=64, at=(12, 0))
@triton.jit
def host_descriptor(source, out, BUG: tl.constexpr):
    v = source.load([0, 0])  # BUG
    tl.store(out + tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :], v)


@case(
    "bounds", "descriptor in a loop", lambda t: {"x": t(16, 28), "out": t(16, 16)},
    "x", lane=252, lanes=4, at=(16, 0),
)  # fmt: skip
@triton.jit
def descriptor_in_a_loop(x, out, BUG: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [16, 32 if BUG else 28], [28, 1], [16, 16])
    total = tl.zeros((16, 16), tl.float32)
    for column in range(0, 32, 16):
        total += source.load([0, column])  # BUG
    tl.store(out + tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :], total)
