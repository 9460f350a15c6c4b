# SPDX-License-Identifier: Apache-2.0
"""The measured cost of regions is subtracted from their times: durations stay positive, nested and in order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl
from triton_ext.probe import _overhead, _regions, _replay
from triton_ext.probe._sites import Site
from triton_ext.probe._timing import REGION, THREAD, Overhead, Timing

from triton_ext import probe

pytestmark = pytest.mark.keeps_kernels

OUTER, INNER = (Site("region", name, "kernel", "file.py", 1) for name in ("outer", "inner"))


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """A region has 10 cycles too many, and costs 5 beside them; `OUTER` has 4, and costs 2."""
    costs = {OUTER: Overhead(4, 2), INNER: Overhead(10, 5)}
    monkeypatch.setattr(_overhead, "overhead_of", lambda _, site: costs[site])


def timing(programs: list[tuple[int, int, int, list[tuple[int, int, int]]]]) -> Timing:
    """Returns a timing in which a cycle is a nanosecond: of each program its processor, start, end and regions."""
    threads = np.zeros(len(programs), THREAD)
    regions = []
    for i, (unit, start, end, own) in enumerate(programs):
        threads[i]["x"], threads[i]["unit"] = i, unit
        threads[i]["start"], threads[i]["end"] = start, end
        regions += [(site, i, begin, stop - begin) for site, begin, stop in own]
    zero = (threads["start"] - threads["start"].min()).astype(float)
    return Timing("cuda:0", threads, np.array(regions, REGION), [OUTER, INNER], clock=(zero, np.ones(len(threads))))


@pytest.mark.usefixtures("measured")
def test_own_cost_and_that_of_regions_inside_are_subtracted() -> None:
    before = timing([(0, 1000, 2200, [(0, 1100, 2100), (1, 1200, 1300), (1, 1400, 1500)])])
    after = _replay.replayed(before)
    assert after.regions["cycles"].tolist() == [1000 - 4 - 2 * (10 + 5), 90, 90]
    assert after.regions["start"].tolist() == [1100, 1200 - 4, 1400 - 4 - 15]
    assert after.threads["end"].tolist() == [2200 - 4 - 2 - 2 * 15]
    assert after.raw_cycles.tolist() == [1000, 100, 100]
    assert before.regions["cycles"].tolist() == [1000, 100, 100]
    assert _regions.subtracted(after) == [
        "cuda:0: outer: 4.0 cycles inside, 2.0 around",
        "cuda:0: inner: 10.0 cycles inside, 5.0 around",
        "cuda:0: 3.0% of the time of the programs with regions",
    ]


@pytest.mark.usefixtures("measured")
def test_no_more_than_what_has_passed_is_subtracted() -> None:
    after = _replay.replayed(timing([(0, 0, 40, [(0, 1, 30), (1, 3, 6), (1, 6, 26)])]))
    start, cycles = after.regions["start"].tolist(), after.regions["cycles"].tolist()
    assert (start, cycles) == ([1, 1, 1], [5, 0, 5])
    assert after.threads["end"].tolist() == [14]


@pytest.mark.usefixtures("measured")
def test_a_program_begins_earlier_when_the_one_before_it_ends_earlier() -> None:
    region = [(1, 100, 200)]
    programs = [
        (0, 0, 1000, region),  # 15 less
        (0, 1010, 2000, [(1, 1100, 1200)]),  # behind it on the same track
        (1, 5, 1500, [(0, 100, 200)]),  # another processor: 6 less
        (0, 2500, 3000, [(1, 2600, 2700)]),  # another launch
        (1, 2600, 2900, [(1, 2700, 2800)]),
    ]
    after = _replay.replayed(timing(programs))
    starts, ends = after.lives()
    assert starts.tolist() == [0, 1010 - 15, 5, 2500 - 30, 2600 - 30]
    assert ends.tolist() == [1000 - 15, 2000 - 30, 1500 - 6, 3000 - 45, 2900 - 45]


@pytest.mark.usefixtures("measured")
def test_the_warps_of_a_program_begin_together() -> None:
    one = timing(
        [(0, 0, 1000, [(1, 100, 200)]), (0, 0, 1000, []), (0, 1000, 2000, [(1, 1100, 1200)]), (0, 1000, 2000, [])]
    )
    one.threads["warp"] = [0, 1, 0, 1]
    starts, ends = _replay.replayed(one).lives()
    assert starts.tolist() == [0, 0, 1000, 1000]  # the second warp has ended late
    assert ends.tolist() == [985, 1000, 1985, 2000]


def nested(rng: Any, begin: int, end: int, depth: int) -> list[tuple[int, int, int]]:
    """Returns random regions in each other, sometimes without a cycle between them."""
    if depth == 0 or end - begin < 2:
        return []
    cuts = np.sort(rng.integers(begin, end + 1, 6)).tolist()
    found = []
    for low, high in zip(cuts[::2], cuts[1::2], strict=True):
        found += [(int(rng.integers(2)), low, high), *nested(rng, low, high, depth - 1)]
    return found


@pytest.mark.usefixtures("measured")
def test_times_stay_in_order() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        programs = []
        for _ in range(4):
            start = int(rng.integers(10_000))
            end = start + int(rng.integers(1, 3000))
            programs.append((int(rng.integers(2)), start, end, nested(rng, start, end, 3)))
        if not any(own for *_, own in programs):
            continue
        before = timing(programs)
        after = _replay.replayed(before)
        assert (after.regions["cycles"] >= 0).all()
        assert (after.regions["cycles"] <= before.regions["cycles"]).all()
        for i in range(len(programs)):
            own = before.regions["thread"] == i
            then, now = (
                np.concatenate([one.regions["start"][own], (one.regions["start"] + one.regions["cycles"])[own]])
                for one in (before, after)
            )
            if not own.any():
                continue
            order = np.argsort(then, kind="stable")
            assert (np.diff(now[order]) >= 0).all()
            assert (np.diff(now[order])[np.diff(then[order]) == 0] == 0).all()
            assert now.max() <= after.threads["end"][i]
        starts, ends = after.lives()
        assert (starts <= before.lives()[0]).all()
        assert (ends >= starts).all()


@triton.jit
def looping(out, turns, WHAT: tl.constexpr):
    x = tl.program_id(0) + turns
    with probe.region("outer"):
        for turn in range(turns):
            if WHAT == "inner":
                with probe.region("inner"):
                    x = (x ^ turn) * 3
            else:
                x = (x ^ turn) * 3
    tl.store(out + tl.program_id(0), x)


@pytest.mark.slow
@pytest.mark.usefixtures("on_native_backend")
def test_a_short_turn_is_as_long_as_without_a_region() -> None:
    turns, out = 2000, np.zeros(20, np.int32)
    found = {}
    for what in ("inner", "none"):
        with probe.session() as s:
            looping[(20,)](out, turns, what)
        for compensate in (True, False):
            cycles = s.regions("outer", compensate=compensate)["cycles"]
            found[what, compensate] = float(np.median(cycles)) / turns
    alone = found["none", False]
    assert found["inner", False] > alone + 10  # a clock takes so long
    assert abs(found["inner", True] - alone) < 0.5 * (found["inner", False] - alone)


@pytest.mark.slow
@pytest.mark.usefixtures("on_native_backend")
def test_times_as_measured_stay_available(tmp_path: Path) -> None:
    with probe.session() as s:
        looping[(3,)](np.zeros(3, np.int32), 50, "inner")
        now = s.regions()  # measures the cost: not as a part of this session
        assert {site.name for site in s.sites()} == {"outer", "inner"}
    raw = s.regions(compensate=False)
    assert (raw["subtracted"] == 0).all()
    assert (now["subtracted"] > 0).all()
    for fields in (("site", "x"), ("x", "site")):
        order = [np.lexsort((one["start"], one[fields[0]], one[fields[1]])) for one in (now, raw)]
        assert ((now["cycles"] + now["subtracted"])[order[0]] == raw["cycles"][order[1]]).all()
    assert "subtracted from these times, what regions cost:\ncpu: " in s.summary()
    assert "subtracted" not in s.summary(compensate=False)
    for compensate, times in ((True, "without the cost of regions"), (False, "as measured")):
        s.timeline(tmp_path / "t.json", compensate=compensate)
        trace = json.loads((tmp_path / "t.json").read_text())
        assert trace["otherData"]["times"] == times
        assert bool(trace["otherData"]["subtracted"]) == compensate
        measured = sum(e["args"]["cycles as measured"] for e in trace["traceEvents"] if e.get("cat") == "region")
        assert measured == raw["cycles"].sum()


@pytest.mark.slow
@pytest.mark.parametrize("in_room", [True, False])
@pytest.mark.usefixtures("on_native_backend")
def test_each_kind_of_record_is_measured(monkeypatch: pytest.MonkeyPatch, in_room: bool) -> None:
    sites: list[Site] = []
    regions = probe.Session.regions

    def observed(session: probe.Session, name: str | None = None, *, compensate: bool = True) -> Any:
        sites.extend(site for site in session.sites() if site.name == "inner")
        return regions(session, name, compensate=compensate)

    monkeypatch.setattr(probe.Session, "regions", observed)
    found = _overhead._on_this_device(np.zeros(1, np.int32), in_room, 0)
    assert sites
    assert all((site.loop is not None) == in_room for site in sites)
    assert 0 < found.inside < 10_000
    assert 0 <= found.around < 10_000


@pytest.mark.usefixtures("on_native_backend")
def test_regions_of_another_device_keep_their_times() -> None:
    _overhead._overhead.cache_clear()
    with pytest.warns(RuntimeWarning, match="cannot be measured while kernels run on cpu"):
        assert _overhead.overhead_of("cuda:0", INNER) == Overhead()
    _overhead._overhead.cache_clear()
