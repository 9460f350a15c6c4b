# SPDX-License-Identifier: Apache-2.0
"""`functools.cache` for what a process must do once, even if several threads ask for it first at the same time."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")


def once(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Returns `function` with its results cached; while one thread computes one, others wait.

    `functools.cache` alone computes a result in each thread that asks before there is one, and keeps the last. For
    example, two threads would load a library twice, and only one would find its passes.
    """
    cached, lock = functools.cache(function), threading.RLock()

    @functools.wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        with lock:
            return cached(*args, **kwargs)  # type: ignore[arg-type]  # a caller passes what can be hashed

    return call
