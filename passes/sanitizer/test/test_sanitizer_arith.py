# SPDX-License-Identifier: Apache-2.0
"""The checks `arith` and `hints` find the lanes that NumPy says are wrong and that have an effect, and no others. Every
kernel is compiled once, and runs with generated values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import triton_ext as tx

pytestmark = [pytest.mark.usefixtures("on_native_backend"), pytest.mark.keeps_kernels]

generated = settings(
    max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None
)
LEAST = -(2**31)
WORDS = st.lists(st.sampled_from([0, 1, -1, 2, 5, 31, 32, 33, -3, LEAST, 2**31 - 1]), min_size=16, max_size=16)
#: Beside the ends of the ranges of int8, uint8 and int32.
FLOATS = st.lists(
    st.sampled_from(
        [0.0, 1.5, -0.9, -1.0, 127.9, 128.0, -128.9, -129.0, 255.9, 256.0, 2147483520.0, 2147483648.0, -2147483648.0,
         -2147483904.0, np.inf, -np.inf, np.nan]
    ),
    min_size=16, max_size=16,
)  # fmt: skip


def found(checks: str, kernel: Any, *args: Any, **options: Any) -> dict[str, int]:
    """Returns the bad lanes by the fault or the hint that the finding's message names."""
    with tx.sanitize(checks) as report:
        kernel[(1,)](*args, **options)
    lanes: dict[str, int] = {}
    for one in report.findings:
        assert one.check == checks
        key = f"{one.line - kernel.starting_line_number}"
        lanes[key] = lanes.get(key, 0) + one.lanes
    return lanes


def only(**lanes: int) -> dict[str, int]:
    """Returns the lanes that are not 0; the names are line numbers behind an underscore."""
    return {name[1:]: int(count) for name, count in lanes.items() if count}


