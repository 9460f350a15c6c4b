# SPDX-License-Identifier: Apache-2.0
"""The buffers of sessions, and the profile allocator with which Triton passes them to kernels."""

from __future__ import annotations

import contextvars
import functools
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from triton_ext import backends

from . import _slot
from ._layout import (
    CAPACITY,
    CHUNK_MASK,
    CHUNKS,
    COPIES,
    COPY_WORDS,
    CURSOR,
    CURSOR_WORDS,
    DIRECTORY,
    MAGIC,
    RECORDS,
    SHARD_CURSORS,
    SHARD_WORDS,
    SHARDS,
    SLOT_STRIDE,
    STRIDE,
    segments,
)

if TYPE_CHECKING:
    from ._session import Session

#: A buffer with room for fewer words of records has no shards: they would be too small, below 8 KiB.
LEAST_FOR_SHARDS = 2**17

#: The sessions that the thread has begun, the innermost one last, and those of the process.
sessions: contextvars.ContextVar[tuple[Session, ...]] = contextvars.ContextVar("triton_ext_probe", default=())
of_process: list[Session] = []
#: All sessions of all threads that have begun and not ended.
begun: list[Session] = []
lock = threading.Lock()
_sinks: dict[str, Sink] = {}
#: Buffers whose address a CUDA graph holds. The graph can be replayed whenever, so they live as long as the process.
_captured: list[Sink] = []
_before: Any = None  # the allocator that was set before ours


class Sink:
    """Memory without the first word of a buffer: for kernels with probes that are launched outside of a session."""

    def __init__(self, memory: Any) -> None:
        self.memory = memory
        self._address = int(memory.ctypes.data if isinstance(memory, np.ndarray) else memory.data_ptr())

    def data_ptr(self) -> int:
        """Returns the address, which each launch asks for."""
        return self._address

    def content(self, device: str) -> Any:
        """Waits for `device` and returns a copy of the words."""
        if device == "cpu":
            return _copy(self.memory)
        import torch

        torch.cuda.synchronize(device)
        return self.memory.cpu().numpy()


def _copy(words: Any) -> Any:
    """Returns a copy of what programs may have written to a buffer in a processor's memory, and zeros for the rest.

    A buffer has megabytes. To copy all of them takes longer than most launches, which write little.
    """
    chunks, first = int(words[CHUNK_MASK]) + 1, int(words[CHUNKS])
    copied = np.zeros(len(words), np.int64)  # whose pages exist when they are written
    copied[:first] = words[:first]
    for index in (*map(int, np.flatnonzero(copied[DIRECTORY : DIRECTORY + chunks])), chunks):
        counters = slice(first + index * COPIES * COPY_WORDS, first + (index + 1) * COPIES * COPY_WORDS)
        copied[counters] = words[counters]
    records = int(copied[RECORDS])
    for start, used in segments(copied):
        used[:] = words[records + start : records + start + len(used)]
    return copied


def current_device() -> str:
    """Returns the device that a launch of this thread goes to: ``cpu`` or, for torch, ``cuda:0``."""
    from triton.runtime import driver

    active = driver.active
    if _is_native(type(active)):
        return "cpu"
    return f"cuda:{active.get_current_device()}"  # which torch calls AMD's devices, too


@functools.cache  # because each launch asks
def _is_native(_: type[Any]) -> bool:
    """Returns whether the active driver, whose class is the argument, launches on this machine's processor."""
    from triton.runtime import driver

    declared = backends.declared().get(driver.active.get_current_target().backend)
    return declared is not None and declared.target.endswith(":native")


def memory(words: int, device: str, first: dict[int, int]) -> Any:
    """Returns `words` words on `device`: zeros, except those in `first`. Every stream sees them."""
    header = np.zeros(SHARD_CURSORS, np.int64)
    for place, value in first.items():
        header[place] = value
    if device == "cpu":
        content = np.zeros(words, np.int64)
        content[: len(header)] = header
        return content
    import torch

    on_device = torch.zeros(words, dtype=torch.int64, device=device)
    on_device[: len(header)].copy_(torch.from_numpy(header))
    torch.cuda.synchronize(device)
    return on_device


def first_record(chunks: int) -> int:
    """Returns the offset of the area of records in a buffer with `chunks` chunks of counters, in words."""
    return DIRECTORY + chunks + (chunks + 1) * COPIES * COPY_WORDS


