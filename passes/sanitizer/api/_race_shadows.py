# SPDX-License-Identifier: Apache-2.0
"""The shadows for races of the storages of a block, each as long as its storage."""

from __future__ import annotations

import threading
import weakref
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ._on_device import OnDevice, on
from ._partners import SALTS
from ._race_blocks import RaceBlocks

#: How many storages are remembered of which the next launch takes the next hash.
_MOST = 4096


class _Of(NamedTuple):
    """The shadow of a storage: a ``RaceBlocks``, an array, or what has a tensor on a device.

    Attributes:
        owner: the object of Python that lives as long as the storage, or a part of it; None if nobody knows one.
        shadow: the shadow.
    """

    owner: Any
    shadow: Any


class RaceShadows:
    """Two bytes for each byte of a storage in which a launch may race. A launch clears those that it uses."""

    def __init__(self, lock: Any = None) -> None:
        """Makes none. `lock` is taken when one is dropped."""
        self._of: dict[tuple[str, int, int], _Of] = {}
        self._salts: Counter[tuple[str, int, int]] = Counter()
        self._lock = lock or threading.RLock()

    @property
    def nbytes(self) -> int:
        """How much memory the shadows take; their addresses, of which some may have none."""
        return sum(getattr(one.shadow, "tensor", one.shadow).nbytes for one in tuple(self._of.values()))

    def next(self, call: Any, storage: tuple[int, int], used: int | None) -> tuple[int, Any]:
        """Returns the address of a shadow without programs, for a launch, and what has to live as long as the launch.

        To the address comes a number below `SALTS`, another one for the next launch: programs that have the same bits
        in one launch differ in the other.

        Args:
            call: the launch, as a ``Call``.
            storage: the first byte of the storage, and the byte behind the last one.
            used: how many bytes of the shadow the launch uses, from its start; None if the looks are functions of the
                CPU backend's runtime.
        """
        device, (start, end) = call.device, storage
        key = device, start, end
        if len(self._salts) >= _MOST and key not in self._salts:
            self._salts.clear()
        self._salts[key] += 1
        salt = (self._salts[key] - 1) % SALTS
        shadow = self._shadow(key, _owner(call.values, start), are_calls=used is None)
        if used is None:
            return int(shadow.of_next_launch()) + salt, shadow
        count = -(-used // 8)
        if device == "cpu":
            shadow[:count] = 0
            return int(shadow.ctypes.data) + salt, shadow
        import torch

        with on(device, call.stream), torch._C._DisableTorchDispatch():
            words = shadow.used_in(call.stream)
            words[:count].zero_()
        return int(words.data_ptr()) + salt, shadow

    def _shadow(self, key: tuple[str, int, int], owner: Any, *, are_calls: bool) -> Any:
        known = self._of.get(key)
        if known is not None and (known.owner is None or known.owner() is owner):
            return known.shadow
        device, start, end = key
        if are_calls:
            made: Any = RaceBlocks(end - start)
        elif device == "cpu":
            made = np.zeros((end - start + 4) // 4, np.uint64)
        else:
            made = OnDevice(device, lambda: _words((end - start + 4) // 4, device))

        def gone(of: Any) -> None:
            with self._lock:
                if key in self._of and self._of[key].owner is of:
                    del self._of[key]

        self._of[key] = _Of(None if owner is None else weakref.ref(owner, gone), made)
        return made


def _words(number: int, device: str) -> Any:
    import torch

    return torch.empty(number, dtype=torch.int64, device=device)


def _owner(values: Sequence[Any], start: int) -> Any:
    """Returns what lives as long as the storage that starts here, among the arguments of a launch; None if there is
    nothing.
    """
    for one in _owners(values):
        address = one.data_ptr() if hasattr(one, "data_ptr") else _first(one)
        if address == start:
            return one
    return None


def _owners(values: Sequence[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, tuple):
            yield from _owners(value)
        elif hasattr(value, "block_shape"):  # a tensor descriptor
            yield from _owners((getattr(value, "base", None),))
        elif isinstance(value, np.ndarray):
            array = value
            while isinstance(array.base, np.ndarray):
                array = array.base
            # The memory may be that of a tensor, or of something else that may be gone later than the array.
            yield array.base.untyped_storage() if hasattr(array.base, "untyped_storage") else array
        elif hasattr(value, "untyped_storage"):
            yield value.untyped_storage()
        elif hasattr(getattr(value, "base", None), "untyped_storage"):  # triton.reinterpret
            yield value.base.untyped_storage()


def _first(array: Any) -> int:
    """Returns the address of the first byte of an array's elements."""
    return int(array.ctypes.data) + sum(
        min((size - 1) * step, 0) for size, step in zip(array.shape, array.strides, strict=True)
    )
