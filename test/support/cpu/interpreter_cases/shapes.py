# SPDX-License-Identifier: Apache-2.0
"""Changes of shape and histograms."""

from __future__ import annotations

import numpy as np
import torch
import triton
import triton.language as tl

from support.cpu.interpreter_cases.cases import (
    EVERY,
    Result,
    batch,
    case,
    empty,
    random,
)


@triton.jit
def shapes(x, out, OP: tl.constexpr, M: tl.constexpr, K: tl.constexpr):
    m, k = tl.arange(0, M), tl.arange(0, K)
    v = tl.load(x + m[:, None] * K + k[None, :])
    if OP == "trans":
        r = tl.ravel(tl.trans(v))
    elif OP == "permute":
        r = tl.ravel(tl.permute(tl.reshape(v, (M, 2, K // 2)), (2, 0, 1)))
    elif OP == "reshape":
        r = tl.ravel(tl.reshape(v, (K // 4, M * 4)) + tl.arange(0, M * 4)[None, :].to(v.dtype))
    elif OP == "broadcast":
        r = tl.ravel(v + tl.load(x + k)[None, :] + tl.load(x + m)[:, None])
    elif OP == "join":
        r = tl.ravel(tl.join(v, v + 1))
        r = tl.reshape(r, (2, M * K))
        r = tl.sum(r, 0).to(v.dtype)
    elif OP == "split":
        a, b = tl.split(tl.reshape(v, (M, K // 2, 2)))
        r = tl.ravel(tl.interleave(b, a))
    elif OP == "cat":
        a, b = tl.split(tl.permute(tl.reshape(v, (2, M * K // 2)), (1, 0)))
        r = tl.cat(b, a, can_reorder=False)
    elif OP == "flip":
        r = tl.ravel(tl.flip(v, 1))
    elif OP == "gather":
        index = (m[:, None] * 7 + k[None, :] * 3) % K
        r = tl.ravel(tl.gather(v, index, 1))
    elif OP == "gather0":
        index = (m[:, None] * 7 + k[None, :] * 3) % M
        r = tl.ravel(tl.gather(v, index, 0))
    elif OP == "sort":
        r = tl.ravel(tl.sort(v))
    elif OP == "sort_descending":
        r = tl.ravel(tl.sort(v, descending=True))
    else:
        r = tl.ravel(tl.broadcast_to(tl.topk(v, 1), (M, K)))
    tl.store(out + tl.arange(0, M * K), r)


@triton.jit
def each_shape(x, outs, OPS: tl.constexpr, M: tl.constexpr, K: tl.constexpr):
    for k in tl.static_range(len(OPS)):
        shapes(x, outs[k], OPS[k], M, K)


def run_shapes(ops: tuple[str, ...], dtype: torch.dtype) -> tuple[Result, ...]:
    outs = tuple(empty(dtype, 8 * 16) for _ in ops)
    each_shape[(1,)](random(dtype, 8, 16, small=True), outs, OPS=ops, M=8, K=16)
    return outs


for _name in ("int32", "float32", "int8", "float16"):
    _ops = ("trans", "permute", "reshape", "join", "split", "cat", "flip", "gather", "gather0")
    if _name != "float16":  # the compiler may reorder the two additions
        _ops += ("broadcast",)
    for _some in (_ops, ("sort",), ("sort_descending",), ("topk",)):  # one that sorts takes as long as the others
        batch({f"{_op}-shape-{_name}": {} for _op in _some}, run_shapes, _some, EVERY[_name])


@triton.jit
def histogram(x, out, BINS: tl.constexpr, BLOCK: tl.constexpr):
    v = tl.load(x + tl.arange(0, BLOCK))
    tl.store(out + tl.arange(0, BINS), tl.histogram(v, BINS))
    tl.store(out + BINS + tl.arange(0, BINS), tl.histogram(v, BINS, mask=v > 3))


def run_histogram() -> Result:
    x = torch.from_numpy(np.random.default_rng(0).integers(0, 16, 256, np.int32))
    out = torch.zeros(32, dtype=torch.int32)
    histogram[(1,)](x, out, BINS=16, BLOCK=256)
    return out


case("histogram", run_histogram)
