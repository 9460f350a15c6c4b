# SPDX-License-Identifier: Apache-2.0
"""The check `lanes` finds the lanes that NumPy says depend on masked-off lanes of a load without ``other``, and no
others. Every kernel is compiled once, and runs with generated sizes."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import triton_ext as tx

pytestmark = pytest.mark.usefixtures("on_native_backend")

generated = settings(
    max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None
)
SIZES = st.integers(0, 16)


def zeros(*shape: int) -> Any:
    return np.zeros(shape, np.float32)


def check(kernel: Any, grid: tuple[int, ...], expected: dict[str, int], *args: Any, **options: Any) -> None:
    """Runs a kernel; `expected` are the bad lanes of loads, by the name of the variable that is on the load's line."""
    for is_static in (True, False):
        check_with(kernel, grid, expected, args, options, is_static)


def check_with(  # noqa: PLR0917
    kernel: Any, grid: tuple[int, ...], expected: dict[str, int], args: Any, options: Any, is_static: bool
) -> None:
    with tx.sanitize("lanes", static=is_static) as report:
        kernel[grid](*args, **options)
    lines, first = inspect.getsourcelines(kernel.fn)
    found: dict[str, int] = {}
    for one in report.findings:
        assert one.check == "lanes"
        name = lines[one.line - first].split("=")[0].strip()
        found[name] = found.get(name, 0) + one.lanes
    assert found == {name: lanes for name, lanes in expected.items() if lanes}


@triton.jit
def stored(x, y, o, n, m, k, N: tl.constexpr):  # noqa: PLR0917
    i = tl.program_id(0) * N + tl.arange(0, N)
    a = tl.load(x + i, mask=i < n)
    b = tl.load(y + i, mask=i < m)
    tl.store(o + i, a * 2 + b, mask=i < k)


@pytest.mark.slow
@generated
@given(n=st.integers(0, 48), m=st.integers(0, 48), k=st.integers(0, 48))
def test_lanes_that_a_store_has_on(n: int, m: int, k: int) -> None:
    check(stored, (3,), {"a": max(0, k - n), "b": max(0, k - m)}, zeros(48), zeros(48), zeros(48), n, m, k, N=16)


@triton.jit
def summed(x, o, q, rows, columns, last, lowest, N: tl.constexpr):  # noqa: PLR0917
    r, c = tl.arange(0, N), tl.arange(0, N)
    a = tl.load(x + r[:, None] * N + c[None, :], mask=(r[:, None] < rows) & (c[None, :] < columns))
    tl.store(o + r, tl.sum(a, 1), mask=r < last)
    b = tl.load(x + r[:, None] * N + c[None, :], mask=r[:, None] >= lowest)
    tl.store(q + c, tl.sum(tl.trans(b), 1), mask=c < last)


@pytest.mark.slow
@generated
@given(rows=SIZES, columns=SIZES, last=SIZES, lowest=SIZES)
def test_sums_along_a_dimension(rows: int, columns: int, last: int, lowest: int) -> None:
    of_rows = last if columns < 16 else max(0, last - rows)
    of_columns = last if lowest > 0 else 0
    check(
        summed, (1,), {"a": of_rows, "b": of_columns}, zeros(16, 16), zeros(16), zeros(16), rows, columns, last, lowest,
        N=16,
    )  # fmt: skip


@triton.jit
def product(x, y, o, M, N, K, m, n, B: tl.constexpr):  # noqa: PLR0917
    i, j = tl.arange(0, B), tl.arange(0, B)
    acc = tl.zeros((B, B), tl.float32)
    for start in range(0, K, B):
        k = start + tl.arange(0, B)
        a = tl.load(x + i[:, None] * K + k[None, :], mask=(i[:, None] < M) & (k[None, :] < K))
        b = tl.load(y + k[:, None] * N + j[None, :], mask=(k[:, None] < K) & (j[None, :] < N), other=0)
        acc = tl.dot(a, b, acc)
    tl.store(o + i[:, None] * B + j[None, :], acc, mask=(i[:, None] < m) & (j[None, :] < n))


@pytest.mark.slow
@generated
@given(rows=SIZES, inner=st.sampled_from([0, 7, 16, 32, 40]), m=SIZES, n=SIZES)
def test_a_product_in_a_loop(rows: int, inner: int, m: int, n: int) -> None:
    bad = 0 if inner == 0 else m * n if inner % 16 else max(0, m - rows) * n
    check(product, (1,), {"a": bad}, zeros(16, 48), zeros(48, 16), zeros(16, 16), rows, 16, inner, m, n, B=16)


@triton.jit
def chosen(x, o, p, q, n, w, u, N: tl.constexpr):  # noqa: PLR0917
    i = tl.arange(0, N)
    a = tl.load(x + i, mask=i < n)
    tl.store(o, tl.sum(tl.where(i < w, a, 0.0)))
    b = tl.load(x + i, mask=i >= n)
    is_large = (b > 0) & (i >= u)
    tl.store(p + i, i.to(tl.float32), mask=is_large)
    c = tl.load(x + i, mask=i < n)
    tl.store(q + i, c, mask=i <= n)


