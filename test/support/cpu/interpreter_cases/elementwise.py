# SPDX-License-Identifier: Apache-2.0
"""Elementwise operations and conversions."""

from __future__ import annotations

from collections.abc import Mapping

import torch
import triton
import triton.language as tl

from support.binary_kernel import binaries
from support.cpu.interpreter_cases.cases import (
    EPSILON,
    EVERY,
    FLOATS,
    INTEGERS,
    N,
    Result,
    batch,
    case,
    empty,
    random,
)


def run_binaries(dtype: torch.dtype, ops: Mapping[str, torch.dtype]) -> tuple[Result, ...]:
    """Returns the result of each operation, with that type."""
    x = random(dtype, N)
    ys = []
    for op in ops:
        y = random(dtype, N, seed=1)
        if not dtype.is_floating_point and op in ("floordiv", "mod"):
            array = y.numpy()
            array[(array == 0) | (array == -1)] = 7  # the smallest number divided by -1 overflows
        if op == "compare":
            y.numpy()[::3] = x.numpy()[::3]
        ys.append(y)
    outs = tuple(empty(out, N) for out in ops.values())
    binaries[(2,)](x, tuple(ys), outs, N, OPS=tuple(ops), BLOCK=128)
    return outs


_INTEGER = ["add", "sub", "mul", "floordiv", "mod", "and", "or", "xor", "shl", "shr", "min", "max", "compare"]
_FLOAT = ["add", "sub", "mul", "div", "min", "max", "max_nan", "compare", "clamp", "fma"]
_MORE = {name: ["umulhi"] for name in ("uint32", "uint64", "int32")} | {"float64": ["mod"]}
_MORE |= {"float32": ["mod", "div_rn"], "int32": ["umulhi", "div"]}
for _name, _type in {**INTEGERS, **FLOATS}.items():
    _ops = dict.fromkeys([*(_FLOAT if _type.is_floating_point else _INTEGER), *_MORE.get(_name, [])], _type)
    _ops["compare"] = torch.int8
    if _name == "int32":
        _ops["div"] = torch.float32
    batch({f"{_op}-{_name}": {} for _op in _ops}, run_binaries, _type, _ops)


@triton.jit
def unary(x, out, n, OP: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    a = tl.load(x + i, mask=m, other=1)
    if OP == "neg":
        r = -a
    elif OP == "invert":
        r = ~a
    elif OP == "abs":
        r = tl.abs(a)
    elif OP == "exp":
        r = tl.exp(a)
    elif OP == "exp2":
        r = tl.exp2(a)
    elif OP == "log":
        r = tl.log(tl.abs(a))
    elif OP == "log2":
        r = tl.log2(tl.abs(a))
    elif OP == "sin":
        r = tl.sin(a)
    elif OP == "cos":
        r = tl.cos(a)
    elif OP == "sqrt":
        r = tl.sqrt(tl.abs(a))
    elif OP == "sqrt_rn":
        r = tl.sqrt_rn(tl.abs(a))
    elif OP == "rsqrt":
        r = tl.rsqrt(tl.abs(a))
    elif OP == "erf":
        r = tl.erf(a)
    elif OP == "floor":
        r = tl.floor(a)
    elif OP == "ceil":
        r = tl.ceil(a)
    elif OP == "sigmoid":
        r = tl.sigmoid(a)
    else:
        r = tl.where(a > 0, a * 2, a)
    tl.store(out + i, r, mask=m)


@triton.jit
def unaries(x, outs, n, OPS: tl.constexpr, BLOCK: tl.constexpr):
    for k in tl.static_range(len(OPS)):
        unary(x, outs[k], n, OPS[k], BLOCK)


def run_unaries(dtype: torch.dtype, ops: list[str]) -> tuple[Result, ...]:
    outs = tuple(empty(dtype, N) for _ in ops)
    unaries[(4,)](random(dtype, N), outs, N, OPS=tuple(ops), BLOCK=64)
    return outs


for _name, _type in EVERY.items():
    if _name == "bfloat16":
        continue
    _exact = ["neg", "where"]
    _exact += [] if _name.startswith("u") else ["abs"]
    _exact += [] if _type.is_floating_point else ["invert"]
    _exact += ["sqrt", "floor", "ceil"] if _name in ("float32", "float64") else []
    _exact += ["sqrt_rn"] if _name == "float32" else []
    batch({f"{_op}-{_name}": {} for _op in _exact}, run_unaries, _type, _exact)
for _name in ("float32", "float64"):
    _ops = ["exp", "exp2", "log", "log2", "sin", "cos", "rsqrt", "erf", "sigmoid"]
    _more = {"rtol": 8 * EPSILON[_name], "atol": EPSILON[_name]}
    batch({f"{_op}-{_name}": _more for _op in _ops}, run_unaries, FLOATS[_name], _ops)


@triton.jit
def cast(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v.to(out.dtype.element_ty), mask=i < n)


@triton.jit
def casts(xs, outs, n, BLOCK: tl.constexpr):
    for k in tl.static_range(len(xs)):
        cast(xs[k], outs[k], n, BLOCK)


def cast_input(source: torch.dtype, target: torch.dtype, exact: bool) -> torch.Tensor:
    """Returns numbers to convert; `exact` for those that 8-bit floats represent exactly."""
    x = random(source, N, small=True)
    if exact:
        x = (x.float().round().clamp(-8, 8) / 4).to(source)
    if source.is_floating_point and torch.zeros(1).to(target).dtype not in (torch.bfloat16, *FLOATS.values()):
        x = x.abs() if not target.is_floating_point and torch.iinfo(target).min == 0 else x
    if not source.is_floating_point and source.is_signed and not target.is_floating_point:
        x = random(source, N)  # wraps, all widths
    return x


def run_casts(types: list[tuple[torch.dtype, torch.dtype]], exact: bool = False) -> tuple[Result, ...]:
    outs = tuple(empty(target, N) for _, target in types)
    casts[(2,)](tuple(cast_input(source, target, exact) for source, target in types), outs, N, BLOCK=128)
    return outs


for _name, _type in EVERY.items():
    _others = [
        other
        for other in EVERY
        if other != _name and ("bfloat16" not in (_name, other) or {"float16", "float32"} & {_name, other})
    ]
    batch(
        {f"cast-{_name}-{_o}": {"rtol": EPSILON["bfloat16"] if _o == "bfloat16" else 0} for _o in _others},
        run_casts,
        [(_type, EVERY[_other]) for _other in _others],
    )
for _type in (torch.float8_e4m3fn, torch.float8_e5m2):
    _name = str(_type).removeprefix("torch.")
    batch(
        {f"cast-{_a}-{_b}": {} for _o in ("float16", "float32") for _a, _b in ((_name, _o), (_o, _name))},
        run_casts,
        [pair for _o in ("float16", "float32") for pair in ((_type, FLOATS[_o]), (FLOATS[_o], _type))],
        True,
    )


@triton.jit
def bits(x, out, BLOCK: tl.constexpr, TO: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i).to(TO, bitcast=True))


def run_bits(source: torch.dtype, target: torch.dtype, to: tl.dtype) -> Result:
    result = empty(target, 64)
    bits[(1,)](random(source, 64), result, BLOCK=64, TO=to)
    return result


case("bitcast-f32", run_bits, torch.float32, torch.int32, tl.int32)
case("bitcast-f16", run_bits, torch.float16, torch.int16, tl.int16)
case("bitcast-i64", run_bits, torch.int64, torch.float64, tl.float64)
