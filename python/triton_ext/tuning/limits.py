# SPDX-License-Identifier: Apache-2.0
"""The time that a worker may take, and how a process ends itself when it has taken longer."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from triton import knobs
from triton.runtime.driver import driver

#: Seconds that a worker may take in addition to the limits of a compilation and of a measurement.
GRACE = 10.0
#: Seconds that a process may take to start and to import a kernel.
STARTUP = 120.0

_lock = threading.Lock()
_limits: dict[object, float] = {}


def _arm() -> None:
    if not _limits:
        faulthandler.cancel_dump_traceback_later()
        return
    left = max(0.001, min(_limits.values()) - time.monotonic())
    try:
        faulthandler.dump_traceback_later(left, exit=True)
    except (AttributeError, OSError, RuntimeError, ValueError):  # standard error is not a file
        # Stays open as long as the process, because the thread may write to it at any time.
        global _nowhere  # noqa: PLW0603
        _nowhere = _nowhere or open(os.devnull, "w")  # noqa: SIM115
        faulthandler.dump_traceback_later(left, exit=True, file=_nowhere)


_nowhere: Any = None


@contextmanager
def ends_process_after(seconds: float | None) -> Iterator[None]:
    """Ends this process, which is a worker, if the block takes longer than `seconds`; None for no limit.

    Nothing else ends a kernel on a GPU that never returns, or a pass that never returns and holds the interpreter's
    lock. A thread in C keeps the time, which needs no lock. Python has one such thread for the process, so it gets the
    earliest limit of all jobs.
    """
    if seconds is None:
        yield
        return
    this = object()
    with _lock:
        _limits[this] = time.monotonic() + seconds
        _arm()
    try:
        yield
    finally:
        with _lock:
            del _limits[this]
            _arm()


def launches_end_after(seconds: float | None) -> contextlib.AbstractContextManager[None]:
    """Ends launches of this thread after `seconds` if the device can: a CPU can, between two programs."""
    limit = getattr(driver.active, "time_limit", None) if seconds is not None and not knobs.runtime.interpret else None
    return contextlib.nullcontext() if limit is None else limit(seconds)
