# SPDX-License-Identifier: Apache-2.0
"""The shadows of tensors: which bytes were written, and which programs of a launch have touched which element.

`passes/sanitizer/Shadow.cpp` reads and writes them in kernels; RATIONALE.md describes their words.
"""

from __future__ import annotations

import threading
from collections.abc import Container
from types import TracebackType
from typing import Any

import numpy as np
from triton_ext.probe import _launches
from triton_ext.probe._arguments import Argument
from triton_ext.probe._slot import Launch

from ._looks import kernel_with_looks
from ._races import looks_of

#: What allocates a tensor without writing to it.
_ALLOCATE = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"}


class _Init:
    """The bytes of a storage that were written. The storage may be freed, and another one may get its memory."""

    def __init__(self, size: int, shadow: Any, storage: Any) -> None:
        from torch.multiprocessing.reductions import StorageWeakRef

        self.size = size
        self.shadow = shadow
        self._storage = StorageWeakRef(storage)
        self._launches = 0
        self._is_written = False
        self._asked: tuple[Any, Any] | None = None  # whether all is written, and when that is known

    def is_at(self, start: int) -> bool:
        """Whether the storage lives, with its memory at this address and of this size."""
        import torch

        storage = torch.UntypedStorage._new_with_weak_ptr(self._storage.cdata)
        return storage is not None and storage.data_ptr() == start and storage.nbytes() == self.size

    def is_written(self, device: str, stream: int) -> bool:
        """Whether each byte is known to be written; asked at each launch. Bits are only ever set, so it stays so.

        Few launches ask the shadow, and on a GPU nobody waits: a later launch reads the answer.
        """
        if self._is_written or (device != "cpu" and _is_capturing()):
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

        with _on(device, stream):
            answer = torch.zeros(1, dtype=torch.bool, pin_memory=True)
            answer.copy_((self.shadow == -1).all().reshape(1), non_blocking=True)
            event = torch.cuda.Event()
            event.record()
        self._asked = answer, event
        return False


