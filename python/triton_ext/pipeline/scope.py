# SPDX-License-Identifier: Apache-2.0
"""Which pipelines are active, and what Triton's hook slot answers.

Triton has one slot, ``knobs.runtime.add_stages_inspection_hook``. It reads the slot twice at every launch and at every
compilation: to see whether it is empty, and to call what is in it. Called with arguments, the hook may change the
stages of a compilation; without, it returns what enters the keys of the in-memory and of the disk cache.

Here the slot becomes a descriptor that looks at the reader: inside of a pipeline it reads as our hook, outside as
whatever the user put there. So a user's hook keeps working whenever it was set, kernels outside of any pipeline have
the keys that they have without us, and threads do not see each other's pipelines.
"""

from __future__ import annotations

import contextvars
import functools
import hashlib
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import PipelineError
from ..keys.fingerprint import Watch
from ..loading.libraries import load_infra
from ..loading.loader import load_library
from ..patches.ahead_of_time import follow_names
from ..patches.kernel_parsing import parse_one_at_a_time
from ..support.resources import own_code
from .edits import BuiltinPass, Edit, Entry, PythonPass, text_of_edits
from .extension_passes import Pass

if TYPE_CHECKING:
    from .execution import Compilation, Layer
    from .inspection import Level
    from .records import StageRecord

_SLOT = "add_stages_inspection_hook"
#: Seconds between two looks at the files of the libraries in an active pipeline.
_RECHECK = 0.5


_lock = threading.RLock()
_generation = 0  # how often an active pipeline has changed
#: How often a key was left behind: what was compiled under it had read something that has changed in place since.
_left_behind: dict[str, int] = {}


class Active:
    """The edits of a pipeline with the libraries that they need, and the cache key of both.

    Raises:
        TritonExtError: a library cannot be used, or no key can be made of a Python function.
    """

    def __init__(self, edits: tuple[Edit, ...]) -> None:
        self.edits = edits
        self._passes = [entry for edit in edits for entry in edit.entries if isinstance(entry, Pass)]
        functions = [entry.function for edit in edits for entry in edit.entries if isinstance(entry, PythonPass)]
        self.watch = Watch([*functions, *(edit.function for edit in edits if edit.function)])
        self._known: tuple[list[str], tuple[str, ...]] = [], ()
        self.key = ""
        self.round = 0  # how often its key had been left behind when it was computed
        self.entered: Stack | None = None  # the last one that had it on top; most launches are like the one before
        self.refresh()

    def refresh(self, *, inside: bool = True) -> None:
        """Takes up libraries that were built again, and Python functions that do something else now.

        Args:
            inside: look at objects that the functions read, not only at which objects they are.
        """
        libraries = [load_library(item.extension) for item in self._passes]
        known = [library.digest for library in libraries], self.watch.fingerprints(inside=inside)
        is_left = inside and self.round != _left_behind.get(self.key, 0)
        if self.key and known == self._known and not is_left:
            return
        global _generation  # noqa: PLW0603
        from .execution import Layer

        loaded = dict(zip(self._passes, libraries, strict=True))
        layer = Layer(self.edits, {item: library.add[item.name] for item, library in loaded.items()})
        digests = {item: library.digest for item, library in loaded.items()}
        identity = [load_infra(), own_code(), known[1], [_edit_key(edit, digests) for edit in self.edits]]
        with _lock:
            self.key = hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:32]
            self.round = _left_behind.get(self.key, 0)
            self.layer = layer
            self._known = known
            _generation += 1

    def follow(self) -> None:
        """Takes up Python functions that do something else because a variable has been assigned."""
        if self.watch.fingerprints(inside=False) != self._known[1]:
            self.refresh(inside=False)

    def drift(self) -> str:
        """What has changed in place since the key was computed, for the key on disk.

        A launch has asked for the kernel already, without it, and will keep the kernel under the key in memory. So
        that key is for this block only: whoever computes it later, in this process, gets another one.
        """
        drift = self.watch.drift()
        if drift:
            with _lock:
                _left_behind[self.key] = max(_left_behind.get(self.key, 0), self.round + 1)
        return drift


