# SPDX-License-Identifier: Apache-2.0
"""Looks at the lanes of launches in which an access may be out, by a kernel that is compiled for it.

The host compares the corners of tiles that need only integers of the launch, after it. What looks at the lanes would
make each kernel longer to compile, and few need it: so it is a second kernel, which is the first one without anything
else.
"""

from __future__ import annotations

import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from triton_ext.probe import _slot
from triton_ext.probe._firsts import First
from triton_ext.probe._launches import Call, choosers
from triton_ext.probe._pipeline import pipeline
from triton_ext.probe._sites import launched_by
from triton_ext.probe._slot import Launch, Slot
from triton_ext.probe._slots import Slots

import triton_ext as tx
from triton_ext.loading.discovery import discovered_once
from triton_ext.patches.kernel_launches import launcher_of
from triton_ext.pipeline import stack as stacks

from . import _verdicts
from ._corners import corners_of
from ._on_device import is_capturing, relaxed

#: The attribute by which the pass knows what becomes of looks.
_LOOKS = "sanitize.looks"

#: The backends whose kernels keep only the first lane of accesses that they check lane by lane, and so compile faster.
KEEP_FIRST = frozenset({"cuda", "hip"})

#: Whether looks at shadows are calls in kernels for the CPU. A test takes the code that kernels have for a GPU.
CALLS = True

#: The keys of kernels that have kept one; their next launches look at all lanes.
_has_kept: set[int] = set()
#: How many blocks are active. `choose` is one of the probes' choosers only if a kernel has kept one, because each
#: launch asks them.
_blocks = 0

#: For each compiled kernel, those that look in its place, by the attribute that has their options.
_kernels: weakref.WeakKeyDictionary[Any, dict[str, Any]] = weakref.WeakKeyDictionary()
#: Those of them that look at shadows.
_with_looks: weakref.WeakSet[Any] = weakref.WeakSet()
_lock = threading.RLock()


def following(source: Any, metadata: dict[str, Any], inner: Callable[[Any, dict[str, Any]], Any]) -> Any:
    """Runs the stage ttir on a module whose launches the host looks at, if no pipeline of the user changes it, too."""
    from ._session import _pipelines

    stack, installed = stacks.here()
    own = _pipelines()
    is_alone = stack.observer is None and all(one in own for one in (*stack.active, *installed.active))
    if is_alone:
        _mark(source, "first" if metadata["target"].backend in KEEP_FIRST else "host")
    return inner(source, metadata)


def _with_lanes(source: Any, metadata: dict[str, Any], inner: Callable[[Any, dict[str, Any]], Any]) -> Any:
    """Runs the stage ttir on a module whose kernel looks at all lanes."""
    _mark(source, "host")
    return inner(source, metadata)


def _only(source: Any, metadata: dict[str, Any], inner: Callable[[Any, dict[str, Any]], Any]) -> Any:
    """Runs the stage ttir on a module of which only the looks are left."""
    _mark(source, "only")
    return inner(source, metadata)


def _with_shadows(source: Any, metadata: dict[str, Any], inner: Callable[[Any, dict[str, Any]], Any]) -> Any:
    """Runs the stage ttir on a module whose kernel looks at shadows."""
    _mark(source, "shadows")
    return inner(source, metadata)


def _mark(source: Any, looks: str) -> None:
    from triton._C.libtriton import ir

    source.set_attr(_LOOKS, ir.builder(source.context).get_string_attr(looks))


def look(slots: Slots, slot: Slot, calls: Counter[Any]) -> None:
    """Looks at the lanes of launches, and waits for the device.

    Args:
        slots: the slots of the session.
        slot: the slot of the launches.
        calls: kernel, grid and arguments of each, and how often it was made.
    """
    for (kernel, grid, arguments), times in calls.items():
        if slot.is_followed and corners_of(kernel).are_inside(grid, arguments, slot.launch.arguments):
            continue
        with _device(slots) as stream:
            found = _look_of(kernel)
            known = launched_by(found)
            assert known is not None, "a kernel that looks has launch words"
            launch = launcher_of(found)
            given = (*grid, stream, found.function, found.packed_metadata, None, None, None, *arguments)
            with slots.looking(slot, known[0], stream) as own, _slot.launching(own):
                before = _raised(own)
                launch(*given)
                if not (often := _raised(own) - before):
                    continue  # no corner is out
                runs = times
                if slot.is_captured:  # each run has raised the flag once, or as often as this look
                    runs = slot.raised // (1 if slot.is_followed else often) - slot.looked
                    slot.looked += runs
                for _ in range(runs - 1):
                    launch(*given)