class Shadows:
    """The shadows of the tensors of a block; a context manager. Without `uninit` and `race` it does nothing."""

    def __init__(self, names: tuple[str, ...], *, static: bool = True) -> None:
        """Makes shadows for the checks of these names; not `static`, also where nothing can be found."""
        self._static = static
        #: The accesses that have looked at a shadow: the check, the kernel, the line and the column.
        self.looked: set[tuple[str, str, int, int]] = set()
        self._wants_init = "uninit" in names
        self._wants_race = "race" in names
        self._race: dict[tuple[str, int, int], Any] = {}
        self._init: dict[tuple[str, int], _Init] = {}  # by device and start of the storage
        self._mode: Any = None
        self._lock = threading.RLock()

    def __enter__(self) -> Shadows:
        if self._wants_init or self._wants_race:
            _launches.fillers.append(self.fill)
        if self._wants_race:
            _launches.choosers.append(self.choose)
        if self._wants_init:
            from ._writes import follow_writes

            self._mode = follow_writes(self)
            self._mode.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._mode is not None:
            self._mode.__exit__(kind, error, traceback)
            self._mode = None
        if self.fill in _launches.fillers:
            _launches.fillers.remove(self.fill)
        if self.choose in _launches.choosers:
            _launches.choosers.remove(self.choose)

    def choose(self, launch: Launch, call: _launches.Call) -> Any:
        """Returns the kernel that looks for races if programs of the launch may race and its kernel does not look."""
        looks = looks_of(call.kernel)
        if looks.has_races_apart and looks.raced(call.grid, call.values, launch.arguments):
            return kernel_with_looks(call.kernel)
        return None

    def fill(self, launch: Launch, call: _launches.Call) -> Launch:
        """Returns the launch with the addresses of the shadows that it needs.

        Those of races are cleared, in the launch's stream.
        """
        looks = looks_of(call.kernel)
        filled: dict[tuple[int, int], tuple[int, int]] = {}
        raced: Container[tuple[int, int]] = ()
        if self._wants_race:
            raced = looks.raced(call.grid, call.values, launch.arguments) if self._static else looks.storages(launch)
        with self._lock:
            for argument in launch.arguments:
                if argument.is_tensor and argument.storage not in filled:
                    start, end = argument.storage
                    init = self._known(call.device, start)
                    if init is not None and init.is_written(call.device, call.stream):
                        init = None  # its memory stays, because a CUDA graph may have its address
                    filled[argument.storage] = (
                        _address(init.shadow) if init is not None and init.size == end - start else 0,
                        self._cleared(call.device, start, end, call.stream) if argument.storage in raced else 0,
                    )
        arguments = tuple(_with_shadows(one, filled) for one in launch.arguments)
        for one in looks.accesses:
            argument = arguments[one["argument"]]
            if argument.race if one["check"] == "race" else argument.init:
                self.looked.add((one["check"], launch.kernel, one["line"], one["column"]))
        return launch._replace(arguments=arguments)

    def _cleared(self, device: str, start: int, end: int, stream: int) -> int:
        """Returns the address of a shadow without programs: two bytes for each byte of the storage."""
        key = device, start, end
        if device == "cpu":
            if (shadow := self._race.get(key)) is None:
                shadow = self._race[key] = np.zeros((end - start + 4) // 4, np.uint64)
            shadow.fill(0)
            return int(shadow.ctypes.data)
        import torch

        with _on(device, stream):
            if (shadow := self._race.get(key)) is None:
                shadow = self._race[key] = torch.empty((end - start + 4) // 4, dtype=torch.int64, device=device)
            shadow.zero_()
        return int(shadow.data_ptr())

    def allocated(self, tensor: Any) -> None:
        """Takes the memory of `tensor` as never written."""
        import torch

        memory = tensor.untyped_storage()
        if memory.nbytes() == 0 or tensor.device.type == "meta":
            return
        shadow = torch.zeros(memory.nbytes() // 32 + 1, dtype=torch.int32, device=tensor.device)
        shadow[-1:].fill_(-(1 << memory.nbytes() % 32))  # of no byte; an assignment would wait for the GPU
        with self._lock:
            self._init[_device(tensor), memory.data_ptr()] = _Init(memory.nbytes(), shadow, memory)

    def _known(self, device: str, start: int) -> _Init | None:
        """Returns the shadow of the storage that starts here, and forgets it if something else may be here now."""
        if (known := self._init.get((device, start))) is not None and not known.is_at(start):
            del self._init[device, start]
            return None
        return known

    def written(self, tensor: Any) -> None:
        """Takes the elements of `tensor` as written, and what is between them."""
        memory = tensor.untyped_storage()
        with self._lock:
            known = self._known(_device(tensor), memory.data_ptr())
        if known is None or tensor.numel() == 0:
            return
        bits = known.shadow.view(dtype=_uint8())
        size = tensor.element_size()
        last = sum((length - 1) * step for length, step in zip(tensor.shape, tensor.stride(), strict=True))
        first, end = tensor.storage_offset() * size, (tensor.storage_offset() + last + 1) * size
        low, high = -(-first // 8), end // 8
        if low > high:  # all in one byte of the shadow
            bits[high] |= ((1 << (end - first)) - 1) << first % 8
            return
        bits[low:high] = 255
        if first % 8:
            bits[low - 1] |= 255 & -(1 << first % 8)
        if end % 8:
            bits[high] |= (1 << end % 8) - 1


def _is_capturing() -> bool:
    import torch

    return bool(torch.cuda.is_current_stream_capturing())


def _on(device: str, stream: int) -> Any:
    """Returns a context in which torch uses a stream."""
    import torch

    used = torch.cuda.current_stream(device)
    return torch.cuda.stream(used if used.cuda_stream == stream else torch.cuda.ExternalStream(stream, device=device))


def _uint8() -> Any:
    import torch

    return torch.uint8


def _device(tensor: Any) -> str:
    return "cpu" if tensor.device.type == "cpu" else str(tensor.device)


def _address(shadow: Any) -> int:
    return int(shadow.data_ptr())


def _with_shadows(argument: Argument, filled: dict[tuple[int, int], tuple[int, int]]) -> Argument:
    if not argument.is_tensor:
        return argument
    init, race = filled[argument.storage]
    return argument._replace(init=init, race=race)


def allocates(name: str) -> bool:
    """Whether the function of torch with this name returns memory that it has not written."""
    return name in _ALLOCATE