def _edit_key(edit: Edit, digests: dict[Pass, str]) -> list[object]:
    entries = [_entry_key(entry, digests) for entry in edit.entries]
    return [edit.verb, edit.stage, str(edit.anchor), entries, edit.arguments, edit.on_missing]


def _entry_key(entry: Entry, digests: dict[Pass, str]) -> list[object]:
    if isinstance(entry, PythonPass):
        return ["python"]  # which one, `fingerprints` says
    if isinstance(entry, BuiltinPass):
        return ["builtin", entry.name, entry.args]
    return ["pass", entry.name, entry.args, digests[entry]]


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
    compilation: Compilation | None = None

    @property
    def stages(self) -> tuple[StageRecord, ...]:
        """What ran so far."""
        return tuple(self.compilation.records) if self.compilation else ()


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
        self.answered: _Answer | None = None
        self.generation = -1
        self.update()

    def update(self) -> None:
        """Computes the answer anew, and the layers that it speaks of with it."""
        with _lock:
            keys = [active.key for active in self.active if active.edits]
            layers = tuple(active.layer for active in self.active)
            rounds = "".join(f"/{active.key}:{active.round}" for active in self.active if active.round)
            generation = _generation
        if self.observer:
            keys.append(self.observer.nonce)
        # Empty outside of any pipeline: such a kernel has the key that it has without us.
        self.state = "triton-ext:" + "+".join(keys) if keys else "", layers, rounds
        self.generation = generation


_NOTHING = Stack(())
_stack: contextvars.ContextVar[Stack] = contextvars.ContextVar("triton_ext_pipelines", default=_NOTHING)
_installed = _NOTHING  # for the whole process, outside of every block
_pending: list[Callable[[], Iterable[Active]]] = []  # installed, but not loaded yet


def enter(active: Active, *, by_use: bool = False) -> None:
    """Makes a pipeline the innermost one of this thread.

    Args:
        active: the pipeline.
        by_use: it is one that ``@tx.use`` put on the kernel that this thread is about to compile.
    """
    if _runtime is None:
        _take_slot()
    outer, known = _stack.get(), active.entered
    used = (*outer.used, active) if by_use else outer.used
    if known is None or known.outer is not outer or known.generation != _generation or known.used != used:
        known = Stack((*outer.active, active), outer, outer.observer, outer.installed, used, entered_by=active)
        active.entered = known
    _stack.set(known)


def leave(active: Active) -> None:
    """Ends a pipeline of this thread, which has to be the innermost one.

    Raises:
        PipelineError: it is not. It is ended all the same if it is active, and those that were entered later stay.
    """
    stack = _stack.get()
    if stack.entered_by is active and stack.outer is not None:
        _stack.set(stack.outer)
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
    _stack.set(kept)
    inner = ", ".join(f"'{text_of_edits(frame.entered_by.edits)}'" for frame in later if frame.entered_by)
    raise PipelineError(
        f"the pipeline '{name}' ends before {inner or 'the observation inside of it'}, entered after it and still "
        "active: pipelines end in the reverse of the order in which they were entered",
        fix="use a with statement or contextlib.ExitStack",
    )


def observe(observer: Observer) -> contextvars.Token[Stack]:
    """Compilations of this thread report to `observer` until `_stack` is reset."""
    _take_slot()
    outer = _stack.get()
    return _stack.set(Stack(outer.active, outer, observer, outer.installed, outer.used))


def _here() -> tuple[Stack, Stack]:
    """The pipelines of this thread, and those of the process that are active in it."""
    stack = _with_kernel(_stack.get()) if _is_used else _stack.get()
    return stack, stack.installed or _installed


_is_used = False  # whether there is a kernel under @tx.use


def follow_used_kernels() -> None:
    """From now on a kernel under ``@tx.use`` has its pipelines where it is given to `triton.compile`, too."""
    global _is_used  # noqa: PLW0603
    _is_used = True
    _take_slot()


def _with_kernel(stack: Stack) -> Stack:
    """`stack` with the pipelines that ``@tx.use`` put on the kernel that is being compiled, inside of all others.

    A launch has entered them already.
    """
    for pipeline in getattr(_kernel_being_compiled(), "triton_ext_pipelines", ()):
        active = pipeline._active()
        if active not in stack.used:
            used = (*stack.used, active)
            stack = Stack((*stack.active, active), stack, stack.observer, stack.installed, used)
    return stack


