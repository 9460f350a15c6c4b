# SPDX-License-Identifier: Apache-2.0
"""Which bytes of a storage were written: bits beside it, which kernels read and set, and what the host knows itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._bytes import MOST_KEPT, NONE, Bytes, span, union

#: The most intervals of which each gets operations of its own.
_FEW = 4


class Init:
    """The bytes of a storage that were written. The storage may be freed, and another one may get its memory.

    The host knows bytes by the stream that has written them, because another stream may be ahead of it.
    """

    def __init__(self, size: int, shadow: Any, storage: Any, *, is_of_graph: bool = False) -> None:
        """Makes the bits of a storage.

        Args:
            size: the size of the storage, in bytes.
            shadow: a bit for each byte, as a tensor of int32.
            storage: the storage.
            is_of_graph: whether each replay of a CUDA graph clears the bits, so that the host knows none.
        """
        from torch.multiprocessing.reductions import StorageWeakRef

        self.size = size
        self.shadow = shadow
        self._bits = shadow.view(dtype=_uint8())
        self._all = span(0, size)
        self._storage = StorageWeakRef(storage)
        self._is_of_graph = is_of_graph
        self._known: dict[int | None, Bytes] = {}
        self._whole: set[int | None] = set()  # the streams for which these are all bytes
        self._launches = 0
        self._is_written = False
        self._asked: tuple[Any, Any] | None = None  # whether all is written, and when that is known

    def is_at(self, start: int) -> bool:
        """Whether the storage lives, with its memory at this address and of this size."""
        import torch

        storage = torch.UntypedStorage._new_with_weak_ptr(self._storage.cdata)
        return storage is not None and storage.data_ptr() == start and storage.nbytes() == self.size

    def known(self, stream: int | None) -> Bytes:
        """Returns the bytes of which the host knows that they were written before what comes next in a stream; in
        any one, if it is None.
        """
        return self._all if self.is_known(stream) else self._known.get(stream, NONE)

    def is_known(self, stream: int | None) -> bool:
        """Whether these are all bytes."""
        return self._is_written or stream in self._whole

    def learn(self, written: Bytes, stream: int) -> None:
        """Takes bytes as written by what has come last in a stream, which has also set their bits."""
        before = self.known(stream)
        found = union([before, written]) if before else written
        if not self._is_of_graph and len(found.starts) <= MOST_KEPT:
            self._known[stream] = found
            if found.covers(self._all):
                self._whole.add(stream)

    def mark(self, written: Bytes) -> None:
        """Sets the bits of bytes that `can_mark`, in torch's current stream."""
        import torch

        with torch._C._DisableTorchDispatch():  # the block follows what torch writes, which costs time
            if written.covers(self._all):
                self.shadow.fill_(-1)
            elif len(written.starts) <= _FEW:
                for start, end in zip(written.starts.tolist(), written.ends.tolist(), strict=True):
                    _set(self._bits, start, end)
            else:
                first, step, length = (one // 8 for one in _rows(written) or ())
                self._bits.as_strided((len(written.starts), length), (step, 1), first).fill_(255)

    def is_written(self, device: str, stream: int) -> bool:
        """Whether each byte is known to be written; asked at each launch. Bits are only ever set, so it stays so.

        Few launches ask the shadow, and on a GPU nobody waits: a later launch reads the answer.
        """
        if self._is_written or (device != "cpu" and is_capturing()):
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
            self._is_written = bool((self.shadow == -1).all())
            return self._is_written
        import torch

        with on(device, stream):
            answer = torch.zeros(1, dtype=torch.bool, pin_memory=True)
            answer.copy_((self.shadow == -1).all().reshape(1), non_blocking=True)
            event = torch.cuda.Event()
            event.record()
        self._asked = answer, event
        return False


def can_mark(written: Bytes) -> bool:
    """Whether the bits of bytes can be set by a few operations: of few intervals, or of rows at equal distances."""
    return len(written.starts) <= _FEW or _rows(written) is not None


def _rows(written: Bytes) -> tuple[int, int, int] | None:
    """Returns the start, distance and length of rows whose bits are whole bytes; None if the intervals are others."""
    starts, lengths = written.starts, written.ends - written.starts
    first, step, length = int(starts[0]), int(starts[1] - starts[0]), int(lengths[0])
    are_alike = np.all(np.diff(starts) == step) and np.all(lengths == length)
    return (first, step, length) if are_alike and not (first | step | length) % 8 else None


def _set(bits: Any, first: int, end: int) -> None:
    """Sets the bits of the bytes from `first` to before `end`, of which there is one or more."""
    low, high = -(-first // 8), end // 8
    if low > high:  # all in one byte of the shadow
        bits[high] |= ((1 << (end - first)) - 1) << first % 8
        return
    bits[low:high] = 255
    if first % 8:
        bits[low - 1] |= 255 & -(1 << first % 8)
    if end % 8:
        bits[high] |= (1 << end % 8) - 1


def is_capturing() -> bool:
    """Whether torch's current stream is captured in a CUDA graph."""
    import torch

    return bool(torch.cuda.is_current_stream_capturing())


def on(device: str, stream: int) -> Any:
    """Returns a context in which torch uses a stream."""
    import torch

    used = torch.cuda.current_stream(device)
    return torch.cuda.stream(used if used.cuda_stream == stream else torch.cuda.ExternalStream(stream, device=device))


def _uint8() -> Any:
    import torch

    return torch.uint8
