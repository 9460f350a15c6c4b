# SPDX-License-Identifier: Apache-2.0
"""Branches, early returns and loops in combine functions and in functions of tl.map_elementwise."""

from __future__ import annotations

import functools
import math
import re
from functools import reduce
from itertools import accumulate

import pytest
import torch
import triton
import triton.language as tl

pytestmark = pytest.mark.keeps_kernels

SHAPES = [(1, 64), (4, 8), (16, 32), (64, 2), (2, 64), (8, 1)]


@triton.jit
def larger(a, b):
    if a > b:
        return a
    else:
        return b


@triton.jit
def smaller_magnitude(a, b):
    # The function has three returns; in a tie, it returns the first argument.
    if tl.abs(a) < tl.abs(b):
        return a
    if tl.abs(b) < tl.abs(a):
        return b
    return a


@triton.jit
def saturating(a, b):
    total = a + b
    if total > 100:
        total = tl.full((), 100, total.dtype)
    elif total < -100:
        total = tl.full((), -100, total.dtype)
    else:
        total += 0
    return total


@triton.jit
def gcd(a, b):
    while b != 0:
        a, b = b, a % b
    return a


@triton.jit
def repeated(a, b):
    total = a
    for i in range(4):
        if i % 2 == 0:
            total = total + b
    return total - b


@triton.jit
def total_of_positive(a, b):
    tl.device_assert(a >= 0, "a negative element")
    return a + b


@triton.jit
def reduce_by(x, AXIS: tl.constexpr, COMBINE: tl.constexpr):
    if COMBINE == "larger":
        return tl.reduce(x, AXIS, larger)
    elif COMBINE == "smaller_magnitude":
        return tl.reduce(x, AXIS, smaller_magnitude)
    elif COMBINE == "gcd":
        return tl.reduce(x, AXIS, gcd)
    elif COMBINE == "total_of_positive":
        return tl.reduce(x, AXIS, total_of_positive)
    else:
        tl.static_assert(COMBINE == "repeated")
        return tl.reduce(x, AXIS, repeated)


@triton.jit
def scan_by(x, AXIS: tl.constexpr, REVERSE: tl.constexpr, COMBINE: tl.constexpr):
    if COMBINE == "larger":
        return tl.associative_scan(x, AXIS, larger, reverse=REVERSE)
    elif COMBINE == "smaller_magnitude":
        return tl.associative_scan(x, AXIS, smaller_magnitude, reverse=REVERSE)
    elif COMBINE == "gcd":
        return tl.associative_scan(x, AXIS, gcd, reverse=REVERSE)
    elif COMBINE == "saturating":
        return tl.associative_scan(x, AXIS, saturating, reverse=REVERSE)
    else:
        tl.static_assert(COMBINE == "repeated")
        return tl.associative_scan(x, AXIS, repeated, reverse=REVERSE)


@triton.jit
def reduce_kernel(x, out, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, COMBINE: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    size: tl.constexpr = N if AXIS == 0 else M
    tl.store(out + tl.arange(0, size), reduce_by(tl.load(x + at), AXIS, COMBINE))


@triton.jit
def scan_kernel(
    x, out, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr, COMBINE: tl.constexpr
):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + at, scan_by(tl.load(x + at), AXIS, REVERSE, COMBINE))


@triton.jit
def reduce_by_each(xs, outs, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, EACH: tl.constexpr):
    for k in tl.static_range(len(EACH)):
        reduce_kernel(xs[k], outs[k], M, N, AXIS, EACH[k])


@triton.jit
def scan_by_each(
    xs, outs, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr, EACH: tl.constexpr
):
    for k in tl.static_range(len(EACH)):
        scan_kernel(xs[k], outs[k], M, N, AXIS, REVERSE, EACH[k])


def smaller(a: float, b: float) -> float:
    return b if abs(b) < abs(a) else a


COMBINES = {
    "larger": max,
    "smaller_magnitude": smaller,
    "gcd": math.gcd,
    "repeated": lambda a, b: a + b,
}


def values(shape: tuple[int, int], dtype: torch.dtype, name: str) -> torch.Tensor:
    if name == "gcd":
        return torch.randint(1, 40, shape).to(dtype) * 6
    return torch.randint(-30, 30, shape).to(dtype)


@functools.cache
def reduced(shape: tuple[int, int], axis: int) -> dict[str, tuple[torch.Tensor, torch.Tensor]]:
    """Returns numbers and their reduction by each function, from one kernel."""
    xs = tuple(values(shape, torch.int32, name) for name in COMBINES)
    outs = tuple(torch.zeros(shape[1 - axis], dtype=torch.int32) for _ in COMBINES)
    reduce_by_each[(1,)](xs, outs, M=shape[0], N=shape[1], AXIS=axis, EACH=tuple(COMBINES))
    return dict(zip(COMBINES, zip(xs, outs, strict=True), strict=True))


