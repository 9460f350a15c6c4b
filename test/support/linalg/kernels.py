# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PLR0917
"""Kernels of every family of operations, each with the results of NumPy or torch.

A case launches kernels and yields triples: the result, the expected result, and the tolerance. ``TRITON_INTERPRET=1
PYTHONPATH=test python -m support.linalg.kernels`` runs all cases in Triton's interpreter.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator

import numpy as np
import torch
import triton
import triton.language as tl
from torch.nn.functional import layer_norm as torch_layer_norm

from support.binary_kernel import binary

Pairs = Iterator[tuple[torch.Tensor, torch.Tensor, float]]
CASES: dict[str, Callable[[np.random.Generator], Pairs]] = {}
#: Cases in which the interpreter differs from a GPU, or fails.
NOT_INTERPRETED: set[str] = set()


def case(function: Callable[..., Pairs]) -> Callable[..., Pairs]:
    CASES[function.__name__] = function
    return function


def cases(**variants: object) -> Callable[[Callable[..., Pairs]], Callable[..., Pairs]]:
    """Makes a case for each value of one argument."""

    def add(function: Callable[..., Pairs]) -> Callable[..., Pairs]:
        ((name, values),) = variants.items()
        for value in values:  # type: ignore[attr-defined]
            label = str(value).removeprefix("torch.")
            CASES[f"{function.__name__}_{label}"] = lambda rng, v=value: function(rng, **{name: v})
        return function

    return add


def normal(rng: np.random.Generator, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.from_numpy(rng.normal(size=shape)).to(dtype)


def integers(
    rng: np.random.Generator, *shape: int, low: int = -100, high: int = 100, dtype: torch.dtype = torch.int32
) -> torch.Tensor:
    return torch.from_numpy(rng.integers(low, high, size=shape)).to(dtype)


def size(rng: np.random.Generator, most: int = 200) -> int:
    return int(rng.integers(1, most))


# ---------------------------------------------------------------- elementwise


_BINARY = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "floordiv": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    "mod": torch.fmod,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "shl": lambda a, b: a << (b & 7),
    "shr": lambda a, b: a >> (b & 7),
    "max": torch.maximum,
    "min": torch.minimum,
    "where": lambda a, b: torch.where(a < b, a, b),
}


@cases(op=["add", "sub", "mul", "floordiv", "mod", "and", "or", "xor", "shl", "shr", "max"])
def binary_of_integers(rng: np.random.Generator, op: str) -> Pairs:
    n = size(rng)
    x, y, out = integers(rng, n), integers(rng, n, low=1), torch.zeros(n, dtype=torch.int32)
    binary[(triton.cdiv(n, 64),)](x, y, out, n, OP=op, BLOCK=64)
    yield out, _BINARY[op](x, y), 0


@cases(op=["add", "div", "mod", "max", "min", "where"])
def binary_of_floats(rng: np.random.Generator, op: str) -> Pairs:
    n = size(rng)
    x, y, out = normal(rng, n), normal(rng, n), torch.zeros(n)
    binary[(triton.cdiv(n, 64),)](x, y, out, n, OP=op, BLOCK=64)
    yield out, _BINARY[op](x, y), 0


@cases(dtype=[torch.int8, torch.int16, torch.int64, torch.uint8, torch.float16, torch.bfloat16, torch.float64])
def add_of(rng: np.random.Generator, dtype: torch.dtype) -> Pairs:
    n = size(rng)
    x, y = integers(rng, n, low=0, high=50).to(dtype), integers(rng, n, low=0, high=50).to(dtype)
    out = torch.zeros(n, dtype=dtype)
    binary[(triton.cdiv(n, 64),)](x, y, out, n, OP="add", BLOCK=64)
    yield out, x + y, 0


NOT_INTERPRETED.add("add_of_bfloat16")  # the interpreter adds the bits


@triton.jit
def unary(x, out, n, OP: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n, other=1.0)
    if OP == "exp":
        r = tl.exp(a)
    elif OP == "log":
        r = tl.log(tl.abs(a))
    elif OP == "sqrt":
        r = tl.sqrt(tl.abs(a))
    elif OP == "sin":
        r = tl.sin(a)
    elif OP == "cos":
        r = tl.cos(a)
    elif OP == "erf":
        r = tl.erf(a)
    elif OP == "sigmoid":
        r = tl.sigmoid(a)
    elif OP == "floor":
        r = tl.floor(a)
    elif OP == "rsqrt":
        r = tl.rsqrt(tl.abs(a))
    else:
        r = tl.exp2(a)
    tl.store(out + i, r, mask=i < n)


_UNARY = {
    "exp": torch.exp,
    "log": lambda a: torch.log(a.abs()),
    "sqrt": lambda a: torch.sqrt(a.abs()),
    "sin": torch.sin,
    "cos": torch.cos,
    "erf": torch.erf,
    "sigmoid": torch.sigmoid,
    "floor": torch.floor,
    "rsqrt": lambda a: torch.rsqrt(a.abs()),
    "exp2": torch.exp2,
}


@cases(op=list(_UNARY))
def function(rng: np.random.Generator, op: str) -> Pairs:
    n = size(rng)
    x, out = normal(rng, n), torch.zeros(n)
    unary[(triton.cdiv(n, 64),)](x, out, n, OP=op, BLOCK=64)
    yield out, _UNARY[op](x), 1e-5


@triton.jit
def casts(x, half, whole, wide, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n)
    tl.store(half + i, a.to(tl.float16), mask=i < n)
    tl.store(whole + i, a.to(tl.int32), mask=i < n)
    tl.store(wide + i, a.to(tl.int32, bitcast=True).to(tl.int64), mask=i < n)


@case
def conversions(rng: np.random.Generator) -> Pairs:
    n = size(rng, 128)
    x = normal(rng, n) * 100
    half, whole, wide = (torch.zeros(n, dtype=d) for d in (torch.float16, torch.int32, torch.int64))
    casts[(1,)](x, half, whole, wide, n, BLOCK=128)
    yield half, x.half(), 0
    yield whole, x.int(), 0
    yield wide, x.view(torch.int32).long(), 0


@triton.jit
def to_bf16(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n).to(tl.bfloat16), mask=i < n)


@case
def conversion_to_bf16(rng: np.random.Generator) -> Pairs:
    n = size(rng, 128)
    x, out = normal(rng, n), torch.zeros(n, dtype=torch.bfloat16)
    to_bf16[(1,)](x, out, n, BLOCK=128)
    yield out, x.bfloat16(), 0


NOT_INTERPRETED.add("conversion_to_bf16")  # the interpreter truncates


@triton.jit
def high_half(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.umulhi(tl.load(x + i, mask=i < n), tl.load(y + i, mask=i < n)), mask=i < n)


@case
def umulhi(rng: np.random.Generator) -> Pairs:
    n = size(rng, 128)
    x, y = (torch.from_numpy(rng.integers(0, 2**32, n, dtype=np.uint32).view(np.int32)) for _ in range(2))
    out = torch.zeros(n, dtype=torch.int32)
    high_half[(1,)](x, y, out, n, BLOCK=128)
    a, b = (t.numpy().view(np.uint32).astype(np.uint64) for t in (x, y))
    yield out, torch.from_numpy(((a * b) >> 32).astype(np.uint32).view(np.int32)), 0


# ---------------------------------------------------------------- masks, strides, tails


@triton.jit
def window(x, out, n, before, EVERY: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK) - before
    mask = (i >= 0) & (i < n) & (i % EVERY == 0)
    tl.store(out + i, tl.load(x + i, mask=mask), mask=mask)


@cases(every=[1, 3])
def window_every(rng: np.random.Generator, every: int) -> Pairs:
    n = size(rng)
    x, out = normal(rng, n), torch.zeros(n)
    window[(triton.cdiv(n + 13, 64),)](x, out, n, 13, EVERY=every, BLOCK=64)
    yield out, torch.where(torch.arange(n) % every == 0, x, 0), 0


@triton.jit
def others(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n, other=-7.5))
    tl.store(out + BLOCK + i, tl.load(x + i, mask=i < n, other=i.to(tl.float32)))


@case
def masked_off_is_other(rng: np.random.Generator) -> Pairs:
    n = size(rng, 64)
    x, out = normal(rng, n), torch.zeros(128)
    others[(1,)](x, out, n, BLOCK=64)
    yield out[:64], torch.cat([x, torch.full((64 - n,), -7.5)]), 0
    yield out[64:], torch.cat([x, torch.arange(n, 64).float()]), 0


@triton.jit
def strided(x, out, n, stride, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i * 2, tl.load(x + i * stride, mask=i < n), mask=i < n)


@case
def strides(rng: np.random.Generator) -> Pairs:
    n, stride = size(rng, 64), int(rng.integers(2, 7))
    x, out = normal(rng, (n - 1) * stride + 1), torch.zeros(2 * n - 1)
    strided[(1,)](x, out, n, stride, BLOCK=64)
    expected = torch.zeros(2 * n - 1)
    expected[::2] = x[::stride]
    yield out, expected, 0


@triton.jit
def backwards(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + (n - 1 - i), mask=i < n), mask=i < n)


@case
def negative_stride(rng: np.random.Generator) -> Pairs:
    n = size(rng, 128)
    x, out = normal(rng, n), torch.zeros(n)
    backwards[(1,)](x, out, n, BLOCK=128)
    yield out, x.flip(0), 0


@triton.jit
def plane(x, out, rows, columns, stride, M: tl.constexpr, N: tl.constexpr):
    i = tl.program_id(0) * M + tl.arange(0, M)[:, None]
    j = tl.program_id(1) * N + tl.arange(0, N)[None, :]
    mask = (i < rows) & (j < columns)
    tl.store(out + i * columns + j, tl.load(x + i * stride + j, mask=mask) * 2, mask=mask)


@case
def two_dimensions(rng: np.random.Generator) -> Pairs:
    m, n = size(rng, 40), size(rng, 70)
    x, out = normal(rng, m, n + 3), torch.zeros(m, n)
    plane[(triton.cdiv(m, 16), triton.cdiv(n, 32))](x, out, m, n, n + 3, M=16, N=32)
    yield out, x[:, :n] * 2, 0


@triton.jit
def transposed(x, out, rows, columns, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    mask = (i[:, None] < rows) & (j[None, :] < columns)
    value = tl.load(x + i[:, None] * columns + j[None, :], mask=mask)
    back = (j[:, None] < columns) & (i[None, :] < rows)
    tl.store(out + j[:, None] * rows + i[None, :], tl.trans(value), mask=back)


@case
def transpose(rng: np.random.Generator) -> Pairs:
    m, n = size(rng, 32), size(rng, 64)
    x, out = normal(rng, m, n), torch.zeros(n, m)
    transposed[(1,)](x, out, m, n, M=32, N=64)
    yield out, x.T, 0


@triton.jit
def cube(x, out, a, b, c, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    i = tl.arange(0, A)[:, None, None]
    j = tl.arange(0, B)[None, :, None]
    k = tl.arange(0, C)[None, None, :]
    mask = (i < a) & (j < b) & (k < c)
    value = tl.load(x + (i * b + j) * c + k, mask=mask, other=0.0)
    tl.store(out + (i * b + j) * c + k, value + i, mask=mask)


@case
def three_dimensions(rng: np.random.Generator) -> Pairs:
    a, b, c = size(rng, 4), size(rng, 8), size(rng, 16)
    x, out = normal(rng, a, b, c), torch.zeros(a, b, c)
    cube[(1,)](x, out, a, b, c, A=4, B=8, C=16)
    yield out, x + torch.arange(a)[:, None, None], 0


@triton.jit
def scalar(x, out, n):
    value = tl.load(x + n, mask=n < 4, other=-1.0)
    tl.store(out, value)
    tl.store(out + 1, value, mask=n < 2)


@cases(n=[1, 3, 2**20])
def masked_scalars(rng: np.random.Generator, n: int) -> Pairs:
    x, out = normal(rng, 4), torch.zeros(2)
    scalar[(1,)](x, out, n)
    value = x[n] if n < 4 else torch.tensor(-1.0)
    yield out, torch.stack([value, value if n < 2 else torch.tensor(0.0)]), 0


@triton.jit
def far(x, out, offset, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK).to(tl.int64)
    tl.store(out + i, tl.load(x + offset + i - offset))


@case
def offsets_of_64_bits(rng: np.random.Generator) -> Pairs:
    x, out = normal(rng, 16), torch.zeros(16)
    far[(1,)](x, out, 2**40, BLOCK=16)
    yield out, x, 0


# ---------------------------------------------------------------- gathers


@triton.jit
def gather(x, index, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = tl.load(index + i, mask=i < n, other=2**30)
    tl.store(out + i, tl.load(x + at, mask=i < n, other=-1.0))


@cases(dtype=[torch.int8, torch.float16, torch.float32, torch.float64])
def gather_of(rng: np.random.Generator, dtype: torch.dtype) -> Pairs:
    n = size(rng, 64)
    x = integers(rng, 64, low=0).to(dtype)
    index = torch.from_numpy(rng.permutation(64)[:n].astype(np.int32))
    out = torch.zeros(128, dtype=dtype)
    gather[(1,)](x, index, out, n, BLOCK=128)
    yield out, torch.cat([x[index.long()], torch.full((128 - n,), -1, dtype=dtype)]), 0


@triton.jit
def scatter(x, index, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = tl.load(index + i, mask=i < n, other=2**30)
    tl.store(out + at, tl.load(x + i, mask=i < n), mask=i < n)


@case
def scatters(rng: np.random.Generator) -> Pairs:
    n = size(rng, 64)
    x, out, expected = normal(rng, n), torch.zeros(64), torch.zeros(64)
    index = torch.from_numpy(rng.permutation(64)[:n].astype(np.int32))
    scatter[(1,)](x, index, out, n, BLOCK=64)
    expected[index.long()] = x
    yield out, expected, 0


@triton.jit
def gather_rows(x, rows, out, n, D: tl.constexpr, BLOCK: tl.constexpr):
    i, j = tl.arange(0, BLOCK), tl.arange(0, D)
    row = tl.load(rows + i, mask=i < n, other=0)
    value = tl.load(x + row[:, None] * D + j[None, :], mask=(i < n)[:, None])
    tl.store(out + i[:, None] * D + j[None, :], value, mask=(i < n)[:, None])


@case
def embedding(rng: np.random.Generator) -> Pairs:
    n = size(rng, 32)
    table, rows = normal(rng, 50, 16), integers(rng, n, low=0, high=50)
    out = torch.zeros(n, 16)
    gather_rows[(1,)](table, rows, out, n, D=16, BLOCK=32)
    yield out, table[rows.long()], 0


@triton.jit
def gather_in_registers(x, index, out, N: tl.constexpr, AXIS: tl.constexpr):
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    value, at = tl.load(x + i * N + j), tl.load(index + i * N + j)
    tl.store(out + i * N + j, tl.gather(value, at, AXIS))


@cases(axis=[0, 1])
def gather_along(rng: np.random.Generator, axis: int) -> Pairs:
    x, index = normal(rng, 16, 16), integers(rng, 16, 16, low=0, high=16)
    out = torch.zeros(16, 16)
    gather_in_registers[(1,)](x, index, out, N=16, AXIS=axis)
    yield out, x.gather(axis, index.long()), 0


# ---------------------------------------------------------------- reductions, scans, sorting


@triton.jit
def xor_of(a, b):
    return a ^ b


@triton.jit
def and_of(a, b):
    return a & b


@triton.jit
def first_of(a, b):
    return a


@triton.jit
def reduction(x, out, n, OP: tl.constexpr, AXIS: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    value = tl.load(x + i * N + j)
    if OP == "sum":
        r = tl.sum(value, AXIS)
    elif OP == "max":
        r = tl.max(value, AXIS)
    elif OP == "min":
        r = tl.min(value, AXIS)
    elif OP == "xor":
        r = tl.reduce(value, AXIS, xor_of)
    elif OP == "and":
        r = tl.reduce(value, AXIS, and_of)
    elif OP == "first":
        r = tl.reduce(value, AXIS, first_of)
    elif OP == "argmax":
        r = tl.argmax(value, AXIS)
    else:
        r = tl.argmin(value, AXIS)
    tl.store(out + tl.arange(0, N if AXIS == 0 else M), r)


def _folded(function: Callable[[np.ndarray], np.ndarray]) -> Callable[[torch.Tensor, int], torch.Tensor]:
    return lambda x, axis: torch.from_numpy(function.reduce(x.numpy(), axis=axis))  # type: ignore[attr-defined]


_REDUCTIONS = {
    "sum": lambda x, axis: x.sum(axis, dtype=torch.int32),
    "max": lambda x, axis: x.amax(axis),
    "min": lambda x, axis: x.amin(axis),
    "xor": _folded(np.bitwise_xor),
    "and": _folded(np.bitwise_and),
    "first": lambda x, axis: x.select(axis, 0),
    "argmax": lambda x, axis: torch.from_numpy(x.numpy().argmax(axis).astype(np.int32)),
    "argmin": lambda x, axis: torch.from_numpy(x.numpy().argmin(axis).astype(np.int32)),
}


@cases(op=list(_REDUCTIONS))
def reduce_by(rng: np.random.Generator, op: str) -> Pairs:
    x = integers(rng, 8, 32)
    for axis in (0, 1):
        out = torch.zeros(32 if axis == 0 else 8, dtype=torch.int32)
        reduction[(1,)](x, out, 0, OP=op, AXIS=axis, M=8, N=32)
        yield out, _REDUCTIONS[op](x, axis), 0


NOT_INTERPRETED.add("reduce_by_first")  # the interpreter has another order


@triton.jit
def sum_of_floats(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(out, tl.sum(value))
    tl.store(out + 1, tl.max(tl.where(i < n, value, float("-inf"))))


@case
def reduce_floats(rng: np.random.Generator) -> Pairs:
    n = size(rng)
    x, out = normal(rng, n), torch.zeros(2)
    sum_of_floats[(1,)](x, out, n, BLOCK=256)
    yield out, torch.stack([x.sum(), x.max()]), 1e-4


@triton.jit
def add_of_two(a, b):
    return a + b


@triton.jit
def scan(x, out, OP: tl.constexpr, REVERSE: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    value = tl.load(x + i * N + j)
    if OP == "cumsum":
        r = tl.cumsum(value, 1, reverse=REVERSE)
    elif OP == "cumprod":
        r = tl.cumprod(value, 0, reverse=REVERSE)
    else:
        r = tl.associative_scan(value, 1, tl.standard._elementwise_max, reverse=REVERSE)
    tl.store(out + i * N + j, r)


@cases(op=["cumsum", "cumprod", "cummax"])
def scan_by(rng: np.random.Generator, op: str) -> Pairs:
    x = integers(rng, 4, 16, low=-5, high=5)
    along = {
        "cumsum": lambda v: v.cumsum(1, dtype=torch.int32),
        "cumprod": lambda v: v.cumprod(0, dtype=torch.int32),
        "cummax": lambda v: v.cummax(1).values,
    }[op]
    dim = 0 if op == "cumprod" else 1
    for reverse in (False, True):
        out = torch.zeros(4, 16, dtype=torch.int32)
        scan[(1,)](x, out, OP=op, REVERSE=reverse, M=4, N=16)
        yield out, along(x.flip(dim)).flip(dim) if reverse else along(x), 0


@triton.jit
def recurrence_of(a0, b0, a1, b1):
    return a0 * a1, b0 * a1 + b1


@triton.jit
def recurrence(a, b, out, N: tl.constexpr):
    i = tl.arange(0, N)
    _, r = tl.associative_scan((tl.load(a + i), tl.load(b + i)), 0, recurrence_of)
    tl.store(out + i, r)


@case
def scan_of_two_inputs(rng: np.random.Generator) -> Pairs:
    a, b, out = integers(rng, 32, low=-2, high=3), integers(rng, 32), torch.zeros(32, dtype=torch.int32)
    recurrence[(1,)](a, b, out, N=32)
    expected, value = [], np.int32(0)
    with np.errstate(over="ignore"):
        for x, y in zip(a.numpy(), b.numpy(), strict=True):
            value = value * x + y
            expected.append(value)
    yield out, torch.tensor(expected, dtype=torch.int32), 0


@triton.jit
def sorting(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    value = tl.load(x + i)
    tl.store(out + i, tl.sort(value))
    tl.store(out + N + i, tl.flip(value))


@case
def sort_and_flip(rng: np.random.Generator) -> Pairs:
    x, out = integers(rng, 32), torch.zeros(64, dtype=torch.int32)
    sorting[(1,)](x, out, N=32)
    yield out, torch.cat([x.sort().values, x.flip(0)]), 0


@triton.jit
def counting(x, out, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n, other=0)
    tl.store(out + tl.arange(0, BINS), tl.histogram(value, BINS, mask=i < n))


@case
def histogram(rng: np.random.Generator) -> Pairs:
    n = size(rng, 128)
    x, out = integers(rng, n, low=0, high=16), torch.zeros(16, dtype=torch.int32)
    counting[(1,)](x, out, n, BLOCK=128, BINS=16)
    yield out, torch.bincount(x, minlength=16).int(), 0


# ---------------------------------------------------------------- shapes


@triton.jit
def shaping(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    joined = tl.join(a, b)
    left, right = tl.split(joined)
    tl.store(out + tl.arange(0, 2 * N), tl.interleave(a, b))
    tl.store(out + 2 * N + i, left - right)
    tl.store(out + 3 * N + tl.arange(0, 2 * N), tl.cat(a, b, can_reorder=True))
    square = tl.permute(tl.reshape(a, (4, N // 4)), (1, 0))
    tl.store(out + 5 * N + i, tl.reshape(square, (N,)))


@case
def join_split_cat_reshape(rng: np.random.Generator) -> Pairs:
    x, y, out = normal(rng, 32), normal(rng, 32), torch.zeros(6 * 32)
    shaping[(1,)](x, y, out, N=32)
    yield out[:64], torch.stack([x, y], 1).flatten(), 0
    yield out[64:96], x - y, 0
    yield out[96:160], torch.cat([x, y]), 0
    yield out[160:], x.reshape(4, 8).T.flatten(), 0


@triton.jit
def spreading(x, out, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    tl.store(out + i * N + j, tl.broadcast_to(tl.load(x + i), (M, N)) + tl.full((M, N), 3.0, tl.float32))


@case
def broadcast(rng: np.random.Generator) -> Pairs:
    x, out = normal(rng, 8), torch.zeros(8, 16)
    spreading[(1,)](x, out, M=8, N=16)
    yield out, x[:, None].expand(8, 16) + 3, 0


# ---------------------------------------------------------------- products


@triton.jit
def matmul(a, b, c, m, n, k, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inner = tl.arange(0, BLOCK)
    a_ptr = a + rows[:, None] * k + inner[None, :]
    b_ptr = b + inner[:, None] * n + columns[None, :]
    acc = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for i in range(0, tl.cdiv(k, BLOCK)):
        left = k - i * BLOCK
        x = tl.load(a_ptr, mask=(rows[:, None] < m) & (inner[None, :] < left), other=0.0)
        y = tl.load(b_ptr, mask=(inner[:, None] < left) & (columns[None, :] < n), other=0.0)
        acc = tl.dot(x, y, acc)
        a_ptr += BLOCK
        b_ptr += BLOCK * n
    mask = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(c + rows[:, None] * n + columns[None, :], acc, mask=mask)


@cases(dtype=[torch.float32, torch.float16])
def matmul_of(rng: np.random.Generator, dtype: torch.dtype) -> Pairs:
    m, n, k = size(rng, 50), size(rng, 50), size(rng, 70)
    a, b, c = normal(rng, m, k, dtype=dtype), normal(rng, k, n, dtype=dtype), torch.zeros(m, n)
    matmul[(triton.cdiv(m, 16), triton.cdiv(n, 16))](a, b, c, m, n, k, BLOCK=16)
    yield c, (a.double() @ b.double()).float(), 1e-3


@triton.jit
def batched(a, b, c, B: tl.constexpr, N: tl.constexpr):
    z = tl.arange(0, B)[:, None, None] * (N * N)
    i, j = tl.arange(0, N)[None, :, None], tl.arange(0, N)[None, None, :]
    at = z + i * N + j
    tl.store(c + at, tl.dot(tl.load(a + at), tl.load(b + at)))


@case
def batched_matmul(rng: np.random.Generator) -> Pairs:
    a, b, c = normal(rng, 2, 16, 16), normal(rng, 2, 16, 16), torch.zeros(2, 16, 16)
    batched[(1,)](a, b, c, B=2, N=16)
    yield c, a @ b, 1e-4


@triton.jit
def product_of_bytes(a, b, c, N: tl.constexpr):
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    tl.store(c + i * N + j, tl.dot(tl.load(a + i * N + j), tl.load(b + i * N + j)))


@case
def matmul_of_int8(rng: np.random.Generator) -> Pairs:
    a, b = (integers(rng, 32, 32, low=-128, high=128, dtype=torch.int8) for _ in range(2))
    c = torch.zeros(32, 32, dtype=torch.int32)
    product_of_bytes[(1,)](a, b, c, N=32)
    yield c, a.int() @ b.int(), 0


# ---------------------------------------------------------------- atomics


@triton.jit
def atomics(x, index, out, old, n, OP: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    at = out + tl.load(index + i, mask=i < n, other=2**30)
    if OP == "add":
        r = tl.atomic_add(at, value, mask=i < n)
    elif OP == "max":
        r = tl.atomic_max(at, value, mask=i < n)
    elif OP == "min":
        r = tl.atomic_min(at, value, mask=i < n)
    elif OP == "and":
        r = tl.atomic_and(at, value, mask=i < n)
    elif OP == "or":
        r = tl.atomic_or(at, value, mask=i < n)
    elif OP == "xor":
        r = tl.atomic_xor(at, value, mask=i < n)
    else:
        r = tl.atomic_xchg(at, value, mask=i < n)
    tl.store(old + i, r, mask=i < n)


@triton.jit
def read_again(x, index, out, n, ATOMIC: tl.constexpr, GATHER: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = x + (tl.load(index + i, mask=i < n, other=0) if GATHER else i)
    a = tl.load(at, mask=i < n)
    if ATOMIC:
        tl.atomic_add(at, 1, mask=i < n)
    else:
        tl.store(at, a + 1, mask=i < n)
    tl.store(out + i, tl.load(at, mask=i < n) - a, mask=i < n)


@cases(how=["store", "atomic", "scatter", "atomic_scatter"])
def load_after_write(rng: np.random.Generator, how: str) -> Pairs:
    """Loads one place twice; the second load sees the store in between."""
    n = size(rng)
    x, out = integers(rng, n), torch.zeros(n, dtype=torch.int32)
    index = torch.from_numpy(rng.permutation(n)).to(torch.int32)
    grid = (triton.cdiv(n, 64),)
    read_again[grid](x, index, out, n, ATOMIC="atomic" in how, GATHER="scatter" in how, BLOCK=64)
    yield out, torch.ones(n, dtype=torch.int32), 0


_ATOMICS = {
    "add": lambda a, b: a + b,
    "max": max,
    "min": min,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "xchg": lambda a, b: b,
}


@cases(op=list(_ATOMICS))
def atomic(rng: np.random.Generator, op: str) -> Pairs:
    n = size(rng)
    x, index = integers(rng, n), integers(rng, n, low=0, high=8)
    out, old = integers(rng, 8), torch.zeros(n, dtype=torch.int32)
    expected, before = out.tolist(), []
    for value, at in zip(x.tolist(), index.tolist(), strict=True):
        before.append(expected[at])
        expected[at] = _ATOMICS[op](expected[at], value)
    atomics[(triton.cdiv(n, 64),)](x, index, out, old, n, OP=op, BLOCK=64)
    yield out, torch.tensor(expected, dtype=torch.int32), 0
    if op in ("add", "xchg"):
        yield old, torch.tensor(before, dtype=torch.int32), 0


@case
def atomic_add_of_floats(rng: np.random.Generator) -> Pairs:
    n = size(rng)
    x, index = integers(rng, n).float(), integers(rng, n, low=0, high=8)
    out, old = torch.zeros(8), torch.zeros(n)
    atomics[(triton.cdiv(n, 64),)](x, index, out, old, n, OP="add", BLOCK=64)
    yield out, torch.zeros(8).index_add(0, index, x), 0


@triton.jit
def exchange(out, expected, value, old, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(old + i, tl.atomic_cas(out + i, tl.load(expected + i), tl.load(value + i)))
    tl.atomic_add(out + N, 5)


@case
def compare_and_swap(rng: np.random.Generator) -> Pairs:
    out, expected, value = (integers(rng, 33, low=0, high=2), *(integers(rng, 32, low=0, high=2) for _ in range(2)))
    before, old = out.clone(), torch.zeros(32, dtype=torch.int32)
    exchange[(1,)](out, expected, value, old, N=32)
    yield old, before[:32], 0
    yield out[:32], torch.where(before[:32] == expected, value, before[:32]), 0
    yield out[32:], before[32:] + 5, 0


# ---------------------------------------------------------------- control flow


@triton.jit
def collatz(x, out, n):
    i = tl.program_id(0)
    value = tl.load(x + i)
    steps = 0
    while value != 1:
        if value % 2 == 0:  # noqa: SIM108 - a branch of Triton
            value = value // 2
        else:
            value = 3 * value + 1
        steps += 1
    tl.store(out + i, steps)


@case
def while_and_if(rng: np.random.Generator) -> Pairs:
    x, out = integers(rng, 8, low=1, high=60), torch.zeros(8, dtype=torch.int32)
    collatz[(8,)](x, out, 8)

    def steps(value: int) -> int:
        return 0 if value == 1 else 1 + steps(value // 2 if value % 2 == 0 else 3 * value + 1)

    yield out, torch.tensor([steps(v) for v in x.tolist()], dtype=torch.int32), 0


@triton.jit
def chosen(x, y, out, flag, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    if flag > 0:
        source = x + i
        if flag > 1:
            source = x + 2 * i
    else:
        source = y + i
    tl.store(out + i, tl.load(source, mask=i < n), mask=i < n)


@cases(flag=[0, 2, 3])
def pointers_of_branches(rng: np.random.Generator, flag: int) -> Pairs:
    n = size(rng, 64)
    x, y, out = normal(rng, 2 * n), normal(rng, n), torch.zeros(n)
    chosen[(1,)](x, y, out, flag, n, BLOCK=64)
    yield out, x[::2] if flag else y, 0


@triton.jit
def early(x, n):
    if n == 0:
        return
    while n > 1:
        tl.store(x, n)
        x += 2
        n //= 2


@cases(n=[0, 3, 17])
def early_return(rng: np.random.Generator, n: int) -> Pairs:
    out, expected = torch.zeros(16, dtype=torch.int32), torch.zeros(16, dtype=torch.int32)
    early[(1,)](out, n)
    at = 0
    while n > 1:
        expected[at], at, n = n, at + 2, n // 2
    yield out, expected, 0


@triton.jit
def wandering(x, out, n, BLOCK: tl.constexpr):
    source = x + tl.arange(0, BLOCK)
    target = out + tl.arange(0, BLOCK)
    left = n
    while left > 0:
        tl.store(target, tl.load(source, mask=tl.arange(0, BLOCK) < left) + 1, mask=tl.arange(0, BLOCK) < left)
        source += BLOCK
        target += BLOCK
        left -= BLOCK


@cases(n=[0, 5, 40])
def pointers_of_a_while_loop(rng: np.random.Generator, n: int) -> Pairs:
    x, out = integers(rng, n + 1)[:n], torch.zeros(n, dtype=torch.int32)
    wandering[(1,)](x, out, n, BLOCK=16)
    yield out, x + 1, 0


@triton.jit
def around(x, out, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i % SIZE))


@cases(block=[16, 64])
def remainders(rng: np.random.Generator, block: int) -> Pairs:
    """In groups of 16 the accesses are views; 64 wraps around between two elements."""
    x, out = integers(rng, 32), torch.zeros(128, dtype=torch.int32)
    around[(128 // block,)](x, out, SIZE=32, BLOCK=block)
    yield out, x.repeat(4), 0


@triton.jit
def copied_in_order(x, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    first = tl.load(x + i)
    tl.store(x + i, first + 1)
    second = tl.load(x + i)
    tl.store(x + BLOCK + i, first)
    tl.store(x + 2 * BLOCK + i, second)
    for k in range(n):
        tl.store(x + i, tl.load(x + i) * 2 + k)


@case
def loads_and_stores_in_order(rng: np.random.Generator) -> Pairs:
    x = torch.cat([integers(rng, 16), torch.zeros(32, dtype=torch.int32)])
    first = x[:16].clone()
    copied_in_order[(1,)](x, 3, BLOCK=16)
    last = first + 1
    for k in range(3):
        last = last * 2 + k
    yield x, torch.cat([last, first, first + 1]), 0


@triton.jit
def helper(x, y):
    return x * y + 1, x - y


@triton.jit(noinline=True)
def not_inlined(x, y):
    return x * y + tl.program_id(0)


@triton.jit
def calling(out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a, b = helper(i, 3)
    tl.store(out + tl.program_id(0) * BLOCK + i, a + b + not_inlined(tl.program_id(0), 5))


@case
def calls(rng: np.random.Generator) -> Pairs:
    out = torch.zeros(3, 16, dtype=torch.int32)
    calling[(3,)](out, BLOCK=16)
    i, p = torch.arange(16), torch.arange(3)[:, None]
    yield out, ((i * 3 + 1) + (i - 3) + p * 5 + p).int(), 0


@triton.jit
def where_am_i(out):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    at = (z * tl.num_programs(1) + y) * tl.num_programs(0) + x
    tl.store(out + at, x + 10 * y + 100 * z + 1000 * tl.num_programs(2))


@case
def grid_of_three_dimensions(rng: np.random.Generator) -> Pairs:
    out = torch.zeros(4, 3, 2, dtype=torch.int32)
    where_am_i[(2, 3, 4)](out)
    z, y, x = torch.meshgrid(torch.arange(4), torch.arange(3), torch.arange(2), indexing="ij")
    yield out, (x + 10 * y + 100 * z + 4000).int(), 0


# ---------------------------------------------------------------- descriptors


@triton.jit
def tiles(x, y, m, n, BLOCK: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [m, n], [n, 1], [BLOCK, BLOCK])
    target = tl.make_tensor_descriptor(y, [m, n], [n, 1], [BLOCK, BLOCK])
    for i in range(0, m, BLOCK):
        for j in range(0, n, BLOCK):
            target.store([i, j], source.load([i, j]) * 2)


@case
def descriptors(rng: np.random.Generator) -> Pairs:
    m, n = size(rng, 40), 4 * size(rng, 10)
    x, y = normal(rng, m, n), torch.zeros(m, n)
    tiles[(1,)](x, y, m, n, BLOCK=16)
    yield y, x * 2, 0


# ---------------------------------------------------------------- tutorials


@triton.jit
def softmax(out, x, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    values = tl.load(x + row * stride + columns, mask=mask, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * stride + columns, powers / tl.sum(powers, axis=0), mask=mask)


@case
def tutorial_softmax(rng: np.random.Generator) -> Pairs:
    n = size(rng)
    x, out = normal(rng, 5, n), torch.zeros(5, n)
    softmax[(5,)](out, x, n, n, BLOCK=256)
    yield out, x.softmax(1), 1e-5


@triton.jit
def layer_norm(x, y, w, b, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x += row * n
    y += row * n
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        total += tl.load(x + columns, mask=columns < n, other=0.0)
    mean = tl.sum(total, axis=0) / n
    square = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        value = tl.where(columns < n, tl.load(x + columns, mask=columns < n, other=0.0) - mean, 0.0)
        square += value * value
    scale = 1 / tl.sqrt(tl.sum(square, axis=0) / n + eps)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        mask = columns < n
        value = (tl.load(x + columns, mask=mask) - mean) * scale
        tl.store(y + columns, value * tl.load(w + columns, mask=mask) + tl.load(b + columns, mask=mask), mask=mask)


@case
def tutorial_layer_norm(rng: np.random.Generator) -> Pairs:
    n = size(rng) + 2
    x, w, b, y = normal(rng, 4, n), normal(rng, n), normal(rng, n), torch.zeros(4, n)
    layer_norm[(4,)](x, y, w, b, n, 1e-5, BLOCK=64)
    yield y, torch_layer_norm(x, (n,), w, b), 1e-4


@triton.jit
def dropout(x, out, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    keep = tl.rand(seed, i) > p
    tl.store(out + i, tl.where(keep, value / (1 - p), 0.0), mask=i < n)


def philox(seed: int, n: int) -> np.ndarray:
    """Returns for each offset the first number of its Philox-4x32-10, in [0, 1)."""
    c = [np.arange(n, dtype=np.uint64), *(np.zeros(n, np.uint64) for _ in range(3))]
    k0, k1, low = np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32), np.uint64(0xFFFFFFFF)
    for _ in range(10):
        b, a = np.uint64(0xCD9E8D57) * c[2], np.uint64(0xD2511F53) * c[0]
        c = [(b >> np.uint64(32)) ^ c[1] ^ k0, b & low, (a >> np.uint64(32)) ^ c[3] ^ k1, a & low]
        k0, k1 = (k0 + np.uint64(0x9E3779B9)) & low, (k1 + np.uint64(0xBB67AE85)) & low
    bits = c[0].astype(np.uint32).view(np.int32).astype(np.int64)
    return np.where(bits < 0, -bits - 1, bits) * 4.6566127342e-10


@case
def tutorial_dropout(rng: np.random.Generator) -> Pairs:
    n = size(rng)
    x, out = normal(rng, n), torch.zeros(n)
    dropout[(triton.cdiv(n, 64),)](x, out, n, 0.5, 123, BLOCK=64)
    kept = torch.from_numpy(philox(123, n) > 0.5)
    yield out, torch.where(kept, x * 2, 0), 0


@triton.jit
def attention(q, k, v, out, scale, n, D: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.arange(0, BLOCK)
    dims = tl.arange(0, D)
    queries = tl.load(q + rows[:, None] * D + dims[None, :], mask=rows[:, None] < n, other=0.0)
    largest = tl.full([BLOCK], -float("inf"), tl.float32)
    total = tl.zeros([BLOCK], tl.float32)
    acc = tl.zeros([BLOCK, D], tl.float32)
    for start in range(0, n, BLOCK):
        here = start + columns
        keys = tl.load(k + here[None, :] * D + dims[:, None], mask=here[None, :] < n, other=0.0)
        scores = tl.dot(queries, keys) * scale
        scores = tl.where((rows[:, None] >= here[None, :]) & (here[None, :] < n), scores, -float("inf"))
        new = tl.maximum(largest, tl.max(scores, 1))
        powers = tl.exp(scores - new[:, None])
        factor = tl.exp(largest - new)
        total = total * factor + tl.sum(powers, 1)
        values = tl.load(v + here[:, None] * D + dims[None, :], mask=here[:, None] < n, other=0.0)
        acc = tl.dot(powers, values, acc * factor[:, None])
        largest = new
    tl.store(out + rows[:, None] * D + dims[None, :], acc / total[:, None], mask=rows[:, None] < n)


@case
def tutorial_attention(rng: np.random.Generator) -> Pairs:
    n = size(rng, 70)
    q, k, v, out = *(normal(rng, n, 16) for _ in range(3)), torch.zeros(n, 16)
    attention[(triton.cdiv(n, 16),)](q, k, v, out, 0.25, n, D=16, BLOCK=16)
    scores = (q @ k.T * 0.25).masked_fill(torch.ones(n, n).triu(1).bool(), -math.inf)
    yield out, scores.softmax(1) @ v, 1e-4


@triton.jit
def log_sum_exp(x, labels, out, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    values = tl.load(x + row * n + columns, mask=columns < n, other=-float("inf"))
    largest = tl.max(values, 0)
    label = tl.load(labels + row)
    tl.store(out + row, tl.log(tl.sum(tl.exp(values - largest), 0)) + largest - tl.load(x + row * n + label))


@case
def cross_entropy(rng: np.random.Generator) -> Pairs:
    n = size(rng)
    x, labels, out = normal(rng, 6, n), integers(rng, 6, low=0, high=n), torch.zeros(6)
    log_sum_exp[(6,)](x, labels, out, n, BLOCK=256)
    yield out, torch.nn.functional.cross_entropy(x, labels.long(), reduction="none"), 1e-4


def check(name: str, seed: int) -> None:
    """Runs one case."""
    for found, expected, rtol in CASES[name](np.random.default_rng(seed)):
        assert found.dtype == expected.dtype, (found.dtype, expected.dtype)
        torch.testing.assert_close(found, expected, rtol=rtol, atol=rtol, equal_nan=True)


if __name__ == "__main__":
    ran = [name for name in CASES if name not in NOT_INTERPRETED]
    for name in ran:
        try:
            check(name, seed=0)
        except Exception as error:  # the error names every case that fails
            sys.exit(f"{name}: {error}")
    print(len(ran))
