# SPDX-License-Identifier: Apache-2.0
"""`Session`, which collects what the probes of kernels see."""

from __future__ import annotations

import itertools
import os
import warnings
from collections import Counter
from collections.abc import Callable, Collection
from types import TracebackType
from typing import Any

from triton_ext.errors import TritonExtError
from triton_ext.patches import compiled_kernels

from . import _buffer, _interpreted, _launches
from ._buffer import Sink
from ._decode import Seen, checks_in, decode
from ._layout import HEAD
from ._pipeline import pipeline
from ._replay import replayed
from ._results import Results
from ._sites import read_sites
from ._slot import Area, Launch, Slot
from ._slots import Slots

#: The places of regions in the buffer are words in 32 bits.
MOST_CAPACITY = 2**33


class Session(Results):
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
        #: Takes slots, one of them whose flag is raised, and the calls that have it; looks closer at them.
        self._looker: Callable[[Slots, Slot, Counter[Any]], None] | None = None
        self._looked: frozenset[str] = frozenset()  # the checks for which it does
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
        _launches.forget()
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
                self._slots[key] = Slots(device, area, self._launches, self._forget_launches, self._look)
                if target is not self:
                    self._others.setdefault(device, []).append(sink)
        return self._slots[key]

    def _forget_launches(self) -> None:
        """Drops the launches whose serial numbers are in no record of a check with a note."""
        kept = {int(serial) for one in self._see().records if one.site.note and one.values for serial in one.values[0]}
        for serial in list(self._launches):
            if serial not in kept:
                self._launches.pop(serial, None)

    def _look(self) -> None:
        """Has the kernels run that look closer at the launches whose flag is raised."""
        if self._looker is not None:
            for slots in tuple(self._slots.values()):
                for slot, calls in slots.raised():
                    self._looker(slots, slot, calls)

    def _see(self, *, compensate: bool | None = False) -> Seen:
        """Waits for the devices and returns what the session has seen until now; with `compensate` as of `regions`."""
        self._look()
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
            seen.firsts += slots.firsts()
        for number, timing in enumerate(seen.timings):
            if compensate or (compensate is None and timing.device == "cpu"):
                seen.timings[number] = replayed(timing)
        return seen

    def _activity(self) -> int:
        """Waits for the devices and returns a number that changes when programs write records or a check fails."""
        self._look()
        for device in {*self._buffers, *self._others} - {"cpu"}:
            import torch

            torch.cuda.synchronize(device)
        sinks = itertools.chain(self._buffers.values(), *self._others.values())
        return sum(map(_buffer.asked_for, sinks)) + sum(one.activity() for one in tuple(self._slots.values()))
