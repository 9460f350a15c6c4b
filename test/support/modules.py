# SPDX-License-Identifier: Apache-2.0
"""Modules that tests write. They are files, because Triton reads the source of kernels."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType


def imported(file: Path, name: str | None = None, *, register: bool = False) -> ModuleType:
    """Executes a Python file and returns its module.

    Args:
        file: the file.
        name: the name of the module; default: that of the file.
        register: whether other code can import the module by this name from now on.
    """
    spec = importlib.util.spec_from_file_location(name or file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    if register:
        sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
