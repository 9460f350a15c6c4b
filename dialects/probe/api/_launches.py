# SPDX-License-Identifier: Apache-2.0
"""Gives each launch of a kernel with launch words its slot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from triton_ext.patches.kernel_launches import BEFORE_ARGUMENTS, Launch, wrap_launches

from . import _buffer, _slots
from ._arguments import names_of, of_launch, signature_values
from ._sites import launched_by

#: Each gets a launch, the device and the stream, and returns the launch with more about its arguments.
fillers: list[Callable[[_slots.Launch, str, int], _slots.Launch]] = []


def install() -> None:
    """Has launches of kernels with launch words pass through `_with_slot`."""
    wrap_launches(_with_slot)


def _with_slot(kernel: Any, launch: Launch) -> Launch | None:
    known = launched_by(kernel)
    if known is None:
        return None
    key, names = known

    def launch_with_slot(*args: Any) -> None:
        session = _buffer.current()
        if session is None:
            return launch(*args)
        values = signature_values(kernel.src, args[BEFORE_ARGUMENTS:])
        described = _slots.Launch(kernel.metadata.name, key, of_launch(names_of(kernel.src, names), values))
        device = _buffer.current_device()
        for fill in tuple(fillers):
            described = fill(described, device, args[3])
        with session._slots_on(device).slot(described, args[3]) as slot, _slots.launching(slot):
            launch(*args)
        return None

    return launch_with_slot
