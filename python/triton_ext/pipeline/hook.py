# SPDX-License-Identifier: Apache-2.0
"""Our hook in Triton's slot: it answers with the keys of the active pipelines, and applies their edits to the stages.

The slot becomes a descriptor. Read while a pipeline is active in this thread, it returns our hook, which also calls the
hook that the user has set. Read at any other time, it returns the user's hook or None, as without triton-ext. Therefore
a user's hook keeps working whenever it is set, kernels outside of any pipeline keep their keys, and threads do not see
each other's pipelines.

Triton reads the slot several times in one compilation: to see whether it is empty, for the key, and for the stages. The
answers have to be about the same pipelines, although another thread may install, uninstall or rebuild one in between.
`_Slot.__get__`, `_Hook._recheck` and `_Hook._edit` say how that is ensured.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Container
from typing import Any

from ..patches import compile_requests, hook_slot, kernel_parsing
from ..patches.ahead_of_time import correct_c_code
from ..patches.async_compilation import carry_to_threads
from . import active as active_pipelines
from . import lowering
from . import stack as stacks
from .active import Active
from .llvm_passes import LLVM
from .stack import Answer, Stack
from .steps import Layer
from .targets import for_target

#: Seconds between two checks whether the libraries of an active pipeline were built again.
_RECHECK = 0.5


class _Thread(threading.local):
    empty = stacks.NOTHING  # the last empty `stacks.installed` that this thread has seen
    nested = False  # whether ours is calling the user's hook
    answered: tuple[Layer, ...] = ()  # the layers of the last key that was given to this thread


_thread = _Thread()


_next_check = 0.0  # the time of the next check of the libraries
_running = 0  # how many calls of user hooks by ours are under way, in all threads


class _Hook:
    """The hook that Triton calls while a pipeline is active.

    Args:
        user: the hook that the user has set; None if there is none. A program may read the slot in a pipeline, so that
            it gets this object, and put it back later, or call it from a hook of its own. In the first case the slot
            holds `user` again; in the second this object does no more than call `user`.
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
        """Returns the current key of the pipelines, and keeps the answer for `_quick_hook` if it can."""
        correct_c_code()
        drift = ""
        if time.monotonic() >= _next_check:
            self._recheck((*installed.active, *stack.active))
        watching = (*installed.watching, *stack.watching)
        is_compiling = bool(watching) and compile_requests.being_keyed() is not None
        for active in watching:
            active.follow()
            if is_compiling:  # this key is for the disk, so it has to cover changes in place
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
        """Loads libraries that were built again.

        A launch asks for the key in memory, and on a miss `triton.compile` asks for the key on disk. Both have to be of
        the same libraries. They are, because the second call comes milliseconds after the first, and the next check
        half a second after the last one.
        """
        global _next_check  # noqa: PLW0603
        _next_check = time.monotonic() + _RECHECK
        for one in active:
            one.refresh(inside=False)

    def _edit(self, backend: Any, stages: dict[str, Any], stack: Stack, installed: Stack) -> None:
        from ..patches.backend_globals import replace_globals  # not while Triton is imported
        from .edited_compilation import EditedCompilation

        # The stages get the edits that the key is about, even if another thread has installed a pipeline, or a library
        # was built again, since the key was read: otherwise a kernel would be cached under the key of other edits.
        request = compile_requests.adding_stages()
        layers = _layers(stack, installed)[::-1]
        observer = stack.observer

        def compilation(inner: tuple[Layer, ...] = ()) -> EditedCompilation | None:
            if observer is None and not any(layer.edits for layer in (*inner, *layers)):
                return None
            replace_globals(backend)
            every = (*inner, *for_target(layers, backend.target))
            made = EditedCompilation(every, observer.level if observer else None, request)
            if observer is not None:
                observer.compilation = made
            return made

        if lowering.is_wanted(compile_requests.being_compiled()):
            lowering.wrap(stages, backend, compilation)
        elif (made := compilation()) is not None:
            made.wrap(stages, backend)


_hook = _Hook(None)


