# SPDX-License-Identifier: Apache-2.0
"""The shadows of tensors: which bytes were written, and which programs of a launch have touched which element.

`passes/sanitizer/Shadow.cpp` reads and writes them in kernels; RATIONALE.md describes their words.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

from triton_ext.probe import _launches
from triton_ext.probe._arguments import ANYWHERE, Argument
from triton_ext.probe._slot import Launch

from ._bits import can_mark
from ._bytes import span
from ._init import Init
from ._looks import has_looks, kernel_with_looks, loaded_with_looks
from ._on_device import is_capturing
from ._partners import Raced
from ._race_shadows import RaceShadows
from ._races import looks_of
from ._touched import Touched, touches_of

#: How many launches are remembered of those that had a shadow for races.
_MOST_RACED = 4096

#: What allocates a tensor without writing to it.
_ALLOCATE = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"}


class Shadows:
    """The shadows of the tensors of a block; a context manager. Without `uninit` and `race` it does nothing."""

    def __init__(self, names: tuple[str, ...], *, static: bool = True) -> None:
        """Makes shadows for the checks of these names; not `static`, also where each program has bytes of its own."""
        self._static = static
        #: The accesses that have looked at a shadow: the check, the kernel, the line and the column.
        self.looked: set[tuple[str, str, int, int]] = set()
        #: Those without a shadow, because the launch has elements of several sizes in the storage, or not aligned ones.
        self.mixed: set[tuple[str, str, int, int]] = set()
        self._wants_init = "uninit" in names
        self._wants_race = "race" in names
        #: The launches that had a shadow for races, and what finds the pairs of programs in them.
        self.raced: dict[Launch, Raced] = {}
        self._init: dict[tuple[str, int], Init] = {}  # by device and start of the storage
        self._end: Callable[[], None] | None = None  # of what follows writes
        self._chosen = threading.local()  # of the launch that a thread makes: what it touches, marks and uses
        self._lock = threading.RLock()
        self._race = RaceShadows(self._lock)

    def __enter__(self) -> Shadows:
        if self._wants_init or self._wants_race:
            _launches.fillers.append(self.fill)
            _launches.choosers.append(self.choose)
            _launches.finishers.append(self.finish)
        if self._wants_init:
            from ._writes import follow_writes

            self._end = follow_writes(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._end is not None:
            self._end()
            self._end = None
        for called, own in (
            (_launches.fillers, self.fill), (_launches.choosers, self.choose), (_launches.finishers, self.finish),
        ):  # fmt: skip
            if own in called:
                called.remove(own)  # type: ignore[attr-defined]

    def choose(self, launch: Launch, call: _launches.Call) -> Any:
        """Returns the kernel with looks if the launch needs them and its kernel does not have them.

        It does if programs may race, or if the host does not know what looks for `uninit` would find and mark.
        """
        looks = looks_of(call.kernel)
        is_raced = self._wants_race and "race" in looks.apart and looks.raced(call.grid, call.values, launch.arguments)
        if is_raced or (self._wants_init and "uninit" in looks.apart and not self._is_known(launch, call)):
            return (loaded_with_looks if _stream(call) is None else kernel_with_looks)(call.kernel)
        return None

    def _is_known(self, launch: Launch, call: _launches.Call) -> bool:
        """Whether a launch reads only what was written, and the host knows what it writes."""
        found = list(self._touched(launch, call))
        self._chosen.touched = launch, found
        return all(self._understands(init, touched, _stream(call)) for init, touched in found)

    def _understands(self, init: Init, touched: Touched, stream: int | None) -> bool:
        """Whether a launch reads only bytes of a storage that were written, and the host knows which ones it writes."""
        known = init.known(stream)
        if not known.covers(touched.read):
            return False
        if known.covers(touched.may_be_written):
            return True
        # What a graph captures writes in each replay, and not now. Only its own memory begins anew in each.
        return touched.written is not None and can_mark(touched.written) and (stream is not None or init.is_of_graph)

    def finish(self, launch: Launch, call: _launches.Call) -> None:
        """Learns what a launch has written, and sets its bits if the kernel has not."""
        self._chosen.raced = ()
        if not self._wants_init:
            return
        is_apart = "uninit" in looks_of(call.kernel).apart
        if not (is_apart or has_looks(call.kernel)):
            return
        stream = _stream(call)
        known, found = getattr(self._chosen, "touched", (None, ()))
        self._chosen.touched = None, ()
        unmarked = getattr(self._chosen, "unmarked", (None, ()))
        self._chosen.unmarked = None, ()
        for init, touched in found if known is launch else self._touched(launch, call):
            written = touched.written
            if written is None or init.known(stream).covers(written):
                continue
            with self._lock:
                if is_apart or (unmarked[0] is call and init in unmarked[1]):
                    init.mark(written, call.stream)
                if stream is not None:
                    init.learn(written, stream)

    def _touched(self, launch: Launch, call: _launches.Call) -> Iterator[tuple[Init, Touched]]:
        """Yields what of the launch's memory is not known to be written whole, and what the launch touches of it."""
        touches = touches_of(call.kernel)
        for (start, end), numbers in touches.storages(launch.arguments).items():
            with self._lock:
                init = self._known(call.device, start)
            if init is not None and init.size == end - start and not init.is_known(_stream(call)):
                yield init, touches.of(call.grid, call.values, launch.arguments, numbers)

    def fill(self, launch: Launch, call: _launches.Call) -> Launch:
        """Returns the launch with the addresses of the shadows that it needs.

        Those of races are cleared, in the launch's stream.
        """
        looks = looks_of(call.kernel)
        if not (here := [one for one in looks.accesses if one["check"] not in looks.apart]):
            return launch
        init = self._to_look_at(launch, call, here)
        filled: dict[tuple[int, int], tuple[int, int]] = {}
        raced: set[tuple[int, int]] = set()
        mixed: set[tuple[int, int]] = set()
        used: list[Any] = []
        if self._wants_race and "race" not in looks.apart:
            arguments = launch.arguments
            raced = {*(looks.raced(call.grid, call.values, arguments) if self._static else looks.contested(arguments))}
            if raced:
                mixed = raced & {*looks.mixed(launch), ANYWHERE}
                raced -= mixed
        with self._lock:
            for argument in launch.arguments:
                if argument.is_tensor and (storage := argument.storage) not in filled:
                    race = 0
                    if storage in raced:
                        size = looks.shadow_bytes(launch.arguments, storage)
                        race, shadow = self._race.next(call, storage, size)
                        used.append(shadow)
                    filled[storage] = init.get(storage, 0), race
        # The launch has addresses. Another thread may replace the shadow of a storage meanwhile.
        self._chosen.raced = used
        arguments = tuple(_with_shadows(one, filled) for one in launch.arguments)
        launch = launch._replace(arguments=arguments)
        if any(race for _, race in filled.values()):
            launch = launch._replace(grid=(*call.grid, 1, 1)[:3])
            if len(self.raced) >= _MOST_RACED:
                self.raced.clear()
            self.raced[launch] = looks.of_launch(call.grid, call.values)
        for one in here:
            argument = arguments[one["argument"]]
            if argument.race if one["check"] == "race" else argument.init:
                self.looked.add((one["check"], launch.kernel, one["line"], one["column"]))
            if one["check"] == "race" and argument.is_tensor and argument.storage in mixed:
                self.mixed.add((one["check"], launch.kernel, one["line"], one["column"]))
        return launch

    def _to_look_at(self, launch: Launch, call: _launches.Call, looks: list[dict[str, Any]]) -> dict[Any, int]:
        """Returns the addresses of the bits at which looks for `uninit` have to look, by the storage."""
        storages = {launch.arguments[one["argument"]].storage for one in looks if one["check"] == "uninit"}
        storages -= {ANYWHERE}
        if not storages or not self._init:
            return {}
        unmarked: list[Init] = []
        if has_looks(call.kernel):  # there is another one without, so the host may decide
            stream = _stream(call)
            unmarked = [init for init, seen in self._touched(launch, call) if self._understands(init, seen, stream)]
        self._chosen.unmarked = (call, unmarked) if unmarked else (None, ())  # a launch keeps its tensors
        found = {}
        with self._lock:
            for start, end in storages:
                init = self._known(call.device, start)
                if init is None or init.size != end - start or init in unmarked:
                    continue
                if not (init.is_known(_stream(call)) or init.is_written(call.device, call.stream)):
                    found[start, end] = int(init.bits.words(call.stream).data_ptr())
        return found

    def allocated(self, tensor: Any) -> None:
        """Takes the memory of `tensor` as never written."""
        memory = tensor.untyped_storage()
        if memory.nbytes() == 0 or tensor.device.type == "meta":
            return
        key = _device(tensor), memory.data_ptr()

        def gone(of: Any) -> None:
            with self._lock:
                if key in self._init and self._init[key].of is of:
                    del self._init[key]

        with self._lock:
            self._init[key] = Init(memory, key[0], gone, is_of_graph=tensor.is_cuda and is_capturing())

    def _known(self, device: str, start: int) -> Init | None:
        """Returns the shadow of the storage that starts here, and forgets it if something else may be here now."""
        if (known := self._init.get((device, start))) is not None and not known.is_at(start):
            del self._init[device, start]
            return None
        return known

    def written(self, tensor: Any) -> None:
        """Takes the elements of `tensor` as written, and what is between them."""
        import torch

        memory = tensor.untyped_storage()
        with self._lock:
            known = self._known(_device(tensor), memory.data_ptr())
        if known is None or tensor.numel() == 0:
            return
        size = tensor.element_size()
        last = sum((length - 1) * step for length, step in zip(tensor.shape, tensor.stride(), strict=True))
        written = span(tensor.storage_offset() * size, (tensor.storage_offset() + last + 1) * size)
        with self._lock:
            stream = torch.cuda.current_stream(tensor.device).cuda_stream if tensor.is_cuda else 0
            known.mark(written, stream)
            if not (tensor.is_cuda and is_capturing()):
                known.learn(written, stream)

    @property
    def nbytes(self) -> int:
        """How much memory the shadows take."""
        with self._lock:
            return self._race.nbytes + sum(one.bits.nbytes for one in tuple(self._init.values()))


def _stream(call: _launches.Call) -> int | None:
    """Returns the stream of a launch; None if it is captured in a CUDA graph, which may be replayed in any one."""
    return None if call.device != "cpu" and is_capturing() else call.stream


def _device(tensor: Any) -> str:
    return "cpu" if tensor.device.type == "cpu" else str(tensor.device)


def _with_shadows(argument: Argument, filled: dict[tuple[int, int], tuple[int, int]]) -> Argument:
    if not argument.is_tensor:
        return argument
    init, race = filled[argument.storage]
    return argument._replace(init=init, race=race)


def allocates(name: str) -> bool:
    """Whether the function of torch with this name returns memory that it has not written."""
    return name in _ALLOCATE