@pytest.mark.slow
@generated
@given(n=SIZES, w=SIZES, u=SIZES)
def test_values_that_are_replaced_and_masks(n: int, w: int, u: int) -> None:
    expected = {"a": int(w > n), "b": max(0, n - u), "c": int(n < 16)}
    check(chosen, (1,), expected, zeros(16), zeros(1), zeros(16), zeros(16), n, w, u, N=16)


@triton.jit
def moved(x, o, p, q, n, N: tl.constexpr):  # noqa: PLR0917
    i = tl.arange(0, N)
    a = tl.load(x + i, mask=i != n)
    tl.store(o + i, tl.cumsum(a, 0))
    b = tl.load(x + i, mask=i != n)
    tl.store(p + i, tl.gather(b, (i + 1) % N, 0))
    c = tl.load(x + i, mask=i != n)
    left, right = tl.split(tl.join(c, c + 1).reshape(N, 2).reshape(2 * N).reshape(N, 2))
    tl.store(q + i, left * right)


@pytest.mark.slow
@generated
@given(n=SIZES)
def test_lanes_that_move(n: int) -> None:
    one = int(n < 16)
    check(moved, (1,), {"a": 16 - n, "b": one, "c": one}, *(zeros(16) for _ in range(4)), n, N=16)


@triton.jit
def carried(x, o, p, q, n, turns, N: tl.constexpr):  # noqa: PLR0917
    i = tl.arange(0, N)
    least = tl.full((N,), 1e9, tl.float32)
    before = tl.zeros((N,), tl.float32)
    earlier = tl.zeros((N,), tl.float32)
    for turn in range(turns):
        a = tl.load(x + turn * N + i, mask=turn * N + i < n)
        if turn % 2 == 1:
            least = tl.minimum(least, a)
        tl.store(p + turn * N + i, before, mask=(turn > 0) & (turn * N + i - N < n))
        before = a
        tl.store(q + i, earlier, mask=i < turn)
        b = tl.load(x + i, mask=i < turn)
        earlier = b
    tl.store(o + i, least)


@pytest.mark.slow
@generated
@given(n=st.integers(0, 64), turns=st.integers(0, 4))
def test_lanes_that_a_loop_and_a_branch_carry(n: int, turns: int) -> None:
    off = np.arange(64).reshape(4, 16) >= n
    bad = off[1:turns:2].any(axis=0).sum()  # of `least`; what `before` stores is masked as it was loaded
    expected = {"a": int(bad), "b": max(0, turns - 1)}  # in each turn one lane more is stored than was loaded before
    check(carried, (1,), expected, zeros(64), zeros(16), zeros(64), zeros(16), n, turns, N=16)


@triton.jit
def branching(x, o, n):
    pid = tl.program_id(0)
    a = tl.load(x + pid, mask=pid < n)
    if a > 0:
        tl.store(o + pid, 1.0)
    b = tl.load(x + pid, mask=pid < n)
    tl.atomic_add(o, b, mask=pid % 2 == 0)


@pytest.mark.slow
@generated
@given(n=st.integers(0, 8))
def test_branches_and_atomics(n: int) -> None:
    even = len([pid for pid in range(8) if pid % 2 == 0 and pid >= n])
    check(branching, (8,), {"a": 8 - n, "b": even}, zeros(8), zeros(8), n)


@triton.jit
def indirect(index, x, o, n, m, N: tl.constexpr):  # noqa: PLR0917
    i = tl.arange(0, N)
    a = tl.load(index + i, mask=i < n)
    tl.store(o + i, tl.load(x + (a & 15)), mask=i < m)


@pytest.mark.slow
@generated
@given(n=SIZES, m=SIZES)
def test_addresses(n: int, m: int) -> None:
    check(indirect, (1,), {"a": max(0, m - n)}, np.zeros(16, np.int32), zeros(16), zeros(16), n, m, N=16)


def test_what_is_proved_is_not_instrumented() -> None:
    """A store with the load's mask and less, in other shapes too; a mask by a smaller constant; `where`."""

    @triton.jit
    def proved(x, o, p, n, m, N: tl.constexpr):  # noqa: PLR0917
        i = tl.arange(0, N)
        a = tl.load(x + i, mask=(i < n) & (i < 12))
        tl.store(o + i, a, mask=(i < n) & (i < 9) & (i != m))
        tl.store(p, tl.sum(tl.where((i < n) & (i < 12), a, 0.0)))
        b = tl.load(x + i[:, None] * N + i[None, :], mask=(i < n)[:, None])
        tl.store(o + i, tl.sum(b, 1), mask=i < n)

    with tx.sanitize("lanes") as report:
        kernel = proved[(1,)](zeros(256), zeros(16), zeros(1), 10, 3, N=16)
    assert not report.findings
    assert "probe.sites" not in kernel.asm["ttir"]
    assert [one.verdict for one in report.accesses] == ["proved", "proved"]
