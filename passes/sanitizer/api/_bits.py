# SPDX-License-Identifier: Apache-2.0
"""A bit for each byte of a storage, which says whether it was written: kernels read and set them.

They are made when a kernel needs them. Until then the host keeps the bytes that were written.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._bytes import MOST_KEPT, NONE, Bytes, span, union
from ._on_device import OnDevice, is_capturing, on

#: The most intervals of which each gets operations of its own.
_FEW = 4


class Bits:
    """The bits of a storage.

    What was written before they are made counts as written in each stream: when, nobody knows.

    Attributes:
        before: the bytes that were written before the bits were made.
    """

    def __init__(self, size: int, device: str, *, is_of_graph: bool = False) -> None:
        """Takes no byte as written.

        Args:
            size: of the storage, in bytes.
            device: of the storage: ``cpu``, ``cuda:0``.
            is_of_graph: whether the storage is memory of a CUDA graph, in which each replay begins anew.
        """
        self.before: Bytes = NONE
        self._size, self._device, self._is_of_graph = size, device, is_of_graph
        self._all = span(0, size)
        self._memory: Any = None  # a tensor of int32, or what has it on a device

    @property
    def are_made(self) -> bool:
        """Whether the bits take memory."""
        return self._memory is not None

    @property
    def nbytes(self) -> int:
        """How many bytes of memory the bits take."""
        return 0 if self._memory is None else int(getattr(self._memory, "tensor", self._memory).nbytes)

    def words(self, stream: int) -> Any:
        """Returns the bits as a tensor of int32, for what comes next in a stream. Makes them."""
        if self._memory is None:
            self._make(stream)
        return self._memory if self._device == "cpu" else self._memory.used_in(stream)

    def _make(self, stream: int) -> None:
        def make() -> Any:
            import torch

            with torch._C._DisableTorchDispatch():
                words = torch.zeros(self._size // 32 + 1, dtype=torch.int32, device=self._device)
                words[-1:].fill_(-(1 << self._size % 32))  # of no byte; an assignment would wait for the GPU
                if not self.before or can_mark(self.before):
                    _mark(words, self.before, self._all)
                else:
                    bits = np.zeros(4 * len(words), np.uint8)
                    for start, end in zip(self.before.starts.tolist(), self.before.ends.tolist(), strict=True):
                        _set(bits, start, end)
                    words.bitwise_or_(torch.from_numpy(bits.view(np.int32)).to(self._device))
            return words

        if self._device == "cpu":
            self._memory = make()
        else:
            with on(self._device, stream):
                self._memory = OnDevice(self._device, make, in_graph=self._is_of_graph and is_capturing())

    def mark(self, written: Bytes, stream: int) -> None:
        """Takes bytes as written by what has come last in a stream."""
        import torch

        if self._memory is None and self._can_wait():
            found = written if not self.before else union([self.before, written])
            if len(found.starts) <= MOST_KEPT:
                self.before = found
                return
        with on(self._device, stream), torch._C._DisableTorchDispatch():
            _mark(self.words(stream), written, self._all)

    def _can_wait(self) -> bool:
        """Whether what is written now can be told to the bits when they are made.

        What a graph captures writes in its replays only, unless the memory is that of the graph.
        """
        return self._device == "cpu" or self._is_of_graph or not is_capturing()


def _mark(words: Any, written: Bytes, all_: Bytes) -> None:
    """Sets the bits of bytes, in torch's current stream."""
    if not written:
        return
    if written.covers(all_):
        words.fill_(-1)
        return
    bits = words.view(dtype=_uint8())
    if len(written.starts) > _FEW and (rows := _rows(written)) is not None:
        first, step, length = (one // 8 for one in rows)
        bits.as_strided((len(written.starts), length), (step, 1), first).fill_(255)
        return
    for start, end in zip(written.starts.tolist(), written.ends.tolist(), strict=True):
        _set(bits, start, end)


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


def _uint8() -> Any:
    import torch

    return torch.uint8
