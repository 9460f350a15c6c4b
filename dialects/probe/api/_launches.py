# SPDX-License-Identifier: Apache-2.0
"""Gives each launch of a kernel with launch words its slot."""

from __future__ import annotations

import json
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from triton.runtime import driver

from triton_ext.patches.kernel_launches import BEFORE_ARGUMENTS, Launch, launcher_of, wrap_launches

from . import _buffer, _slot
from ._arguments import Parameters, names_of, of_launch
from ._firsts import keeps_first
from ._sites import followed_by, launched_by, raised_by, sites_of
from ._tokens import handed_on

if TYPE_CHECKING:
    from ._session import Session
    from ._slots import Slots


class Call(NamedTuple):
    """One launch of a kernel with probes, as the program asks for it.

    Attributes:
        kernel: the ``CompiledKernel``.
        grid: the number of programs along each axis.
        values: the values of the kernel's parameters, as the launch passes them.
        device: as `_buffer.current_device` returns it.
        stream: the launch's.
    """

    kernel: Any
    grid: tuple[int, int, int]
    values: tuple[Any, ...]
    device: str
    stream: int


@dataclass(frozen=True, slots=True)
class _Plan:
    """What launches of a kernel with equal arguments have in common, as long as nothing around them changes.

    Attributes:
        tokens: of the arguments.
        grid: the number of programs along each axis.
        stream: of the launches.
        device: as `_buffer.current_device` returns it.
        sessions: those of the thread.
        of_process: those of the process.
        driver: the active one.
        described: the launch.
        call: what is needed to look closer at it, as `Slots.end` takes it; None if nobody will.
        is_followed: as `Slots.end` takes it.
        slots: those of the session that keeps the launch's.
    """

    tokens: tuple[Any, ...] | None
    grid: tuple[int, int, int]
    stream: int
    device: str
    sessions: tuple[Session, ...]
    of_process: tuple[Session, ...]
    driver: Any
    described: _slot.Launch
    call: Any
    is_followed: bool
    slots: Slots

    def holds(self, tokens: tuple[Any, ...] | None, grid: tuple[int, int, int], stream: int) -> bool:
        """Whether this is the plan of a launch that this thread makes now."""
        return (
            self.tokens is tokens
            and tokens is not None
            and self.grid == grid
            and self.stream == stream
            and self.sessions is _buffer.sessions.get()
            and self.of_process == (*_buffer.of_process,)
            and self.driver is driver.active
            and (self.device == "cpu" or self._is_here())
        )

    def _is_here(self) -> bool:
        """Whether this thread's GPU is that of the plan, and captures no graph, which would keep the buffer."""
        import torch

        return self.device == _buffer.current_device() and not torch.cuda.is_current_stream_capturing()


class _Plans(dict[int, _Plan]):
    """The plans for launches of a kernel, by the identity of the tokens of the arguments."""

    __hash__ = object.__hash__  # type: ignore[assignment]
    __eq__ = object.__eq__


#: Each gets a launch and what it was made of, and returns the launch with more about its arguments.
fillers: list[Callable[[_slot.Launch, Call], _slot.Launch]] = []

#: Each gets the same, and returns the ``CompiledKernel`` that is launched in the place of this one; None for this one.
choosers: list[Callable[[_slot.Launch, Call], Any]] = []

#: Each gets the same when the launch was made: it has begun on a GPU, or ended on the CPU, where it may have failed.
finishers: list[Callable[[_slot.Launch, Call], None]] = []

#: How many launches of a kernel with different arguments are remembered.
_MOST_KNOWN = 1024

#: The plans of all kernels.
_all_plans: weakref.WeakSet[_Plans] = weakref.WeakSet()

#: The launchers of chosen kernels.
_launchers: weakref.WeakKeyDictionary[Any, Launch] = weakref.WeakKeyDictionary()


def install() -> None:
    """Has launches of kernels with launch words, and of those that are followed, pass through `_with_slot`."""
    wrap_launches(_with_slot)