def _kernel_being_compiled() -> object:
    """The kernel that `triton.compile` was given, of the innermost call of it; None in a launch, or if it has none."""
    frame: Any = sys._getframe(1)
    launch, compiling = _launch_code(), _compile_code()
    while frame is not None and frame.f_code is not launch:
        if frame.f_code is compiling:
            return getattr(frame.f_locals.get("src"), "fn", None)
        frame = frame.f_back
    return None


def stop_observing(token: contextvars.Token[Stack]) -> None:
    """Ends `observe`."""
    _stack.reset(token)


def install(active: Active) -> None:
    """Makes a pipeline active in every thread, inside of those that were installed before."""
    global _installed  # noqa: PLW0603
    _take_slot()
    with _lock:
        _load_pending()
        _installed = Stack((*_installed.active, active))


def install_later(load: Callable[[], Iterable[Active]]) -> None:
    """Installs what `load` returns when the slot is next read: passes cannot be loaded while Triton is imported."""
    with _lock:
        _pending.append(load)
    _take_slot()


def uninstall(active: Active) -> bool:
    """Takes back one `install`, the last one of it; False if there was none."""
    global _installed  # noqa: PLW0603
    with _lock:
        layers = list(_installed.active)
        for i in reversed(range(len(layers))):
            if layers[i] is active:
                del layers[i]
                _installed = Stack(tuple(layers))  # if empty another one each time: see _Slot.__get__
                _thread.empty = _installed
                return True
    return False


def active_edits() -> tuple[Edit, ...]:
    """The edits of every pipeline that is active here, outermost first."""
    _load_pending()
    stack, installed = _here()
    return tuple(edit for active in (*installed.active, *stack.active) for edit in active.edits)


def _load_pending() -> None:
    global _installed  # noqa: PLW0603
    with _lock:
        while _pending:
            parse_one_at_a_time()
            _installed = Stack((*_installed.active, *_pending[0]()))
            del _pending[0]


class _Answer(NamedTuple):
    """What the hook said when it was asked for a key, and the layers that the key is of."""

    key: tuple[str, str]
    stack: Stack
    installed: Stack
    generation: int
    layers: tuple[Layer, ...]  # outermost first


class _Thread(threading.local):
    empty = _NOTHING  # the last empty `_installed` that this thread knows of
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
        if _thread.nested:
            return (self.user(*args, **kwargs) if self.user else None) or ("", "")
        stack, installed = _here()
        if not _installed.active:
            _thread.empty = _installed
        answer = self._answer(stack, installed) if not args and not kwargs else None
        theirs = ("", "")
        if self.user is not None:
            global _running  # noqa: PLW0603
            with _lock:
                _running += 1
            _thread.nested = True
            try:
                theirs = self.user(*args, **kwargs) or theirs
            finally:
                _thread.nested = False
                with _lock:
                    _running -= 1
        stages = args[1] if len(args) > 1 else kwargs.get("stages")
        if stages is not None:
            self._edit(args[0] if args else kwargs.get("self", kwargs.get("backend")), stages, stack, installed)
        ours = answer.key[0] if answer else installed.state[0] + stack.state[0]
        return ours + theirs[0], ours + theirs[1]

    def _answer(self, stack: Stack, installed: Stack) -> _Answer:
        """The key of the pipelines as they are now."""
        follow_names()
        drift = ""
        if time.monotonic() >= _next_check:
            self._recheck((*installed.active, *stack.active))
        watching = (*installed.watching, *stack.watching)
        is_compiling = bool(watching) and _is_asked_by_compile()
        for active in watching:
            active.follow()
            if is_compiling:  # the key on disk outlives the process
                drift += active.drift()
        generation = _generation
        for one in (stack, installed):
            if one.generation != generation:
                one.update()
        text = installed.state[0] + stack.state[0]
        text += drift if is_compiling else installed.state[2] + stack.state[2]
        answer = _Answer((text, text), stack, installed, generation, installed.state[1] + stack.state[1])
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
        from . import execution
        from .targets import for_target

        # In a compilation those that its key is of, whatever another thread has installed or built again since.
        layers = _thread.answered if _is_asked_by_compile(at_once=False) else installed.state[1] + stack.state[1]
        layers = layers[::-1]
        observer = stack.observer
        if observer is None and not any(layer.edits for layer in layers):
            return
        layers = for_target(layers, backend.target)
        execution.install_proxies(backend)
        compilation = execution.Compilation(layers, observer.level if observer else None)
        if observer is not None:
            observer.compilation = compilation
        compilation.wrap(stages, backend)


