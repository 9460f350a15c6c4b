# SPDX-License-Identifier: Apache-2.0
"""Makes pipelines active and inactive: for a block of one thread, for the process, and to observe a compilation."""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Iterable

from ..errors import PipelineError
from . import active as active_pipelines
from . import hook
from . import stack as stacks
from .active import Active
from .edits import Edit, text_of_edits
from .stack import Observer, Stack


def enter(active: Active, *, by_use: bool = False) -> None:
    """Makes a pipeline the innermost one of this thread.

    Args:
        active: the pipeline.
        by_use: whether ``@tx.use`` put it on the kernel that this thread launches.

    Raises:
        TritonExtError: Triton differs from what a patch expects.
    """
    if not hook.is_taken:
        hook.take_slot()
    outer, known = stacks.current.get(), active.entered
    used = (*outer.used, active) if by_use else outer.used
    if (
        known is None
        or known.outer is not outer
        or known.generation != active_pipelines.generation
        or known.used != used
    ):
        known = Stack((*outer.active, active), outer, outer.observer, outer.installed, used, entered_by=active)
        active.entered = known
    stacks.current.set(known)


def leave(active: Active) -> None:
    """Ends a pipeline of this thread, which has to be the innermost one.

    Raises:
        PipelineError: another pipeline is the innermost. If `active` is active it ends nevertheless, and the pipelines
            that were entered after it stay active.
    """
    stack = stacks.current.get()
    if stack.entered_by is active and stack.outer is not None:
        stacks.current.set(stack.outer)
        return
    later: list[Stack] = []
    while stack.outer is not None and stack.entered_by is not active:
        later.append(stack)
        stack = stack.outer
    name = text_of_edits(active.edits)
    if stack.outer is None:
        raise PipelineError(
            f"the pipeline '{name}' ends where it is not active: it was not entered in this thread, or has ended",
            fix="use a with statement or contextlib.ExitStack",
        )
    kept = stack.outer
    for frame in reversed(later):
        layers = (*kept.active, frame.entered_by) if frame.entered_by else kept.active
        kept = Stack(layers, kept, frame.observer, frame.installed, entered_by=frame.entered_by)
    stacks.current.set(kept)
    inner = ", ".join(f"'{text_of_edits(frame.entered_by.edits)}'" for frame in later if frame.entered_by)
    raise PipelineError(
        f"the pipeline '{name}' ends before {inner or 'the observation inside of it'}, entered after it and still "
        "active: pipelines end in the reverse of the order in which they were entered",
        fix="use a with statement or contextlib.ExitStack",
    )


def observe(observer: Observer) -> contextvars.Token[Stack]:
    """Has compilations of this thread report to `observer`, until `stop_observing` is called with the result."""
    hook.take_slot()
    outer = stacks.current.get()
    return stacks.current.set(Stack(outer.active, outer, observer, outer.installed, outer.used))


def stop_observing(token: contextvars.Token[Stack]) -> None:
    """Ends `observe`."""
    stacks.current.reset(token)


def install(active: Active) -> None:
    """Makes a pipeline active in every thread, inside of those that were installed before."""
    hook.take_slot()
    with active_pipelines.lock:
        stacks.load_pending()
        stacks.installed = Stack((*stacks.installed.active, active))


def install_later(load: Callable[[], Iterable[Active]]) -> None:
    """Installs the pipelines that `load` returns, when the slot is next read.

    While Triton is imported, passes cannot be loaded yet.
    """
    with active_pipelines.lock:
        stacks.pending.append(load)
    hook.take_slot()


def uninstall(active: Active) -> bool:
    """Takes back the last `install` of a pipeline; returns False if it is not installed."""
    with active_pipelines.lock:
        layers = list(stacks.installed.active)
        for i in reversed(range(len(layers))):
            if layers[i] is active:
                del layers[i]
                stacks.installed = Stack(tuple(layers))  # a new object even if empty: see `hook._Slot.__get__`
                hook.know_empty(stacks.installed)
                return True
    return False


def active_edits() -> tuple[Edit, ...]:
    """Returns the edits of every pipeline that is active in this thread, outermost first."""
    stacks.load_pending()
    stack, installed = stacks.here()
    return tuple(edit for active in (*installed.active, *stack.active) for edit in active.edits)


def layers_of_thread() -> tuple[Active, ...]:
    """Returns the pipelines that are active in this thread, outermost first, including those of the process."""
    return (*stacks.installed.active, *stacks.current.get().active)


def follow_used_kernels() -> None:
    """Has a kernel under ``@tx.use`` compiled with its pipelines also when it is given to `triton.compile`."""
    stacks.has_used_kernels = True
    hook.take_slot()