def forget() -> None:
    """Forgets what is known of launches, which keeps sessions alive: one has ended, or this process is a fork."""
    for plans in tuple(_all_plans):
        plans.clear()


def _remember(known: dict[Any, Any], key: Any, value: Any) -> None:
    if len(known) >= _MOST_KNOWN:
        known.clear()
    known[key] = value


def _with_slot(kernel: Any, launch: Launch) -> Launch | None:
    known = launched_by(kernel)
    if known is None:
        return None
    key, names = known
    names = names_of(kernel.src, names)
    followed = frozenset(followed_by(kernel))
    noted = followed.union(raised_by(kernel))
    has_grid = any(map(keeps_first, sites_of(key)))
    checks = frozenset(str(json.loads(site.note)["check"]) for site in sites_of(key) if site.note) | noted

    parameters = Parameters(kernel.src)
    #: The descriptions of launches, and what is needed to look closer at them, by the grid and tokens of the arguments.
    remembered: dict[Any, tuple[_slot.Launch, tuple[Any, ...]]] = {}
    plans = _Plans()
    _all_plans.add(plans)

    def describe(grid: tuple[int, int, int], arguments: tuple[Any, ...]) -> tuple[_slot.Launch, tuple[Any, ...]]:
        shown = grid if has_grid else (0, 0, 0)
        described = _slot.Launch(kernel.metadata.name, key, of_launch(names, parameters.values(arguments)), shown)
        return described, (kernel, grid, parameters.plain(arguments))

    def planned(session: Session, target: Session, tokens: tuple[Any, ...] | None, args: tuple[Any, ...]) -> _Plan:
        grid, stream = args[:3], args[3]
        found = remembered.get((grid, tokens)) if tokens is not None else None
        if found is None:
            found = describe(grid, args[BEFORE_ARGUMENTS:])
            if tokens is not None:
                _remember(remembered, (grid, tokens), found)
        (described, call), device = found, _buffer.current_device()
        plan = _Plan(
            tokens, grid, stream, device, _buffer.sessions.get(), (*_buffer.of_process,), driver.active, described,
            call if noted & session._looked else None, bool(followed & session._looked),
            session._slots_on(device, target),
        )  # fmt: skip
        if tokens is not None:
            _remember(plans, id(tokens), plan)
        return plan

    def launch_with_slot(*args: Any) -> None:
        grid, stream, arguments = args[:3], args[3], args[BEFORE_ARGUMENTS:]
        tokens = handed_on(kernel, arguments)
        plan = plans.get(id(tokens))
        if plan is None or not plan.holds(tokens, grid, stream):
            session, target = _buffer.checking(checks)
            if session is None or target is None:
                return launch(*args)
            plan = planned(session, target, tokens, args)
        filled, made = plan.described, None
        if choosers or fillers or finishers:
            made = Call(kernel, grid, arguments, plan.device, stream)
            for choose in tuple(choosers):
                if (other := choose(filled, made)) is not None:
                    return _launcher_of(other)(*args[:4], other.function, other.packed_metadata, *args[6:])
            for fill in tuple(fillers):
                filled = fill(filled, made)
        slot, call, thread = plan.slots.begin(filled, stream), None, _slot.thread
        outer, thread.slot = thread.slot, slot
        try:
            launch(*args)
            call = plan.call
        finally:
            thread.slot = outer
            plan.slots.end(slot, call, stream, is_followed=plan.is_followed)
            if made is not None:
                for finish in tuple(finishers):
                    finish(plan.described, made)
        return None

    return launch_with_slot


def _launcher_of(kernel: Any) -> Launch:
    """Returns a function that launches a ``CompiledKernel`` with its slot, and tells nobody else of the launch."""
    if (found := _launchers.get(kernel)) is None:
        launch = launcher_of(kernel)
        found = _launchers[kernel] = _with_slot(kernel, launch) or launch
    return found
