# SPDX-License-Identifier: Apache-2.0
"""Replays programs without the cost of their regions, as Proton does (KPerfIR, OSDI '25)."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ._timing import Overhead, Timing, tracks_of


def replayed(timing: Timing) -> Timing:
    """Returns `timing` without the measured cost of the recorded regions.

    A program's time is what has passed between its events: the begins and ends of its regions, and its own end. Behind
    each begin and each end, the measured cost is subtracted, or all that has passed if that is less. So no duration is
    negative, regions nest as they have, and a program's times have the order that they had.

    A program that ends earlier lets the next one on its track begin earlier. When no program of the device ran for a
    while, as between two launches, that time stays as long as it was.
    """
    from ._overhead import overhead_of  # kernels, which use this package

    overheads = [overhead_of(timing.device, site) for site in timing.sites]
    if not any(one.inside or one.around for one in overheads):
        return dataclasses.replace(timing, overheads=overheads)
    zero, each = timing.nanoseconds()
    threads, regions = timing.threads.copy(), timing.regions.copy()
    begins, ends, lasts = _without(timing, overheads)
    regions["start"] = threads["start"][regions["thread"]] + begins
    regions["cycles"] = ends - begins
    has_ended = threads["end"] != 0
    threads["end"] = np.where(has_ended, threads["start"] + lasts, 0)
    inner = dataclasses.replace(
        timing, threads=threads, regions=regions, overheads=overheads, clock=(zero, each),
        raw=timing.regions["cycles"], before=timing.threads["end"],
    )  # fmt: skip
    return dataclasses.replace(inner, clock=(zero - _earlier(timing, inner), each))


def _without(timing: Timing, overheads: list[Overhead]) -> tuple[Any, Any, Any]:
    """Returns the begin and the end of each region, and the end of each thread, in cycles since the thread's start."""
    threads, regions = timing.threads, timing.regions
    n, count = len(regions), len(threads)
    inside = np.array([one.inside for one in overheads])[regions["site"]]
    around = np.array([one.around for one in overheads])[regions["site"]]
    first = threads["start"][regions["thread"]]
    begin = regions["start"] - first
    end = begin + regions["cycles"]
    last = np.maximum(threads["end"] - threads["start"], 0)
    # The events: the starts of the threads, then the begins and ends of regions, and the ends of the threads.
    numbers = np.arange(count)
    thread = np.concatenate([numbers, regions["thread"], regions["thread"], numbers])
    at = np.concatenate([np.zeros(count, np.int64), begin, end, last])
    cost = np.concatenate([np.zeros(count), inside, around, np.zeros(count)])
    order = np.lexsort((np.arange(len(at)), at, thread))
    passed = np.diff(at[order], prepend=0)
    is_first = np.diff(thread[order], prepend=-1) != 0
    # Events at the same time, of a clock with long ticks, are one event with the cost of all of them.
    moments = np.flatnonzero(is_first | (passed != 0))
    costs = np.concatenate([[0.0], np.add.reduceat(cost[order], moments)[:-1]])
    kept = np.zeros(len(at), np.int64)
    kept[moments] = np.round(np.maximum(passed[moments] - costs, 0))
    kept[is_first] = 0
    total = np.cumsum(kept)
    starts = np.flatnonzero(is_first)
    since = np.empty(len(at), np.int64)
    since[order] = total - np.repeat(total[starts], np.diff(np.append(starts, len(at))))
    return since[count : count + n], since[count + n : count + 2 * n], since[count + 2 * n :]


def _earlier(timing: Timing, inner: Timing) -> Any:
    """Returns by how many nanoseconds each thread begins earlier than it has, because others have ended earlier."""
    starts, ends = timing.lives()
    _, inner_ends = inner.lives()
    # A program is all of its warps, which begin together and follow each other.
    program = np.cumsum(timing.threads["warp"] == 0) - 1
    firsts = np.flatnonzero(timing.threads["warp"] == 0)
    start = starts[firsts]
    end, inner_end = np.maximum.reduceat(ends, firsts), np.maximum.reduceat(inner_ends, firsts)
    unit = timing.units()[firsts]
    track = tracks_of(unit, start, end)
    shifts = np.zeros(len(firsts))
    gained: dict[tuple[int, int], float] = {}  # of the last program of a track since all programs have ended
    base = latest = latest_inner = 0.0
    for i in np.argsort(start, kind="stable"):
        if gained and start[i] > latest:
            base = latest - latest_inner
            gained.clear()
        key = int(unit[i]), int(track[i])
        shift = gained.get(key, base)
        shifts[i] = shift
        gained[key] = end[i] - (inner_end[i] - shift)
        latest = max(latest, end[i])
        latest_inner = max(latest_inner, inner_end[i] - shift)
    return shifts[program]
