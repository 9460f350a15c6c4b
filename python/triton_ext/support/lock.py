# SPDX-License-Identifier: Apache-2.0
"""One process at a time."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from filelock import FileLock, Timeout


@contextlib.contextmanager
def alone(lock: Path, say: Callable[[str], object], waiting: str) -> Iterator[None]:
    """Holds the lock file `lock`, after saying `waiting` once if another process or thread has it."""
    held = FileLock(lock)
    try:
        held.acquire(timeout=0)
    except Timeout:
        say(waiting)
        held.acquire()
    try:
        yield
    finally:
        held.release()
