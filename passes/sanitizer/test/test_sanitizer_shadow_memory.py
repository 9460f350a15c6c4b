# SPDX-License-Identifier: Apache-2.0
"""How much memory shadows take: none that nobody needs, and none of tensors that are gone."""

from __future__ import annotations

import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from triton_ext.probe import _launches
from triton_ext.sanitize import _on_device, _race_shadows, _shadows

import triton_ext as tx

pytestmark = [pytest.mark.usefixtures("on_native_backend"), pytest.mark.keeps_kernels]


@triton.jit
def even(x, n, B: tl.constexpr):
    """Which bytes it writes, the host does not know exactly."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + i, 1.0, mask=(i < n) & (i % 2 == 0))


@triton.jit
def doubled(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


@triton.jit
def overlapping(x, n, B: tl.constexpr):
    """Each program also writes the first element of the next one."""
    i = tl.program_id(0) * B // 2 + tl.arange(0, B)
    tl.store(x + i, 1.0, mask=i < n)


def shadows_of(block: Any) -> _shadows.Shadows:
    return block._shadows


def written(x: torch.Tensor) -> torch.Tensor:
    even[(-(-x.numel() // 64),)](x, x.numel(), B=64)
    return x


#: Ways to fill a new tensor that the host understands.
FILLS: dict[str, Callable[[torch.Tensor], object]] = {
    "fill_": lambda x: x.fill_(1),
    "parts": lambda x: [x[i : i + 7].zero_() for i in range(0, x.numel(), 7)],
    "out=": lambda x: torch.add(torch.ones(x.numel()), 1, out=x),
    "copy_": lambda x: x.copy_(torch.ones(x.numel())),
    "a launch": lambda x: doubled[(-(-x.numel() // 64),)](torch.ones(x.numel()), x, x.numel(), B=64),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FILLS)
def test_tensors_that_are_filled_have_no_shadow(name: str) -> None:
    block = tx.sanitize("uninit")
    with block as report:
        kept = []
        for i in range(100):
            x = torch.empty(100 + 10 * i)
            FILLS[name](x)
            out = torch.empty(x.numel())
            doubled[(-(-x.numel() // 64),)](x, out, x.numel(), B=64)
            kept += [x, out]
            assert shadows_of(block).nbytes == 0
        assert len(shadows_of(block)._init) >= 200
        assert report.findings == []


@pytest.mark.slow
def test_a_launch_with_a_shadow_makes_none_for_what_the_host_understands() -> None:
    block = tx.sanitize("uninit")
    with block as report:
        x, out = written(torch.empty(1000)), torch.empty(4000)
        before = shadows_of(block).nbytes
        doubled[(16,)](x, out, 1000, B=64)
        assert [(one.argument, one.lanes) for one in report.findings] == [("x", 500)]
        assert shadows_of(block).nbytes == before
        doubled[(16,)](out, x, 1000, B=64)  # it has written these
        doubled[(16,)](out[1:], x, 1000, B=64)
        assert [(one.argument, one.lanes) for one in report.findings] == [("x", 501)]


@pytest.mark.slow
def test_shadows_of_uninit_are_as_long_as_their_tensors() -> None:
    block = tx.sanitize("uninit")
    with block:
        alive: list[torch.Tensor] = []
        for i in range(200):
            alive = [*alive, written(torch.empty(100 + i * 3))][-5:]
            storages = [one.untyped_storage().nbytes() for one in alive]
            assert shadows_of(block).nbytes == sum(4 * (size // 32 + 1) for size in storages)
            assert len(shadows_of(block)._init) == len(alive)
        view = alive[0][10:]
        alive.clear()
        assert len(shadows_of(block)._init) == 1
        del view
        assert shadows_of(block).nbytes == 0
        assert not shadows_of(block)._init


@pytest.mark.slow
def test_no_launch_keeps_its_tensors() -> None:
    block = tx.sanitize("uninit", static=False)
    with block:
        x = torch.empty(1000)
        doubled[(16,)](torch.ones(1000), x, 1000, B=64)
        assert shadows_of(block).nbytes > 0
        del x
        assert shadows_of(block).nbytes == 0


@pytest.mark.slow
def test_a_tensor_that_grows() -> None:
    block = tx.sanitize("uninit")
    with block as report:
        x = written(torch.empty(64))
        x.resize_(1000)
        doubled[(1,)](x, torch.zeros(64), 64, B=64)  # torch has moved it, and it counts as written
        assert report.findings == []


@pytest.mark.slow
@pytest.mark.usefixtures("ways_to_look")
@pytest.mark.parametrize("kind", ["torch", "numpy", "numpy of torch"])
def test_shadows_of_races_are_as_long_as_their_tensors(kind: str) -> None:
    makes: dict[str, Callable[[int], Any]] = {
        "torch": lambda size: torch.zeros(size)[5:],
        "numpy": lambda size: np.zeros(size, np.float32)[5:],
        "numpy of torch": lambda size: torch.zeros(size)[3:].numpy()[2:],
    }
    block = tx.sanitize("race")
    with block as report:
        alive: list[Any] = []
        for i in range(100):
            x = makes[kind](1000 + 100 * i)
            for _ in range(2):
                overlapping[(4,)](x, 256, B=64)
            alive = [*alive, x][-3:]
            del x
            size = sum(4 * (len(one) + 5) for one in alive)
            assert 2 * size <= shadows_of(block).nbytes <= (2 + 1 / 32) * size + len(alive) * 1400
        alive.clear()
        assert shadows_of(block).nbytes == 0
        assert [one.check for one in report.findings] == ["race"]


@pytest.mark.slow
def test_memory_that_nobody_owns_has_its_shadow_until_the_end() -> None:
    x = torch.zeros(1000)
    races = _race_shadows.RaceShadows()
    call = types.SimpleNamespace(device="cpu", stream=0, values=(3, (x[3:], None)))
    start = x.data_ptr()
    first, _ = races.next(call, (start, start + 4000), 8000)
    assert races.next(call, (start, start + 4000), 8000)[0] == first + 1
    call.values = ()
    other, _ = races.next(call, (start + 8, start + 4000), 7984)
    size = races.nbytes
    del x, call
    assert 0 < races.nbytes < size
    assert other


@triton.jit
def waits_inside(x, BLOCK: tl.constexpr):
    tl.store(x + tl.program_id(0) * BLOCK // 2 + tl.arange(0, BLOCK), 1.0)


@pytest.mark.slow
def test_a_shadow_lives_as_long_as_its_launch() -> None:
    """Two tensors have the same memory. The shadow of the one takes the other's place while a launch uses that."""
    memory = np.zeros(4096, np.float32)
    block = tx.sanitize("race")
    with block:
        shadows = shadows_of(block)
        waits_inside[(4,)](torch.from_numpy(memory), BLOCK=64)
        fill, alive = shadows.fill, []

        def filled(launch: Any, call: Any) -> Any:
            launch = fill(launch, call)
            (used,) = shadows._chosen.raced
            gone = weakref.ref(used)
            del used
            other = torch.from_numpy(memory)
            call_of_other = types.SimpleNamespace(device="cpu", stream=0, values=(other,))
            shadows._race.next(call_of_other, launch.arguments[0].storage, None)
            alive.append(gone() is not None)
            alive.append(gone)
            return launch

        _launches.fillers[_launches.fillers.index(shadows.fill)] = filled
        waits_inside[(4,)](torch.from_numpy(memory), BLOCK=64)
        _launches.fillers.remove(filled)
        was_alive, gone = alive
        assert was_alive
        assert gone() is None, "behind the launch nothing needs it"