@functools.cache
def scanned(shape: tuple[int, int], axis: int, reverse: bool) -> dict[str, tuple[torch.Tensor, torch.Tensor]]:
    """Returns numbers and their scan by each function, from one kernel."""
    xs = tuple(values(shape, torch.int32, name) for name in COMBINES)
    xs = tuple(x.abs() if name == "smaller_magnitude" else x for name, x in zip(COMBINES, xs, strict=True))
    outs = tuple(map(torch.zeros_like, xs))
    scan_by_each[(1,)](xs, outs, M=shape[0], N=shape[1], AXIS=axis, REVERSE=reverse, EACH=tuple(COMBINES))
    return dict(zip(COMBINES, zip(xs, outs, strict=True), strict=True))


@pytest.mark.sampled
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("name", COMBINES)
def test_reduce_with_branches(shape: tuple[int, int], axis: int, name: str) -> None:
    python = COMBINES[name]
    x, out = reduced(shape, axis)[name]
    # If two elements have the same magnitude, the result depends on the order of the combinations.
    expected = torch.tensor([reduce(python, row.tolist()) for row in x.movedim(axis, 1)], dtype=torch.int32)
    if name == "smaller_magnitude":
        assert torch.equal(out.abs(), expected.abs())
    else:
        assert torch.equal(out, expected)


@pytest.mark.sampled
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", COMBINES)
def test_scan_with_branches(shape: tuple[int, int], axis: int, reverse: bool, name: str) -> None:
    python = COMBINES[name]
    x, out = scanned(shape, axis, reverse)[name]
    y = x.flip(axis) if reverse else x
    rows = [list(accumulate(row.tolist(), python)) for row in y.movedim(axis, 1)]
    expected = torch.tensor(rows, dtype=torch.int32).movedim(1, axis)
    assert torch.equal(out, expected.flip(axis) if reverse else expected)


