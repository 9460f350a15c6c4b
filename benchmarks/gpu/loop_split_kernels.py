# SPDX-License-Identifier: Apache-2.0
"""The kernels of `loop_split.py`: each as one loop, which the pass can split, and in the forms that split it by hand.

The constexpr ``FORM`` chooses the form; the pass only gets ``"one"``.
"""

from __future__ import annotations

import triton
import triton.language as tl

#: Finite, so that a row without a visible element yet has no NaN: its sums are multiplied by 0 later.
HIDDEN = tl.constexpr(-1.0e6)


@triton.jit
def _attend(  # noqa: PLR0917
    total,
    weight,
    peak,
    queries,
    k,
    v,
    first,
    low,
    high,
    window,
    scale,
    D: tl.constexpr,  # noqa: N803
    BM: tl.constexpr,  # noqa: N803
    BN: tl.constexpr,  # noqa: N803
    CAUSAL: tl.constexpr,  # noqa: N803
    WINDOW: tl.constexpr,  # noqa: N803
):
    """Keys and values `low` to `high`, a block of `BN` at a time, into the running sums of an attention.

    `CAUSAL` and `WINDOW` say how what must not be seen is hidden: by "no" mask, by a mask "always", or "where needed".
    """
    row = first + tl.arange(0, BM)
    depth = tl.arange(0, D)
    for start in range(low, high, BN):
        column = start + tl.arange(0, BN)
        keys = tl.load(k + column[None, :] * D + depth[:, None])
        score = tl.dot(queries, keys) * scale
        if CAUSAL == "where needed" and WINDOW == "where needed":
            if (start + BN > first + 1) | (start < first + BM - window):
                score = tl.where(
                    (column[None, :] <= row[:, None]) & (column[None, :] > row[:, None] - window), score, HIDDEN
                )
        elif CAUSAL == "where needed":
            if start >= first:
                score = tl.where(column[None, :] <= row[:, None], score, HIDDEN)
        elif CAUSAL == "always" and WINDOW == "always":
            score = tl.where(
                (column[None, :] <= row[:, None]) & (column[None, :] > row[:, None] - window), score, HIDDEN
            )
        elif CAUSAL == "always":
            score = tl.where(column[None, :] <= row[:, None], score, HIDDEN)
        new_peak = tl.maximum(peak, tl.max(score, 1))
        shrink = tl.math.exp2(peak - new_peak)
        p = tl.math.exp2(score - new_peak[:, None])
        weight = weight * shrink + tl.sum(p, 1)
        values = tl.load(v + column[:, None] * D + depth[None, :])
        total = tl.dot(p.to(values.dtype), values, total * shrink[:, None])
        peak = new_peak
    return total, weight, peak