_hook = _Hook(None)


def _quick_hook(*args: Any, **kwargs: Any) -> tuple[str, str]:
    """What the slot reads as where the user has no hook: `_hook`, or what that said last; every launch calls this."""
    if not args and not kwargs:
        stack = _stack.get()
        known = stack.answered
        if (
            known is not None
            and known.installed is (stack.installed or _installed)
            and known.generation == _generation
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
        user = instance.__dict__.get(_SLOT)
        if _pending:
            _load_pending()
        installed = _installed
        is_borne = _is_used and hasattr(_kernel_being_compiled(), "triton_ext_pipelines")
        # If empty, but not known here, then Triton may be between its two reads, or between key and stages, and another
        # thread has just uninstalled the last pipeline.
        if not is_borne and not installed.active and _thread.empty is installed and _stack.get() is _NOTHING:
            _thread.answered = ()
            return user
        if user is None:
            return _hook if is_borne else _quick_hook
        if self._hook.user is not user:
            self._hook = _Hook(user)
        return self._hook

    def __set__(self, instance: Any, hook: Any) -> None:
        user = None if hook is _quick_hook else hook.user if isinstance(hook, _Hook) else hook
        instance.__dict__[_SLOT] = user

    def __delete__(self, instance: Any) -> None:
        instance.__dict__.pop(_SLOT, None)


_runtime: Any = None  # triton.knobs.runtime, once the slot is ours


@functools.cache
def _compile_code() -> object:
    from triton.compiler import compiler

    return compiler.compile.__code__


@functools.cache
def _launch_code() -> object:
    from triton.runtime.jit import JITFunction

    return JITFunction.run.__code__


def _is_asked_by_compile(*, at_once: bool = True) -> bool:
    """Whether who called the hook is `triton.compile`, and not a launch, which only looks into the memory.

    Args:
        at_once: it and not something, such as `add_stages`, that it has called.
    """
    frame: Any = sys._getframe()
    while frame is not None and frame.f_globals is globals():
        frame = frame.f_back
    while frame is not None and not at_once and frame.f_code is not _compile_code():
        frame = frame.f_back
    return frame is not None and frame.f_code is _compile_code()


def _take_slot() -> None:
    """Puts the descriptor in place, once; with no pipeline active it is as if it were not there."""
    global _runtime  # noqa: PLW0603
    if _runtime is not None:
        return
    with _lock:
        from triton import knobs

        if _runtime is None:
            _runtime = knobs.runtime
            setattr(type(_runtime), _SLOT, _Slot())
            _follow_async_compilation()
    if not _pending:  # else Triton is being imported
        parse_one_at_a_time()


def _follow_async_compilation() -> None:
    """Threads that Triton compiles in see the pipelines of the thread that asked for the kernel.

    `AsyncCompileMode` finds kernels that are under way by a key which the hook has no part in, so it gets one.
    """
    from triton.runtime._async_compile import AsyncCompileMode

    submit = AsyncCompileMode.submit

    def submit_here(self: Any, key: str, compile_fn: Callable[[], Any], *rest: Any) -> Any:
        stack, installed = _here()
        there = Stack(stack.active, stack, stack.observer, installed, stack.used)

        def compile_there() -> Any:
            before = _stack.set(there)
            try:
                return compile_fn()
            finally:
                _stack.reset(before)

        ours = "".join(one.state[0] + one.state[2] for one in (installed, stack))
        return submit(self, key + ours, compile_there, *rest)

    AsyncCompileMode.submit = submit_here
