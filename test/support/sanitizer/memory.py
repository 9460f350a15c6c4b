# SPDX-License-Identifier: Apache-2.0
"""The memory of the oracle: every argument has a window of addresses of its own, 16 TiB wide, with its storage in the
middle. So an address says which argument it came from, however far outside it is, and nothing real is ever touched.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from .cases import Tensors

_BITS = 44
_MIDDLE = 1 << (_BITS - 1)


@dataclass
class Storage:
    """Bytes that tensors share.

    Attributes:
        bytes: the contents; None if the tensor has no memory, it reads as zeros then.
        size: in bytes.
        written: for each byte, whether something has written to it.
    """

    bytes: np.ndarray | None
    size: int
    written: np.ndarray | None


@dataclass
class Window:
    """The addresses of an argument.

    Attributes:
        argument: its name. A kernel may get addresses of a tensor as integers, too: they have another window, which has
            the name of an argument that shares the storage, None if there is none.
        is_integer: whether a kernel gets these addresses as integers. Such an access is right in the whole storage.
        first: the first byte of the view in the storage.
        viewed: for each byte of the storage, whether it belongs to an element of the view; None if all do.
    """

    argument: str | None
    is_integer: bool
    storage: Storage
    first: int
    viewed: np.ndarray | None


class Memory(Tensors):
    """Makes tensors for a launch in the oracle, and holds the windows."""

    def __init__(self, bug: bool = True) -> None:
        super().__init__("cpu", bug)
        self.windows: list[Window] = []
        self.storages: dict[int, Storage] = {}
        self.written: dict[int, int] = {}
        self.keep: list[torch.Tensor] = []  # so that no storage's address is used twice

    def unwritten(self, *shape: int, written: int = 0, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """As for Tensors; the oracle knows which bytes were written."""
        tensor = super().unwritten(*shape, written=written, dtype=dtype)
        self.written[tensor.untyped_storage().data_ptr()] = written * dtype.itemsize
        return tensor

    def address(self, tensor: torch.Tensor) -> int:
        """Returns an address in a new window, as an integer."""
        return self.add(tensor, None)

    def add(self, tensor: torch.Tensor, argument: str | None) -> int:
        """Returns the address of the tensor's first element, in a new window."""
        self.keep.append(tensor)
        storage = self._storage(tensor)
        size = tensor.element_size()
        first = tensor.storage_offset() * size if tensor.numel() else 0
        viewed = None
        if tensor.numel() * size != storage.size:
            viewed = np.zeros(storage.size, bool)
            elements = np.zeros(tensor.shape, np.int64)
            for axis, (length, stride) in enumerate(zip(tensor.shape, tensor.stride(), strict=True)):
                ends = [-1 if one == axis else 1 for one in range(tensor.ndim)]
                elements += (np.arange(length) * stride).reshape(ends)
            viewed[(first + elements.reshape(-1, 1) * size + np.arange(size)).reshape(-1)] = True
        for window in self.windows:
            if window.is_integer and window.storage is storage:
                window.argument = window.argument or argument
        self.windows.append(Window(argument, argument is None, storage, first, viewed))
        return (len(self.windows) << _BITS) + _MIDDLE + first

    def _storage(self, tensor: torch.Tensor) -> Storage:
        if not tensor.numel():  # PyTorch passes the address 0, whatever the storage is
            return Storage(np.zeros(0, np.uint8), 0, np.zeros(0, bool))
        raw = tensor.untyped_storage()
        key = raw.data_ptr() or id(tensor)
        if key not in self.storages:
            contents = written = None
            if tensor.device.type != "meta":
                contents = torch.empty(0, dtype=torch.uint8).set_(raw).numpy()
                written = np.ones(raw.nbytes(), bool)
                written[self.written.get(key, raw.nbytes()) :] = False
            self.storages[key] = Storage(contents, raw.nbytes(), written)
        return self.storages[key]

    def locate(self, addresses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns for each address its window's number, -1 if there is none, and the byte in the window's storage."""
        number = (addresses >> np.uint64(_BITS)).astype(np.int64) - 1
        number[(number < 0) | (number >= len(self.windows))] = -1
        return number, (addresses & np.uint64((1 << _BITS) - 1)).astype(np.int64) - _MIDDLE

    def read(self, addresses: np.ndarray, where: np.ndarray, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
        """Returns the elements at those addresses of which `where` is true, and which of them have a byte that nothing
        has written.
        """
        size = np.dtype(dtype).itemsize
        found = np.zeros((addresses.size, size), np.uint8)
        unwritten = np.zeros(addresses.size, bool)
        for lanes, storage, at in self._pieces(addresses, where, size):
            if storage.bytes is not None and storage.written is not None:
                found[lanes] = storage.bytes[at]
                unwritten[lanes] = ~storage.written[at].all(axis=1)
        return found.view(dtype).reshape(addresses.shape), unwritten.reshape(addresses.shape)

    def write(self, addresses: np.ndarray, values: np.ndarray, where: np.ndarray) -> None:
        """Stores elements."""
        values = np.ascontiguousarray(np.broadcast_to(values, addresses.shape))
        raw = values.reshape(-1, 1).view(np.uint8)
        for lanes, storage, at in self._pieces(addresses, where, values.itemsize):
            if storage.bytes is not None and storage.written is not None:
                storage.bytes[at] = raw[lanes]
                storage.written[at] = True

    def _pieces(self, addresses: np.ndarray, where: np.ndarray, size: int) -> Any:
        number, offset = self.locate(addresses.reshape(-1))
        chosen = where.reshape(-1)
        for one in np.unique(number[chosen]):
            lanes = np.flatnonzero(chosen & (number == one))
            yield lanes, self.windows[one].storage, offset[lanes, None] + np.arange(size)