@triton.jit
def causal(q, k, v, o, scale, N, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, FORM: tl.constexpr):  # noqa: N803, PLR0917
    """Causal attention. "one" loop with a branch, or "masked" in all iterations; "two" loops; the last blocks as
    "epilogue" or as "prologue".
    """
    # The long rows come first, because their programs would end last.
    first = (tl.num_programs(0) - 1 - tl.program_id(0)) * BM
    head = tl.program_id(1).to(tl.int64) * N * D
    where = head + (first + tl.arange(0, BM))[:, None] * D + tl.arange(0, D)[None, :]
    queries = tl.load(q + where)
    k += head
    v += head
    total = tl.zeros((BM, D), tl.float32)
    weight = tl.zeros((BM,), tl.float32)
    peak = tl.full((BM,), HIDDEN, tl.float32)
    end = first + BM
    if FORM == "one":
        total, weight, peak = _attend(
            total, weight, peak, queries, k, v, first, 0, end, 0, scale, D, BM, BN, "where needed", "no"
        )
    elif FORM == "masked":
        total, weight, peak = _attend(
            total, weight, peak, queries, k, v, first, 0, end, 0, scale, D, BM, BN, "always", "no"
        )
    elif FORM == "two":
        total, weight, peak = _attend(
            total, weight, peak, queries, k, v, first, 0, first, 0, scale, D, BM, BN, "no", "no"
        )
        total, weight, peak = _attend(
            total, weight, peak, queries, k, v, first, first, end, 0, scale, D, BM, BN, "always", "no"
        )
    elif FORM == "epilogue":
        total, weight, peak = _attend(
            total, weight, peak, queries, k, v, first, 0, first, 0, scale, D, BM, BN, "no", "no"
        )
        for block in tl.static_range(BM // BN):
            total, weight, peak = _once(total, weight, peak, queries, k, v, first, first + block * BN, scale, D, BM, BN)
    else:
        for block in tl.static_range(BM // BN):
            total, weight, peak = _once(total, weight, peak, queries, k, v, first, first + block * BN, scale, D, BM, BN)
        total, weight, peak = _attend(
            total, weight, peak, queries, k, v, first, 0, first, 0, scale, D, BM, BN, "no", "no"
        )
    tl.store(o + where, (total / weight[:, None]).to(o.dtype.element_ty))


@triton.jit
def _once(total, weight, peak, queries, k, v, first, start, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):  # noqa: N803, PLR0917
    """Computes one block on the diagonal, without a loop."""
    row = first + tl.arange(0, BM)
    column = start + tl.arange(0, BN)
    depth = tl.arange(0, D)
    values = tl.load(v + column[:, None] * D + depth[None, :])
    keys = tl.load(k + column[None, :] * D + depth[:, None])
    score = tl.where(column[None, :] <= row[:, None], tl.dot(queries, keys) * scale, HIDDEN)
    new_peak = tl.maximum(peak, tl.max(score, 1))
    shrink = tl.math.exp2(peak - new_peak)
    p = tl.math.exp2(score - new_peak[:, None])
    total = tl.dot(p.to(values.dtype), values, total * shrink[:, None])
    return total, weight * shrink + tl.sum(p, 1), new_peak


@triton.jit
def sliding(  # noqa: PLR0917
    q,
    k,
    v,
    o,
    scale,
    N,  # noqa: N803
    window,
    D: tl.constexpr,  # noqa: N803
    BM: tl.constexpr,  # noqa: N803
    BN: tl.constexpr,  # noqa: N803
    FORM: tl.constexpr,  # noqa: N803
):
    """Attention of each row to the `window` before it. "one" loop with masks, "three" loops, or masks in a "branch"."""
    first = tl.program_id(0) * BM
    head = tl.program_id(1).to(tl.int64) * N * D
    where = head + (first + tl.arange(0, BM))[:, None] * D + tl.arange(0, D)[None, :]
    queries = tl.load(q + where)
    k += head
    v += head
    total = tl.zeros((BM, D), tl.float32)
    weight = tl.zeros((BM,), tl.float32)
    peak = tl.full((BM,), HIDDEN, tl.float32)
    begin = tl.maximum(first + 1 - window, 0) // BN * BN
    end = first + BM
    if FORM == "one":
        total, weight, peak = _attend(
            total, weight, peak, queries, k, v, first, begin, end, window, scale, D, BM, BN, "always", "always"
        )
    elif FORM == "branch":
        total, weight, peak = _attend(
            total,
            weight,
            peak,
            queries,
            k,
            v,
            first,
            begin,
            end,
            window,
            scale,
            D,
            BM,
            BN,
            "where needed",
            "where needed",
        )
    else:
        inside = tl.minimum(
            tl.cdiv(tl.maximum(end - window, 0), BN) * BN, end
        )  # from here on, all rows see the whole block
        beyond = tl.maximum(first, inside)  # from here on, some elements are too late
        total, weight, peak = _attend(
            total, weight, peak, queries, k, v, first, begin, inside, window, scale, D, BM, BN, "always", "always"
        )
        total, weight, peak = _attend(
            total, weight, peak, queries, k, v, first, inside, beyond, window, scale, D, BM, BN, "no", "no"
        )
        total, weight, peak = _attend(
            total, weight, peak, queries, k, v, first, beyond, end, window, scale, D, BM, BN, "always", "no"
        )
    tl.store(o + where, (total / weight[:, None]).to(o.dtype.element_ty))


@triton.jit
def sliding_fixed(  # noqa: PLR0917
    q,
    k,
    v,
    o,
    scale,
    N,  # noqa: N803
    window: tl.constexpr,
    D: tl.constexpr,  # noqa: N803
    BM: tl.constexpr,  # noqa: N803
    BN: tl.constexpr,  # noqa: N803
    FORM: tl.constexpr,  # noqa: N803
):
    """Computes `sliding` with a window that is known at compile time."""
    sliding(q, k, v, o, scale, N, window, D, BM, BN, FORM)


@triton.jit
def matmul(  # noqa: PLR0917
    a,
    b,
    c,
    M,  # noqa: N803
    N,  # noqa: N803
    K,  # noqa: N803
    stride,
    UNIT: tl.constexpr,  # noqa: N803
    BM: tl.constexpr,  # noqa: N803
    BN: tl.constexpr,  # noqa: N803
    BK: tl.constexpr,  # noqa: N803
    FORM: tl.constexpr,  # noqa: N803
):
    """C = A @ B in fp16, K in units of which the compiler knows; "one" loop with masks, or "two"."""
    K *= UNIT  # noqa: N806
    columns = tl.cdiv(N, BN)
    group = 8 * columns
    top = tl.program_id(0) // group * 8
    height = tl.minimum(tl.cdiv(M, BM) - top, 8)
    i = (top + tl.program_id(0) % group % height) * BM + tl.arange(0, BM)
    j = tl.program_id(0) % group // height * BN + tl.arange(0, BN)
    ks = tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    full = K // BK * BK if FORM == "two" else 0
    if FORM == "two":
        for start in range(0, full, BK):
            x = tl.load(a + i[:, None] * stride + (start + ks)[None, :])
            y = tl.load(b + (start + ks)[:, None] * N + j[None, :])
            total = tl.dot(x, y, total)
    for start in range(full, K, BK):
        k = start + ks
        x = tl.load(a + i[:, None] * stride + k[None, :], mask=(k < K)[None, :], other=0.0)
        y = tl.load(b + k[:, None] * N + j[None, :], mask=(k < K)[:, None], other=0.0)
        total = tl.dot(x, y, total)
    tl.store(c + i[:, None] * N + j[None, :], total.to(c.dtype.element_ty))


@triton.jit
def matmul_fixed(  # noqa: PLR0917
    a,
    b,
    c,
    M,  # noqa: N803
    N,  # noqa: N803
    K: tl.constexpr,  # noqa: N803
    stride,
    UNIT: tl.constexpr,  # noqa: N803
    BM: tl.constexpr,  # noqa: N803
    BN: tl.constexpr,  # noqa: N803
    BK: tl.constexpr,  # noqa: N803
    FORM: tl.constexpr,  # noqa: N803
):
    """Computes `matmul` with a K that is known at compile time."""
    matmul(a, b, c, M, N, K, stride, UNIT, BM, BN, BK, FORM)


@triton.jit
def softmax(x, y, n, stride, BLOCK: tl.constexpr, FORM: tl.constexpr):  # noqa: N803, PLR0917
    """One long row of a softmax, in blocks. Each of the two passes over it is "one" loop with a mask, or "two"."""
    x += tl.program_id(0).to(tl.int64) * stride
    y += tl.program_id(0).to(tl.int64) * stride
    i = tl.arange(0, BLOCK)
    peak = tl.full((BLOCK,), HIDDEN, tl.float32)
    weight = tl.zeros((BLOCK,), tl.float32)
    full = n // BLOCK * BLOCK if FORM == "two" else 0
    if FORM == "two":
        for start in range(0, full, BLOCK):
            value = tl.load(x + start + i).to(tl.float32)
            new_peak = tl.maximum(peak, value)
            weight = weight * tl.exp(peak - new_peak) + tl.exp(value - new_peak)
            peak = new_peak
    for start in range(full, n, BLOCK):
        value = tl.load(x + start + i, mask=start + i < n, other=HIDDEN).to(tl.float32)
        new_peak = tl.maximum(peak, value)
        weight = weight * tl.exp(peak - new_peak) + tl.exp(value - new_peak)
        peak = new_peak
    top = tl.max(peak, 0)
    factor = 1 / tl.sum(weight * tl.exp(peak - top), 0)
    if FORM == "two":
        for start in range(0, full, BLOCK):
            value = tl.load(x + start + i).to(tl.float32)
            tl.store(y + start + i, tl.exp(value - top) * factor)
    for start in range(full, n, BLOCK):
        value = tl.load(x + start + i, mask=start + i < n).to(tl.float32)
        tl.store(y + start + i, tl.exp(value - top) * factor, mask=start + i < n)
