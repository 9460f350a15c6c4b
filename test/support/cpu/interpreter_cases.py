# SPDX-License-Identifier: Apache-2.0
"""The kernels of test_against_interpreter.py: each gives the same results compiled and in Triton's interpreter.

``TRITON_INTERPRET=1 PYTHONPATH=test python -m support.cpu.interpreter_cases OUT.npz`` runs all kernels in the
interpreter and saves their results. Results must be equal bit for bit unless a case gives a tolerance. The interpreter
is known to differ from a GPU in these points, which the cases avoid or allow for:

- It keeps bf16 in a ``uint16``, adds these integers, and converts integers and f64 to them. So the cases convert bf16
  only from and to f32. The conversion from f32 truncates, while hardware rounds to nearest even, so the cases allow one
  unit in the last place.
- Its conversions to 8-bit floats round ties away from zero and do not saturate. So the cases convert only numbers that
  8-bit floats represent exactly.
- Its results for floats too large for an integer, and for division by zero, are those of NumPy on this processor. There
  are no such cases.
- ``tl.argmax`` of NaN, atomic exchanges of floats, external functions, inline assembly and ``map_elementwise`` differ
  or are missing in it. There are no such cases.
- It sums pairwise with NumPy and multiplies matrices with BLAS, in another order. So the cases have a tolerance for
  floats.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from support.binary_kernel import binaries

INTEGERS = {f"{sign}int{bits}": getattr(torch, f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)}
FLOATS = {"float16": torch.float16, "float32": torch.float32, "float64": torch.float64}
EVERY = {**INTEGERS, "bfloat16": torch.bfloat16, **FLOATS}
EPSILON = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}
N = 200  # not a power of two, so that the last block is masked

Result = torch.Tensor | tuple[torch.Tensor, ...]


@dataclass(frozen=True)
class Case:
    """A function to run, and the tolerance between its two results."""

    run: Callable[[], Result]
    rtol: float = 0
    atol: float = 0


CASES: dict[str, Case] = {}


def case(name: str, run: Callable[..., Result], *args: object, rtol: float = 0, atol: float = 0) -> None:
    assert name not in CASES
    CASES[name] = Case(lambda: run(*args), rtol, atol)


def batch(names: Mapping[str, Mapping[str, float]], run: Callable[..., tuple[Result, ...]], *args: object) -> None:
    """Adds cases that share one kernel, because a compilation takes most of the time of a case.

    Args:
        names: the tolerances of each case, by its name.
        run: returns the result of each case, in this order; called once.
        args: its arguments.
    """

    @functools.cache
    def together() -> dict[str, Result]:
        return dict(zip(names, run(*args), strict=True))

    for name, tolerances in names.items():
        assert name not in CASES
        CASES[name] = Case(lambda name=name: together()[name], **tolerances)


def random(dtype: torch.dtype, *shape: int, small: bool = False, seed: int = 0) -> torch.Tensor:
    """Returns normally distributed floats, or integers of the whole range; `small` integers fit every type."""
    rng = np.random.default_rng(seed)
    if dtype.is_floating_point:
        return torch.from_numpy(rng.normal(size=shape) * 3).to(dtype)
    info = torch.iinfo(dtype)
    low, high = (0 if info.min == 0 else -100, 100) if small else (info.min, info.max)
    kind = getattr(np, str(dtype).removeprefix("torch."))
    return torch.from_numpy(rng.integers(low, high, shape, kind, endpoint=True))


def empty(dtype: torch.dtype, *shape: int) -> torch.Tensor:
    return torch.zeros(*shape).to(dtype)


# Elementwise


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


# Memory


@triton.jit
def masked(x, out, n, other, SIDE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if SIDE == "even":
        m = (i % 2 == 0) & (i < n)
    elif SIDE == "none":
        m = i < -1
    elif SIDE == "range":
        m = (i > 3) & (i < n - 7)
    else:
        m = i < n
    v = tl.load(x + i, mask=m, other=other)
    w = tl.load(x + i, mask=m)
    tl.store(out + i, v, mask=i < n)
    tl.store(out + n + i, w, mask=i < n)
    tl.store(out + 2 * n + i, v, mask=m)


@triton.jit
def masks(x, outs, n, other, SIDES: tl.constexpr, BLOCK: tl.constexpr):
    for k in tl.static_range(len(SIDES)):
        masked(x, outs[k], n, other, SIDES[k], BLOCK)


def run_masks(dtype: torch.dtype, sides: tuple[str, ...]) -> tuple[Result, ...]:
    outs = tuple(empty(dtype, 3 * N) for _ in sides)
    masks[(4,)](random(dtype, N), outs, N, 0 if dtype == torch.bfloat16 else 3, SIDES=sides, BLOCK=64)
    return outs


for _name, _type in EVERY.items():
    _sides = ("even", "none", "range", "tail")
    batch({f"mask-{_side}-{_name}": {} for _side in _sides}, run_masks, _type, _sides)


@triton.jit
def addressed(x, index, out, stride, M: tl.constexpr, K: tl.constexpr):
    m, k = tl.arange(0, M), tl.arange(0, K)
    strided = tl.load(x + m[:, None] * stride + k[None, :])
    turned = tl.load(x + m[:, None] + k[None, :] * stride, mask=(m[:, None] + k[None, :] * stride) < M * K)
    rows = tl.load(index + m)
    gathered = tl.load(x + rows[:, None] * K + k[None, :])
    one = tl.load(x + 5)
    back = tl.load(x + (M * K - 1 - (m[:, None] * K + k[None, :])))
    here = m[:, None] * K + k[None, :]
    tl.store(out + here, strided + turned)
    tl.store(out + M * K + rows[:, None] * K + k[None, :], gathered * 2)
    tl.store(out + 2 * M * K + (k[None, :] * M + m[:, None]), back + one)
    tl.store(out + 3 * M * K, one)


def run_addressed(dtype: torch.dtype) -> Result:
    index = torch.from_numpy(np.random.default_rng(3).permutation(16).astype(np.int32))
    result = empty(dtype, 3 * 16 * 32 + 1)
    addressed[(1,)](random(dtype, 16 * 32, small=True), index, result, 32, M=16, K=32)
    return result


for _name in ("int8", "int32", "int64", "float16", "float32", "float64"):
    case(f"addresses-{_name}", run_addressed, EVERY[_name])


@triton.jit
def descriptors(x, rows, out, M, K, BM: tl.constexpr, BK: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [M, K], [K, 1], [BM, BK])
    target = tl.make_tensor_descriptor(out, [2 * M, K], [K, 1], [BM, BK])
    at = tl.program_id(0) * BM
    for column in range(0, K, BK):
        target.store([at, column], source.load([at, column]) * 2)
    edge = source.load([M - BM // 2, 0])  # half of it is outside
    tl.store(out + 2 * M * K + tl.arange(0, BM)[:, None] * BK + tl.arange(0, BK)[None, :], edge)


def run_descriptors(dtype: torch.dtype) -> Result:
    m, k = 16, 32
    result = empty(dtype, 2 * m * k + 8 * 16)
    descriptors[(2,)](random(dtype, m, k, small=True), result, result, m, k, BM=8, BK=16)
    return result


@triton.jit
def descriptor_rows(source, target, rows, K: tl.constexpr, COUNT: tl.constexpr):
    r = tl.load(rows + tl.arange(0, COUNT))
    target.scatter(source.gather(r, 0) + 1, r, 16)


def run_descriptor_rows(dtype: torch.dtype) -> Result:
    x, out = random(dtype, 32, 16, small=True), empty(dtype, 32, 32)
    rows = torch.from_numpy(np.random.default_rng(3).permutation(32)[:8].astype(np.int32))
    descriptor_rows[(1,)](
        TensorDescriptor.from_tensor(x, [1, 16]), TensorDescriptor.from_tensor(out, [1, 16]), rows, K=16, COUNT=8
    )
    return out


for _name in ("int32", "float16", "float32"):
    case(f"descriptor-{_name}", run_descriptors, EVERY[_name])
    case(f"descriptor_rows-{_name}", run_descriptor_rows, EVERY[_name])


@triton.jit
def atomics(x, y, old, n, OP: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    m = i < n
    v = tl.load(y + i, mask=m)
    if OP == "add":
        r = tl.atomic_add(x + i, v, mask=m)
    elif OP == "max":
        r = tl.atomic_max(x + i, v, mask=m)
    elif OP == "min":
        r = tl.atomic_min(x + i, v, mask=m)
    elif OP == "and":
        r = tl.atomic_and(x + i, v, mask=m)
    elif OP == "or":
        r = tl.atomic_or(x + i, v, mask=m, sem="relaxed")
    elif OP == "xor":
        r = tl.atomic_xor(x + i, v, mask=m, sem="release")
    elif OP == "xchg":
        r = tl.atomic_xchg(x + i, v, mask=m, scope="cta")
    else:
        r = tl.atomic_cas(x + i, tl.load(x + i), v)
    tl.store(old + i, r, mask=m)


@triton.jit
def each_atomic(xs, y, olds, n, OPS: tl.constexpr, BLOCK: tl.constexpr):
    for k in tl.static_range(len(OPS)):
        atomics(xs[k], y, olds[k], n, OPS[k], BLOCK)


def run_atomics(ops: tuple[str, ...], dtype: torch.dtype) -> tuple[Result, ...]:
    xs, olds = tuple(random(dtype, 64) for _ in ops), tuple(empty(dtype, 64) for _ in ops)
    each_atomic[(1,)](xs, random(dtype, 64, seed=1), olds, 60, OPS=ops, BLOCK=64)
    return tuple(zip(xs, olds, strict=True))


for _name in ("int32", "uint32", "int64", "uint64", "float16", "float32", "float64"):
    _ops = ("add", "max", "min", "and", "or", "xor", "xchg", "cas")
    if EVERY[_name].is_floating_point:  # the interpreter has no exchange of floats
        _ops = ("add", "max", "min") if _name == "float32" else ("add",)
    batch({f"atomic_{_op}-{_name}": {} for _op in _ops}, run_atomics, _ops, EVERY[_name])


@triton.jit
def contended(counter, total, BLOCK: tl.constexpr):
    tl.atomic_add(counter, 1)
    tl.atomic_add(total + tl.arange(0, BLOCK) % 4, tl.arange(0, BLOCK))


def run_contended() -> Result:
    counter, total = torch.zeros(1, dtype=torch.int64), torch.zeros(4, dtype=torch.int32)
    contended[(20,)](counter, total, BLOCK=32)
    return counter, total


case("atomic-contended", run_contended)


# Shapes


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


# Reductions and scans


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


# Products


@triton.jit
def product(a, b, c, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, ACC: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    left = tl.load(a + m[:, None] * K + k[None, :])
    right = tl.load(b + k[:, None] * N + n[None, :])
    at = m[:, None] * N + n[None, :]
    if ACC:
        r = tl.dot(left, right, tl.load(c + at), input_precision="ieee", out_dtype=out.dtype.element_ty)
    else:
        r = tl.dot(left, right, input_precision="ieee", out_dtype=out.dtype.element_ty)
    tl.store(out + at, r)


def run_product(dtype: torch.dtype, out: torch.dtype, acc: bool) -> Result:
    m, n, k = 16, 32, 64
    result = empty(out, m, n)
    a, b = random(dtype, m, k), random(dtype, k, n, seed=1)
    product[(1,)](a, b, random(out, m, n, small=True, seed=2), result, M=m, N=n, K=k, ACC=acc)
    return result


for _acc in (False, True):
    _title = "dot-acc" if _acc else "dot"
    case(f"{_title}-float16", run_product, torch.float16, torch.float32, _acc, atol=1e-3)
    case(f"{_title}-float32", run_product, torch.float32, torch.float32, _acc, atol=1e-3)
    case(f"{_title}-float64", run_product, torch.float64, torch.float64, _acc, atol=1e-11)
    case(f"{_title}-int8", run_product, torch.int8, torch.int32, _acc)


@triton.jit
def batched(a, b, out, B: tl.constexpr, N: tl.constexpr):
    n = tl.arange(0, N)
    i = tl.arange(0, B)[:, None, None] * N * N + n[None, :, None] * N + n[None, None, :]
    tl.store(out + i, tl.dot(tl.load(a + i), tl.load(b + i), input_precision="ieee"))


def run_batched() -> Result:
    result = empty(torch.float32, 2, 16, 16)
    batched[(1,)](random(torch.float32, 2, 16, 16), random(torch.float32, 2, 16, 16, seed=1), result, B=2, N=16)
    return result


case("dot-batched", run_batched, atol=1e-4)


@triton.jit
def scaled(
    a, sa, b, sb, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, KIND: tl.constexpr, PACK: tl.constexpr
):
    m, n, ka, groups = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K // PACK), tl.arange(0, K // 32)
    left = tl.load(a + m[:, None] * (K // PACK) + ka[None, :])
    right = tl.load(b + ka[:, None] * N + n[None, :])
    scale_a = tl.load(sa + m[:, None] * (K // 32) + groups[None, :])
    scale_b = tl.load(sb + n[:, None] * (K // 32) + groups[None, :])
    tl.store(out + m[:, None] * N + n[None, :], tl.dot_scaled(left, scale_a, KIND, right, scale_b, KIND))


def run_scaled(kind: str) -> Result:
    m, n, k = 16, 32, 64
    pack = 2 if kind == "e2m1" else 1
    types = {"e2m1": torch.uint8, "e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}
    rng = np.random.default_rng(0)

    def operand(*shape: int) -> torch.Tensor:
        if kind == "e2m1":
            return torch.from_numpy(rng.integers(0, 256, shape, np.uint8))
        return torch.from_numpy(rng.normal(size=shape)).to(types[kind])

    a, b = operand(m, k // pack), operand(k // pack, n)
    scales = [torch.from_numpy(rng.integers(125, 130, (rows, k // 32), np.uint8)) for rows in (m, n)]
    result = empty(torch.float32, m, n)
    scaled[(1,)](a, scales[0], b, scales[1], result, M=m, N=n, K=k, KIND=kind, PACK=pack)
    return result


for _kind in ("e2m1", "e4m3", "e5m2"):
    case(f"dot_scaled-{_kind}", run_scaled, _kind, atol=1e-3, rtol=1e-5)


# Programs


@triton.jit(noinline=True)
def step(a, b):
    return a * 3 + b, a - b


@triton.jit
def control(x, out, n, flag):
    p = tl.program_id(0)
    if p >= n:
        return
    total = tl.load(x + p)
    for k in range(p):
        v = tl.load(x + k)
        if v > 0:
            total += v
        elif v < -50:
            total -= 2 * v
        else:
            total, v = step(total, v)
    i = 0
    while i < 5 and total > 10:
        total = total // 2
        i += 1
    pair = (total, i)
    if flag:
        pair = (pair[0] + 1, pair[1] + p)
    tl.store(out + 2 * p, pair[0])
    tl.store(out + 2 * p + 1, pair[1])


def run_control(flag: bool) -> Result:
    out = torch.zeros(40, dtype=torch.int32)
    control[(20,)](random(torch.int32, 20, small=True), out, 17, flag)
    return out


case("control", run_control, False)
case("control-flag", run_control, True)


@triton.jit
def carried(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(x + i)
    b = a * 2
    for k in range(n):
        a, b = b, a + b
        if k % 2 == 0:
            a = a - 1
    tl.store(out + i, a)
    tl.store(out + BLOCK + i, b)


def run_carried() -> Result:
    out = torch.zeros(64, dtype=torch.int32)
    carried[(1,)](random(torch.int32, 32, small=True), out, 7, BLOCK=32)
    return out


case("carried", run_carried)


@triton.jit
def grid(out):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    nx, ny, nz = tl.num_programs(0), tl.num_programs(1), tl.num_programs(2)
    tl.store(out + (z * ny + y) * nx + x, x + 10 * y + 100 * z + 1000 * nz)


def run_grid() -> Result:
    out = torch.zeros(4, 3, 2, dtype=torch.int32)
    grid[(2, 3, 4)](out)
    return out


case("grid", run_grid)


@triton.jit
def randomness(out, seed, OP: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    if OP == "rand":
        r = tl.rand(seed, i)
    elif OP == "randn":
        r = tl.randn(seed, i)
    elif OP == "randint":
        r = tl.randint(seed, i)
    else:
        a, b, c, d = tl.randint4x(seed, i)
        r = a ^ b ^ c ^ d
    tl.store(out + i, r.to(out.dtype.element_ty, bitcast=out.dtype.element_ty == tl.int32))


def run_randomness(op: str, dtype: torch.dtype) -> Result:
    out = empty(dtype, 128)
    randomness[(1,)](out, 42, OP=op, BLOCK=128)
    return out


case("rand", run_randomness, "rand", torch.float32)
case("randn", run_randomness, "randn", torch.float32, rtol=1e-5, atol=1e-6)
case("randint", run_randomness, "randint", torch.int32)
case("randint4x", run_randomness, "randint4x", torch.int32)


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    row = tl.program_id(0) * columns
    v = tl.load(x + row + i, mask=i < columns, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, 0))
    tl.store(out + row + i, (e / tl.sum(e, 0)).to(out.dtype.element_ty), mask=i < columns)


def run_softmax(dtype: torch.dtype) -> Result:
    out = empty(dtype, 5, 100)
    softmax[(5,)](random(dtype, 5, 100), out, 100, BLOCK=128)
    return out


for _name in ("float16", "bfloat16", "float32"):
    case(f"softmax-{_name}", run_softmax, EVERY[_name], rtol=max(2 * EPSILON[_name], 1e-6))


def results(name: str) -> list[np.ndarray]:
    """Returns the results of the case `name`. Types that NumPy lacks become f32, which represents them exactly."""
    found = CASES[name].run()
    arrays = []
    for tensor in found if isinstance(found, tuple) else (found,):
        lacks = tensor.dtype == torch.bfloat16 or (tensor.dtype.is_floating_point and tensor.dtype.itemsize == 1)
        arrays.append((tensor.float() if lacks else tensor).numpy())
    return arrays


if __name__ == "__main__":
    np.seterr(all="ignore")  # wrapping integers are what is wanted
    np.savez(sys.argv[1], **{f"{name} {i}": array for name in CASES for i, array in enumerate(results(name))})
