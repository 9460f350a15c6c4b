# SPDX-License-Identifier: Apache-2.0
"""Notes what a Python pass opens, runs or connects to, itself or through a library.

Claim: no kernel in the cache depends on a file that its key does not cover. A kernel gets into the cache only after its
passes have run once, and that run is watched. Example: a pass calls a function of an installed package that reads a
configuration file. The code of the pass does not show it, but the event does, and the compilation fails. What a pass
writes is not an input and is allowed.

The events are those of Python's audit hooks, which a process cannot remove; ours is added when the first pass is
watched. Threads that a pass starts are watched, too.

The hook reads stack frames. Claim: only the stack shows which functions are running, of which one with an attribute
``cache_key`` excuses the event, and which two are innermost, because Python itself opens modules. Reason: an audit
event carries no caller; any function of the user may have a ``cache_key`` and be called through any reference, so it
cannot be replaced by a wrapper; and a library may open files from C code. Example: a pass calls ``partial(read,
"t.csv")``, where ``read`` has a ``cache_key`` with the digest of the file and calls ``numpy.loadtxt``.
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
#: C functions that read what the events report; `ctypes` can call them directly.
_READ_IN_C = ("getenv", "secure_getenv", "fopen", "fopen64", "open", "open64", "openat")
#: Modules that open a file to import it.
_IMPORTERS = ("importlib._bootstrap_external", "_frozen_importlib_external", "zipimport")
_LIBRARIES = (*INSTALLED, sysconfig.get_path("stdlib"))
#: A message, and the code that was running: an attribute ``cache_key`` of a function excuses what is read while it
#: runs.
Seen = tuple[str, frozenset[CodeType]]
_thread = threading.local()
#: By thread that a watched thread has started, the list in which the watched thread notes events.
_started: WeakKeyDictionary[threading.Thread, list[Seen]] = WeakKeyDictionary()
#: The code that was running when a watched thread started another.
_behind: WeakKeyDictionary[threading.Thread, frozenset[CodeType]] = WeakKeyDictionary()


class Guard:
    """``with Guard(function):`` notes what this thread, and threads that it starts, read outside of the program.

    Args:
        function: the function that runs in the block.
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
        """The message about the first read that no cache key covers, with the way out; None if there is none."""
        if not self._seen:
            return None
        declaring = declaring_code(self.function)
        return next((text for text, code in self._seen if declaring.isdisjoint(code)), None)


@contextlib.contextmanager
def unguarded() -> Iterator[None]:
    """Has a `Guard` ignore the block, whose code does not belong to the function that it watches."""
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
    """Returns the list in which events of this thread are noted; None if it is not watched."""
    try:
        seen: list[Seen] | None = _thread.seen
    except AttributeError:  # this thread has not entered a guard
        return _started.get(threading.current_thread()) if _started else None
    return seen


def note_plugin_pass(name: str) -> None:
    """Notes that a watched function adds the pass `name` of a library to a pass manager that it has made."""
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
    if seen is not None and not (event == "open" and _is_harmless(*arguments)):
        seen.append((f"{_EVENTS[event].format(*arguments)}, which is in no cache key; {WAY_OUT}", _running()))


def _running() -> frozenset[CodeType]:
    """Returns the code on this thread's stack, and on the stacks that started this thread, at that time."""
    code = set(_behind.get(threading.current_thread(), ()) if _behind else ())
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code.add(frame.f_code)
        frame = frame.f_back
    return frozenset(code)


def _is_harmless(path: object, mode: object, flags: int) -> bool:  # noqa: ARG001 - the arguments of the event
    """Whether a file is opened to write, or is code that Python imports or shows."""
    if flags & os.O_ACCMODE == os.O_WRONLY or flags & (os.O_TRUNC | os.O_EXCL):
        return True
    text = os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else ""
    if text == os.devnull or text.startswith(_LIBRARIES):
        return True
    frame = sys._getframe(2)  # the function that opens the file
    opener, caller = (str(one.f_globals.get("__name__")) if one else "" for one in (frame, frame.f_back))
    return opener in _IMPORTERS or (opener, caller) == ("tokenize", "linecache")  # a traceback shows lines of code
