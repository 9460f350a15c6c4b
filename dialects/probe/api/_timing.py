# SPDX-License-Identifier: Apache-2.0
"""Reads the blocks of regions from a buffer, and turns cycles into nanoseconds."""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._layout import (
    BLOCK,
    CYCLE_BITS,
    END,
    HEADS,
    HOME,
    HOME_OF_LOOP,
    LOCAL,
    LOOP,
    LOOP_WORDS,
    REGION_WORDS,
    SITE_BIT,
    START,
    UNIT,
)
from ._sites import Site, sites_of

#: The fields of `Timing.threads`: the program, the warp, the processor, the cycles and the global time of the program's
#: start and end, and the kernel's key.
THREAD = np.dtype([
    *((name, np.uint32) for name in "xyz"), ("warp", np.int32), ("unit", np.uint64),
    ("start", np.int64), ("global_start", np.int64), ("end", np.int64), ("global_end", np.int64), ("key", np.uint64),
])  # fmt: skip
#: The fields of `Timing.regions`: the site as an index of `Timing.sites`, the thread as one of `Timing.threads`.
REGION = np.dtype([("site", np.int32), ("thread", np.int64), ("start", np.int64), ("cycles", np.int64)])


@dataclass(frozen=True)
class Overhead:
    """Cycles that one region costs.

    Attributes:
        inside: between the two times of a region that contains nothing.
        around: what it costs beside that: what a region around it has more of.
    """

    inside: float = 0.0
    around: float = 0.0


@dataclass
class Timing:
    """The regions that one buffer has, in cycles.

    Attributes:
        device: as `_buffer.current_device` returns it, or ``interpreter``.
        threads: the programs, or warps, that have recorded regions, one row for each launch; `THREAD`.
        regions: in no order; `REGION`.
        sites: the sites of the regions.
        overheads: what a region of each site costs, if that is subtracted from the times; else empty.
        clock: what `nanoseconds` returns; None if it is computed from the times.
        raw: the cycles of each region before anything was subtracted; None if nothing was.
        before: the ends of the threads before that; None likewise.
    """

    device: str
    threads: Any
    regions: Any
    sites: list[Site]
    overheads: list[Overhead] = field(default_factory=list)
    clock: tuple[Any, Any] | None = None
    raw: Any = None
    before: Any = None

    @property
    def raw_cycles(self) -> Any:
        """The cycles of each region as they were measured."""
        return self.regions["cycles"] if self.raw is None else self.raw

    def times(self) -> tuple[Any, Any]:
        """Returns the start and the end of each region, in nanoseconds."""
        zero, each = self.nanoseconds()
        thread = self.regions["thread"]
        begin = self.regions["start"] - self.threads["start"][thread]
        # Equal cycles become equal times: a sum of two products would round them differently.
        end = begin + self.regions["cycles"]
        return zero[thread] + begin * each[thread], zero[thread] + end * each[thread]

    def lives(self) -> tuple[Any, Any]:
        """Returns the start and the end of each thread's program, in nanoseconds.

        The end of a program that has not written it is that of its last region.
        """
        zero, each = self.nanoseconds()
        last = zero.copy()
        np.maximum.at(last, self.regions["thread"], self.times()[1])
        end = zero + (self.threads["end"] - self.threads["start"]) * each
        return zero, np.maximum(np.where(self.threads["end"] != 0, end, last), last)

    def units(self) -> Any:
        """Returns the number of each thread's processor. NVIDIA's numbers stay, others are counted."""
        units = self.threads["unit"]
        if len(units) == 0 or int(units.max()) < 10_000:
            return units.astype(np.int64)
        return np.unique(units, return_inverse=True)[1]

    def nanoseconds(self) -> tuple[Any, Any]:
        """Returns for each thread when its program has started, and how long a cycle took, in nanoseconds.

        The first start is 0. RATIONALE.md says how this is done.
        """
        if self.clock is not None:
            return self.clock
        threads = self.threads
        cycles = (threads["end"] - threads["start"]).astype(np.float64)
        if self.device in ("cpu", "interpreter"):  # one counter for all processors
            each = 1.0 if self.device == "interpreter" else _nanoseconds_of_a_tick()
            start = (threads["start"] - threads["start"].min()) * each
            return start, np.full(len(threads), each)
        tick = _tick_of_global_time()
        passed = (threads["global_end"] - threads["global_start"]) * tick
        has_ended = threads["end"] != 0
        known = float(passed[has_ended].sum()), float(cycles[has_ended].sum())
        pooled = known[0] / known[1] if known[0] > 0 and known[1] > 0 else 1.0
        values = np.unique(np.concatenate([threads["global_start"], threads["global_end"][has_ended]]))
        resolution = float(np.diff(values).min()) * tick if len(values) > 1 else np.inf
        is_long = has_ended & (passed >= 200 * resolution)
        each = np.where(is_long, passed / np.where(cycles > 0, cycles, 1), pooled)
        return (threads["global_start"] - threads["global_start"].min()) * float(tick), each