def _layers(stack: Stack, installed: Stack) -> tuple[Layer, ...]:
    """Returns the pipelines whose edits the compilation gets, for which a backend is adding its stages."""
    return _thread.answered if compile_requests.adding_stages() is not None else installed.state[1] + stack.state[1]


def is_watched(stages: Container[str], stage: str) -> bool:
    """Returns whether somebody watches `stage`, in the compilation whose stages are being added.

    A backend asks it before it adds `stage`, which costs time, to `stages`. The answer is True while compilations are
    recorded, as in ``tx.trace``; for a hook that the user has set; for an edit of the stage; and for an edit of a
    stage that does not exist, unless the edit ignores that, so that the error names every stage.
    """
    from triton import knobs

    hook = knobs.runtime.add_stages_inspection_hook
    if hook is None:
        return False
    stack, installed = stacks.here()
    if hook is not _quick_hook and not (isinstance(hook, _Hook) and hook.user is None):
        return True
    if stack.observer is not None:
        return True
    edits = (edit for layer in _layers(stack, installed) for edit in layer.edits)
    return any(
        edit.stage == stage
        or (edit.on_missing != "ignore" and edit.stage not in (None, LLVM) and edit.stage not in stages)
        for edit in edits
    )


def _quick_hook(*args: Any, **kwargs: Any) -> tuple[str, str]:
    """The hook that Triton calls when the user has set none, in every launch.

    Returns the cached answer while nothing has changed, else asks `_hook`. An answer holds for one stack of this
    thread, one list of installed pipelines and one generation, until the next check of the libraries.
    """
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
    """The data descriptor in the place of the slot; the user's hook stays in the instance, as in Triton."""

    def __init__(self) -> None:
        self._hook = _hook

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return None  # the value of Triton's class attribute
        user = instance.__dict__.get(hook_slot.NAME)
        if stacks.pending:
            try:
                stacks.load_pending()
            except BaseException:
                compile_requests.key_is_complete()
                raise
        installed = stacks.installed
        # A launch pays one call for this, and nothing in a process without such kernels and dialects.
        has_any = stacks.has_used_kernels or lowering.followed
        if user is None and installed.active and not has_any:
            return _quick_hook  # as below, for launches under a pipeline of the process
        request = compile_requests.being_compiled() if has_any else None
        is_borne = request is not None and (bool(stacks.pipelines_of(request)) or lowering.is_wanted(request))
        # Claim: the user's hook, or None, is returned only if no key of ours was given in this compilation. Example:
        # Triton has read our key; another thread uninstalls the last pipeline; Triton reads the slot for the stages. If
        # it read None now, the kernel would be compiled without edits and cached under our key. So each uninstallation
        # makes a new empty stack, and a thread that has not seen it yet gets our hook once more.
        if not (is_borne or installed.active) and _thread.empty is installed and stacks.current.get() is stacks.NOTHING:
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


is_taken = False  # whether our descriptor is in place


def take_slot() -> None:
    """Puts the descriptor in place, once; while no pipeline is active it returns what the user has set.

    Raises:
        TritonExtError: Triton differs from what a patch expects.
    """
    global is_taken  # noqa: PLW0603
    if is_taken:
        return
    with active_pipelines.lock:
        if not stacks.pending:  # otherwise Triton is being imported, and `load_pending` does this later
            kernel_parsing.parse_one_at_a_time()
            compile_requests.follow_requests()
        _follow_threads()
        if not is_taken:
            hook_slot.replace_by(_Slot())
            is_taken = True


def know_empty(installed: Stack) -> None:
    """Notes that this thread has seen `installed`, the empty stack that is left after the last uninstallation."""
    _thread.empty = installed


@functools.cache
def _follow_threads() -> None:
    carry_to_threads(_carry)


def _carry(compile_fn: Callable[[], Any]) -> tuple[str, Callable[[], Any]]:
    """Returns the key of this thread's pipelines, and a function by which another thread compiles with them."""
    stack, installed = stacks.here()
    there = Stack(stack.active, stack, stack.observer, installed, stack.used)

    def compile_there() -> Any:
        before = stacks.current.set(there)
        try:
            return compile_fn()
        finally:
            stacks.current.reset(before)

    return "".join(one.state[0] + one.state[2] for one in (installed, stack)), compile_there
