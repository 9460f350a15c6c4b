# SPDX-License-Identifier: Apache-2.0
"""Regions as an array, as rows of a table, and as a trace."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ._decode import Seen
from ._layout import LOST
from ._sites import Site, tables
from ._timing import Overhead, Timing, tracks_of

DTYPE = np.dtype([
    ("site", np.int32), *((name, np.uint32) for name in "xyz"), ("warp", np.int32), ("sm", np.int32),
    ("start", np.float64), ("end", np.float64), ("cycles", np.int64), ("subtracted", np.int64),
])  # fmt: skip


def array_of(seen: Seen, name: str | None) -> Any:
    """Returns the regions as `Session.regions` describes it."""
    numbers = {site: i for i, site in enumerate(seen.sites())}
    parts = [np.zeros(0, DTYPE)]
    for timing in seen.timings:
        start, end = timing.times()
        thread = timing.threads[timing.regions["thread"]]
        part = np.empty(len(timing.regions), DTYPE)
        part["site"] = np.array([numbers[site] for site in timing.sites], np.int32)[timing.regions["site"]]
        for field in ("x", "y", "z", "warp"):
            part[field] = thread[field]
        part["sm"] = timing.units()[timing.regions["thread"]]
        part["start"], part["end"], part["cycles"] = start, end, timing.regions["cycles"]
        part["subtracted"] = timing.raw_cycles - part["cycles"]
        chosen = np.array([name is None or site.name == name for site in timing.sites])
        parts.append(part[chosen[timing.regions["site"]]])
    found = np.concatenate(parts)
    return found[np.argsort(found["start"], kind="stable")]


@dataclass(frozen=True)
class Cost:
    """The time that a region has taken.

    Attributes:
        calls: how often it has run, with those whose record was lost.
        total: nanoseconds of those with a record.
        share: its share of the time of the programs, or of the warps, that have the region, 0 to 1.
    """

    calls: int
    kept: int
    total: float
    share: float

    @property
    def mean(self) -> float:
        """Nanoseconds of one call; NaN without a record."""
        return self.total / self.kept if self.kept else np.nan


def costs_of(seen: Seen) -> dict[Site, Cost]:
    """Returns the time that each region has taken."""
    kept: dict[Site, int] = {}
    total: dict[Site, float] = {}
    whole: dict[Site, float] = {}
    for timing in seen.timings:
        start, end = timing.times()
        lives = timing.lives()
        for i, site in enumerate(timing.sites):
            if site.kind != "region":
                continue
            own = timing.regions["site"] == i
            kept[site] = kept.get(site, 0) + int(own.sum())
            total[site] = total.get(site, 0.0) + float((end - start)[own].sum())
            keys = [key for key, sites in tables.items() if site in sites] or [0]
            threads = np.isin(timing.threads["key"], np.array(keys, np.uint64))
            if not site.per_warp:
                threads &= timing.threads["warp"] == 0
            whole[site] = whole.get(site, 0.0) + float((lives[1] - lives[0])[threads].sum())
    costs = {}
    for site in seen.sites():
        if site.kind == "region":
            n, time = kept.get(site, 0), total.get(site, 0.0)
            share = time / whole[site] if whole.get(site) else 0.0
            costs[site] = Cost(n + seen.sum(site, LOST), n, time, share)
    return costs


def write_trace(seen: Seen, path: str | Path) -> None:
    """Writes a trace in Chrome's format; see `Session.timeline`."""
    events = [event for number, timing in enumerate(seen.timings) for event in _events(timing, number)]
    events.sort(key=lambda event: (event["ph"] != "M", event.get("ts", 0), -event.get("dur", 0)))
    about = {
        "times": "without the cost of regions" if any(one.overheads for one in seen.timings) else "as measured",
        "subtracted": [one for timing in seen.timings for one in subtracted(timing)],
    }
    Path(path).write_text(json.dumps({"traceEvents": events, "displayTimeUnit": "ns", "otherData": about}))


def subtracted(timing: Timing) -> list[str]:
    """Returns a line for each cost that regions of one device have, and how much of the programs' time they were."""
    groups: dict[Overhead, list[str]] = {}
    for site, overhead in zip(timing.sites, timing.overheads, strict=False):
        groups.setdefault(overhead, []).append(site.name)
    lines = [
        f"{timing.device}: {', '.join(dict.fromkeys(names))}: {one.inside:.1f} cycles inside, {one.around:.1f} around"
        for one, names in groups.items()
    ]
    if timing.before is not None:
        has_ended = timing.threads["end"] != 0
        whole = float((timing.before - timing.threads["start"])[has_ended].sum())
        gone = float((timing.before - timing.threads["end"])[has_ended].sum())
        lines.append(f"{timing.device}: {gone / whole if whole else 0:.1%} of the time of the programs with regions")
    return lines


def _events(timing: Timing, device: int) -> Iterator[dict[str, Any]]:
    lives = np.round(timing.lives()).astype(np.int64)
    starts, ends = (np.round(times).astype(np.int64) for times in timing.times())
    units = timing.units()
    tracks = tracks_of(units, *lives)
    kind = "thread" if timing.device in ("cpu", "interpreter") else "SM"
    pids = 1 + device * 10_000 + units
    tids = pids * 1_000 + tracks
    for unit in np.unique(units):
        pid = 1 + device * 10_000 + int(unit)
        label = f"{timing.device} {kind} {unit}"
        yield {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": label}}
        yield {"ph": "M", "name": "process_sort_index", "pid": pid, "tid": 0, "args": {"sort_index": pid}}
        for track in np.unique(tracks[units == unit]):
            tid = pid * 1_000 + int(track)
            yield {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": f"programs {track}"}}
    for i, thread in enumerate(timing.threads):
        sites = tables.get(int(thread["key"]), ())
        kernel = sites[0].kernel if sites else timing.sites[0].kernel
        program = ", ".join(str(int(thread[axis])) for axis in "xyz")
        yield {
            "ph": "X", "cat": "program", "name": f"{kernel} ({program})", "pid": int(pids[i]), "tid": int(tids[i]),
            "ts": int(lives[0][i]) / 1000, "dur": int(lives[1][i] - lives[0][i]) / 1000,
            "args": {"program": program, "warp": int(thread["warp"])},
        }  # fmt: skip
    for region, start, end, raw in zip(timing.regions, starts, ends, timing.raw_cycles, strict=True):
        site, i = timing.sites[region["site"]], region["thread"]
        yield {
            "ph": "X", "cat": "region", "name": site.name, "pid": int(pids[i]), "tid": int(tids[i]),
            "ts": int(start) / 1000, "dur": int(end - start) / 1000,
            "args": {"kernel": site.kernel, "line": f"{site.file}:{site.line}", "cycles": int(region["cycles"]),
                     "cycles as measured": int(raw)},
        }  # fmt: skip