def tracks_of(units: Any, starts: Any, ends: Any) -> Any:
    """Returns a track for each thread: the first of its processor's tracks that is free when the program starts."""
    tracks = np.zeros(len(units), np.int64)
    free_from: dict[tuple[int, int], int] = {}
    for i in np.argsort(starts, kind="stable"):
        track = 0
        while free_from.get((int(units[i]), track), -1) > starts[i]:
            track += 1
        free_from[int(units[i]), track] = int(ends[i])
        tracks[i] = track
    return tracks


def timing_of(blocks: Sequence[tuple[int, int, Any]], device: str) -> Timing:
    """Returns the records in the blocks of a buffer.

    Args:
        blocks: the place of the first one, the tag and the rows of each run of blocks.
        device: that the buffer is on.
    """
    sites: dict[Site, int] = {}
    threads, regions = [], []
    homes: dict[int, int] = {}  # the number of a program's first thread by the place of its first block
    first = 0
    for at, key, rows in blocks:
        if key & LOCAL in (HOME, HOME_OF_LOOP):
            warps = _warps(key)
            threads.append(_threads_of(key, rows, warps))
            places = range(at, at + rows.size, rows.shape[1])
            homes.update(zip(places, range(first, first + len(threads[-1]), warps), strict=True))
            first += len(threads[-1])
    for at, key, rows in blocks:
        local = key & LOCAL
        is_home = local in (HOME, HOME_OF_LOOP)
        own = [] if is_home else [homes[int(place)] for place in rows[:, 1] & np.uint64(0xFFFFFFFF)]
        number = np.arange(len(rows)) * _warps(key) + homes[at] if is_home else np.array(own, np.int64)
        known = np.array([sites.setdefault(site, len(sites)) for site in sites_of(key)], np.int32)
        behind = HEADS[local] + (0 if local == LOOP else REGION_WORDS * max(site.block for site in sites_of(key)))
        if local in (HOME, BLOCK, HOME_OF_LOOP):
            regions.append(_regions_of(rows[:, HEADS[local] : behind], number, known))
        if local in LOOP_WORDS:
            loops = rows[:, LOOP_WORDS[local] - 1] if is_home else rows[:, 1] >> np.uint64(32)
            regions.extend(_regions_of_loop(rows[:, behind:], number, known, key, loops))
    return Timing(device, np.concatenate(threads), np.concatenate(regions), list(sites))


