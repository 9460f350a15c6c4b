# SPDX-License-Identifier: Apache-2.0
"""Locks between processes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from filelock import FileLock, Timeout


@contextlib.contextmanager
def alone(lock: Path, say: Callable[[str], object], waiting: str) -> Iterator[None]:
    """Holds the lock file `lock` within the block.

    Args:
        lock: the file.
        say: is called with `waiting`, once, if another process or thread holds the lock.
        waiting: the message.
    """
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
