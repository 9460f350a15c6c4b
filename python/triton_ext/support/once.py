# SPDX-License-Identifier: Apache-2.0
"""`functools.cache` for what a process must do once, even if several threads ask for it first at the same time."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable, Hashable
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")


def once(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Returns `function` with its results cached; while one thread computes one, others wait.

    `functools.cache` alone computes a result in each thread that asks before there is one, and keeps the last. For
    example, two threads would load a library twice, and only one would find its passes. A child that is forked while a
    thread of its parent computes does not wait for that thread, which it does not have.
    """
    results: dict[Hashable, _R] = {}
    lock = threading.RLock()

    def in_child() -> None:
        nonlocal lock
        lock = threading.RLock()

    os.register_at_fork(after_in_child=in_child)

    @functools.wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        key = (args, tuple(sorted(kwargs.items())))
        if key not in results:
            with lock:
                if key not in results:
                    results[key] = function(*args, **kwargs)
        return results[key]

    return call
