# SPDX-License-Identifier: Apache-2.0
"""Compares arithmetic, comparisons and conversions of every type with torch, including special values."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from hypothesis import given, settings
from hypothesis import strategies as st
from triton.language.extra import libdevice

from support.binary_kernel import binaries, binary

pytestmark = pytest.mark.keeps_kernels

INTEGERS = (torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8)
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
SPECIAL = [0.0, -0.0, 1.0, -1.5, float("inf"), -float("inf"), float("nan"), 1e-40, -3e-39, 65504.0, 65520.0, 3.4e38]


def run_binary(op: str, x: torch.Tensor, y: torch.Tensor, dtype: torch.dtype, block: int = 64) -> torch.Tensor:
    out = torch.zeros(x.numel(), dtype=dtype)
    binary[(triton.cdiv(x.numel(), block),)](x, y, out, x.numel(), OP=op, BLOCK=block)
    return out


def run_binaries(x: torch.Tensor, y: torch.Tensor, results: dict[str, torch.dtype]) -> dict[str, torch.Tensor]:
    """Returns the result of each operation, with that type, from one kernel."""
    outs = {op: torch.zeros(x.numel(), dtype=dtype) for op, dtype in results.items()}
    grid, ys = (triton.cdiv(x.numel(), 64),), (y,) * len(outs)
    binaries[grid](x, ys, tuple(outs.values()), x.numel(), OPS=tuple(outs), BLOCK=64)
    return outs


def same(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Returns whether two tensors have equal elements; all NaNs count as equal."""
    return torch.equal(a.isnan(), b.isnan()) and torch.equal(a[~a.isnan()], b[~b.isnan()])


INTEGER_OPERATIONS = ("add", "sub", "mul", "floordiv", "mod", "and", "or", "xor", "shl", "shr", "max", "lt")


@functools.cache
def integers(dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor, dict[str, torch.Tensor]]:
    """Returns two operands, and the result of each operation."""
    info = torch.iinfo(dtype)
    x = torch.randint(max(info.min, -(2**62)), min(info.max, 2**62), (201,)).to(dtype)
    y = torch.randint(1, 100, (201,)).to(dtype)
    x[:2] = torch.tensor([info.min, info.max], dtype=dtype)
    return x, y, run_binaries(x, y, dict.fromkeys(INTEGER_OPERATIONS, dtype))


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("op", INTEGER_OPERATIONS)
def test_integers(dtype: torch.dtype, op: str) -> None:
    x, y, results = integers(dtype)
    reference = {
        "add": lambda: x + y,
        "sub": lambda: x - y,
        "mul": lambda: x * y,
        "floordiv": lambda: torch.div(x, y, rounding_mode="trunc"),  # as in C, and on a GPU
        "mod": lambda: torch.fmod(x, y),
        "and": lambda: x & y,
        "or": lambda: x | y,
        "xor": lambda: x ^ y,
        "shl": lambda: x << (y & 7),
        "shr": lambda: x >> (y & 7),
        "max": lambda: torch.maximum(x, y),
        "lt": lambda: (x < y).to(dtype),
    }[op]()
    assert torch.equal(results[op], reference)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_division_never_traps(dtype: torch.dtype) -> None:
    info = torch.iinfo(dtype)
    x = torch.tensor([info.min, info.max, 7, 0] * 8, dtype=dtype)
    zero, minus = torch.zeros_like(x), torch.full_like(x, -1 if info.min else 1)
    for op in ("floordiv", "mod"):
        run_binary(op, x, zero, dtype)  # the result is any value, but there is no signal
        run_binary(op, x, minus, dtype)
    assert run_binary("floordiv", x, minus, dtype)[2] == (-7 if info.min else 7)


FLOAT_OPERATIONS = ("add", "sub", "mul", "div", "max", "min", "where", "lt", "eq", "ne")


