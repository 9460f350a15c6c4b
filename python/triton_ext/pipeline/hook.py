# SPDX-License-Identifier: Apache-2.0
"""What Triton's hook slot answers: the keys of the active pipelines, and the edits of a compilation.

The slot becomes a descriptor: inside of a pipeline it reads as our hook, outside as whatever the user put there. So a
user's hook keeps working whenever it was set, kernels outside of any pipeline have the keys that they have without us,
and threads do not see each other's pipelines.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable
from typing import Any

from ..patches import compile_requests, hook_slot, kernel_parsing
from ..patches.async_compilation import carry_to_threads
from ..patches.compiled_kernels import follow_names
from . import active as active_pipelines
from . import stack as stacks
from .active import Active
from .stack import Answer, Stack
from .steps import Layer
from .targets import for_target

#: Seconds between two looks at the files of the libraries in an active pipeline.
_RECHECK = 0.5


class _Thread(threading.local):
    empty = stacks.NOTHING  # the last empty `stacks.installed` that this thread knows of
    nested = False  # a user's hook is running inside of ours
    answered: tuple[Layer, ...] = ()  # the layers that the last key read here is of


_thread = _Thread()


_next_check = 0.0  # when the libraries are looked at again
_running = 0  # how many hooks of the user's run inside of ours


class _Hook:
    """What the slot reads as inside of a pipeline.

    Args:
        user: what the user has put there. It returns to the slot if this is put there, and it is what this comes down
            to in a later hook of the user's that calls the one before it.
    """

    def __init__(self, user: Callable[..., Any] | None) -> None:
        self.user = user

    def __call__(self, *args: Any, **kwargs: Any) -> tuple[str, str]:
        try:
            return self._called(*args, **kwargs)
        except BaseException:
            compile_requests.key_is_complete()
            raise

    def _called(self, *args: Any, **kwargs: Any) -> tuple[str, str]:
        if _thread.nested:
            return (self.user(*args, **kwargs) if self.user else None) or ("", "")
        stack, installed = stacks.here()
        if not stacks.installed.active:
            _thread.empty = stacks.installed
        answer = self._answer(stack, installed) if not args and not kwargs else None
        theirs = ("", "")
        if self.user is not None:
            global _running  # noqa: PLW0603
            with active_pipelines.lock:
                _running += 1
            _thread.nested = True
            try:
                theirs = self.user(*args, **kwargs) or theirs
            finally:
                _thread.nested = False
                with active_pipelines.lock:
                    _running -= 1
        stages = args[1] if len(args) > 1 else kwargs.get("stages")
        if stages is not None:
            self._edit(args[0] if args else kwargs.get("self", kwargs.get("backend")), stages, stack, installed)
        ours = answer.key[0] if answer else installed.state[0] + stack.state[0]
        return ours + theirs[0], ours + theirs[1]

    def _answer(self, stack: Stack, installed: Stack) -> Answer:
        """The key of the pipelines as they are now."""
        follow_names()
        drift = ""
        if time.monotonic() >= _next_check:
            self._recheck((*installed.active, *stack.active))
        watching = (*installed.watching, *stack.watching)
        is_compiling = bool(watching) and compile_requests.being_keyed() is not None
        for active in watching:
            active.follow()
            if is_compiling:  # the key on disk outlives the process
                drift += active.drift()
        generation = active_pipelines.generation
        for one in (stack, installed):
            if one.generation != generation:
                one.update()
        text = installed.state[0] + stack.state[0]
        text += drift if is_compiling else installed.state[2] + stack.state[2]
        answer = Answer((text, text), stack, installed, generation, installed.state[1] + stack.state[1])
        stack.answered = answer if text and not watching else None
        _thread.answered = answer.layers
        return answer

    def _recheck(self, active: tuple[Active, ...]) -> None:
        """Takes up libraries that were built again.

        Not while a kernel is on its way from the first key to the second: those two calls are much closer together
        than two checks.
        """
        global _next_check  # noqa: PLW0603
        _next_check = time.monotonic() + _RECHECK
        for one in active:
            one.refresh(inside=False)

    def _edit(self, backend: Any, stages: dict[str, Any], stack: Stack, installed: Stack) -> None:
        from ..patches.backend_globals import replace_globals  # not while Triton is imported
        from .edited_compilation import EditedCompilation

        # In a compilation those that its key is of, whatever another thread has installed or built again since.
        request = compile_requests.adding_stages()
        layers = (_thread.answered if request is not None else installed.state[1] + stack.state[1])[::-1]
        observer = stack.observer
        if observer is None and not any(layer.edits for layer in layers):
            return
        layers = for_target(layers, backend.target)
        replace_globals(backend)
        compilation = EditedCompilation(layers, observer.level if observer else None, request)
        if observer is not None:
            observer.compilation = compilation
        compilation.wrap(stages, backend)


_hook = _Hook(None)


def _quick_hook(*args: Any, **kwargs: Any) -> tuple[str, str]:
    """What the slot reads as where the user has no hook: `_hook`, or what that said last; every launch calls this."""
    if not args and not kwargs:
        stack = stacks.current.get()
        known = stack.answered
        if (
            known is not None
            and known.installed is (stack.installed or stacks.installed)
            and known.generation == active_pipelines.generation
            and time.monotonic() < _next_check
            and not _running
        ):
            _thread.answered = known.layers
            return known.key
    return _hook(*args, **kwargs)


class _Slot:
    """Data descriptor in the place of the slot; what the user sets stays in the instance, as without it."""

    def __init__(self) -> None:
        self._hook = _hook

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return None  # what the class says without us
        user = instance.__dict__.get(hook_slot.NAME)
        if stacks.pending:
            try:
                stacks.load_pending()
            except BaseException:
                compile_requests.key_is_complete()
                raise
        installed = stacks.installed
        is_borne = stacks.has_used_kernels and bool(stacks.pipelines_of_compiled_kernel())
        # If empty, but not known here, then Triton may be between its two reads, or between key and stages, and another
        # thread has just uninstalled the last pipeline.
        is_known = _thread.empty is installed
        if not is_borne and not installed.active and is_known and stacks.current.get() is stacks.NOTHING:
            _thread.answered = ()
            if user is not None:
                compile_requests.key_is_complete()  # the user's hook may raise
            return user
        if user is None:
            return _hook if is_borne else _quick_hook
        if self._hook.user is not user:
            self._hook = _Hook(user)
        return self._hook

    def __set__(self, instance: Any, hook: Any) -> None:
        user = None if hook is _quick_hook else hook.user if isinstance(hook, _Hook) else hook
        instance.__dict__[hook_slot.NAME] = user

    def __delete__(self, instance: Any) -> None:
        instance.__dict__.pop(hook_slot.NAME, None)


is_taken = False  # whether the slot is ours


def take_slot() -> None:
    """Puts the descriptor in place, once; with no pipeline active it is as if it were not there.

    Raises:
        TritonExtError: Triton is not as a patch expects.
    """
    global is_taken  # noqa: PLW0603
    if is_taken:
        return
    with active_pipelines.lock:
        if not stacks.pending:  # else Triton is being imported, and `load_pending` does this
            kernel_parsing.parse_one_at_a_time()
            compile_requests.follow_requests()
        _follow_threads()
        if not is_taken:
            hook_slot.replace_by(_Slot())
            is_taken = True


def know_empty(installed: Stack) -> None:
    """Says that this thread knows that no pipeline is installed any more."""
    _thread.empty = installed


@functools.cache
def _follow_threads() -> None:
    carry_to_threads(_carry)


def _carry(compile_fn: Callable[[], Any]) -> tuple[str, Callable[[], Any]]:
    """Has another thread compile with the pipelines of this one."""
    stack, installed = stacks.here()
    there = Stack(stack.active, stack, stack.observer, installed, stack.used)

    def compile_there() -> Any:
        before = stacks.current.set(there)
        try:
            return compile_fn()
        finally:
            stacks.current.reset(before)

    return "".join(one.state[0] + one.state[2] for one in (installed, stack)), compile_there
