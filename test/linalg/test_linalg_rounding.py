# SPDX-License-Identifier: Apache-2.0
"""Executes casts that round toward zero, casts of f64 to eight bits, and arithmetic on eight-bit floats."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

from support.linalg import execute

pytestmark = pytest.mark.usefixtures("stock")

FLOAT8 = [torch.float8_e4m3fn, torch.float8_e5m2]
PAIRS = [
    (source, target)
    for source in (torch.float64, torch.float32, torch.float16, torch.bfloat16)
    for target in (torch.float32, torch.float16, torch.bfloat16, *FLOAT8)
    if target.itemsize < source.itemsize
]
_BITS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


@triton.jit
def cast(x, out, n, MODE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    tl.store(out + i, value.to(out.dtype.element_ty, fp_downcast_rounding=MODE), mask=i < n)


def casted(x: torch.Tensor, dtype: torch.dtype, mode: str) -> torch.Tensor:
    out = torch.zeros(x.shape, dtype=dtype)
    with execute.through_linalg(at_end=True):
        cast[(triton.cdiv(x.numel(), 4096),)](x, out, x.numel(), MODE=mode, BLOCK=4096)
    return out


def numbers(dtype: torch.dtype) -> np.ndarray:
    """Returns all numbers of a narrow format from 0 to the greatest, in f64; the bits of each are its index."""
    size = dtype.itemsize
    values = torch.arange(1 << (8 * size - 1)).to(_BITS[size]).view(dtype).double().numpy()
    return values[np.isfinite(values)]


def inputs(source: torch.dtype, target: torch.dtype) -> torch.Tensor:
    """Returns all numbers of a source of 16 bits; else those of the target, the middles between them, all neighbours,
    and the ends."""
    if source.itemsize == 2:
        return torch.arange(-(1 << 15), 1 << 15).to(torch.int16).view(source)
    if target == torch.float32:  # too many to try all: some of each exponent, and random ones
        rng = np.random.default_rng(0)
        exact = np.concatenate([2.0 ** np.arange(-160.0, 130), np.float32(rng.normal(size=5000)).astype(np.float64)])
        steps = np.float32(exact).astype(np.float64)
        ulp = np.maximum(np.nextafter(np.minimum(steps, 3e38).astype(np.float32), np.float32(4e38)) - steps, 0)
        exact = np.concatenate([exact, steps + ulp / 2, steps + ulp / 3, [float(np.finfo(np.float32).max)]])
    else:
        exact = numbers(target)
        exact = np.concatenate([exact, (exact[1:] + exact[:-1]) / 2, [exact[-1] * 2 - exact[-2]]])
    x = torch.from_numpy(exact).to(source)
    near = [torch.nextafter(x, torch.full_like(x, to)) for to in (-torch.inf, torch.inf)]
    info = torch.finfo(source)
    ends = torch.tensor([info.max, info.tiny, info.smallest_normal / 2, torch.inf, torch.nan], dtype=source)
    # a NaN with only the last payload bit set, and the least number
    exponent = 0x7F800000 if source == torch.float32 else 0x7FF0000000000000
    bits = torch.tensor([exponent + 1, exponent | (exponent >> 1), 1], dtype=_BITS[source.itemsize]).view(source)
    x = torch.cat([x, *near, ends, bits])
    return torch.cat([x, -x])


def check(found: torch.Tensor, x: torch.Tensor, magnitudes: np.ndarray) -> None:
    """Compares all bits, except those of NaN."""
    wide = x.double()
    expected = torch.copysign(torch.from_numpy(magnitudes), wide)
    is_nan = wide.isnan()
    assert torch.equal(found.double().isnan(), is_nan)
    wrong = (found.double() != expected) | (found.double().signbit() != expected.signbit())
    at = (wrong & ~is_nan).nonzero()[:5, 0]
    assert not at.numel(), f"{x[at].tolist()}: expected {expected[at].tolist()}, got {found[at].tolist()}"


@pytest.mark.slow
@pytest.mark.parametrize(("source", "target"), PAIRS, ids=str)
@np.errstate(over="ignore", invalid="ignore")
def test_toward_zero(source: torch.dtype, target: torch.dtype) -> None:
    """Returns the rounding toward zero: the greatest number not beyond, found by a search among all numbers."""
    x = inputs(source, target)
    values = x.double().abs().numpy()
    if target == torch.float32:
        nearest = values.astype(np.float32)
        back = np.nextafter(nearest, np.float32(0))
        expected = np.where(nearest.astype(np.float64) > values, back, nearest).astype(np.float64)
    else:
        there = numbers(target)
        expected = there[np.searchsorted(there, values, side="right") - 1]
    if target != torch.float8_e4m3fn:  # this format has no infinity
        expected = np.where(np.isinf(values), values, expected)
    check(casted(x, target, "rtz"), x, expected)


@pytest.mark.slow
@pytest.mark.parametrize("target", FLOAT8, ids=str)
def test_nearest_of_f64(target: torch.dtype) -> None:
    """The cast rounds only once, although it goes through f32."""
    x = inputs(torch.float64, target)
    values, there = x.double().abs().numpy(), numbers(target)
    low = np.searchsorted(there, values, side="right") - 1
    # The place where a number beyond the greatest would be.
    above = np.append(there, 2 * there[-1] - there[-2])[low + 1]
    middle = (there[low] + above) / 2
    up = (values > middle) | ((values == middle) & (low % 2 == 1))
    expected = np.where(up, above, there[low])
    expected = np.where(values >= above, above, expected)
    beyond = torch.inf if target == torch.float8_e5m2 else there[-1]
    check(casted(x, target, "rtne"), x, np.where(expected > there[-1], beyond, expected))


@triton.jit
def arithmetic(x, y, out, truth, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, a + b)
    tl.store(out + BLOCK + i, a - b)
    tl.store(out + 2 * BLOCK + i, a * b)
    tl.store(out + 3 * BLOCK + i, -a)
    tl.store(truth + i, a < b)
    tl.store(truth + BLOCK + i, a == b)
    tl.store(truth + 2 * BLOCK + i, a != b)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", FLOAT8, ids=str)
def test_arithmetic_on_eight_bits(dtype: torch.dtype) -> None:
    """Computes with all pairs of numbers."""
    every = torch.arange(256, dtype=torch.uint8)
    x, y = every.repeat(256).view(dtype), every.repeat_interleave(256).view(dtype)
    n = x.numel()
    out, truth = torch.zeros(4 * n, dtype=torch.uint8).view(dtype), torch.zeros(3 * n, dtype=torch.bool)
    with execute.through_linalg(at_end=True):
        arithmetic[(1,)](x, y, out, truth, BLOCK=n)
    a, b = x.float(), y.float()
    assert torch.equal(truth, torch.cat([a < b, a == b, a != b]))
    expected = torch.cat([(a + b), (a - b), (a * b), -a]).to(dtype).float()
    torch.testing.assert_close(out.float(), expected, rtol=0, atol=0, equal_nan=True)


@triton.jit
def extremes(x, out, BLOCK: tl.constexpr):
    value = tl.load(x + tl.arange(0, BLOCK))
    tl.store(out, tl.max(value, 0).to(tl.float32))
    tl.store(out + 1, tl.min(value, 0).to(tl.float32))
    tl.store(out + 2, tl.sum(value, 0).to(tl.float32))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", FLOAT8, ids=str)
def test_reductions_of_eight_bits(dtype: torch.dtype) -> None:
    """The sums are of small integers, which are the same in any order."""
    x, out = torch.randint(-2, 3, (16,)).float().clamp(max=1).to(dtype), torch.zeros(3)
    x[:8] = x[8:].float().neg().to(dtype)
    with execute.through_linalg(at_end=True):
        extremes[(1,)](x, out, BLOCK=16)
    assert out.tolist() == [x.float().max().item(), x.float().min().item(), 0]