def _raised(slot: Slot) -> int:
    """Returns how often the flag of a slot was raised; waits for the stream."""
    return int(slot.memory[slot.flag()])


@contextmanager
def _device(slots: Slots) -> Iterator[int]:
    """Makes the device of slots, and the driver of their launches, the current ones; gives the device's current stream.

    Triton's driver may be another one when the report is read: a program can launch kernels on a GPU and on the CPU.
    Waits for the device at the end.
    """
    from triton.runtime import driver

    before = driver._active
    driver.set_active(slots.driver)
    try:
        if slots.device == "cpu":
            yield 0
            return
        import torch

        with torch.cuda.device(slots.device):
            yield torch.cuda.current_stream().cuda_stream
            torch.cuda.synchronize()
    finally:
        if driver._active is slots.driver:
            driver.set_active(before)


def _look_of(kernel: Any) -> Any:
    """Returns the kernel that looks at lanes for a ``CompiledKernel``."""
    return _kernel_of(kernel, "sanitize.apart", _only)


def note_firsts(firsts: Iterable[First]) -> None:
    """Notes which kernels have found something, so that their next launches look at all lanes, and count them."""
    _has_kept.update(one.launch.key for one in firsts)
    _follow_launches()


def begin() -> None:
    """Begins to choose kernels for launches; `end` ends it."""
    global _blocks  # noqa: PLW0603 - of the process
    with _lock:
        _blocks += 1
    _follow_launches()


def end() -> None:
    """Takes back one `begin`."""
    global _blocks  # noqa: PLW0603 - of the process
    with _lock:
        _blocks -= 1
        if not _blocks and choose in choosers:
            choosers.remove(choose)


def _follow_launches() -> None:
    with _lock:
        if _blocks and _has_kept and choose not in choosers:
            choosers.append(choose)


def choose(launch: Launch, call: Call) -> Any:
    """Returns the kernel that looks at all lanes if the kernel of a launch has kept a first one; else None.

    None also while a CUDA graph is captured, when no kernel can be loaded.
    """
    if launch.key not in _has_kept or (call.device != "cpu" and is_capturing()):
        return None
    return _kernel_of(call.kernel, "sanitize.first", _with_lanes)


def kernel_with_looks(kernel: Any) -> Any:
    """Returns the kernel that does what a ``CompiledKernel`` does, and also looks at shadows."""
    found = _kernel_of(kernel, "sanitize.missing", _with_shadows)
    _with_looks.add(found)
    return found


def loaded_with_looks(kernel: Any) -> Any:
    """Returns `kernel_with_looks`, loaded while the current stream is captured in a CUDA graph."""
    with relaxed():
        found = kernel_with_looks(kernel)
        launcher_of(found)
    return found


def has_looks(kernel: Any) -> bool:
    """Whether `kernel_with_looks` has returned a ``CompiledKernel``."""
    return kernel in _with_looks


def _kernel_of(kernel: Any, attribute: str, marking: Callable[..., Any]) -> Any:
    with _lock:
        known = _kernels.setdefault(kernel, {})
        if attribute not in known:
            known[attribute] = _compiled(kernel, attribute, marking)
        return known[attribute]


def _compiled(kernel: Any, attribute: str, marking: Callable[..., Any]) -> Any:
    """Compiles a kernel once more, with the options of an attribute; `marking` runs the stage ttir."""
    from triton import compile as compile_kernel

    checks, action, *_ = _verdicts.attribute_of(kernel, attribute)
    static = _verdicts.attribute_of(kernel, "sanitize.static") is None
    with discovered_once():
        of_kernel = tx.passes.ttir.sanitizer(checks=checks, action=action, static=static, calls=CALLS)
        passes = (tx.passes.ttir.intensity(), of_kernel)
        probes = pipeline()
    looking = tx.Pipeline().at_end("ttir", *passes).stage("ttir", marking)
    # Without the pipelines of the process, among them those of blocks.
    token = stacks.current.set(stacks.Stack((), installed=stacks.NOTHING))
    try:
        with probes, looking:
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
