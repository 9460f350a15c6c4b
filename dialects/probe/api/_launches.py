# SPDX-License-Identifier: Apache-2.0
"""Gives each launch of a kernel with launch words its slot."""

from __future__ import annotations

import json
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

from triton_ext.patches.kernel_launches import BEFORE_ARGUMENTS, Launch, launcher_of, wrap_launches

from . import _buffer, _slot
from ._arguments import Parameters, names_of, of_launch
from ._firsts import keeps_first
from ._sites import followed_by, launched_by, raised_by, sites_of
from ._tokens import handed_on


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


#: Each gets a launch and what it was made of, and returns the launch with more about its arguments.
fillers: list[Callable[[_slot.Launch, Call], _slot.Launch]] = []

#: Each gets the same, and returns the ``CompiledKernel`` that is launched in the place of this one; None for this one.
choosers: list[Callable[[_slot.Launch, Call], Any]] = []

#: Each gets the same when the launch was made: it has begun on a GPU, or ended on the CPU.
finishers: list[Callable[[_slot.Launch, Call], None]] = []

#: How many launches of a kernel with different arguments are remembered.
_MOST_KNOWN = 1024

#: The launchers of chosen kernels.
_launchers: weakref.WeakKeyDictionary[Any, Launch] = weakref.WeakKeyDictionary()


def install() -> None:
    """Has launches of kernels with launch words, and of those that are followed, pass through `_with_slot`."""
    wrap_launches(_with_slot)


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

    def describe(grid: tuple[int, int, int], arguments: tuple[Any, ...]) -> tuple[_slot.Launch, tuple[Any, ...]]:
        described = _slot.Launch(kernel.metadata.name, key, of_launch(names, parameters.values(arguments)))
        if has_grid:
            described = described._replace(grid=grid)
        return described, (kernel, grid, parameters.plain(arguments))

    def launch_with_slot(*args: Any) -> None:
        session, target = _buffer.checking(checks)
        if session is None or target is None:
            return launch(*args)
        grid, arguments = args[:3], args[BEFORE_ARGUMENTS:]
        tokens = handed_on(kernel, arguments)
        found = remembered.get((grid, tokens)) if tokens is not None else None
        if found is None:
            found = describe(grid, arguments)
            if tokens is not None:
                if len(remembered) >= _MOST_KNOWN:
                    remembered.clear()
                remembered[grid, tokens] = found
        described, call = found
        device = _buffer.current_device()
        made = Call(kernel, grid, arguments, device, args[3])
        for choose in tuple(choosers):
            if (other := choose(described, made)) is not None:
                return _launcher_of(other)(*args[:4], other.function, other.packed_metadata, *args[6:])
        filled = described
        for fill in tuple(fillers):
            filled = fill(filled, made)
        slots = session._slots_on(device, target)
        slot, outer = slots.begin(filled, args[3]), _slot.current()
        try:
            _slot.set_current(slot)
            launch(*args)
            if noted & session._looked:
                slots.called(slot, call, args[3], is_followed=bool(followed & session._looked))
        finally:
            _slot.set_current(outer)
            slots.end(slot)
        for finish in tuple(finishers):
            finish(described, made)
        return None

    return launch_with_slot


def _launcher_of(kernel: Any) -> Launch:
    """Returns a function that launches a ``CompiledKernel`` with its slot, and tells nobody else of the launch."""
    if (found := _launchers.get(kernel)) is None:
        launch = launcher_of(kernel)
        found = _launchers[kernel] = _with_slot(kernel, launch) or launch
    return found