@functools.cache
def floats(dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor, dict[str, torch.Tensor]]:
    """Returns two operands, and the result of each operation."""
    special = torch.tensor([(a, b) for a in SPECIAL for b in SPECIAL], dtype=torch.float64)
    x = torch.cat([special[:, 0], torch.randn(57, dtype=torch.float64) * 10]).to(dtype)
    y = torch.cat([special[:, 1], torch.randn(57, dtype=torch.float64) * 10]).to(dtype)
    results = dict.fromkeys(FLOAT_OPERATIONS, dtype)
    if dtype in (torch.float16, torch.bfloat16):
        results["div"] = torch.float32
    return x, y, run_binaries(x, y, results)


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("op", FLOAT_OPERATIONS)
def test_floats(dtype: torch.dtype, op: str) -> None:
    x, y, results = floats(dtype)
    a, b = (x.float(), y.float()) if dtype in (torch.float16, torch.bfloat16) else (x, y)
    reference = {
        "add": lambda: a + b,
        "sub": lambda: a - b,
        "mul": lambda: a * b,
        "div": lambda: a / b,
        "max": lambda: torch.fmax(a, b),
        "min": lambda: torch.fmin(a, b),
        "where": lambda: torch.where(a < b, a, b),
        "lt": lambda: a < b,
        "eq": lambda: a == b,
        "ne": lambda: a != b,
    }[op]()
    assert same(results[op], reference.to(results[op].dtype))


@triton.jit
def convert(x, out, n, ROUNDING: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    if ROUNDING == "":
        tl.store(out + i, value.to(out.dtype.element_ty), mask=i < n)
    else:
        tl.store(out + i, value.to(out.dtype.element_ty, fp_downcast_rounding=ROUNDING), mask=i < n)


def run_convert(x: torch.Tensor, dtype: torch.dtype, rounding: str = "") -> torch.Tensor:
    out = torch.zeros(x.numel(), dtype=dtype)
    convert[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), ROUNDING=rounding, BLOCK=256)
    return out


@triton.jit
def convert_to_each(x, outs, n, BLOCK: tl.constexpr):
    for k in tl.static_range(len(outs)):
        convert(x, outs[k], n, "", BLOCK)


def run_conversions(x: torch.Tensor, dtypes: tuple[torch.dtype, ...]) -> dict[torch.dtype, torch.Tensor]:
    """Returns `x` in each type, from one kernel."""
    outs = {dtype: torch.zeros(x.numel(), dtype=dtype) for dtype in dtypes}
    convert_to_each[(triton.cdiv(x.numel(), 256),)](x, tuple(outs.values()), x.numel(), BLOCK=256)
    return outs


@functools.cache
def converted_floats(source: torch.dtype) -> tuple[torch.Tensor, dict[torch.dtype, torch.Tensor]]:
    """Returns numbers, and what they become in each type."""
    bits = torch.randint(-(2**31), 2**31, (4000,), dtype=torch.int64).to(torch.int32).view(torch.float32)
    x = torch.cat([torch.tensor(SPECIAL, dtype=torch.float64), bits.double(), torch.randn(4000).double() * 1e-3]).to(
        source
    )
    return x, run_conversions(x, FLOATS)


@pytest.mark.parametrize("source", FLOATS, ids=str)
@pytest.mark.parametrize("target", FLOATS, ids=str)
def test_float_conversions(source: torch.dtype, target: torch.dtype) -> None:
    x, results = converted_floats(source)
    assert same(results[target], x.to(target))


def test_double_is_rounded_once() -> None:
    # Halfway between two fp16 numbers, plus or minus less than f32 can represent.
    x = torch.tensor([1 + 2**-11 + 2**-40, 1 + 2**-11 - 2**-40, 1 + 2**-11], dtype=torch.float64)
    assert run_convert(x, torch.float16).tolist() == [1 + 2**-10, 1.0, 1.0]
    y = torch.tensor([1 + 2**-8 + 2**-40, 1 + 2**-8 - 2**-40, 1 + 2**-8], dtype=torch.float64)
    assert run_convert(y, torch.bfloat16).tolist() == [1 + 2**-7, 1.0, 1.0]


