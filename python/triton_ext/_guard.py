# SPDX-License-Identifier: Apache-2.0
"""Sees what a Python pass opens, runs or connects to, whoever does it on its behalf.

A kernel is in the cache only because its passes have run once. So if that run is watched, no kernel that depends on a
file gets there; what a pass writes is nobody's input. Python tells of these events by audit hooks, which stay for as
long as the process does; this one comes with the first pass that is watched.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import sysconfig
import threading
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from ._code import INSTALLED
from .fingerprint import declares
from .outside import WAY_OUT

_EVENTS = {
    "open": "opens {0!r}", "os.listdir": "lists {0!r}", "os.scandir": "lists {0!r}", "subprocess.Popen": "runs {0!r}",
    "os.system": "runs {0!r}", "os.exec": "runs {0!r}", "os.posix_spawn": "runs {0!r}", "os.fork": "forks",
    "socket.connect": "connects to {1!r}", "sqlite3.connect": "opens {0!r}",
}  # fmt: skip
#: Who opens a file to run it.
_IMPORTERS = ("importlib._bootstrap_external", "_frozen_importlib_external", "zipimport")
_LIBRARIES = (*INSTALLED, sysconfig.get_path("stdlib"))
_thread = threading.local()


class Guard:
    """``with Guard(function):`` notes what `function` reads from outside of the program, in this thread."""

    def __init__(self, function: object) -> None:
        self.function = function
        self._seen: list[str] = []

    def __enter__(self) -> Guard:
        _listen()
        self._before = getattr(_thread, "seen", None)
        _thread.seen = self._seen
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        _thread.seen = self._before

    @property
    def problem(self) -> str | None:
        """What is wrong with what it has read; None if nothing is."""
        if not self._seen or declares(self.function):
            return None
        return f"{self._seen[0]}, which is in no cache key; {WAY_OUT}"


@contextlib.contextmanager
def unguarded() -> Iterator[None]:
    """What runs here is not that of a `Guard` around it."""
    before = getattr(_thread, "seen", None)
    _thread.seen = None
    try:
        yield
    finally:
        _thread.seen = before


@functools.cache
def _listen() -> None:
    sys.addaudithook(_note)


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if event not in _EVENTS:
        return
    seen = getattr(_thread, "seen", None)
    if seen is not None and not (event == "open" and _is_no_input(*arguments)):
        seen.append(_EVENTS[event].format(*arguments))


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