def _regions_of(rows: Any, number: Any, known: Any) -> Any:
    """Returns the regions in the rows of blocks: of each, the cycles of its start, and its duration with its site.

    Args:
        rows: the records of each block.
        number: the number of the first thread of each block's program.
        known: for each site of the kernel its index in `Timing.sites`.
    """
    pairs = rows[:, : rows.shape[1] // REGION_WORDS * REGION_WORDS].reshape(len(rows), -1, REGION_WORDS)
    used = pairs[:, :, 1] != 0
    row, _ = np.nonzero(used)
    start, packed = pairs[used].T
    part = np.empty(len(row), REGION)
    part["site"] = known[(packed >> np.uint64(SITE_BIT)).astype(np.int64) - 1]
    warp = (packed >> np.uint64(CYCLE_BITS)) & np.uint64((1 << (SITE_BIT - CYCLE_BITS)) - 1)
    part["thread"] = number[row] + warp.astype(np.int64)
    part["start"] = start.astype(np.int64)
    part["cycles"] = (packed & np.uint64((1 << CYCLE_BITS) - 1)).astype(np.int64)
    return part


def _regions_of_loop(rows: Any, number: Any, known: Any, key: int, loops: Any) -> Iterator[Any]:
    """Yields the regions in the records of all turns of loops: of each, the cycles of its start and of its end.

    Args:
        rows: the records of each run of a loop.
        number: the number of the first thread of each run's program.
        known: for each site of the kernel its index in `Timing.sites`.
        key: the key of the kernel.
        loops: the number of each run's loop.
    """
    for loop in np.unique(loops):
        turn = sorted(
            (site.loop[1] + warp, i, warp)
            for i, site in enumerate(sites_of(key))
            if site.loop is not None and site.loop[0] == loop
            for warp in range(site.warps)
        )
        chosen = loops == loop
        pairs = rows[chosen, : rows.shape[1] // REGION_WORDS * REGION_WORDS].reshape(chosen.sum(), -1, REGION_WORDS)
        row, column = np.nonzero(pairs[:, :, 1])
        place = column % len(turn)
        starts, ends = pairs[row, column].astype(np.int64).T
        part = np.empty(len(row), REGION)
        part["site"] = known[[i for _, i, _ in turn]][place]
        part["thread"] = number[chosen][row] + np.array([warp for *_, warp in turn])[place]
        part["start"], part["cycles"] = starts, ends - starts
        yield part


def _warps(key: int) -> int:
    """Returns how many warps of a program record regions."""
    return max(site.warps for site in sites_of(key))


def _threads_of(key: int, rows: Any, warps: int) -> Any:
    """Returns a row for each warp that records, of each program."""
    threads = np.empty((len(rows), warps), THREAD)
    threads["x"], threads["y"] = rows[:, 1, None], rows[:, 1, None] >> np.uint64(32)
    threads["z"], threads["warp"] = rows[:, 2, None], np.arange(warps)
    threads["unit"] = rows[:, UNIT, None]
    threads["start"], threads["global_start"] = rows[:, START, None], rows[:, START + 1, None]
    threads["end"], threads["global_end"] = rows[:, END, None], rows[:, END + 1, None]
    threads["key"] = key & ~LOCAL & (2**64 - 1)
    return threads.reshape(-1)


def _tick_of_global_time() -> int:
    """Returns how many nanoseconds one tick of a GPU's global time is: AMD's counter has 100 MHz."""
    import torch

    return 10 if torch.version.hip else 1


@functools.cache
def _nanoseconds_of_a_tick() -> float:
    """Returns how long a tick of this machine's time-stamp counter is: measured once, for 20 ms."""
    from ._ticks import ticks

    first = min((_pair(ticks) for _ in range(5)), key=lambda pair: pair[2])
    time.sleep(0.02)
    last = min((_pair(ticks) for _ in range(5)), key=lambda pair: pair[2])
    return (last[1] - first[1]) / (last[0] - first[0])


def _pair(ticks: Any) -> tuple[int, float, int]:
    """Returns the counter, the time in nanoseconds, and how far they may be apart."""
    before = time.perf_counter_ns()
    counter = ticks()
    after = time.perf_counter_ns()
    return counter, (before + after) / 2, after - before