@triton.jit
def integers(x, y, o, k, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(o + i, a // b, mask=i < k)
    tl.store(o + i, tl.where(b != 0, a % b, 7), mask=i < k)
    tl.store(o + i, a << b, mask=i < k)
    tl.store(o + i, a >> (b & 31), mask=i < k)
    tl.store(o + i, a // (tl.abs(b & 255) + 1))


@pytest.mark.slow
@generated
@given(a=WORDS, b=WORDS, k=st.integers(0, 16))
@example(a=[1] * 16, b=[31, 32, -1, 0] * 4, k=16)
def test_integers(a: list[int], b: list[int], k: int) -> None:
    x, y, o = np.array(a, np.int32), np.array(b, np.int32), np.zeros(16, np.int32)
    active = np.arange(16) < k
    overflows = (x == LEAST) & (y == -1)
    expected = only(
        _4=((y == 0) | overflows)[active].sum(),
        _5=overflows[active].sum(),
        _6=((y < 0) | (y > 31))[active].sum(),
    )
    assert found("arith", integers, x, y, o, k, N=16) == expected


@triton.jit
def conversions(x, o, k, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x + i)
    tl.store(o + i, a.to(tl.int8).to(tl.int32), mask=i < k)
    tl.store(o + i, a.to(tl.uint8).to(tl.int32), mask=i < k)
    tl.store(o + i, a.to(tl.int32), mask=i < k)


@pytest.mark.slow
@generated
@given(a=FLOATS, k=st.integers(0, 16))
def test_conversions(a: list[float], k: int) -> None:
    x, o = np.array(a, np.float32), np.zeros(16, np.int32)
    active = np.arange(16) < k
    wide = x.astype(np.float64)
    expected = only(
        _4=(~((wide > -129) & (wide < 128)))[active].sum(),
        _5=(~((wide > -1) & (wide < 256)))[active].sum(),
        _6=(~((wide > LEAST - 1) & (wide < 2**31)))[active].sum(),
    )
    assert found("arith", conversions, x, o, k, N=16) == expected


@triton.jit
def floats(x, y, o, q, k, N: tl.constexpr):  # noqa: PLR0917
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(o + i, a / b, mask=i < k)
    tl.store(o + i, a * b)
    tl.store(q, tl.sum(a))
    tl.store(o + i, tl.where(b > 0, tl.log(b), 0.0))
    tl.store(o + i, a * 2 - a * 2)
    tl.store(o + i, tl.maximum(a, b))


@pytest.mark.slow
@generated
@given(
    a=st.lists(st.sampled_from([0.0, 1.0, -2.0, 3e38, np.inf, np.nan]), min_size=16, max_size=16),
    b=st.lists(st.sampled_from([0.0, 1.0, 2.0, 4.0, -1.0]), min_size=16, max_size=16),
    k=st.integers(0, 16),
)
@np.errstate(all="ignore")
def test_floats(a: list[float], b: list[float], k: int) -> None:
    x, y, o, q = np.array(a, np.float32), np.array(b, np.float32), np.zeros(16, np.float32), np.zeros(1, np.float32)
    finite = np.isfinite(x)
    total = x.sum() if finite.all() else 0
    assert found("arith", floats, x, y, o, q, k, N=16) == only(
        _4=(finite & ~np.isfinite(x / y))[:k].sum(),
        _5=(finite & ~np.isfinite(x * y)).sum(),
        _6=not np.isfinite(total),
        _8=(finite & ~np.isfinite(x * 2)).sum(),  # the product, not the difference of infinities
    )


@triton.jit
def halves(x, y, z, o, B: tl.constexpr):
    i = tl.arange(0, B)
    at = i[:, None] * B + i[None, :]
    c = tl.dot(tl.load(x + at), tl.load(y + at), tl.load(z + at))
    tl.store(o + at, c.to(tl.float16))


@pytest.mark.slow
@np.errstate(all="ignore")
def test_a_product_of_matrices() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.random((2, 16, 16)).astype(np.float32)
    z, o = np.zeros((16, 16), np.float32), np.zeros((16, 16), np.float16)
    assert found("arith", halves, x, y, z, o, B=16) == {}
    x[3] = 1e30
    y[:, 5] = 1e30
    z[2, 2] = 1e6
    x[7, 7] = np.inf  # of this row nothing is said
    assert found("arith", halves, x, y, z, o, B=16) == only(_4=1, _5=15 + 15 + 1 - 1)


@triton.jit
def marks(x, o, first, stride, divisor, N: tl.constexpr):  # noqa: PLR0917
    i = tl.arange(0, N)
    a = tl.multiple_of(first + i, 8)
    tl.store(o + i, tl.load(x + a))
    b = tl.multiple_of(i * stride, 8)
    tl.store(o + i, tl.load(x + b))
    c = tl.max_contiguous(i * stride, 4)
    tl.store(o + i, tl.load(x + c))
    d = tl.max_constancy((i + first) // divisor, 4)
    tl.store(o + i, tl.load(x + d))
    for turn in range(3):
        e = tl.multiple_of(first + turn, 4)
        tl.store(o + e, 1.0)
    tl.assume(first > stride)


@pytest.mark.slow
@generated
@given(first=st.integers(0, 40), stride=st.integers(0, 9), divisor=st.integers(2, 9))
def test_marks(first: int, stride: int, divisor: int) -> None:
    x, o, i = np.zeros(256, np.float32), np.zeros(256, np.float32), np.arange(16)
    quotients = (i + first) // divisor
    turns = np.arange(first, first + 3)
    expected = only(
        _3=first % 8 != 0,  # the first one of a run
        _5=(i * stride % 8 != 0).sum() if stride != 1 else 0,
        _7=(i * stride != i // 4 * 4 * stride + i % 4).sum(),
        _9=(quotients != quotients[i // 4 * 4]).sum(),
        _12=(turns % 4 != 0).sum(),
        _14=first <= stride,
    )
    assert found("hints", marks, x, o, first, stride, divisor, N=16) == expected


@triton.jit
def copied(x, o, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(x + i), mask=i < n)


def test_the_alignment_for_which_a_launch_has_specialised_the_kernel() -> None:
    """A kernel that was compiled for aligned pointers and n is launched with others."""
    memory = np.zeros(4096, np.uint8)
    start = -memory.ctypes.data % 64
    aligned, odd = (memory[start + by :][:256].view(np.float32) for by in (0, 4))
    o = memory[start + 1024 :][:256].view(np.float32)
    with tx.sanitize("hints") as report:
        kernel = copied[(1,)](aligned, o, 32, N=64)
        assert not report.findings
        kernel[(1, 1, 1)](odd, o, 33, 64)
    assert sorted(one.argument for one in report.findings) == ["n", "x"]


@triton.jit
def without_a_sign(x, o, k, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x + i)
    divided = a // (a - a)
    shifted = a << (a % 2 + 40)
    least = tl.minimum(shifted, 7)
    tl.assume(tl.load(x) < 7)
    marked = tl.multiple_of(a, 1000)
    thirds = tl.multiple_of(a + 0, 3)
    tl.store(o + i, divided + least + marked // 2 + thirds, mask=i < k)


@triton.jit
def with_a_sign(x, o, k, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x + i)
    shifted = a << (a % 2 + 40)
    tl.store(o + i, a // (a - a) + shifted, mask=i < k)


def shown(kernel: Any, dtype: Any, checks: str = "arith,hints") -> dict[str, dict[str, Any]]:
    """Returns the values of each finding, by the text of its line."""
    x, o = np.full(16, 3000000000, np.uint32).view(dtype), np.zeros(16, dtype)
    with tx.sanitize(checks) as report:
        kernel[(1,)](x, o, 16, N=16)
    lines = Path(__file__).read_text().splitlines()
    return {lines[one.line - 1].strip(): dict(one.values) for one in report.findings}


@pytest.mark.slow
def test_unsigned_numbers_are_shown_as_they_are() -> None:
    found = shown(without_a_sign, np.uint32)
    assert found["divided = a // (a - a)"]["a"] == 3000000000
    assert found["shifted = a << (a % 2 + 40)"]["a"] == 3000000000
    assert 3000000000 in found["tl.assume(tl.load(x) < 7)"].values()
    # 3,000,000,000 is a multiple of both, if it is not taken for a negative number.
    assert not any("multiple_of" in line for line in found)
    found = shown(with_a_sign, np.int32)
    assert found["shifted = a << (a % 2 + 40)"]["a"] == 3000000000 - 2**32
    assert found["tl.store(o + i, a // (a - a) + shifted, mask=i < k)"]["a"] == 3000000000 - 2**32


@triton.jit
def one_element(x, o, n, N: tl.constexpr):
    v = tl.load(x + tl.arange(0, N))
    e = tl.exp(v)
    tl.store(o + tl.arange(0, N), e / tl.sum(e, 0) + tl.cumsum(v, 0) + tl.max(v, 0), mask=tl.arange(0, N) < n)


@pytest.mark.slow
def test_reductions_of_one_element() -> None:
    """A reduction along a dimension of one element is one, too."""
    o = np.zeros(1, np.float32)
    assert found("arith", one_element, np.array([2.0], np.float32), o, 1, N=1) == {}
    assert o[0] == 5.0
    assert found("arith", one_element, np.array([1e3], np.float32), o, 1, N=1) == {"3": 1}
