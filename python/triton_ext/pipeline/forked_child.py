# SPDX-License-Identifier: Apache-2.0
"""Runs a function in a forked child, so that this process survives a crash and can report it."""

from __future__ import annotations

import math
import os
import pickle
import select
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any

from ..errors import TritonExtError
from ..support import scratch
from ..support.process_tree import end_with_parent
from . import crash_reports

#: The environment variable with the seconds after which a child counts as hung; without it there is no limit.
LIMIT = "TRITON_EXT_ISOLATE_SECONDS"
_is_child = False


def is_child() -> bool:
    """Whether this process is such a child."""
    return _is_child


@dataclass(frozen=True)
class Child:
    """How a child ended.

    Attributes:
        answer: what the function returned; None if the child died.
        ended: how the child died, e.g. ``crashed (SIGSEGV)``; empty if it did not die.
        said: what the child wrote to standard error.
        place: what it was compiling when it died; None if it was not compiling.
    """

    answer: Any
    ended: str = ""
    said: str = ""
    place: crash_reports.Place | None = None


def in_child(work: Callable[[], Any]) -> Child:
    """Runs `work` in a forked child, and copies what the child writes to standard error.

    Args:
        work: the function; its result must pickle.

    Returns:
        How the child ended.

    Raises:
        TritonExtError: the variable `LIMIT` is malformed.
    """
    limit = _limit()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    with scratch.scratch_file() as answer, scratch.scratch_file() as errors, scratch.scratch_file() as place:
        parent = os.getpid()
        with warnings.catch_warnings():
            # Python warns that locks of other threads may be held in the child. The child uses none of these objects,
            # and no GPU.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            _be_child(work, parent, answer, errors, place)
        status: int | None = None
        try:
            status = _wait(child, limit)
            hangs = status is None
        finally:
            if status is None:
                os.kill(child, signal.SIGKILL)
                status = os.waitpid(child, 0)[1]
        said, content, last = (_all_of(file) for file in (errors, answer, place))
    os.write(2, said) if said else None
    code = os.waitstatus_to_exitcode(status)
    text = said.decode(errors="replace")
    if code == 0 and content:
        return Child(pickle.loads(content), said=text)
    if hangs:
        ended = f"did not end within {limit:g} s ({LIMIT})"
    else:
        ended = f"crashed ({_signal_name(-code)})" if code < 0 else f"ended its process (exit code {code})"
    return Child(None, ended, text, crash_reports.Place.parse(last))


def _signal_name(number: int) -> str:
    """Returns e.g. ``SIGSEGV``, or ``signal 40`` for a real-time signal, because most of them have no name."""
    return next((known.name for known in signal.Signals if known == number), f"signal {number}")


def _all_of(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


def _limit() -> float | None:
    """Returns the seconds after which a child counts as hung; None if there is no limit.

    Raises:
        TritonExtError: the variable `LIMIT` is not a number above zero.
    """
    value = os.environ.get(LIMIT, "")
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= threading.TIMEOUT_MAX:
        raise TritonExtError(f"{LIMIT}={value}: expected a number of seconds, above 0", fix=f"{LIMIT}=60")
    return seconds


def _wait(child: int, limit: float | None) -> int | None:
    """Waits for `child` to end, and returns its status; None if that takes more than `limit` seconds."""
    descriptor = os.pidfd_open(child)
    try:
        if not select.select([descriptor], [], [], limit)[0]:
            return None
    finally:
        os.close(descriptor)
    return os.waitpid(child, 0)[1]


def _be_child(work: Callable[[], Any], parent: int, answer: IO[bytes], errors: IO[bytes], place: IO[bytes]) -> None:
    """Runs `work` and ends the process in any case, without the parent's exit handlers and ``finally`` blocks."""
    global _is_child  # noqa: PLW0603
    code = 1
    try:
        _is_child = True
        end_with_parent()
        if os.getppid() == parent:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C reaches the parent, too, which reports it
            os.dup2(errors.fileno(), 2)
            crash_reports.publish(place.fileno())
            answer.write(pickle.dumps(work()))
            answer.flush()
            code = 0
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode(errors="replace"))
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)
