# SPDX-License-Identifier: Apache-2.0
"""Gives each launch of a kernel with launch words its slot."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from triton_ext.patches.kernel_launches import BEFORE_ARGUMENTS, Launch, wrap_launches

from . import _buffer, _slot
from ._arguments import names_of, of_launch, plain, signature_values
from ._sites import launched_by, raised_by, sites_of


class Call(NamedTuple):
    """One launch of a kernel with probes, as the program asks for it.

    Attributes:
        kernel: the ``CompiledKernel``.
        grid: the number of programs along each axis.
        values: of the kernel's parameters, as the launch passes them.
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


def install() -> None:
    """Has launches of kernels with launch words pass through `_with_slot`."""
    wrap_launches(_with_slot)


def _with_slot(kernel: Any, launch: Launch) -> Launch | None:
    known = launched_by(kernel)
    if known is None:
        return None
    key, names = known
    raised = raised_by(kernel)
    checks = frozenset(str(json.loads(site.note)["check"]) for site in sites_of(key) if site.note).union(raised)

    def launch_with_slot(*args: Any) -> None:
        session, target = _buffer.checking(checks), _buffer.current()
        if session is None or target is None:
            return launch(*args)
        values = signature_values(kernel.src, args[BEFORE_ARGUMENTS:])
        described = _slot.Launch(kernel.metadata.name, key, of_launch(names_of(kernel.src, names), values))
        device = _buffer.current_device()
        call = Call(kernel, args[:3], args[BEFORE_ARGUMENTS:], device, args[3])
        for fill in tuple(fillers):
            described = fill(described, call)
        slots = session._slots_on(device, target)
        with slots.slot(described, args[3]) as slot, _slot.launching(slot):
            launch(*args)
            if raised and session._looker is not None:
                slots.called(slot, (kernel, args[:3], plain(kernel.src, args[BEFORE_ARGUMENTS:])))
        return None

    return launch_with_slot