@pytest.mark.parametrize("dtype", [torch.int8, torch.int64, torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_types(dtype: torch.dtype) -> None:
    x = torch.randint(-100, 100, (16, 16)).to(dtype)
    out = torch.zeros(16, dtype=dtype)
    reduce_kernel[(1,)](x, out, M=16, N=16, AXIS=1, COMBINE="larger")
    assert torch.equal(out, x.amax(1))
    if dtype is not torch.int8:
        positive = x.abs()
        sums = torch.zeros_like(x)
        scan_kernel[(1,)](positive, sums, M=16, N=16, AXIS=1, REVERSE=False, COMBINE="saturating")
        assert torch.equal(sums, positive.double().cumsum(1).clamp(max=100).to(dtype))


@triton.jit
def best(value_a, at_a, value_b, at_b):
    # The first of the largest elements; NaN counts as larger than every number.
    if not (value_a <= float("inf")):
        return value_a, at_a
    if not (value_b <= value_a):
        return value_b, at_b
    if value_a > value_b:
        return value_a, at_a
    if at_a < at_b:
        return value_a, at_a
    else:
        return value_b, at_b


@triton.jit
def best_kernel(x, out, where, running, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    value, at = tl.reduce((v, i), 0, best)
    tl.store(out, value)
    tl.store(where, at)
    _, first = tl.associative_scan((v, i), 0, best)
    tl.store(running + i, first)


@pytest.mark.parametrize("n", [1, 2, 16, 128])
def test_several_operands(n: int) -> None:
    x = torch.randint(0, 8, (n,)).float()
    out, where, running = torch.zeros(1), torch.zeros(1, dtype=torch.int32), torch.zeros(n, dtype=torch.int32)
    best_kernel[(1,)](x, out, where, running, N=n)
    assert out[0] == x.max() and where[0] == x.argmax()
    assert running.tolist() == [int(x[: k + 1].argmax()) for k in range(n)]


def test_effects_in_a_combine_function() -> None:
    x, out = torch.ones(4, 32, dtype=torch.int32), torch.zeros(4, dtype=torch.int32)
    reduce_kernel[(1,)](x, out, M=4, N=32, AXIS=1, COMBINE="total_of_positive", debug=True)
    assert out.tolist() == [32] * 4
    x[2, 3] = -1
    with pytest.raises(RuntimeError, match=r"test_combine\.py:\d+: device assertion failed .*: a negative element"):
        reduce_kernel[(1,)](x, out, M=4, N=32, AXIS=1, COMBINE="total_of_positive", debug=True)


@pytest.mark.slow
def test_branches_of_a_combine_function_become_selects() -> None:
    """A function of arithmetic alone becomes vector code, not a loop over the lanes."""
    x, out = torch.zeros(4, 64, dtype=torch.int32), torch.zeros(4, dtype=torch.int32)
    kernel = reduce_kernel[(1,)](x, out, M=4, N=64, AXIS=1, COMBINE="smaller_magnitude")
    text = kernel.asm["cpuir"]
    program = text[text.index("@reduce_kernel.program") : text.index("llvm.func @reduce_kernel(")]
    assert re.search(r"arith\.select .* : vector<16xi1>, vector<16xi32>", program)
    assert "scf.if" not in program
    # This function has a loop, whose number of iterations differs between lanes.
    kernel = reduce_kernel[(1,)](x, out, M=4, N=64, AXIS=1, COMBINE="gcd")
    assert "scf.while" in kernel.asm["cpuir"]


@triton.jit
def steps(x, limit):
    if x <= 0:
        return -1
    n = 0
    while x != 1:
        if x % 2 == 0:
            x = x // 2
        else:
            x = 3 * x + 1
        n += 1
    if n > limit:
        return limit
    return n


@triton.jit
def map_early(x, out, limit, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + at, tl.map_elementwise(steps, tl.load(x + at), tl.full((M, N), 0, tl.int32) + limit))


@pytest.mark.parametrize("shape", [(1, 1), (4, 16), (32, 2)], ids=str)
def test_map_with_early_returns(shape: tuple[int, int]) -> None:
    x = torch.randint(-5, 60, shape, dtype=torch.int32)
    out = torch.zeros_like(x)
    map_early[(1,)](x, out, 20, M=shape[0], N=shape[1])

    def python(value: int) -> int:
        if value <= 0:
            return -1
        n = 0
        while value != 1:
            value, n = (value // 2 if value % 2 == 0 else 3 * value + 1), n + 1
        return min(n, 20)

    assert out.flatten().tolist() == [python(value) for value in x.flatten().tolist()]


@triton.jit
def sort_pair(a, b, c, d):
    # The arguments are two elements of the first tensor, then two elements of the second one.
    if a > b:
        return b, a, c + d, c * d
    else:
        return a, b, c - d, c * d


@triton.jit
def map_pairs(x, y, out, N: tl.constexpr, M: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    low, other = tl.map_elementwise(sort_pair, tl.load(x + at), tl.load(y + at), pack=2)
    tl.store(out + at, low)
    tl.store(out + M * N + at, other)


@pytest.mark.parametrize("shape", [(1, 2), (4, 16), (16, 1)], ids=str)
def test_map_of_packs(shape: tuple[int, int]) -> None:
    x, y = torch.randn(shape), torch.randn(shape)
    out = torch.zeros(2, *shape)
    map_pairs[(1,)](x, y, out, M=shape[0], N=shape[1])
    a, b = x.view(-1, 2).t()
    c, d = y.view(-1, 2).t()
    low = torch.stack([torch.minimum(a, b), torch.maximum(a, b)], 1)
    other = torch.stack([torch.where(a > b, c + d, c - d), c * d], 1)
    assert torch.equal(out[0].view(-1, 2), low) and torch.equal(out[1].view(-1, 2), other)


@triton.jit
def two(a, b):
    return a + b, a


@triton.jit
def map_twos(x):
    i = tl.arange(0, 1)
    tl.store(x + i, tl.map_elementwise(two, tl.load(x + i), pack=2)[0])


def test_a_pack_that_does_not_fit() -> None:
    with pytest.raises(RuntimeError, match=r"test_combine\.py:\d+:\d+: 'tt\.map_elementwise': packs of 2 elements"):
        map_twos[(1,)](torch.zeros(16))


@triton.jit
def classified(x, low):
    # A function on tensors with three returns.
    if low > 3:
        return x * 2, low
    y = x + 1
    if low == 0:
        return y, low + 10
    return y - x, low


@triton.jit
def early_in_a_loop(x, out, n, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    total = 0
    for k in range(n):
        v, low = classified(v, k)
        total += low
    tl.store(out + i, v)
    tl.store(out + N, total)


@pytest.mark.parametrize("n", [0, 1, 3, 7])
def test_early_returns_in_a_function_called_from_a_loop(n: int) -> None:
    x, out = torch.randint(0, 9, (32,)), torch.zeros(33, dtype=torch.int64)
    early_in_a_loop[(1,)](x, out, n, N=32)
    v, total = x, 0
    for k in range(n):
        v, low = (v * 2, k) if k > 3 else (v + 1, k + 10) if k == 0 else (v + 1 - v, k)
        total += low
    assert torch.equal(out[:32], v) and out[32] == total


@triton.jit
def tensors_on_two_sides(x, out, flag, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    if flag > 1:
        if flag > 2:
            return
        v = v * 2
    else:
        v = v + 1
    tl.store(out + i, v + i)


@pytest.mark.parametrize("flag", [0, 1, 2, 3])
def test_tensors_past_an_early_return(flag: int) -> None:
    x, out = torch.randint(0, 9, (32,)), torch.full((32,), -1)
    tensors_on_two_sides[(1,)](x, out, flag, N=32)
    expected = torch.full((32,), -1) if flag > 2 else (x * 2 if flag > 1 else x + 1) + torch.arange(32)
    assert torch.equal(out, expected)
