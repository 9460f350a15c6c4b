# SPDX-License-Identifier: Apache-2.0
"""Which pipelines are active in which thread and block, in the whole process, and on the kernel that is compiled.

Nothing here touches Triton; `scope` does that before the first pipeline is entered.
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
    """Wants to know what one compilation does.

    Attributes:
        level: how much.
        nonce: makes its cache key one of its own, so that it compiles.
        compilation: what it saw.
    """

    level: Level
    nonce: str = field(default_factory=lambda: os.urandom(16).hex())
    compilation: EditedCompilation | None = None

    @property
    def stages(self) -> tuple[StageRecord, ...]:
        """What ran so far."""
        return tuple(self.compilation.records) if self.compilation else ()


class Answer(NamedTuple):
    """What the hook said when it was asked for a key, and the layers that the key is of."""

    key: tuple[str, str]
    stack: Stack
    installed: Stack
    generation: int
    layers: tuple[Layer, ...]  # outermost first


class Stack:
    """The pipelines that are active somewhere, outermost first, and what the hook answers there.

    Attributes:
        outer: the stack around the innermost pipeline, to which its end returns.
        installed: the pipelines of the process, where they are not to be those of now.
        entered_by: the pipeline whose block this stack is for; None where it is for something else.
        used: those of `active` that ``@tx.use`` put on the kernel that is launched.
        answered: what the hook said last, if that holds until something changes.
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
        self.watching = tuple(one for one in active if one.watch.functions)
        self.answered: Answer | None = None
        self.generation = -1
        self.update()

    def update(self) -> None:
        """Computes the answer anew, and the layers that it speaks of with it."""
        with active_pipelines.lock:
            keys = [active.key for active in self.active if active.edits]
            layers = tuple(active.layer for active in self.active)
            rounds = "".join(f"/{active.key}:{active.round}" for active in self.active if active.round)
            generation = active_pipelines.generation
        if self.observer:
            keys.append(self.observer.nonce)
        # Empty outside of any pipeline: such a kernel has the key that it has without us.
        self.state = "triton-ext:" + "+".join(keys) if keys else "", layers, rounds
        self.generation = generation


#: What is active outside of every pipeline.
NOTHING = Stack(())
#: Of this thread.
current: contextvars.ContextVar[Stack] = contextvars.ContextVar("triton_ext_pipelines", default=NOTHING)
#: For the whole process, outside of every block.
installed = NOTHING
#: Installed, but not loaded yet.
pending: list[Callable[[], Iterable[Active]]] = []
#: Whether there is a kernel under ``@tx.use``.
has_used_kernels = False


def here() -> tuple[Stack, Stack]:
    """The pipelines of this thread, and those of the process that are active in it."""
    stack = _with_kernel(current.get()) if has_used_kernels else current.get()
    return stack, stack.installed or installed


def _with_kernel(stack: Stack) -> Stack:
    """`stack` with the pipelines that ``@tx.use`` put on the kernel that is being compiled, inside of all others.

    A launch has entered them already.
    """
    for pipeline in pipelines_of_compiled_kernel():
        active = pipeline._active()
        if active not in stack.used:
            used = (*stack.used, active)
            stack = Stack((*stack.active, active), stack, stack.observer, stack.installed, used)
    return stack


def pipelines_of_compiled_kernel() -> tuple[Any, ...]:
    """The pipelines that ``@tx.use`` put on the kernel that `triton.compile` asks the hook for; none in a launch."""
    request = compile_requests.being_compiled()
    found: tuple[Any, ...] = getattr(getattr(request and request.source, "fn", None), "triton_ext_pipelines", ())
    return found


def load_pending() -> None:
    """Installs what was to be installed later."""
    global installed  # noqa: PLW0603
    with active_pipelines.lock:
        while pending:
            kernel_parsing.parse_one_at_a_time()  # not while Triton is imported
            compile_requests.follow_requests()
            installed = Stack((*installed.active, *pending[0]()))
            del pending[0]