@pytest.mark.parametrize("target", [torch.float16, torch.bfloat16], ids=str)
def test_rounding_toward_zero(target: torch.dtype) -> None:
    x = torch.cat(
        [torch.randn(1000), torch.randn(1000) * 1e-6, torch.tensor([65519.0, 1e9, float("inf"), float("nan")])]
    )
    toward_zero = run_convert(x, target, "rtz")
    finite = x[:2000]
    assert (toward_zero[:2000].float().abs() <= finite.abs()).all()
    nearest = finite.to(target)
    off = (toward_zero[:2000].view(torch.int16) - nearest.view(torch.int16)).abs()
    assert (off <= 1).all() and (off == 1).any()
    assert toward_zero[2002] == float("inf") and toward_zero[2003].isnan()


FLOAT8 = (torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", FLOAT8, ids=str)
def test_fp8(dtype: torch.dtype) -> None:
    every = torch.arange(256, dtype=torch.uint8).view(dtype)
    for wide in (torch.float32, torch.float16, torch.bfloat16):
        assert same(run_convert(every, wide).float(), every.to(wide).float())
    x = torch.cat([torch.randn(4000), torch.randn(4000) * 1e-3, torch.randn(2000) * 1e-5, every.float()[:120]])
    assert same(run_convert(x, dtype).float(), x.to(dtype).float())
    largest = torch.finfo(dtype).max
    saturated = run_convert(torch.tensor([1e9, -1e9, float("nan")]), dtype).float()
    assert saturated[:2].tolist() == [largest, -largest] and saturated[2].isnan()
    # Formats without -0 convert it to 0, and -NaN becomes NaN.
    if dtype in FLOAT8[2:]:
        tiny = run_convert(torch.tensor([-0.0, -1e-30, -float("nan")]), dtype).view(torch.uint8)
        assert tiny.tolist() == [0, 0, 0x80]


@functools.cache
def converted_fp8(source: torch.dtype) -> tuple[torch.Tensor, dict[torch.dtype, torch.Tensor]]:
    """Returns every number, and what it becomes in each type."""
    x = torch.arange(256, dtype=torch.uint8).view(source)
    return x, run_conversions(x, FLOAT8)


@pytest.mark.sampled
@pytest.mark.parametrize("source", FLOAT8, ids=str)
@pytest.mark.parametrize("target", FLOAT8, ids=str)
def test_fp8_to_fp8(source: torch.dtype, target: torch.dtype) -> None:
    x, results = converted_fp8(source)
    wide = x.float()
    # Numbers that are too large become the largest one, and so does infinity.
    largest = torch.finfo(target).max
    expected = wide.clamp(-largest, largest) if source is not target else wide
    assert same(results[target].float(), expected.to(target).float())


@triton.jit
def dot_of_bytes(a, b, out, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + at, tl.dot(tl.load(a + at), tl.load(b + at)))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", FLOAT8, ids=str)
def test_dot_of_fp8(dtype: torch.dtype) -> None:
    a, b = (torch.randn(32, 32).to(dtype) for _ in range(2))
    out = torch.zeros(32, 32)
    dot_of_bytes[(1,)](a, b, out, N=32)
    torch.testing.assert_close(out, a.float() @ b.float(), atol=1e-3, rtol=1e-4)


# fp8e4b15 is the upper half of fp16 without the highest bit of the exponent; conversions yield at most 1.75.
B15 = ((torch.arange(128, dtype=torch.int16) << 7).view(torch.float16)).double()


@pytest.mark.slow
def test_fp8e4b15() -> None:
    codes = torch.arange(256, dtype=torch.uint8)
    every = torch.cat([B15, -B15])
    source = triton.reinterpret(codes, tl.float8e4b15)
    for wide in FLOATS:
        out = torch.zeros(256, dtype=wide)
        convert[(1,)](source, out, 256, ROUNDING="", BLOCK=256)
        assert torch.equal(out.double(), every)
    x = torch.cat([torch.randn(4000), torch.randn(2000) * 1e-3, torch.randn(2000) * 1e-5, B15.float(), -B15.float()])
    x[:6] = torch.tensor([2.0, -1e9, float("inf"), float("nan"), 1.8, 1.0625 + 2**-20])
    allowed = B15[:127]  # 1.875 can be read, but no conversion yields it
    for narrow, rounding in (*((dtype, "") for dtype in FLOATS), (torch.float32, "rtz")):
        values = x.to(narrow)
        packed = torch.zeros(len(x), dtype=torch.uint8)
        target = triton.reinterpret(packed, tl.float8e4b15)
        convert[(triton.cdiv(len(x), 256),)](values, target, len(x), ROUNDING=rounding, BLOCK=256)
        magnitude = values.double().abs().nan_to_num(1e9).clamp(max=1.75)
        if rounding:
            best = torch.searchsorted(allowed, magnitude, right=True) - 1
        else:  # to the nearest, ties away from zero
            best = torch.searchsorted((allowed[1:] + allowed[:-1]) / 2, magnitude, right=True)
        sign = (
            values.view(torch.int16 if narrow.itemsize == 2 else torch.int32 if narrow.itemsize == 4 else torch.int64)
            < 0
        )
        assert torch.equal(packed.long(), best + 128 * sign)


@pytest.mark.parametrize("target", INTEGERS, ids=str)
def test_float_to_integer_saturates(target: torch.dtype) -> None:
    info = torch.iinfo(target)
    x = torch.tensor([3.7, -3.7, 1e30, -1e30, float("nan"), 0.0])
    expected = [3, -3 if info.min else 0, info.max, info.min, 0, 0]
    assert run_convert(x, target).tolist() == expected


@functools.cache
def converted_integers(source: torch.dtype) -> tuple[torch.Tensor, dict[torch.dtype, torch.Tensor]]:
    """Returns numbers, and what they become in each type."""
    x = torch.randint(0, 2 if source is torch.bool else 100, (300,)).to(source)
    if source.is_signed:
        x[::3] *= -1
    return x, run_conversions(x, (*FLOATS, *INTEGERS))


@pytest.mark.sampled
@pytest.mark.parametrize("source", [*INTEGERS, torch.bool], ids=str)
@pytest.mark.parametrize("target", [*FLOATS, *INTEGERS], ids=str)
def test_integer_conversions(source: torch.dtype, target: torch.dtype) -> None:
    x, results = converted_integers(source)
    assert same(results[target], x.to(target))


@triton.jit
def function(x, out, n, NAME: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=1)
    if NAME == "exp":
        r = tl.exp(v)
    elif NAME == "exp2":
        r = tl.exp2(v)
    elif NAME == "log":
        r = tl.log(v)
    elif NAME == "log2":
        r = tl.log2(v)
    elif NAME == "log10":
        r = libdevice.log10(v)
    elif NAME == "sin":
        r = tl.sin(v)
    elif NAME == "cos":
        r = tl.cos(v)
    elif NAME == "erf":
        r = tl.erf(v)
    elif NAME == "tanh":
        r = libdevice.tanh(v)
    elif NAME == "sqrt":
        r = tl.sqrt(v)
    elif NAME == "rsqrt":
        r = tl.rsqrt(v)
    elif NAME == "pow":
        r = libdevice.pow(v, tl.full((BLOCK,), 1.75, v.dtype))
    elif NAME == "atan":
        r = libdevice.atan(v)
    elif NAME == "log1p":
        r = libdevice.log1p(v)
    elif NAME == "floor":
        r = tl.floor(v)
    elif NAME == "ceil":
        r = tl.ceil(v)
    else:
        tl.static_assert(NAME == "abs")
        r = tl.abs(v)
    tl.store(out + i, r, mask=i < n)


# The bounds that docs/cpu.md states, in units in the last place.
ULP = {
    "exp": 1.5,
    "exp2": 1.5,
    "log": 1.5,
    "log2": 2,
    "log10": 2,
    "sin": 2,
    "cos": 2,
    "erf": 3,
    "tanh": 4,
    "sqrt": 0.5,
    "rsqrt": 2,
    "pow": 1,
    "atan": 1,
    "log1p": 1,
    "floor": 0,
    "ceil": 0,
    "abs": 0,
}
EXACT = {
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "pow": lambda x: x**1.75,
    "atan": np.arctan,
    "erf": lambda x: torch.erf(torch.from_numpy(x)).numpy(),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", ULP)
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["fp32", "fp64"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_functions(name: str, dtype: type) -> None:
    rng = np.random.default_rng(0)
    many = 200_000 if dtype is np.float32 else 3000
    x = np.concatenate(
        [
            np.array(SPECIAL),
            rng.normal(size=many),
            rng.normal(size=many // 2) * 40,
            1 + rng.normal(size=many // 4) * 1e-3,
            10 ** rng.uniform(-44, 38, many // 4),
        ]
    ).astype(dtype)
    out = np.zeros_like(x)
    function[(triton.cdiv(len(x), 1024),)](x, out, len(x), NAME=name, BLOCK=1024)
    wide = x.astype(np.float64)
    exact = EXACT.get(name, getattr(np, name, None))(wide)
    expected = exact.astype(dtype)
    finite = np.isfinite(expected) & np.isfinite(out)
    assert np.array_equal(np.isnan(out), np.isnan(expected))
    close = np.abs(out[finite] - exact[finite]) / np.spacing(np.abs(expected[finite]))
    assert close.max() <= (ULP[name] if dtype is np.float32 else 2), (name, x[finite][close.argmax()])
    # Results overflow for the same arguments, except next to the largest number.
    infinite = np.isinf(expected) != np.isinf(out)
    assert (np.abs(exact[infinite & ~np.isnan(exact)]) > 3.4e38).all()


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 300),
    st.sampled_from([1, 2, 4, 8, 16, 32, 128, 1024]),
    st.sampled_from([np.int8, np.int16, np.int32, np.int64, np.float16, np.float32, np.float64]),
    st.randoms(use_true_random=False),
)
def test_any_length_and_block(n: int, block: int, dtype: type, random: object) -> None:
    rng = np.random.default_rng(random.getrandbits(32))  # type: ignore[attr-defined]
    x = rng.integers(0, 256, n * np.dtype(dtype).itemsize, dtype=np.uint8).view(dtype)
    y = rng.integers(0, 256, n * np.dtype(dtype).itemsize, dtype=np.uint8).view(dtype)
    out = np.zeros_like(x)
    with np.errstate(all="ignore"):
        binary[(triton.cdiv(n, block),)](x, y, out, n, OP="add", BLOCK=block)
        np.testing.assert_array_equal(out, x + y)


@triton.jit
def divide_by(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(x + i) / tl.load(y + tl.program_id(0)))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_division_by_one_number() -> None:
    rng = np.random.default_rng(3)
    x = np.concatenate([np.array([0.0, np.inf, -np.inf, np.nan, 1e-40]), rng.normal(size=251)]).astype(np.float32)
    ordinary = np.concatenate([rng.normal(size=20), 10 ** rng.uniform(-44, 38, 30)]).astype(np.float32)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, 1.2e-38, 8.6e37, 3.4e38], np.float32)
    out = np.zeros_like(x)
    for y in np.concatenate([ordinary, special]):
        divide_by[(1,)](x, np.array([y]), out, N=256)
        expected = x / y
        same = (out == expected) | (np.isnan(out) & np.isnan(expected))
        off = np.abs(out[~same].astype(np.float64) - x[~same].astype(np.float64) / np.float64(y))
        assert (off <= 1.5 * np.spacing(np.abs(expected[~same]))).all(), y


@triton.jit
def shifts(x, amounts, out, AMOUNT: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    value = tl.load(x + i)
    variable = tl.load(amounts + i)
    tl.store(out + i, value << AMOUNT)
    tl.store(out + N + i, value >> AMOUNT)
    tl.store(out + 2 * N + i, value << variable)
    tl.store(out + 3 * N + i, value >> variable)


@pytest.mark.parametrize("amount", [0, 31, 32, 40])
def test_a_constant_amount_shifts_as_a_variable_one(amount: int) -> None:
    x = torch.tensor([-7, 5, -1, 2**30], dtype=torch.int32)
    out = torch.full((4, 4), 99, dtype=torch.int32)
    shifts[(1,)](x, torch.full_like(x, amount), out, AMOUNT=amount, N=4)
    left = (x.long() << amount).to(torch.int32) if amount < 32 else torch.zeros_like(x)
    right = (x.long() >> amount).to(torch.int32)
    assert torch.equal(out, torch.stack([left, right, left, right]))
