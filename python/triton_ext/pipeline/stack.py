# SPDX-License-Identifier: Apache-2.0
"""Keeps the pipelines that are active: in a block of a thread, in the process, and on the kernel that is compiled.

This module does not patch Triton; `scope` does that before the first pipeline is entered.
"""

from __future__ import annotations

import contextvars
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ..patches import compile_requests, kernel_parsing
from . import active as active_pipelines
from .active import Active
from .records import StageRecord
from .steps import Layer

if TYPE_CHECKING:
    from .edited_compilation import EditedCompilation
    from .inspection import Level


@dataclass
class Observer:
    """Observes one compilation, for `tx.describe` and `tx.trace`.

    Attributes:
        level: how much is recorded.
        nonce: a random text in the cache key, so that the kernel is not in the cache and is compiled.
        compilation: the compilation that was observed; None before it begins.
    """

    level: Level
    nonce: str = field(default_factory=lambda: os.urandom(16).hex())
    compilation: EditedCompilation | None = None

    @property
    def stages(self) -> tuple[StageRecord, ...]:
        """The stages that ran so far."""
        return tuple(self.compilation.records) if self.compilation else ()


class Answer(NamedTuple):
    """An answer of the hook when it is asked for a key, with all that the answer depends on.

    Attributes:
        key: our part of the key in memory and of the key on disk.
        stack: the pipelines of the thread.
        installed: the pipelines of the process.
        generation: `active.generation` at that time.
        layers: the layers that the key is about, outermost first.
    """

    key: tuple[str, str]
    stack: Stack
    installed: Stack
    generation: int
    layers: tuple[Layer, ...]


class Stack:
    """The pipelines that are active in one place, and their part of cache keys.

    Attributes:
        active: the pipelines, outermost first.
        outer: the stack that becomes current again when the innermost pipeline ends; None at the bottom.
        observer: observes the compilations of this thread; None for nobody.
        installed: a snapshot of the process-wide pipelines, for a compilation in another thread; None means the current
            ones.
        entered_by: the pipeline whose block this stack belongs to; None for a stack that was made otherwise.
        used: the pipelines of `active` that ``@tx.use`` put on the kernel that is launched.
        watching: the pipelines of `active` with Python functions that may change at any time.
        answered: the last answer of the hook, while it holds.
        state: our part of the key; the layers that it is about; the rounds of keys that were given up.
        generation: `active.generation` when `state` was computed.
    """

    def __init__(
        self,
        active: tuple[Active, ...],
        outer: Stack | None = None,
        observer: Observer | None = None,
        installed: Stack | None = None,
        used: tuple[Active, ...] = (),
        *,
        entered_by: Active | None = None,
    ) -> None:
        self.active = active
        self.entered_by = entered_by
        self.outer = outer
        self.observer = observer
        self.installed = installed
        self.used = used
        self.watching = tuple(one for one in active if one.watch.can_change)
        self.answered: Answer | None = None
        self.generation = -1
        self.update()

    def update(self) -> None:
        """Computes `state` anew. Key and layers are read under one lock, so that they are of the same moment."""
        with active_pipelines.lock:
            keys = [active.key for active in self.active if active.edits]
            layers = tuple(active.layer for active in self.active)
            rounds = "".join(f"/{active.key}:{active.round}" for active in self.active if active.round)
            generation = active_pipelines.generation
        if self.observer:
            keys.append(self.observer.nonce)
        # Empty outside of any pipeline, so that such a kernel has the same key as without triton-ext.
        self.state = "triton-ext:" + "+".join(keys) if keys else "", layers, rounds
        self.generation = generation


#: The stack outside of every pipeline.
NOTHING = Stack(())
#: The stack of this thread.
current: contextvars.ContextVar[Stack] = contextvars.ContextVar("triton_ext_pipelines", default=NOTHING)
#: The pipelines that are installed in the process.
installed = NOTHING
#: Functions that return pipelines to install, and are called when the slot is next read.
pending: list[Callable[[], Iterable[Active]]] = []
#: Whether the process has a kernel under ``@tx.use``.
has_used_kernels = False


def here() -> tuple[Stack, Stack]:
    """Returns the pipelines of this thread, and the process-wide pipelines that apply in it."""
    stack = _with_kernel(current.get()) if has_used_kernels else current.get()
    return stack, stack.installed or installed


def _with_kernel(stack: Stack) -> Stack:
    """Returns `stack` with the pipelines that ``@tx.use`` put on the kernel that is being compiled, innermost.

    A launch has entered them already.
    """
    for pipeline in pipelines_of_compiled_kernel():
        active = pipeline._active()
        if active not in stack.used:
            used = (*stack.used, active)
            stack = Stack((*stack.active, active), stack, stack.observer, stack.installed, used)
    return stack


def pipelines_of_compiled_kernel() -> tuple[Any, ...]:
    """Returns the pipelines that ``@tx.use`` put on the kernel of the current `triton.compile`; empty in a launch."""
    request = compile_requests.being_compiled()
    return pipelines_of(request) if request is not None else ()


def pipelines_of(request: compile_requests.Request) -> tuple[Any, ...]:
    """Returns the pipelines that ``@tx.use`` put on the kernel of `request`."""
    found: tuple[Any, ...] = getattr(getattr(request.source, "fn", None), "triton_ext_pipelines", ())
    return found


def load_pending() -> None:
    """Installs the pipelines in `pending`."""
    global installed  # noqa: PLW0603
    with active_pipelines.lock:
        while pending:
            kernel_parsing.parse_one_at_a_time()  # not while Triton is imported
            compile_requests.follow_requests()
            installed = Stack((*installed.active, *pending[0]()))
            del pending[0]
