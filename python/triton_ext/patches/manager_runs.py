# SPDX-License-Identifier: Apache-2.0
"""Wraps ``ir.pass_manager.run``, so that pass managers which a user's function makes are run by another function."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Callable, Iterator
from typing import Any

from triton._C.libtriton import ir

from .table import expected

Run = Callable[[Any, Any, str], None]

#: Triton's own method: ``run(manager, module, label)``.
run: Run = expected("manager_runs", ir.pass_manager, "run")
_instead: contextvars.ContextVar[Run] = contextvars.ContextVar("triton_ext_manager_run", default=run)


@contextlib.contextmanager
def through(other: Run) -> Iterator[None]:
    """Has ``manager.run(module, label)`` call ``other(manager, module, label)`` within the block, in this thread."""
    ir.pass_manager.run = _run
    token = _instead.set(other)
    try:
        yield
    finally:
        _instead.reset(token)


def _run(manager: Any, module: Any, label: str) -> None:
    _instead.get()(manager, module, label)
