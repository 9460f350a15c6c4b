# SPDX-License-Identifier: Apache-2.0
"""Looks at the lanes of launches whose corners were out, by a kernel that is compiled for it.

A kernel with checks compares the corners of its tiles, and raises the flag of the launch if one is out. What looks at
the lanes would make each kernel longer to compile, and few need it: so it is a second kernel, which is the first one
without anything else.
"""

from __future__ import annotations

import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from triton_ext.probe import _slot
from triton_ext.probe._pipeline import pipeline
from triton_ext.probe._sites import launched_by
from triton_ext.probe._slot import Slot
from triton_ext.probe._slots import Slots

import triton_ext as tx
from triton_ext.patches.kernel_launches import launcher_of
from triton_ext.pipeline import stack as stacks

from . import _verdicts

#: The attribute by which the pass knows what becomes of looks.
_LOOKS = "sanitize.looks"

#: The kernels that look at lanes, by those that raise the flag.
_kernels: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
_lock = threading.RLock()


def raising(source: Any, metadata: dict[str, Any], inner: Callable[[Any, dict[str, Any]], Any]) -> Any:
    """Runs the stage ttir on a module whose kernel raises the flag, if no pipeline of the user changes it, too."""
    from ._session import _pipelines

    stack, installed = stacks.here()
    own = _pipelines()
    is_alone = stack.observer is None and all(one in own for one in (*stack.active, *installed.active))
    if is_alone:
        _mark(source, "raise")
    return inner(source, metadata)


def _only(source: Any, metadata: dict[str, Any], inner: Callable[[Any, dict[str, Any]], Any]) -> Any:
    """Runs the stage ttir on a module of which only the looks are left."""
    _mark(source, "only")
    return inner(source, metadata)


def _mark(source: Any, looks: str) -> None:
    from triton._C.libtriton import ir

    source.set_attr(_LOOKS, ir.builder(source.context).get_string_attr(looks))


def look(slots: Slots, slot: Slot, calls: Counter[Any]) -> None:
    """Looks at the lanes of launches, and waits for the device.

    Args:
        slots: of the session.
        slot: of the launches.
        calls: kernel, grid and arguments of each, and how often it was made.
    """
    for (kernel, grid, arguments), times in calls.items():
        found = _look_of(kernel)
        known = launched_by(found)
        assert known is not None, "a kernel that looks has launch words"
        with _device(slots) as stream:
            launch = launcher_of(found)
            given = (*grid, stream, found.function, found.packed_metadata, None, None, None, *arguments)
            with slots.looking(slot, known[0], stream) as own, _slot.launching(own):
                before = _raised(own)
                launch(*given)
                runs = times
                if slot.is_captured:  # each run has raised the flag as often as this look
                    runs = slot.raised // (_raised(own) - before) - slot.looked
                    slot.looked += runs
                for _ in range(runs - 1):
                    launch(*given)


def _raised(slot: Slot) -> int:
    """Returns how often the flag of a slot was raised; waits for the stream."""
    return int(slot.memory[slot.flag()])


@contextmanager
def _device(slots: Slots) -> Iterator[int]:
    """Makes the device of slots the current one, and gives its current stream; waits for it at the end."""
    if slots.device == "cpu":
        yield 0
        return
    import torch

    with torch.cuda.device(slots.device):
        yield torch.cuda.current_stream().cuda_stream
        torch.cuda.synchronize()


def _look_of(kernel: Any) -> Any:
    """Returns the kernel that looks at lanes for a ``CompiledKernel``."""
    with _lock:
        if kernel not in _kernels:
            _kernels[kernel] = _compiled(kernel)
        return _kernels[kernel]


def _compiled(kernel: Any) -> Any:
    from triton import compile as compile_kernel

    checks, action = _verdicts.attribute_of(kernel, "sanitize.apart")
    passes = tx.passes.ttir.sanitizer(checks=checks, action=action)
    looking = tx.Pipeline().at_end("ttir", passes).stage("ttir", _only)
    # Without the pipelines of the process, among them those of blocks.
    token = stacks.current.set(stacks.Stack((), installed=stacks.NOTHING))
    try:
        with pipeline(), looking:
            source = kernel.src if hasattr(kernel.src, "fn") else kernel.src.path
            options = {name: _frozen(value) for name, value in kernel.metadata._asdict().items()}
            return compile_kernel(source, target=kernel.metadata.target, options=options)
    finally:
        stacks.current.reset(token)


def _frozen(value: Any) -> Any:
    """Returns a value of a kernel's metadata as an option has it: Triton hashes the options, and JSON made lists of
    their tuples.
    """
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
