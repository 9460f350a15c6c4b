# SPDX-License-Identifier: Apache-2.0
"""Extend the Triton compiler that pip installed.

``tx.extensions()`` lists what there is, ``tx.passes.<stage>.<name>(...)`` makes a pass, `tx.Pipeline` places it.
Nothing is imported or loaded before it is used.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING

from .keys.builtins import follow_builtins

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

    from . import builtin, passes
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
    if name in ("builtin", "passes") or _Api.is_of_a_backend(name):
        return importlib.import_module(f".{name}", __name__)
    if name not in _HOME:
        raise AttributeError(f"module 'triton_ext' has no attribute '{name}'")
    value: object = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    from .backends import apis

    return [*__all__, *apis(), "__version__"]


class _Api:
    """Finds ``triton_ext.<backend>``, the Python interface that a backend brings: its ``api.py``."""

    @staticmethod
    def is_of_a_backend(name: str) -> bool:
        """Whether the backend `name` brings one."""
        from .backends import api_file

        return name not in _HOME and name.isidentifier() and api_file(name) is not None

    @classmethod
    def find_spec(cls, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:  # noqa: ARG003
        """Python asks this for every module that it does not find itself."""
        parent, _, name = fullname.rpartition(".")
        if parent != __name__ or not cls.is_of_a_backend(name):
            return None
        from importlib.util import spec_from_file_location

        from .backends import api_file

        return spec_from_file_location(fullname, api_file(name))


sys.meta_path.append(_Api)


follow_builtins()  # where Triton was imported before, and does not look for backends of others
