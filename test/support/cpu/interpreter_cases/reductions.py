# SPDX-License-Identifier: Apache-2.0
"""Reductions and scans."""

from __future__ import annotations

from collections.abc import Mapping

import torch
import triton
import triton.language as tl

from support.cpu.interpreter_cases.cases import (
    EPSILON,
    EVERY,
    Result,
    batch,
    empty,
    random,
)


@triton.jit
def hypotenuse(a, b):
    return tl.sqrt(a * a + b * b)


@triton.jit
def affine(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def reduces(x, out, OP: tl.constexpr, AXIS: tl.constexpr, M: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, M)[:, None] * K + tl.arange(0, K)[None, :]
    v = tl.load(x + i)
    if OP == "sum":
        r = tl.sum(v, AXIS, keep_dims=True)
    elif OP == "max":
        r = tl.max(v, AXIS, keep_dims=True)
    elif OP == "min":
        r = tl.min(v, AXIS, keep_dims=True)
    elif OP == "argmax":
        r = tl.argmax(v, AXIS, keep_dims=True)
    elif OP == "argmin":
        r = tl.argmin(v, AXIS, keep_dims=True)
    elif OP == "xor_sum":
        r = tl.xor_sum(v, AXIS, keep_dims=True)
    elif OP == "or":
        r = tl.reduce_or(v, AXIS, keep_dims=True)
    elif OP == "own":
        r = tl.reduce(v, AXIS, hypotenuse, keep_dims=True)
    else:
        r = tl.max(v, AXIS, return_indices=True, keep_dims=True)[1]
    tl.store(out + i, (v * 0 + 1).to(out.dtype.element_ty) * r.to(out.dtype.element_ty))


@triton.jit
def each_reduce(x, outs, OPS: tl.constexpr, AXIS: tl.constexpr, M: tl.constexpr, K: tl.constexpr):
    for k in tl.static_range(len(OPS)):
        reduces(x, outs[k], OPS[k], AXIS, M, K)


def run_reduces(ops: Mapping[str, torch.dtype], dtype: torch.dtype, axis: int) -> tuple[Result, ...]:
    """Returns the result of each reduction, with that type."""
    outs = tuple(empty(out, 8, 32) for out in ops.values())
    each_reduce[(1,)](random(dtype, 8, 32, small=True), outs, OPS=tuple(ops), AXIS=axis, M=8, K=32)
    return outs


for _axis in (0, 1):
    for _name in ("int8", "uint8", "int16", "int32", "uint32", "int64", "float16", "float32", "float64"):
        _type = EVERY[_name]
        _ops = {"sum": _type if _type.itemsize >= 4 or _type.is_floating_point else torch.int32}
        _ops |= {"max": _type, "min": _type}
        if _name not in ("uint8", "uint32"):
            _ops |= dict.fromkeys(("argmax", "argmin", "indices"), torch.int32)
        if _name == "int32":
            _ops |= {"xor_sum": _type, "or": _type}
        _cases = {f"{_op}-{_axis}-{_name}": {} for _op in _ops}
        _cases[f"sum-{_axis}-{_name}"] = {"atol": 64 * EPSILON.get(_name, 0)}
        if _name == "float32":
            _ops["own"] = _type
            _cases[f"reduce-{_axis}-float32"] = {"rtol": 1e-6}
        batch(_cases, run_reduces, _ops, _type, _axis)


@triton.jit
def scans(x, out, OP: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr, M: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, M)[:, None] * K + tl.arange(0, K)[None, :]
    v = tl.load(x + i)
    if OP == "cumsum":
        r = tl.cumsum(v, AXIS, reverse=REVERSE)
    elif OP == "cumprod":
        r = tl.cumprod(v, AXIS, reverse=REVERSE)
    else:
        a, b = tl.associative_scan((v, v + 1), AXIS, affine, reverse=REVERSE)
        r = a + b
    tl.store(out + i, r.to(out.dtype.element_ty))


@triton.jit
def each_scan(
    xs,
    outs,
    OPS: tl.constexpr,
    AXES: tl.constexpr,
    REVERSE: tl.constexpr,
    M: tl.constexpr,
    K: tl.constexpr,
):
    for k in tl.static_range(len(OPS)):
        scans(xs[k], outs[k], OPS[k], AXES[k], REVERSE[k], M, K)


def run_scans(dtype: torch.dtype, scanned: list[tuple[str, int, bool]]) -> tuple[Result, ...]:
    """Returns the result of each operation, along that axis and in that direction."""
    ops, axes, reverse = zip(*scanned, strict=True)
    x = random(dtype, 8, 16, small=True)
    small = x % 3 if not dtype.is_floating_point else x / 4
    xs, outs = tuple(x if op == "cumsum" else small for op in ops), tuple(empty(dtype, 8, 16) for _ in ops)
    each_scan[(1,)](xs, outs, OPS=ops, AXES=axes, REVERSE=reverse, M=8, K=16)
    return outs


for _name in ("int32", "int64", "float32", "float64"):
    _scans = [(op, axis, back) for axis in (0, 1) for back in (False, True) for op in ("cumsum", "cumprod", "affine")]
    _more = {"rtol": 100 * EPSILON.get(_name, 0), "atol": 100 * EPSILON.get(_name, 0)}
    _cases = {f"{_op}-{_axis}-{'reverse-' * _back}{_name}": _more for _op, _axis, _back in _scans}
    batch(_cases, run_scans, EVERY[_name], _scans)
