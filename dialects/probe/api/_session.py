# SPDX-License-Identifier: Apache-2.0
"""`Session`, which collects what the probes of kernels see."""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import Collection
from pathlib import Path
from types import TracebackType
from typing import Any

from triton_ext.errors import TritonExtError
from triton_ext.patches import compiled_kernels

from . import _buffer, _interpreted, _launches, _lines, _plot, _records, _regions, _statistics, _summary
from ._buffer import Sink
from ._decode import Seen, checks_in, decode
from ._layout import COUNT, HEAD
from ._pipeline import pipeline
from ._replay import replayed
from ._sites import Site, read_sites
from ._slots import Area, Launch, Slots
from ._statistics import Histogram, Stats

#: The places of regions in the buffer are words in 32 bits.
MOST_CAPACITY = 2**33


class Session:
    """Collects what the probes of kernels see; made by `session`."""

    def __init__(
        self, capacity: int, kernels: int, process: bool, *, waits: bool = False, checks: Collection[str] = ()
    ) -> None:
        if capacity < 8 * HEAD or kernels < 1:
            raise TritonExtError(f"session: capacity={capacity}, kernels={kernels}: expected room for a record")
        if capacity > MOST_CAPACITY:
            raise TritonExtError(f"session: capacity={capacity}: expected at most {MOST_CAPACITY} bytes")
        self._capacity = capacity // 8  # without the shards
        self._chunks = 1 << (kernels - 1).bit_length()
        self._process = process
        self._waits = waits  # until the first launch, to make the buffer
        self._checks = frozenset(checks)  # of its passes; it then keeps the slots of kernels with such checks
        self._buffers: dict[str, Sink] = {}
        self._slots: dict[tuple[str, int], Slots] = {}  # by device and the address of the buffer for records
        self._others: dict[str, list[Sink]] = {}  # by device, the buffers of other sessions that have its records
        self._launches: dict[int, Launch] = {}  # what each serial number of a slot stands for
        self._interpreted = Seen()
        self._threads: list[_interpreted.Thread] = []
        self._room = self._capacity
        self._pipeline: Any = None
        self._has_begun = False
        self._around: Session | None = None  # whose pipeline this one uses
        self._is_installed = False  # whether its own pipeline is that of the process

    def __enter__(self) -> Session:
        if self._has_begun:
            raise TritonExtError("a session that has begun cannot begin again")
        if os.environ.get("TRITON_EXT_PROBE") == "0":
            return self
        from triton import knobs

        if not knobs.runtime.interpret:
            compiled_kernels.follow_kernels(read_sites)
            _launches.install()
            _buffer.install()
            # Now, because memory that is allocated in a CUDA graph is the graph's.
            if not self._waits:
                self._buffer(_buffer.current_device())
            # A session around this one has placed the passes; one of the thread has placed them for the thread only.
            around = (*_buffer.of_process, *(() if self._process else _buffer.sessions.get()))
            with _buffer.lock:
                self._around = next((one for one in around if one._pipeline is not None), None)
                _buffer.begun.append(self)
            if self._around is None:
                self._pipeline, self._is_installed = pipeline(), self._process
                self._pipeline.install() if self._process else self._pipeline.__enter__()
        if self._process:
            _buffer.of_process.append(self)
        _buffer.sessions.set((*_buffer.sessions.get(), self))
        self._has_begun = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self in _buffer.of_process:
            _buffer.of_process.remove(self)
        _buffer.sessions.set(tuple(one for one in _buffer.sessions.get() if one is not self))
        with _buffer.lock:
            is_used = self._pass_on()
        if self._pipeline is not None and not is_used:
            self._pipeline.uninstall() if self._is_installed else self._pipeline.__exit__(kind, error, traceback)
        self._pipeline = None
        if self._buffers and _buffer.is_replaced():
            warnings.warn(
                "another profiler has replaced Triton's profile allocator during the session: what probes have seen "
                "since is lost",
                RuntimeWarning,
                stacklevel=2,
            )

    def _pass_on(self) -> bool:
        """Gives the pipeline to a session that uses it and has not ended. Returns whether there is one.

        Until that one ends, a pipeline of the process stays one: kernels of other threads still have their probes,
        which see nothing then.
        """
        if self in _buffer.begun:
            _buffer.begun.remove(self)
        users = [one for one in _buffer.begun if one._around is self]
        for user in users:
            user._around = users[0]
        if users:
            users[0]._around = None
            users[0]._pipeline, users[0]._is_installed = self._pipeline, self._is_installed
        return bool(users)

    def _buffer(self, device: str) -> Sink:
        """Returns the session's buffer on `device`, for a launch."""
        with _buffer.lock:
            if device not in self._buffers:
                self._buffers[device] = _buffer.new_buffer(device, self._capacity, self._chunks)
        _buffer.keep_if_captured(self._buffers[device], device)
        return self._buffers[device]

    def _slots_on(self, device: str, target: Session) -> Slots:
        """Returns the session's launch slots on `device`, for launches whose records go to the buffer of `target`."""
        sink = target._buffer(device)
        key = device, sink.data_ptr()
        with _buffer.lock:
            if key not in self._slots:
                pool = _buffer.first_of_pool(target._capacity, target._chunks)
                area = Area(sink.data_ptr(), target._capacity, pool)
                self._slots[key] = Slots(device, area, self._launches, self._forget_launches)
                if target is not self:
                    self._others.setdefault(device, []).append(sink)
        return self._slots[key]

    def _forget_launches(self) -> None:
        """Drops the launches whose serial numbers are in no record of a check with a note."""
        kept = {int(serial) for one in self._see().records if one.site.note and one.values for serial in one.values[0]}
        for serial in list(self._launches):
            if serial not in kept:
                self._launches.pop(serial, None)

    def _see(self, *, compensate: bool | None = False) -> Seen:
        """Waits for the devices and returns what the session has seen until now; with `compensate` as of `regions`."""
        seen = Seen(
            {site: [line.copy() for line in lines] for site, lines in self._interpreted.lines.items()},
            list(self._interpreted.records),
            [_interpreted.timing_of(self._threads)] if self._threads else [],
        )
        for device, sink in self._buffers.items():
            decode(sink.content(device), seen, device)
        for device, sinks in self._others.items():
            seen.records += [one for s in sinks for one in checks_in(s.content(device), device, self._launches)]
        for slots in tuple(self._slots.values()):
            for site, line in slots.counters().items():
                seen.lines.setdefault(site, []).append(line)
        for number, timing in enumerate(seen.timings):
            if compensate or (compensate is None and timing.device == "cpu"):
                seen.timings[number] = replayed(timing)
        return seen

    def _activity(self) -> int:
        """Waits for the devices and returns a number that changes when programs write records or a check fails."""
        if any(device != "cpu" for device in (*self._buffers, *self._others)):
            import torch

            torch.cuda.synchronize()
        sinks = itertools.chain(self._buffers.values(), *self._others.values())
        return sum(map(_buffer.asked_for, sinks)) + sum(one.activity() for one in tuple(self._slots.values()))

    def sites(self) -> list[Site]:
        """Returns the probes that have run."""
        return [site for site in self._see().sites() if not site.note]

    def counts(self) -> dict[str, int]:
        """Returns the counters of `count` by name, summed over kernels and lines."""
        return _statistics.sums(self._see().part(by_rule=False), "count", COUNT)

    def failures(self) -> dict[str, int]:
        """Returns how often each `check` has failed, by message."""
        return _statistics.sums(self._see().part(by_rule=False), "check", COUNT)

    def lost(self) -> dict[str, int]:
        """Returns by name how many records and regions did not fit into the buffer, without names that lost none.

        If the buffer had no room for the counters of so many kernels, the name ``counters of kernels beyond the first
        …`` says so. Its number is 1, because nobody knows how many are lost.
        """
        return _statistics.lost(self._see().part(by_rule=False), self._chunks)

    def minmax(self) -> dict[str, tuple[float, float, int]]:
        """Returns the least and the greatest number that `minmax` has seen, and the number of NaNs, by name.

        The first two are NaN if it has seen no number.
        """
        return _statistics.minmax(self._see().part(by_rule=False))

    def stats(self) -> dict[str, Stats]:
        """Returns what `stats` has seen, by name."""
        return _statistics.stats(self._see().part(by_rule=False))

    def histograms(self) -> dict[str, Histogram]:
        """Returns what `histogram` has seen, by name.

        Raises:
            TritonExtError: two probes of one name have different bins.
        """
        return _statistics.histograms(self._see().part(by_rule=False))

    def records(self, name: str | None = None) -> Any:
        """Returns the records as a structured array.

        Those of a program are in the order in which it has written them, but for failures of checks, which are behind
        them. With a `capacity` from 1 MiB on, the 64 shards come first; the linear id modulo 64 says in which one a
        program is. If the kernel has regions and runs on a CPU, the linear id is divided by 8 before, rounded down. In
        each shard, and in all that is behind the shards, programs are in the order in which they asked for room.

        ``pandas.DataFrame(s.records())`` is a table of pandas, and ``pyarrow.Table.from_pandas`` makes one of Arrow of
        it.

        Args:
            name: of a `record`, or the message of a `check`; None for all.

        Returns:
            an array with the fields ``site`` (an index into `sites`), ``x``, ``y`` and ``z`` (the program), ``lane``
            (row-major in the tensor, -1 for a scalar) and ``v0``, ``v1``, … for the values. If sites differ in
            their values' types, a field has the type that NumPy promotes them to, and is 0 where a site has no value.
        """
        return _records.array_of(self._see(), name)

    def regions(self, name: str | None = None, *, compensate: bool | None = None) -> Any:
        """Returns the regions as a structured array, in the order of their starts.

        Args:
            name: of the regions; None for all.
            compensate: whether the measured cost of regions is subtracted: of a region, its own cost and that of the
                regions inside of it. What is before it in the program, or on its track, lets it start earlier. None:
                on CPUs alone, because on a GPU other warps hide most of this cost.

        Returns:
            an array with the fields ``site`` (an index into `sites`), ``x``, ``y`` and ``z`` (the program), ``warp``
            (0 without `per_warp`), ``sm`` (of NVIDIA; the number of the compute unit of AMD, of the thread of a CPU),
            ``start`` and ``end`` in nanoseconds since the first program of the device that had regions, ``cycles``,
            the duration in ticks of the counter that `clock` returns, and ``subtracted``, the ticks that `compensate`
            has subtracted from the duration. ``pandas.DataFrame`` takes it as it is.
        """
        return _regions.array_of(self._see(compensate=compensate), name)

    def timeline(self, path: str | Path, *, compensate: bool | None = None) -> None:
        """Writes the regions as a trace that https://ui.perfetto.dev opens, in Chrome's trace event format.

        A process is a multiprocessor, a compute unit or a thread of the CPU. It has as many tracks as it has run
        programs (or warps) at once; a program is a slice, and its regions are slices inside of it.

        Args:
            path: of the file, usually ``.json``.
            compensate: as of `regions`. The trace's metadata say what was subtracted.
        """
        _regions.write_trace(self._see(compensate=compensate), path)

    def lines(self) -> Any:
        """Returns what the pass `instrument` has counted, as a structured array with a row for each source line.

        ``dialects/probe/api/_lines.py`` describes the fields.
        """
        return _lines.table(self._see(compensate=None).part(by_rule=True))

    def nans(self) -> Any:
        """Returns the NaNs that the pass `instrument` has recorded, as a structured array, the first one first.

        Each operation records its first 16, in the order in which programs have found them.
        """
        return _lines.nans(self._see().part(by_rule=True))

    def plot(self, path: str | Path) -> None:
        """Draws the regions by their time, and each histogram.

        Args:
            path: of the picture; its suffix, ``.svg`` or ``.png``, says the format.

        Raises:
            TritonExtError: Matplotlib is not installed, or the session has seen neither a region nor a histogram.
        """
        _plot.draw(self._see(compensate=None), path)

    def summary(self, *, compensate: bool | None = None) -> str:
        """Returns tables: a row for each probe and what was lost; one of what regions have cost; one of `lines`.

        The share of a region is that of the time in which the programs run that have it.

        Args:
            compensate: as of `regions`. The last lines say what was subtracted.
        """
        return _summary.text(self._see(compensate=compensate), self._chunks)
