# SPDX-License-Identifier: Apache-2.0
"""Sees what a Python pass opens, runs or connects to, whoever does it on its behalf.

A kernel is in the cache only because its passes have run once. So if that run is watched, no kernel that depends on a
file gets there; what a pass writes is nobody's input. Python tells of these events by audit hooks, which stay for as
long as the process does; this one comes with the first pass that is watched. Threads that the pass starts are watched
like itself.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import sysconfig
import threading
from collections.abc import Iterator
from types import CodeType, FrameType, TracebackType
from typing import Any
from weakref import WeakKeyDictionary

from .code import INSTALLED
from .outside import WAY_OUT
from .watch import declaring_code

_EVENTS = {
    "open": "opens {0!r}", "os.listdir": "lists {0!r}", "os.scandir": "lists {0!r}", "subprocess.Popen": "runs {0!r}",
    "os.system": "runs {0!r}", "os.exec": "runs {0!r}", "os.posix_spawn": "runs {0!r}", "os.fork": "forks",
    "socket.connect": "connects to {1!r}", "sqlite3.connect": "opens {0!r}",
    "ctypes.dlsym": "calls {1!r} in C",
}  # fmt: skip
#: Functions in C that read what the events of Python would tell of.
_READ_IN_C = ("getenv", "secure_getenv", "fopen", "fopen64", "open", "open64", "openat")
#: Who opens a file to run it.
_IMPORTERS = ("importlib._bootstrap_external", "_frozen_importlib_external", "zipimport")
_LIBRARIES = (*INSTALLED, sysconfig.get_path("stdlib"))
#: What was seen, and the code that was running: an attribute ``cache_key`` excuses what is read on behalf of its owner.
Seen = tuple[str, frozenset[CodeType]]
_thread = threading.local()
#: Threads that a watched one has started, and where it notes what it sees.
_started: WeakKeyDictionary[threading.Thread, list[Seen]] = WeakKeyDictionary()
#: The code that was running when a watched thread started another.
_behind: WeakKeyDictionary[threading.Thread, frozenset[CodeType]] = WeakKeyDictionary()


class Guard:
    """``with Guard(function):`` notes what `function` reads from outside of the program.

    That is what this thread reads, and threads that it starts.
    """

    def __init__(self, function: object) -> None:
        self.function = function
        self._seen: list[Seen] = []

    def __enter__(self) -> Guard:
        _listen()
        self._before = _seen_here()
        _thread.seen = self._seen
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        _thread.seen = self._before

    @property
    def problem(self) -> str | None:
        """The first thing that was read and is in no cache key, with the way out; None if there is none."""
        if not self._seen:
            return None
        declaring = declaring_code(self.function)
        return next((text for text, code in self._seen if declaring.isdisjoint(code)), None)


@contextlib.contextmanager
def unguarded() -> Iterator[None]:
    """Within the block, nothing is noted by a `Guard` around it: the code is not the function's."""
    before = _seen_here()
    _thread.seen = None
    try:
        yield
    finally:
        _thread.seen = before


@functools.cache
def _listen() -> None:
    sys.addaudithook(_note)
    start = threading.Thread.start

    @functools.wraps(start)
    def start_watched(thread: threading.Thread) -> None:
        seen = _seen_here()
        if seen is not None:
            _started[thread] = seen
            _behind[thread] = _running()
        start(thread)

    # Python 3.11 has no audit event for it.
    threading.Thread.start = start_watched  # type: ignore[assignment, method-assign]


def _seen_here() -> list[Seen] | None:
    """Where this thread notes what it sees; None if nobody watches it."""
    try:
        seen: list[Seen] | None = _thread.seen
    except AttributeError:  # it has no guard of its own
        return _started.get(threading.current_thread()) if _started else None
    return seen


def note_plugin_pass(name: str) -> None:
    """Notes that this thread adds the pass `name` of a library to a manager of its own."""
    seen = _seen_here()
    if seen is not None:
        text = (
            f"adds the pass '{name}' with passes.plugin.add_{name}, whose library is in no cache key; place the pass "
            f"in the pipeline itself, as an entry of its own, or make tx.digest('{name}') part of the text in an "
            "attribute cache_key of the function"
        )
        seen.append((text, _running()))


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if event not in _EVENTS or (event == "ctypes.dlsym" and arguments[1] not in _READ_IN_C):
        return
    seen = _seen_here()
    if seen is not None and not (event == "open" and _is_no_input(*arguments)):
        seen.append((f"{_EVENTS[event].format(*arguments)}, which is in no cache key; {WAY_OUT}", _running()))


def _running() -> frozenset[CodeType]:
    """The code on this thread's stack, and on that of the threads that have started it."""
    code = set(_behind.get(threading.current_thread(), ()) if _behind else ())
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code.add(frame.f_code)
        frame = frame.f_back
    return frozenset(code)


def _is_no_input(path: object, mode: object, flags: int) -> bool:  # noqa: ARG001 - the arguments of the event
    """Whether a file is opened to write, or belongs to the code that runs."""
    if flags & os.O_ACCMODE == os.O_WRONLY or flags & (os.O_TRUNC | os.O_EXCL):
        return True
    text = os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else ""
    if text == os.devnull or text.startswith(_LIBRARIES):
        return True
    frame = sys._getframe(2)  # whoever opens it
    opener, caller = (str(one.f_globals.get("__name__")) if one else "" for one in (frame, frame.f_back))
    return opener in _IMPORTERS or (opener, caller) == ("tokenize", "linecache")  # which shows lines of code
