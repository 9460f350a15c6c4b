# SPDX-License-Identifier: Apache-2.0
"""The actions by name: each runs in a process of its own, and returns an `Answer`."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from .answers import Answer

_MODULES = {
    "list_kernels": "documentation",
    "list_passes": "documentation",
    "describe_pass": "documentation",
    "describe_pipeline": "compiling",
    "compile_kernel": "compiling",
    "read_ir": "reading",
    "diff_ir": "reading",
    "check_kernel": "checking",
    "measure_kernel": "measuring",
    "search_space": "history",
    "search_history": "history",
}


def action(name: str) -> Callable[..., Answer]:
    """Returns the action `name`, whose module is imported now."""
    found: Callable[..., Answer] = getattr(importlib.import_module(f".{_MODULES[name]}", __package__), name)
    return found
