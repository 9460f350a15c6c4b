# SPDX-License-Identifier: Apache-2.0
"""Which bytes of a storage were written: bits beside it, which kernels read and set, and what the host knows itself."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from ._bits import Bits
from ._bytes import MOST_KEPT, Bytes, span, union
from ._on_device import is_capturing, on


class Init:
    """The bytes of a storage that were written. The storage may be freed, and another one may get its memory.

    Once there are bits, the host knows bytes by the stream that has written them, because another stream may be ahead
    of it.
    """

    def __init__(
        self, storage: Any, device: str, gone: Callable[[Any], None] | None = None, *, is_of_graph: bool = False
    ) -> None:
        """Takes no byte of a storage as written.

        Args:
            storage: the storage.
            device: as `_buffer.current_device` returns it.
            gone: called with `of` when the storage is freed.
            is_of_graph: whether each replay of a CUDA graph begins anew, so that the host knows nothing.
        """
        self.size = storage.nbytes()
        self.bits = Bits(self.size, device, is_of_graph=is_of_graph)
        #: The storage, as long as it lives. Torch keeps the object of Python as long as the memory.
        self.of = weakref.ref(storage, gone)
        self.is_of_graph = is_of_graph
        self._all = span(0, self.size)
        self._known: dict[int | None, Bytes] = {}
        self._whole: set[int | None] = set()  # the streams for which these are all bytes
        self._launches = 0
        self._is_written = False
        self._asked: tuple[Any, Any] | None = None  # whether all is written, and when that is known

    def is_at(self, start: int) -> bool:
        """Whether the storage lives, with its memory at this address and of this size."""
        storage = self.of()
        return storage is not None and storage.data_ptr() == start and storage.nbytes() == self.size

    def known(self, stream: int | None) -> Bytes:
        """Returns the bytes of which the host knows that they were written before what comes next in a stream; in
        any one, if it is None.
        """
        return self._all if self.is_known(stream) else self._known.get(stream, self.bits.before)

    def is_known(self, stream: int | None) -> bool:
        """Whether these are all bytes."""
        return self._is_written or stream in self._whole

    def mark(self, written: Bytes, stream: int) -> None:
        """Takes bytes that `can_mark` as written by what has come last in a stream."""
        self.bits.mark(written, stream)
        if not self.bits.are_made:
            self._is_written = self.bits.before.covers(self._all)

    def learn(self, written: Bytes, stream: int) -> None:
        """Knows that bytes are written by what has come last in a stream, and that their bits are set."""
        if self.is_of_graph or not self.bits.are_made:
            return
        before = self.known(stream)
        found = union([before, written]) if before else written
        if len(found.starts) <= MOST_KEPT:
            self._known[stream] = found
            if found.covers(self._all):
                self._whole.add(stream)

    def is_written(self, device: str, stream: int) -> bool:
        """Whether each byte is known to be written; asked at each launch. Bits are only ever set, so it stays so.

        Few launches ask the bits, and on a GPU nobody waits: a later launch reads the answer.
        """
        if self._is_written or not self.bits.are_made or (device != "cpu" and is_capturing()):
            return self._is_written
        if self._asked is not None:
            answer, event = self._asked
            if event.query():
                self._asked = None
                self._is_written = bool(answer)
            return self._is_written
        self._launches += 1
        if self._launches & (self._launches - 1) or self._launches == 1:  # not the 2nd, 4th, 8th one and so on
            return False
        if device == "cpu":
            self._is_written = bool((self.bits.words(stream) == -1).all())
            return self._is_written
        import torch

        with on(device, stream):
            answer = torch.zeros(1, dtype=torch.bool, pin_memory=True)
            answer.copy_((self.bits.words(stream) == -1).all().reshape(1), non_blocking=True)
            event = torch.cuda.Event()
            event.record()
        self._asked = answer, event
        return False
