# SPDX-License-Identifier: Apache-2.0
"""Each function runs a kernel with the pass `instrument` and without it, and compares what was counted with NumPy.

As a program, it runs all of them on a device of torch: ``python counted.py cuda``.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import triton
import triton.language as tl

import triton_ext as tx
from triton_ext import probe

#: Makes an argument of a kernel of an array, and an array of an argument.
Make = Callable[[Any], Any]
Back = Callable[[Any], Any]
EVERYTHING = {"bytes": True, "calls": True, "loops": True, "masked": True}


def observed(kernel: Any, grid: tuple[int, ...], *args: Any, rules: Any = None, **constants: Any) -> Any:
    """Launches `kernel` with the pass `instrument` in a session, and returns the session."""
    with (
        probe.session() as s,
        tx.Pipeline().at_end("ttir", tx.passes.ttir.instrument(**(rules or EVERYTHING))),
    ):
        kernel[grid](*args, **constants)
    return s


def row(session: Any, kernel: Any, text: str) -> dict[str, int]:
    """Returns the numbers, but for zeros, of the line of `kernel` that begins with `text`."""
    source, first = inspect.getsourcelines(kernel.fn)
    (line,) = [first + i for i, one in enumerate(source) if one.strip().startswith(text)]
    lines = session.lines()
    (found,) = lines[lines["line"] == line]
    assert found["source"].startswith(text)
    assert found["file"] == __file__
    return {name: int(found[name]) for name in lines.dtype.names[4:] if found[name]}


@triton.jit
def adding(x, y, z, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    m = i < n
    a = tl.load(x + i, mask=m)
    b = tl.load(y + i)
    tl.store(z + i, a + b, mask=m)


def masks(make: Make, back: Back, n: int, programs: int) -> None:
    size = programs * 64
    on = min(n, size)
    for dtype in (np.float32, np.float16, np.int8, np.float64):
        x, y = (np.random.default_rng(n).integers(-9, 9, size).astype(dtype) for _ in range(2))
        z, plain = make(np.zeros_like(x)), make(np.zeros_like(x))
        s = observed(adding, (programs,), make(x), make(y), z, n, N=64)
        adding[(programs,)](make(x), make(y), plain, n, N=64)
        np.testing.assert_array_equal(back(z), back(plain))
        np.testing.assert_array_equal(back(z)[:on], (x + y)[:on])
        lanes = {"calls": programs, "lanes": size} | ({"off": size - on} if on < size else {})
        some = {"loaded": on * x.itemsize} if on else {}
        assert row(s, adding, "a =") == lanes | some
        assert row(s, adding, "b =") == {"calls": programs, "lanes": size, "loaded": size * x.itemsize}
        assert row(s, adding, "tl.store") == lanes | ({"stored": on * x.itemsize} if on else {})
        assert row(s, adding, "def") == {"programs": programs}
        assert s.counts() == {}
        assert len(s.records()) == 0


@triton.jit(do_not_specialize=["M", "K"])  # a loop of one iteration would go
def summing_rows(x, out, M, K, BM: tl.constexpr, BK: tl.constexpr):  # noqa: PLR0917
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    k = tl.arange(0, BK)
    total = tl.zeros((BM,), tl.float32)
    for start in range(0, K, BK):
        m = (i < M)[:, None] & (start + k < K)[None, :]
        total += tl.sum(tl.load(x + i[:, None] * K + start + k[None, :], mask=m, other=0.0), axis=1)
    tl.store(out + i, total, mask=i < M)


def tiles(make: Make, back: Back, rows: int, columns: int) -> None:
    """A two-dimensional mask in a loop."""
    x = np.random.default_rng(rows).integers(-9, 9, (rows, columns)).astype(np.float32)
    programs, turns = -(-rows // 8), -(-columns // 16)
    out, plain = make(np.zeros(rows, np.float32)), make(np.zeros(rows, np.float32))
    s = observed(summing_rows, (programs,), make(x), out, rows, columns, BM=8, BK=16)
    summing_rows[(programs,)](make(x), plain, rows, columns, BM=8, BK=16)
    np.testing.assert_array_equal(back(out), back(plain))
    np.testing.assert_array_equal(back(out), x.sum(axis=1))
    lanes, off = programs * turns * 128, programs * turns * 128 - x.size
    expected = {"calls": programs * turns, "loaded": x.nbytes, "lanes": lanes, "off": off}
    assert row(s, summing_rows, "total +=") == {name: n for name, n in expected.items() if n}
    assert row(s, summing_rows, "for") == {"loops": programs, "iterations": programs * turns}
    stored = row(s, summing_rows, "tl.store")
    assert (stored["stored"], stored.get("off", 0)) == (4 * rows, programs * 8 - rows)


@triton.jit(do_not_specialize=["n"])
def scaling(x, y, n, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, N)
    at = i[:, None] * N + j[None, :]
    v = tl.load(x + at, mask=(j < n)[None, :], other=0.0)
    v += tl.load(x + at, mask=(i < n)[:, None], other=0.0)
    tl.store(y + at, v, mask=n > 3)


def repeated_masks(make: Make, back: Back, n: int, programs: int) -> None:
    """Masks of rows, of columns, and of everything."""
    x = np.random.default_rng(n).standard_normal((programs * 8, 16)).astype(np.float32)
    y, plain = make(np.zeros_like(x)), make(np.zeros_like(x))
    s = observed(scaling, (programs,), make(x), y, n, M=8, N=16)
    scaling[(programs,)](make(x), plain, n, M=8, N=16)
    np.testing.assert_array_equal(back(y), back(plain))
    for text, on in (
        ("v =", x[:, :n].size), ("v +=", x[:n].size), ("tl.store", x.size if n > 3 else 0)
    ):  # fmt: skip
        found = row(s, scaling, text)
        assert found.get("loaded", 0) + found.get("stored", 0) == 4 * on
        assert (found["lanes"], found.get("off", 0)) == (x.size, x.size - on)


@triton.jit(noinline=True)
def bump(counter, amount):
    tl.atomic_add(counter, amount)


@triton.jit
def counting_values(x, bins, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    v = tl.load(x + i, mask=i < n, other=0)
    tl.atomic_add(bins + v, 1, mask=(i < n) & (v > 2))
    bump(bins, tl.program_id(0))
    tl.atomic_cas(bins + 1, 0, 5)


def atomics(make: Make, back: Back, n: int, programs: int) -> None:
    x = np.random.default_rng(n).integers(0, 10, programs * 32).astype(np.int32)
    bins, plain = make(np.zeros(10, np.int32)), make(np.zeros(10, np.int32))
    s = observed(counting_values, (programs,), make(x), bins, n, N=32)
    counting_values[(programs,)](make(x), plain, n, N=32)
    np.testing.assert_array_equal(back(bins), back(plain))
    on = int((x[:n] > 2).sum())
    found = row(s, counting_values, "tl.atomic_add")
    assert (found.get("atomic", 0), found["lanes"], found["off"]) == (4 * on, x.size, x.size - on)
    assert row(s, bump, "tl.atomic_add") == {"calls": programs, "atomic": 4 * programs, "lanes": programs}
    assert row(s, counting_values, "tl.atomic_cas") == {"calls": programs, "atomic": 4 * programs, "lanes": programs}


@triton.jit(do_not_specialize=["from_", "to", "step"])
def collatz(x, steps, from_, to, step):
    k = tl.load(x + tl.program_id(0))
    n = 0
    while k > 1:
        k = tl.where(k % 2 == 0, k // 2, 3 * k + 1)
        n += 1
    for _ in range(from_, to, step):
        for _ in range(tl.program_id(0)):
            n += tl.load(x)
    tl.store(steps + tl.program_id(0), n)


def loops(make: Make, back: Back, bounds: tuple[int, int, int], programs: int) -> None:
    x = np.arange(1, programs + 1, dtype=np.int32)
    steps, plain = make(np.zeros_like(x)), make(np.zeros_like(x))
    s = observed(collatz, (programs,), make(x), steps, *bounds)
    collatz[(programs,)](make(x), plain, *bounds)
    np.testing.assert_array_equal(back(steps), back(plain))
    turns = len(range(*bounds))
    outer, inner = row(s, collatz, "for _ in range(from_"), turns * programs * (programs - 1) // 2
    assert (outer["loops"], outer.get("iterations", 0)) == (programs, turns * programs)
    if turns:
        found = row(s, collatz, "for _ in range(tl.")
        assert (found["loops"], found.get("iterations", 0)) == (turns * programs, inner)
    found = row(s, collatz, "while")
    assert (found["loops"], found.get("iterations", 0)) == (programs, int(back(steps).sum()) - inner)


@triton.jit
def copying(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):  # noqa: PLR0917
    a = tl.make_tensor_descriptor(x, [M, N], [N, 1], [BM, BN])
    b = tl.make_tensor_descriptor(y, [M, N], [N, 1], [BM, BN])
    i, j = tl.program_id(0) * BM, tl.program_id(1) * BN
    v = a.load([i, j])
    b.store([i, j], v)


def descriptors(make: Make, back: Back, rows: int, columns: int) -> None:
    """Where descriptors become pointers, elements out of bounds are lanes that are off."""
    x = np.random.default_rng(rows).standard_normal((rows, 4 * columns)).astype(np.float32)
    y, plain = make(np.zeros_like(x)), make(np.zeros_like(x))
    grid = (-(-rows // 8), -(-4 * columns // 16))
    s = observed(copying, grid, make(x), y, *x.shape, BM=8, BN=16)
    copying[grid](make(x), plain, *x.shape, BM=8, BN=16)
    np.testing.assert_array_equal(back(y), x)
    np.testing.assert_array_equal(back(plain), x)
    whole = grid[0] * grid[1] * 128
    for text, name in (("v =", "loaded"), ("b.store", "stored")):
        found = row(s, copying, text)
        assert found[name] in {x.nbytes, 4 * whole}  # TMA: the box
        assert found["lanes"] == whole


@triton.jit
def dividing(x, y, z, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    a = tl.load(x + i, mask=i < n, other=1.0)
    b = tl.load(y + i, mask=i < n, other=1.0)
    c = -a
    d = a / b
    tl.store(z + i, c + d, mask=i < n)


def nans(make: Make, back: Back) -> None:
    x, y = np.ones((2, 100), np.float32)
    x[70] = y[70] = x[3] = 0
    z, plain = make(np.zeros_like(x)), make(np.zeros_like(x))
    s = observed(dividing, (4,), make(x), make(y), z, 100, N=32, rules={"nan": True})
    dividing[(4,)](make(x), make(y), plain, 100, N=32)
    np.testing.assert_array_equal(back(z), back(plain))
    assert len(s.nans()) == 2
    first, second = s.nans()
    place = inspect.getsourcelines(dividing.fn)[1] + 6
    assert (first["line"], first["x"], first["lane"], np.isnan(first["value"])) == (place, 2, 6, True)
    assert first["name"] == "NaN from arith.divf"
    assert (second["line"], second["x"], second["lane"]) == (place + 1, 2, 6)
    assert row(s, dividing, "d =") == {"nans": 1}
    y[50] = np.nan
    s = observed(dividing, (4,), make(x), make(y), z, 100, N=32, rules={"nan": True})
    assert row(s, dividing, "b =") == {"nans": 1}
    assert s.failures() == {}
    assert [(one["name"], one["tensor"]) for one in s.nans() if one["x"] == 1] == [
        ("NaN from tt.load", "y"), ("NaN from arith.divf", ""), ("NaN from arith.subf", ""),
    ]  # fmt: skip


def everything(make: Make, back: Back) -> None:
    """Calls each function with a few inputs."""
    for n, programs in ((0, 3), (1, 1), (100, 2), (64, 1), (1000, 5)):
        masks(make, back, n, programs)
        atomics(make, back, n, programs)
        repeated_masks(make, back, n, programs)
    for shape in ((1, 1), (8, 16), (13, 40), (20, 3)):
        tiles(make, back, *shape)
        descriptors(make, back, *shape)
    for bounds in ((0, 7, 2), (5, 5, 1), (3, -4, 1), (-3, 9, 5)):
        loops(make, back, bounds, 6)
    nans(make, back)


if __name__ == "__main__":
    import torch

    everything(lambda array: torch.from_numpy(array).to(*sys.argv[1:] or ["cpu"]), lambda tensor: tensor.cpu().numpy())
    print("every number is that of NumPy")