class Event:
    def __init__(self, log: list[Any]) -> None:
        self._log = log

    def record(self) -> None:
        self._log.append("record")

    def synchronize(self) -> None:
        self._log.append("synchronize")


class Stream:
    def __init__(self, log: list[Any], number: int) -> None:
        self._log, self.number = log, number

    def wait_event(self, _: Event) -> None:
        self._log.append(("wait", self.number))


class Memory:
    def __init__(self, log: list[Any]) -> None:
        self._log = log

    def record_stream(self, stream: Stream) -> None:
        self._log.append(("used in", stream.number))


def test_streams_of_a_shadow_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each stream waits until it is made, once, and is noted; for a graph the host waits, and the shadow is kept."""
    log: list[Any] = []
    capturing = [False]
    monkeypatch.setattr(_on_device, "_captured", kept := [])
    monkeypatch.setattr(_on_device, "_sides", {"cuda:0": Stream(log, 99)})
    monkeypatch.setattr(_on_device, "is_capturing", lambda: capturing[0])
    monkeypatch.setattr(_on_device, "stream_of", lambda _, number: Stream(log, number))
    monkeypatch.setattr(_on_device, "relaxed", lambda: log.append("relaxed") or torch.no_grad())
    monkeypatch.setattr(torch.cuda, "stream", lambda one: log.append(("in", one.number)) or torch.no_grad())
    monkeypatch.setattr(torch.cuda, "Event", lambda: Event(log))

    def make() -> Memory:
        log.append("make")
        return Memory(log)

    made = _on_device.OnDevice("cuda:0", make)
    assert log == ["relaxed", ("in", 99), "make", "record"]
    log.clear()
    for stream in (7, 7, 8, 7):
        assert made.used_in(stream) is made.tensor
    assert log == [("wait", 7), ("used in", 7), ("wait", 8), ("used in", 8)]
    log.clear()
    capturing[0] = True
    for stream in (7, 9):
        assert made.used_in(stream) is made.tensor
    assert log == ["relaxed", "synchronize"]
    assert kept == [made]
    log.clear()
    of_graph = _on_device.OnDevice("cuda:0", make, in_graph=True)
    assert of_graph.used_in(7) is of_graph.tensor
    assert log == ["make"]
    assert kept == [made]
