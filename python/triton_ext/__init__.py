# SPDX-License-Identifier: Apache-2.0
"""Extend the Triton compiler that pip installed.

``tx.extensions()`` lists what there is, ``tx.passes.<stage>.<name>(...)`` makes a pass, `tx.Pipeline` places it.
Nothing is imported or loaded before it is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from .keys.builtins import follow_builtins

if TYPE_CHECKING:
    from . import builtin, linalg, passes
    from .compilation.describe import describe
    from .driver import opt
    from .errors import (
        AbiMismatchError,
        BuildError,
        DuplicateExtensionError,
        ExtensionNotFoundError,
        PipelineError,
        TritonExtError,
    )
    from .loading.discovery import Extension, extensions
    from .loading.loader import load
    from .loading.plugin_passes import digest
    from .pipeline.extension_passes import Pass
    from .pipeline.pipeline import Pipeline, use
    from .tracing import trace
    from .tuning import autotune, product, sweep

__version__ = "0.1.0"

_HOME = {
    **dict.fromkeys(
        (
            "AbiMismatchError",
            "BuildError",
            "DuplicateExtensionError",
            "ExtensionNotFoundError",
            "PipelineError",
            "TritonExtError",
        ),
        "errors",
    ),
    **dict.fromkeys(("Extension", "extensions"), "loading.discovery"),
    "load": "loading.loader",
    "describe": "compilation.describe",
    "digest": "loading.plugin_passes",
    "opt": "driver",
    "Pass": "pipeline.extension_passes",
    "trace": "tracing",
    **dict.fromkeys(("Pipeline", "use"), "pipeline.pipeline"),
    **dict.fromkeys(("autotune", "product", "sweep"), "tuning"),
}

__all__ = [
    "AbiMismatchError",
    "BuildError",
    "DuplicateExtensionError",
    "Extension",
    "ExtensionNotFoundError",
    "Pass",
    "Pipeline",
    "PipelineError",
    "TritonExtError",
    "autotune",
    "builtin",
    "describe",
    "digest",
    "extensions",
    "linalg",
    "load",
    "opt",
    "passes",
    "product",
    "sweep",
    "trace",
    "use",
]


def __getattr__(name: str) -> object:
    follow_builtins()
    if name in ("builtin", "linalg", "passes"):
        return importlib.import_module(f".{name}", __name__)
    if name not in _HOME:
        raise AttributeError(f"module 'triton_ext' has no attribute '{name}'")
    value: object = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


follow_builtins()  # where Triton was imported before, and does not look for backends of others