def shard_words(capacity: int) -> int:
    """Returns the words of each shard that a buffer with `capacity` words of records has beside them; 0 for none."""
    if capacity < LEAST_FOR_SHARDS:
        return 0
    return capacity // (2 * SHARDS) // CURSOR_WORDS * CURSOR_WORDS  # whole cache lines


def first_of_pool(capacity: int, chunks: int) -> int:
    """Returns the offset of the pool, which is behind the shards, in words."""
    return first_record(chunks) + SHARDS * shard_words(capacity)


def new_buffer(device: str, capacity: int, chunks: int) -> Sink:
    """Returns a new buffer on `device`.

    Args:
        device: as `current_device` returns it.
        capacity: words of the pool: for records of any program. The shards have half as many in addition.
        chunks: how many chunks of counters it has room for, a power of two.
    """
    first, records, own = DIRECTORY + chunks, first_record(chunks), shard_words(capacity)
    area = SHARDS * own + capacity
    header = {0: MAGIC, CAPACITY: area, CHUNK_MASK: chunks - 1, CHUNKS: first, RECORDS: records, SHARD_WORDS: own}
    return Sink(memory(records + area, device, header))


def asked_for(buffer: Sink) -> int:
    """Returns how many words of records programs have asked for in `buffer`."""
    head = buffer.memory[:DIRECTORY]
    if not isinstance(head, np.ndarray):
        head = head.cpu().numpy()
    return int(head[CURSOR] + head[SHARD_CURSORS::CURSOR_WORDS].sum())


def keep_if_captured(found: Sink, device: str) -> None:
    """Keeps a buffer as long as the process if the launch that takes it is part of a CUDA graph."""
    if device != "cpu" and found not in _captured:
        import torch

        if torch.cuda.is_current_stream_capturing():
            _captured.append(found)


def current() -> Session | None:
    """Returns the session whose buffer a launch of this thread gets; None without a session.

    It is the innermost one of this thread, else that of the process. A session for the checks of passes comes behind
    all others, because it finds its records in their buffers, but they do not look for theirs in its buffer.
    """
    return _current(_sessions())


def _current(found: list[Session]) -> Session | None:
    for one in found:
        if not one._checks:
            return one
    return found[0] if found else None


def checking(checks: frozenset[str]) -> tuple[Session | None, Session | None]:
    """Returns the session that keeps the slots of a kernel, the innermost one for one of its checks, else `current`;
    and `current`.
    """
    found = _sessions()
    target = _current(found)
    for one in found:
        if not checks.isdisjoint(one._checks):
            return one, target
    return target, target


def _sessions() -> list[Session]:
    """Returns the sessions of this thread and then those of the process, the innermost one first."""
    found = [*of_process]
    for one in sessions.get():
        if not one._process or one in of_process:  # not ended by another thread
            found.append(one)
    found.reverse()
    return found


def install() -> None:
    """Makes `_allocate` Triton's profile allocator."""
    global _before  # noqa: PLW0603 - of the process, as Triton's slot
    from triton.runtime import _allocation

    with lock:
        now = _allocation._profile_allocator.get()
        if now is not _allocate:
            _before = now if _allocation.has_profile_allocator() else None
            _allocation.set_profile_allocator(_allocate)


def _allocate(size: int, alignment: int, stream: int | None) -> Any:
    """Triton's profile allocator: for kernels with probes the buffer of the session or the slot of the launch.

    For other kernels it asks the allocator that was set before.
    """
    if alignment not in (STRIDE, SLOT_STRIDE):
        if _before is not None:
            return _before(size, alignment, stream)
        from triton.runtime import driver

        return driver.active.allocate_default_profile_scratch(size, alignment, stream)
    if alignment == SLOT_STRIDE and (slot := _slot.thread.slot) is not None:
        return slot
    session = current() if alignment == STRIDE else None
    device = current_device()
    if session is None:
        if device not in _sinks:
            _sinks[device] = Sink(memory(SHARD_CURSORS, device, {}))
        return _sinks[device]
    # Without the lock of a session that makes its buffer: a launch on the CPU has no other cost of this size.
    if device == "cpu" and (found := session._buffers.get(device)) is not None:
        return found
    return session._buffer(device)


def is_replaced() -> bool:
    """Whether another profiler has set its allocator since `install`."""
    from triton.runtime import _allocation

    return _allocation._profile_allocator.get() is not _allocate
