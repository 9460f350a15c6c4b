# SPDX-License-Identifier: Apache-2.0
"""The launch slots of a session on one device."""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from triton_ext.errors import TritonExtError

from ._firsts import First, first_of, keeps_first, lines_in
from ._layout import SITE_WORDS, SLOT_COUNTERS
from ._sites import Site, sites_of
from ._slot import Area, Launch, Slot, words_of

#: A slot takes whole rows of this many words, so that each one is aligned to 1024 bytes.
ROW = 128
#: The rows of a chunk, which is allocated at once. Half of one is kept for launches that are captured in a CUDA graph,
#: because nothing can be allocated there.
ROWS = 4096
#: How many slots are kept until the session waits for the device and begins anew.
MOST = 16384

#: Chunks whose addresses a CUDA graph holds. The graph can be replayed whenever, so they live as long as the process.
_captured: list[Any] = []
_serials = itertools.count(1)


class Slots:
    """The slots of a session on one device.

    The words of a slot do not change, so launches with equal arguments share one. On a GPU, a slot is copied in the
    stream of its first launch, so launches in different streams have different ones; and each launch that is captured
    in a CUDA graph has its own, whose copy is part of the graph.
    """

    def __init__(
        self,
        device: str,
        area: Area,
        launches: dict[int, Launch],
        forget: Callable[[], None],
        look: Callable[[], None],
    ) -> None:
        """Makes room for slots, so that launches can be captured in a CUDA graph.

        Args:
            device: as `_buffer.current_device` returns it.
            area: where the session's records are.
            launches: gets what each serial number stands for.
            forget: called before slots are reused, when no launch is underway; drops launches that no record needs.
            look: called before `forget`; does what the flags of slots ask for.
        """
        from triton.runtime import driver

        self.device = device
        self._is_gpu = device != "cpu"
        self.driver = driver.active  # of the launches, which may not be the active one when the session is read
        self._area, self._launches = area, launches
        self._forget, self._look = forget, look
        self._called: dict[int, Slot] = {}  # those with calls
        self._slots: dict[Any, Slot] = {}
        self._recent: dict[tuple[int, int], Slot] = {}  # some of them, by the identity of the launch, and the stream
        self._of_graphs: list[Slot] = []
        self._sums: dict[Site, Any] = {}  # the counters of slots that were dropped
        self._firsts: list[First] = []  # the first lanes of these
        self._chunks: list[Any] = []
        self._used, self._underway = 0, 0  # rows of the last chunk, and launches
        self._launched: dict[int, Slot] = {}  # on the CPU, since the last call of `activity`
        self._failures = 0  # on the CPU, until that call, in all slots
        self._lock = threading.RLock()
        if device != "cpu":
            self._add_chunk()

    def begin(self, launch: Launch, stream: int) -> Slot:
        """Returns the slot of a launch, which is underway until `end` is called.

        Raises:
            TritonExtError: the launch is captured in a CUDA graph, and the room for captured launches is used up.
        """
        with self._lock:
            if len(self._slots) >= MOST and not self._underway:
                self._begin_anew()
            slot = self._recent.get((id(launch), stream))
            if slot is None or slot.launch is not launch or (self._is_gpu and self._is_captured()):
                slot = self._find(launch, stream)
            if not self._is_gpu:
                self._launched[id(slot)] = slot
            self._underway += 1
            return slot

    def end(self, slot: Slot, call: Any = None, stream: int = 0, *, is_followed: bool = False) -> None:
        """Says that a launch is over, or has begun on a GPU.

        Args:
            slot: the slot of the launch.
            call: what is needed to look closer at it; equal ones are counted. None without a flag, or if it failed.
            stream: the stream of the launch.
            is_followed: whether the host looks at the launch, whatever the flag says.
        """
        with self._lock:
            self._underway -= 1
            if not self._is_gpu:
                self._launched[id(slot)] = slot  # again, because another thread may have asked for the activity
            if call is None:
                return
            slot.calls[call] += 1
            slot.is_followed = is_followed
            self._called[id(slot)] = slot
        if is_followed and slot.is_captured:
            with self._in(stream):
                slot.memory[slot.flag() : slot.flag() + 1].add_(1)

    @contextlib.contextmanager
    def looking(self, slot: Slot, key: int, stream: int) -> Iterator[Slot]:
        """Returns the slot of a kernel that looks closer at a launch; its records are those of that launch.

        Args:
            slot: the slot of the launch.
            key: the key of the kernel's table of sites.
            stream: in which the kernel runs.
        """
        with self._lock:
            found = self._find(slot.launch._replace(key=key), stream, slot.launch)
            self._note(found)
        yield found
        with self._lock:
            self._note(found)

    def raised(self) -> list[tuple[Slot, Counter[Any]]]:
        """Waits for the device, and returns the calls of slots that are followed or whose flag was raised since the
        last time.

        The calls of other slots are forgotten, but for those in CUDA graphs, which may run again.
        """
        with self._lock:
            taken = [(slot, slot.calls) for slot in self._called.values()]
            self._called = {name: slot for name, slot in self._called.items() if slot.is_captured}
            for slot, _ in taken:
                if not slot.is_captured:
                    slot.calls = Counter()
        if taken and self.device != "cpu":
            import torch

            torch.cuda.synchronize(self.device)
        before = [slot.raised for slot, _ in taken]
        for memory in {id(slot.memory): slot.memory for slot, _ in taken}.values():
            own = [slot for slot, _ in taken if slot.memory is memory]
            for slot, raised in zip(own, memory[[slot.flag() for slot in own]].tolist(), strict=True):
                slot.raised = raised
        return [
            (slot, calls)
            for (slot, calls), seen in zip(taken, before, strict=True)
            if slot.raised > (seen if slot.is_captured else 0) or (slot.is_followed and not slot.is_captured)
        ]

    def _find(self, launch: Launch, stream: int, known_as: Launch | None = None) -> Slot:
        is_captured = self._is_captured()
        key = launch, stream
        if not is_captured and (found := self._slots.get(key)) is not None:
            if found.launch is launch:
                self._recent[id(launch), stream] = found
            return found
        serial = next(_serials)
        words = words_of(self._area, serial, launch.arguments)
        counters = SLOT_COUNTERS * (len(sites_of(launch.key)) + 1)  # the last ones for the flag
        if self.device == "cpu":
            memory = np.concatenate([words, np.zeros(counters, np.int64)])
            slot = Slot(launch, memory, 0, int(memory.ctypes.data))
        else:
            slot = self._copied(launch, words, counters, stream, is_captured)
        self._launches[serial] = known_as or launch
        slot.is_captured = is_captured
        if is_captured:
            self._of_graphs.append(slot)
        else:
            self._slots[key] = slot
        return slot

    def _is_captured(self) -> bool:
        if self.device == "cpu":
            return False
        import torch

        return torch.cuda.is_current_stream_capturing()

    def _copied(self, launch: Launch, words: Any, counters: int, stream: int, is_captured: bool) -> Slot:
        """Returns a slot in the device's memory; what comes later in the stream sees its words.

        The counters are zeros from the beginning. They are not copied, so a replay of a graph does not reset them.
        """
        import torch

        rows = -(-(len(words) + counters) // ROW)
        if self._used + rows > (ROWS if is_captured else ROWS // 2):
            if is_captured:
                raise TritonExtError(
                    f"a CUDA graph captures more than {ROWS // 2} launches with checks, for which no memory is left",
                    fix="smaller graphs, or the launches outside of a graph while they are checked",
                )
            self._add_chunk()
        memory, staged, first = self._chunks[-1]
        start = first + self._used * ROW
        self._used += rows
        staged[start : start + len(words)] = torch.from_numpy(words)
        place = memory[start : start + len(words)]
        with self._in(stream):
            place.copy_(staged[start : start + len(words)], non_blocking=True)
        if is_captured and not any(one is self._chunks[-1] for one in _captured):
            _captured.append(self._chunks[-1])
        return Slot(launch, memory, start, place.data_ptr())

    def _in(self, stream: int) -> Any:
        """Returns a context in which torch uses a stream of the device."""
        import torch

        used = torch.cuda.current_stream(self.device)
        if used.cuda_stream != stream:
            used = torch.cuda.ExternalStream(stream, device=self.device)
        return torch.cuda.stream(used)

    def _add_chunk(self) -> None:
        """Allocates rows on the device, and as many in page-locked memory, from which they are copied."""
        import torch

        words = ROWS * ROW + ROW
        memory = torch.zeros(words, dtype=torch.int64, device=self.device)
        staged = torch.zeros(words, dtype=torch.int64, pin_memory=True)
        torch.cuda.synchronize(self.device)
        self._chunks.append((memory, staged, -(memory.data_ptr() // 8) % ROW))
        self._used = 0

    def _note(self, slot: Slot) -> None:
        if self.device == "cpu":
            self._launched[id(slot)] = slot

    def activity(self) -> int:
        """Returns a number that changes when a check fails.

        On a GPU, the device has to be at rest. On the CPU, only slots of recent launches are read, because each launch
        asks.
        """
        if self.device != "cpu":
            memories = {id(one): one for one in (*(c[0] for c in self._chunks), *(s.memory for s in self._of_graphs))}
            return sum(int(one.sum()) for one in memories.values())
        with self._lock:
            launched, self._launched = self._launched, {}
            for slot in launched.values():
                failures = int(slot.memory[slot.counters() :].sum())
                self._failures += failures - slot.failures
                slot.failures = failures
            return self._failures

    def counters(self) -> dict[Site, Any]:
        """Returns the counters of each site that has counted something, as they are in a line of a chunk.

        The devices have to be at rest.
        """
        sums = {site: line.copy() for site, line in self._sums.items()}
        for _, site, line in self._lines():
            if not keeps_first(site):
                total = sums.setdefault(site, np.zeros(SITE_WORDS, np.int64))
                total[:SLOT_COUNTERS] += line
        return sums

    def firsts(self) -> list[First]:
        """Returns the first lanes that launches have kept. The devices have to be at rest."""
        found = (first_of(slot.launch, site, line) for slot, site, line in self._lines() if keeps_first(site))
        return [*self._firsts, *found]

    def _lines(self) -> Iterator[tuple[Slot, Site, Any]]:
        with self._lock:
            slots = [*self._slots.values(), *self._of_graphs]
        return lines_in(slots, self.device)

    def _begin_anew(self) -> None:
        """Waits for the device and drops all slots that no CUDA graph has."""
        if self._is_captured():
            return
        if self.device != "cpu":
            import torch

            torch.cuda.synchronize(self.device)
        self._look()
        self.activity()
        graphs, self._of_graphs = self._of_graphs, []
        self._sums, self._firsts = self.counters(), self.firsts()
        self._of_graphs = graphs
        self._slots.clear()
        self._recent.clear()
        if self.device != "cpu":
            self._chunks = []
            self._add_chunk()
        self._forget()
