# SPDX-License-Identifier: Apache-2.0
"""A launch slot: memory that tells a kernel with launch words the extents of its arguments, and where the buffer is."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ._arguments import Argument
from ._layout import ARGUMENT_WORDS, SLOT_COUNTERS, SLOT_HEAD, SLOT_MAGIC
from ._sites import sites_of


class Launch(NamedTuple):
    """The arguments that a launch has passed to a kernel.

    Attributes:
        kernel: its name.
        key: the key of the kernel's table of sites.
        arguments: the arguments of its function, by number.
        grid: the number of programs along each axis, of a kernel that keeps first lanes; of others zeros.
    """

    kernel: str
    key: int
    arguments: tuple[Argument, ...]
    grid: tuple[int, int, int] = (0, 0, 0)


class Slot:
    """Memory with the words of one launch, and behind them counters for each site."""

    def __init__(self, launch: Launch, memory: Any, start: int, address: int) -> None:
        """Makes a slot.

        Args:
            launch: what the words stand for.
            memory: words; keeps the slot from being freed.
            start: the slot's first word in `memory`.
            address: the address of that word.
        """
        self.launch = launch
        self.memory = memory
        self.start = start
        self.failures = 0  # at the last call of `Slots.activity`
        #: Launches since the last call of `Slots.raised`, of kernels that raise the flag, and how often each was made.
        self.calls: Counter[Any] = Counter()
        self.is_captured = False  # in a CUDA graph, so that one call may run often
        self.is_followed = False  # whether the host looks at each call; the flag then counts the runs of a captured one
        self.raised = 0  # how often the flag was raised, at that call
        self.looked = 0  # how many runs of a captured launch were looked at
        self._address = address

    def counters(self) -> int:
        """Returns the place of the counters of the first site, in `memory`."""
        return self.start + SLOT_HEAD + ARGUMENT_WORDS * len(self.launch.arguments)

    def flag(self) -> int:
        """Returns the place of the word that counts how often the flag was raised, in `memory`."""
        return self.counters() + SLOT_COUNTERS * len(sites_of(self.launch.key))

    def data_ptr(self) -> int:
        """Returns the address, which each launch asks for."""
        return self._address


class _Thread(threading.local):
    """A thread, and the slot of the launch that it is in."""

    slot: Slot | None = None


#: This thread.
thread = _Thread()


@contextlib.contextmanager
def launching(slot: Slot) -> Iterator[None]:
    """Makes `slot` that of this thread in a block."""
    outer, thread.slot = thread.slot, slot
    try:
        yield
    finally:
        thread.slot = outer


@dataclass(frozen=True)
class Area:
    """The memory of a device that holds the records of a session.

    Attributes:
        buffer: the address of the buffer.
        capacity: the words of its pool of records.
        pool: the offset of the pool, in words.
    """

    buffer: int
    capacity: int
    pool: int


def words_of(area: Area, serial: int, arguments: tuple[Argument, ...]) -> Any:
    """Returns the words of a slot without its counters."""
    words = np.zeros(SLOT_HEAD + ARGUMENT_WORDS * len(arguments), np.int64)
    words[:SLOT_HEAD] = SLOT_MAGIC, area.buffer, serial, len(arguments), 0, area.capacity, area.pool, 0
    for number, argument in enumerate(arguments):
        start = SLOT_HEAD + ARGUMENT_WORDS * number
        words[start : start + ARGUMENT_WORDS] = argument.words()
    return words
