# SPDX-License-Identifier: Apache-2.0
"""Each function runs a kernel in a session and compares what its probes have seen with NumPy.

As a program, it runs all of them in the interpreter, ``TRITON_INTERPRET=1 python observations.py``, or on a device of
torch, ``python observations.py cuda``.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl

from triton_ext import probe
from triton_ext.errors import TritonExtError

#: Makes an argument of a kernel of an array; the interpreter takes torch tensors only.
Make = Callable[[Any], Any]


@triton.jit
def counting(x, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    m = i < n
    probe.count("programs")
    probe.count("lanes", m)
    v = tl.load(x + i, mask=m, other=0.0)
    probe.count("positive", mask=v > 0)
    probe.count("even", tl.program_id(0) % 2 == 0)
    square = tl.reshape(v, (N // 8, 8)) > 0
    probe.count("positive", square)
    for _ in range(tl.program_id(0)):
        probe.count("turns")


def counts(make: Make) -> None:
    x = np.random.default_rng(0).standard_normal(1000).astype(np.float32)
    with probe.session() as s:
        counting[(8,)](make(x), 1000, N=128)
        assert s.counts()["programs"] == 8
        counting[(8,)](make(x), 1000, N=128)
    expected = {"programs": 8, "lanes": 1000, "positive": 2 * int((x > 0).sum()), "even": 4, "turns": 28}
    assert s.counts() == {name: 2 * n for name, n in expected.items()}
    assert len(s.records()) == 0
    assert len(s.sites()) == 6  # two of one name


@triton.jit
def recording_types(i8, i16, i32, i64, f16, bf16, f32, f64, N: tl.constexpr):  # noqa: PLR0917
    i = tl.arange(0, N)
    probe.record("integers", tl.load(i8 + i), tl.load(i16 + i), tl.load(i32 + i), tl.load(i64 + i))
    probe.record("floats", tl.load(f16 + i), tl.load(bf16 + i).to(tl.bfloat16), tl.load(f32 + i), tl.load(f64 + i))
    probe.record("bits", tl.load(f32 + i) > 0, f32 + i)
    probe.record("constants", 7, -0.5, True)


def types(make: Make) -> None:
    rng = np.random.default_rng(1)
    n = 64
    integers = [rng.integers(-(2**b), 2**b, n).astype(f"i{k}") for b, k in ((7, 1), (15, 2), (31, 4), (62, 8))]
    floats = [rng.standard_normal(n).astype(f"f{k}") for k in (2, 4, 8)]
    floats[1][0], floats[1][1], floats[2][2] = np.inf, np.nan, -np.inf
    brain = rng.integers(-100, 100, n).astype(np.float32)  # exact in bfloat16
    args = [make(a) for a in (*integers, floats[0], brain, *floats[1:])]
    with probe.session() as s:
        recording_types[(1,)](*args, N=n)
    r = s.records("integers")
    for value, array in zip(("v0", "v1", "v2", "v3"), integers, strict=True):
        np.testing.assert_array_equal(r[value], array)
        assert r[value].dtype == array.dtype
    r = s.records("floats")
    for value, array in zip(("v0", "v1", "v2", "v3"), (floats[0], brain, *floats[1:]), strict=True):
        np.testing.assert_array_equal(r[value], array)
        assert r[value].dtype == array.dtype
    r = s.records("bits")
    np.testing.assert_array_equal(r["v0"], floats[1] > 0)
    np.testing.assert_array_equal(np.diff(r["v1"]), 4)
    (one,) = s.records("constants")
    assert (one["lane"], one["v0"], one["v1"], one["v2"]) == (-1, 7, -0.5, True)
    assert len(s.records()) == 3 * n + 1


@triton.jit
def recording_lanes(x, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    v = tl.load(x + i[:, None] * N + j[None, :])
    probe.record("all", v)
    probe.record("negative", v, tl.program_id(1), mask=v < 0)
    probe.record("only a mask", mask=v < -1)
    if tl.program_id(0) == 1:
        probe.record("second", tl.program_id(2), mask=tl.program_id(1) == 1)


def lanes(make: Make) -> None:
    x = np.random.default_rng(2).standard_normal((8, 16)).astype(np.float32)
    with probe.session() as s:
        recording_lanes[(2, 3, 4)](make(x), M=8, N=16)
    everything = s.records("all")
    assert len(everything) == 24 * x.size
    np.testing.assert_array_equal(everything["v0"], x.ravel()[everything["lane"]])
    negative = np.flatnonzero(x.ravel() < 0)
    for program in np.ndindex(2, 3, 4):
        r = s.records("negative")
        r = r[(r["x"] == program[0]) & (r["y"] == program[1]) & (r["z"] == program[2])]
        np.testing.assert_array_equal(r["lane"], negative)  # those of one program are in order
        np.testing.assert_array_equal(r["v0"], x.ravel()[negative])
        assert (r["v1"] == program[1]).all()
    assert len(s.records("only a mask")) == 24 * (x < -1).sum()
    second = s.records("second")
    assert sorted(second["v0"].tolist()) == [0, 1, 2, 3]
    assert (second["x"] == 1).all()
    assert (second["y"] == 1).all()
    with pytest.raises(TritonExtError, match=r"no probe 'third' has run, there are: all, "):
        s.records("third")


@triton.jit
def recording_places(M: tl.constexpr, N: tl.constexpr):
    i, j, k = tl.arange(0, M)[:, None, None], tl.arange(0, N)[None, :, None], tl.arange(0, 2)[None, None, :]
    probe.record("line", tl.arange(0, N), mask=tl.arange(0, N) % 3 == 1)
    probe.record("box", i + 0 * j + 0 * k, j + 0 * i + 0 * k, k + 0 * i + 0 * j, mask=(i + j + k) % 2 == 0)
    probe.record("turned", tl.trans(tl.arange(0, M)[:, None] + 10 * tl.arange(0, N)[None, :]))
    probe.record("scalar", tl.program_id(0))


def coordinates(make: Make) -> None:
    with probe.session() as s:
        recording_places[(3,)](M=4, N=8)
    box = s.records("box", coordinates=True)
    assert len(box) == 3 * 4 * 8
    for axis in range(3):
        np.testing.assert_array_equal(box[f"i{axis}"], box[f"v{axis}"])
    line = s.records("line", coordinates=True)
    assert line.dtype.names == ("site", "x", "y", "z", "lane", "i0", "v0")
    np.testing.assert_array_equal(line["i0"], line["v0"])
    turned = s.records("turned", coordinates=True)
    np.testing.assert_array_equal(10 * turned["i0"] + turned["i1"], turned["v0"])
    every = s.records(coordinates=True)
    scalars = every[every["lane"] < 0]
    assert {tuple(one) for one in scalars[["i0", "i1", "i2"]].tolist()} == {(-1, -1, -1)}
    lines = every[every["site"] == line["site"][0]]
    assert {tuple(one) for one in lines[["i1", "i2"]].tolist()} == {(-1, -1)}
    assert s.records("scalar", coordinates=True).dtype == s.records("scalar").dtype
    assert "i0" not in s.records().dtype.names


@triton.jit
def offering(N: tl.constexpr):
    i = tl.arange(0, N)
    probe.record("three", i, i, i, mask=i % 3 != 0)
    probe.record("none")


def losses(make: Make) -> None:
    programs, n = 50, 256
    offered = int((np.arange(n) % 3 != 0).sum())
    for capacity in (24, 48, 1000, 24 * 4001):
        with probe.session(capacity=capacity) as s:
            offering[(programs,)](N=n)
        kept = {name: len(s.records(name)) for name in ("three", "none")}
        lost = {"three": 0, "none": 0} | s.lost()
        assert kept["three"] + lost["three"] == programs * offered
        assert kept["none"] + lost["none"] == programs
        assert 48 * kept["three"] + 24 * kept["none"] <= capacity
        # The first record that does not fit ends the buffer, also for smaller ones.
        assert capacity - 48 * kept["three"] - 24 * kept["none"] < 48
    with probe.session() as s:
        offering[(programs,)](N=n)
    assert s.lost() == {}
    assert len(s.records("three")) == programs * offered


@triton.jit
def checking(x, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    v = tl.load(x + i, mask=i < n, other=9.0)
    probe.check(v < 1, "small", v, i, mask=i < n)
    probe.check(tl.program_id(0) != 3, "not three", tl.program_id(0))
    probe.check(v < 100, "never")
    for k in range(10):
        probe.check(k < 5, "early", k)


def checks(make: Make) -> None:
    x = np.random.default_rng(3).standard_normal(1000).astype(np.float32)
    with probe.session() as s:
        checking[(8,)](make(x), 1000, N=128)
    assert s.failures() == {"small": int((x >= 1).sum()), "not three": 1, "never": 0, "early": 40}
    r = s.records("small")
    assert len(r) == 16
    assert len(set(r["v1"].tolist())) == 16
    np.testing.assert_array_equal(r["v0"], x[r["v1"]])
    assert (r["v0"] >= 1).all()
    assert s.records("not three")["v0"].tolist() == [3]
    assert len(s.records("never")) == 0
    assert len(s.records("early")) == 16
    assert s.lost() == {}


@triton.jit
def summing(x, i, n, N: tl.constexpr):
    k = tl.program_id(0) * N + tl.arange(0, N)
    m = k < n
    v, j = tl.load(x + k, mask=m), tl.load(i + k, mask=m)
    probe.minmax("x", v, m)
    probe.stats("x", v, mask=m)
    probe.minmax("positive", v, m & (v > 0))
    probe.minmax("i", j, m)
    probe.stats("i", j, m)
    probe.minmax("nothing", v, k < 0)
    probe.stats("nothing", v, k < 0)
    probe.minmax("program", tl.program_id(0))
    probe.stats("program", tl.program_id(0), tl.program_id(0) > 2)
    probe.minmax("tile", tl.reshape(v, (8, N // 8)), tl.reshape(m, (8, N // 8)))
    probe.minmax("bit", v > 0, m)


def summaries(make: Make) -> None:
    rng = np.random.default_rng(4)
    n = 1000
    for dtype, integer in ((np.float32, np.int32), (np.float64, np.int64), (np.float16, np.int8)):
        x = (rng.standard_normal(n) * 10).astype(dtype)
        limits = np.iinfo(integer)
        i = rng.integers(limits.min, limits.max, n, dtype=integer, endpoint=True)
        x[::50] = np.nan
        i[7], i[8] = limits.min, limits.max
        with probe.session() as s:
            summing[(8,)](make(x), make(i), n, N=128)
            plain = s.stats()["x"], s.minmax()["x"]
            x[3], x[4] = -np.inf, np.inf
            summing[(8,)](make(x), make(i), n, N=128)
        numbers = x[~np.isnan(x)]
        finite = numbers[np.isfinite(numbers)].astype(np.float64)
        assert plain[0].inf == 0
        assert np.isfinite(plain[1][:2]).all()
        both, positive = s.minmax(), numbers[numbers > 0]
        assert both["x"] == both["tile"] == (-np.inf, np.inf, 40)
        assert both["positive"] == (positive.min(), np.inf, 0)
        assert both["i"] == (limits.min, limits.max, 0)
        assert np.isnan(both["nothing"][:2]).all()
        assert both["program"] == (0, 7, 0)
        assert both["bit"] == (0, 1, 0)
        found = s.stats()
        assert (found["x"].count, found["x"].nan, found["x"].inf) == (plain[0].count + len(finite), 40, 2)
        assert found["nothing"].count == 0
        assert np.isnan(found["nothing"].mean)
        np.testing.assert_allclose(found["i"].mean, i.astype(np.float64).mean(), rtol=1e-9)
        np.testing.assert_allclose(found["i"].variance, i.astype(np.float64).var(), rtol=1e-9)
        assert (found["program"].count, found["program"].mean, found["program"].variance) == (10, 5, 2)
        with probe.session() as s:
            summing[(8,)](make(x), make(i), n, N=128)
        np.testing.assert_allclose(s.stats()["x"].mean, finite.mean(), rtol=1e-9)
        np.testing.assert_allclose(s.stats()["x"].variance, finite.var(), rtol=1e-9)
        assert s.stats()["x"].count == len(finite)


@triton.jit
def sorting(x, i, n, N: tl.constexpr):
    k = tl.program_id(0) * N + tl.arange(0, N)
    m = k < n
    v, j = tl.load(x + k, mask=m), tl.load(i + k, mask=m)
    probe.histogram("few", v, 10, -1, 1, m)
    probe.histogram("one", v, bins=1, lo=0, hi=0.1, mask=m)
    probe.histogram("many", v, 1000, -2.5, 3.7, m)
    probe.histogram("some", v, 100, 0, 1, m)
    probe.histogram("some", j, 100, 0, 1, m)
    probe.histogram("integers", j, 7, -100, 100, m)
    probe.histogram("program", tl.program_id(0), 8, 0, 8)
    probe.histogram("tile", tl.reshape(v, (8, N // 8)), 10, -1, 1, tl.reshape(m, (8, N // 8)))


def histograms(make: Make) -> None:
    rng = np.random.default_rng(5)
    n = 20000
    i = rng.integers(-150, 150, n, dtype=np.int32)
    for dtype in (np.float32, np.float64, np.float16):
        # Numbers on the edges and next to them, and others.
        edges = np.concatenate([np.linspace(-1, 1, 11), np.linspace(-2.5, 3.7, 1001), np.linspace(0, 1, 101)])
        near = np.concatenate([edges, np.nextafter(edges, -9), np.nextafter(edges, 9)])
        x = np.concatenate([near, rng.standard_normal(n - len(near))]).astype(dtype)
        x[-9:] = np.nan
        x[-10], x[-11] = np.inf, -np.inf
        with probe.session() as s:
            sorting[(79,)](make(x), make(i), n, N=256)
        found = s.histograms()
        wide = x[:-9].astype(np.float64)
        for name, bins, lo, hi in (
            ("few", 10, -1, 1), ("one", 1, 0, 0.1), ("many", 1000, -2.5, 3.7), ("tile", 10, -1, 1)
        ):  # fmt: skip
            counts, wanted = np.histogram(wide, bins, (lo, hi))
            np.testing.assert_array_equal(found[name].counts, counts, err_msg=name)
            np.testing.assert_array_equal(found[name].edges, wanted)
            assert found[name].below == (wide < lo).sum()
            assert found[name].above == (wide > hi).sum()
            assert found[name].nan == 9
        both = np.histogram(wide, 100, (0, 1))[0] + np.histogram(i, 100, (0, 1))[0]
        np.testing.assert_array_equal(found["some"].counts, both)
        np.testing.assert_array_equal(found["integers"].counts, np.histogram(i, 7, (-100, 100))[0])
        np.testing.assert_array_equal(found["program"].counts, [1, 1, 1, 1, 1, 1, 1, 2])
        assert found["program"].above == 70


@triton.jit
def reading_unsigned(i8, i32, i64, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b, c = tl.load(i8 + i), tl.load(i32 + i), tl.load(i64 + i)
    probe.minmax("8", a.to(tl.uint8, bitcast=True))
    probe.minmax("32", b.to(tl.uint32, bitcast=True), b != 0)
    probe.minmax("64", c.to(tl.uint64, bitcast=True))
    probe.minmax("signed", b)
    probe.stats("32", b.to(tl.uint32, bitcast=True))
    probe.stats("64", c.to(tl.uint64, bitcast=True))
    probe.histogram("8", a.to(tl.uint8, bitcast=True), 16, 0, 256)
    probe.record("mixed", a.to(tl.uint8, bitcast=True), b, c.to(tl.uint64, bitcast=True), b > 0)
    probe.record("constants", 4294967295, -1)
    probe.check(i < 0, "none", b, b.to(tl.uint32, bitcast=True))


def unsigned(make: Make) -> None:
    rng = np.random.default_rng(3)
    n = 64
    arrays = [rng.integers(-(2 ** (k - 1)), 2 ** (k - 1), n).astype(f"i{k // 8}") for k in (8, 32, 64)]
    arrays[1][5] = 0
    with probe.session() as s:
        reading_unsigned[(1,)](*map(make, arrays), N=n)
    a, b, c = (array.view(f"u{array.dtype.itemsize}") for array in arrays)
    least_and_greatest = {"8": a, "32": b[b != 0], "64": c, "signed": arrays[1]}
    assert s.minmax() == {name: (int(x.min()), int(x.max()), 0) for name, x in least_and_greatest.items()}
    for name, x in (("32", b), ("64", c)):
        np.testing.assert_allclose(s.stats()[name].mean, x.astype(np.float64).mean(), rtol=1e-12)
    found = s.histograms()["8"]
    np.testing.assert_array_equal(found.counts, np.histogram(a, 16, (0, 256))[0])
    assert found.below == 0
    assert s.sites()[0].types == ("ui8",)
    for name, columns in (("mixed", (a, arrays[1], c, arrays[1] > 0)), ("none", (arrays[1][:16], b[:16]))):
        for field, column in zip(("v0", "v1", "v2", "v3"), columns, strict=False):
            np.testing.assert_array_equal(s.records(name)[field], column)
            assert s.records(name)[field].dtype == column.dtype
    assert s.records("constants")[["v0", "v1"]].tolist() == [(2**32 - 1, -1)]


@triton.jit(noinline=True)
def helper(v):
    probe.record("helper", v)
    return v + 1


@triton.jit
def calling(n):
    v = tl.program_id(0)
    for _ in range(n):
        v = helper(v)
    helper(v * 100)


def functions(make: Make) -> None:
    with probe.session() as s:
        calling[(3,)](2)
    assert sorted(s.records("helper")["v0"].tolist()) == [0, 1, 1, 2, 2, 3, 200, 300, 400]
    lines = {site.line for site in s.sites()}
    assert lines == {helper.fn.__code__.co_firstlineno + 2}


@triton.jit
def many(x):
    for k in tl.static_range(40):
        if tl.load(x) >= k:
            probe.count("reached")
            probe.record("k", k)


def sites(make: Make) -> None:
    with probe.session() as s:
        many[(5,)](make(np.array([36], np.int32)))
    assert s.counts() == {"reached": 5 * 37}
    np.testing.assert_array_equal(np.sort(s.records("k")["v0"]), np.repeat(np.arange(37), 5))


def nesting(make: Make) -> None:
    offering[(3,)](N=16)
    with probe.session() as outer:
        offering[(1,)](N=16)
        with probe.session() as inner:
            offering[(2,)](N=16)
        offering[(1,)](N=16)
    offering[(3,)](N=16)
    assert len(inner.records("none")) == 2
    assert len(outer.records("none")) == 2
    with pytest.raises(TritonExtError, match="cannot begin again"), inner, inner:
        pass


def summary(make: Make) -> None:
    x = np.full(256, 2, np.float32)
    with probe.session(capacity=320) as s:
        checking[(4,)](make(x), 200, N=64)
    rows = [line.split() for line in s.summary().splitlines()]
    assert rows[0] == ["probe", "name", "count", "records", "lost", "kernel", "line"]
    (row,) = [row for row in rows if row[1] == "small"]
    assert row[2:4] == ["200", "failed"]
    assert int(row[4]) + int(row[5]) == 16
    assert row[6] == "checking"
    assert row[7] == f"observations.py:{checking.fn.__code__.co_firstlineno + 4}"


@triton.jit
def half(v):
    with probe.region("helper"):
        v *= 0.5
    return v


@triton.jit
def timing(x, n, N: tl.constexpr, PER_WARP: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    with probe.region("program"):
        begin = probe.clock()
        v = tl.load(x + i)
        for k in range(n):
            with probe.region("turn", per_warp=PER_WARP):
                v = half(v) + k
                if k % 3 == 0:
                    with probe.region("third"):
                        v += tl.sum(v)
                else:
                    v += 1
        k = 0
        while k < n:
            with probe.region("while"):
                v += 1
                k += 2
        if tl.program_id(0) == 1:
            with probe.region("one"):
                v += 1
        tl.store(x + i, v)
        probe.record("clock", begin, probe.clock())


#: How often the regions of `timing` run for n=40 in six programs; `turn` in each of its warps.
TIMED = {"program": 6, "turn": 240, "helper": 240, "third": 84, "while": 120, "one": 1}


def is_within(inner: Any, outer: Any) -> Any:
    """Returns for each row of `inner` whether a row of `outer` of the same program has its time."""
    same = np.ones((len(inner), len(outer)), bool)
    for axis in "xyz":
        same &= inner[axis][:, None] == outer[axis][None, :]
    same &= inner["start"][:, None] >= outer["start"][None, :]
    return (same & (inner["end"][:, None] <= outer["end"][None, :])).any(axis=1)


def regions(make: Make) -> None:
    for per_warp in (False, True):
        with probe.session() as s:
            timing[(6,)](make(np.zeros(6 * 64, np.float32)), 40, N=64, PER_WARP=per_warp)
        assert s.lost() == {}
        every = s.regions()
        found = {name: s.regions(name) for name in TIMED}
        warps = len(np.unique(found["turn"]["warp"]))
        assert {name: len(one) for name, one in found.items()} == TIMED | {"turn": 240 * warps}
        assert (found["turn"]["warp"] < warps).all()
        assert len(every) == sum(map(len, found.values()))
        assert (np.diff(every["start"]) >= 0).all()
        assert (every["start"] >= 0).all()
        assert (every["end"] >= every["start"]).all()
        assert (every["cycles"] >= 0).all()
        turns = found["turn"][found["turn"]["warp"] == 0]
        assert is_within(turns, found["program"]).all()
        assert is_within(found["helper"], turns).all()
        assert is_within(found["third"], turns).all()
        # As measured: without its cost, a region may take no time, at the very end of the one before it.
        measured = {name: s.regions(name, compensate=False) for name in ("while", "turn")}
        assert not is_within(measured["while"], measured["turn"]).any()
        assert found["one"]["x"].tolist() == [1]
        for x in range(6):
            own = turns[turns["x"] == x]
            assert len(own) == 40
            assert (own["end"][:-1] <= own["start"][1:]).all()  # one after the other
        clocks = np.sort(s.records("clock"), order="x")
        programs = np.sort(found["program"], order="x")
        between = clocks["v1"] - clocks["v0"]
        assert (between > 0).all()
        assert (between <= programs["cycles"] + programs["subtracted"]).all()  # clocks are as measured


def lost_regions(make: Make) -> None:
    for capacity in (24, 100, 200, 1000, 2000, 4000, 10_000):
        with probe.session(capacity=capacity) as s:
            timing[(6,)](make(np.zeros(6 * 64, np.float32)), 40, N=64, PER_WARP=False)
        lost = s.lost()
        assert {name: len(s.regions(name)) + lost.get(name, 0) for name in TIMED} == TIMED
        assert len(s.records("clock")) + lost.get("clock", 0) == 6
        assert sum(lost.values()) > 0
        assert 16 * len(s.regions()) + 40 * len(s.records()) <= capacity


@triton.jit
def looping(x, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    v = tl.zeros((N,), tl.float32)
    for k in range(tl.program_id(0), n, 2):
        with probe.region("outer"):
            for _ in range(k):
                with probe.region("inner"):
                    v += tl.load(x + i)
        with probe.region("rest"):
            v *= 0.5
    for k in range(n, 0, -3):
        with probe.region("down"):
            v += k
    for _ in range(n, 3):
        with probe.region("never"):
            v += 1
    tl.store(x + i, v)


def loops(make: Make) -> None:
    n = 9
    turns = {x: len(range(x, n, 2)) for x in range(4)}
    inner = sum(sum(range(x, n, 2)) for x in range(4))
    expected = {"outer": sum(turns.values()), "inner": inner, "rest": sum(turns.values()), "down": 12}
    for capacity in (2**20, 96, 200, 504, 1000, 1400):
        with probe.session(capacity=capacity) as s:
            looping[(4,)](make(np.zeros(4 * 64, np.float32)), n, N=64)
        found, lost = {name: s.regions(name) for name in expected}, s.lost()
        assert {name: len(one) + lost.get(name, 0) for name, one in found.items()} == expected
        assert bool(lost) == (capacity < 1500)
        assert len(s.regions()) == sum(map(len, found.values()))
        for x in range(4):
            own = {name: one[one["x"] == x] for name, one in found.items()}
            outer, rest = own["outer"], own["rest"]
            assert len(outer) <= turns[x]
            assert len(outer) - len(rest) in (0, 1)  # the room ends between them
            assert (outer["end"][: len(rest)] <= rest["start"]).all()
            assert (rest["end"][: len(outer) - 1] <= outer["start"][1:]).all()
            assert is_within(own["inner"], outer).all() or len(outer) < turns[x]


def timelines(make: Make) -> None:
    with probe.session() as s:
        for _ in range(2):
            timing[(6,)](make(np.zeros(6 * 64, np.float32)), 40, N=64, PER_WARP=True)
    with tempfile.TemporaryDirectory() as directory:
        s.timeline(Path(directory) / "trace.json")
        trace = json.loads((Path(directory) / "trace.json").read_text())
    check_trace(trace["traceEvents"])
    named = [event["name"] for event in trace["traceEvents"] if event.get("cat") == "region"]
    warps = len(np.unique(s.regions("turn")["warp"]))
    assert {name: named.count(name) for name in TIMED} == {
        name: 2 * n * (warps if name == "turn" else 1) for name, n in TIMED.items()
    }
    turn = next(event for event in trace["traceEvents"] if event["name"] == "turn")
    assert turn["args"]["line"].endswith(f"observations.py:{timing.fn.__code__.co_firstlineno + 7}")
    rows = [line.split() for line in s.summary().splitlines()]
    (row,) = [row for row in rows if row[:2] == ["turn", str(480 * warps)]]
    total, mean, share = float(row[2]), float(row[3]), float(row[4].rstrip("%"))
    r = s.regions("turn")
    assert abs(total - (r["end"] - r["start"]).sum() / 1e6) <= 0.001
    assert abs(mean - total * 1e3 / (480 * warps)) <= 0.001 + 1 / (480 * warps)
    assert 0 < share <= 100


def check_trace(events: list[dict[str, Any]]) -> None:
    """Checks events against the trace event format: the keys of each phase, names of processes, slices that nest."""
    named = {event["pid"] for event in events if event["ph"] == "M" and event["name"] == "process_name"}
    tracks: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for event in events:
        assert event["ph"] in ("M", "X")
        assert {"name", "ph", "pid", "tid"} <= event.keys()
        if event["ph"] == "M":
            assert event["args"]
            continue
        assert {"ts", "dur", "cat"} <= event.keys()
        assert event["pid"] in named
        start = round(event["ts"] * 1000)
        tracks.setdefault((event["pid"], event["tid"]), []).append((start, start + round(event["dur"] * 1000)))
    for slices in tracks.values():
        open_until: list[int] = []
        for start, end in slices:  # in the order of the file, which is that of their starts
            while open_until and open_until[-1] <= start:
                open_until.pop()
            assert not open_until or end <= open_until[-1], "slices of one track overlap"
            open_until.append(end)


ALL = (
    *(
        counts,
        types,
        lanes,
        coordinates,
        losses,
        checks,
        summaries,
        histograms,
        unsigned,
        functions,
        sites,
        nesting,
        summary,
    ),
    *(regions, lost_regions, loops, timelines),
)


if __name__ == "__main__":
    import torch

    for function in ALL:
        function(lambda array: torch.from_numpy(array).to(*sys.argv[1:] or ["cpu"]))
        print(function.__name__)
