# SPDX-License-Identifier: Apache-2.0
"""Extend the Triton compiler that pip installed.

``tx.extensions()`` lists the extensions, ``tx.passes.<stage>.<name>(...)`` makes a pass, `tx.Pipeline` places it.
Modules are imported and libraries are loaded when they are first used.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING

from .keys.builtins import follow_builtins

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

    from . import builtin, language, layouts, passes, target
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
    from .pipeline.pipeline import Pipeline
    from .pipeline.used_kernels import use
    from .searching import found, search, space
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
    "Pipeline": "pipeline.pipeline",
    "use": "pipeline.used_kernels",
    **dict.fromkeys(("autotune", "product", "sweep"), "tuning"),
    **dict.fromkeys(("found", "search", "space"), "searching"),
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
    "found",
    "language",
    "layouts",
    "load",
    "opt",
    "passes",
    "product",
    "search",
    "space",
    "sweep",
    "target",
    "trace",
    "use",
]


def __getattr__(name: str) -> object:
    follow_builtins()
    if name in ("builtin", "language", "layouts", "passes", "target") or _Api.is_brought(name):
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
    """Finds ``triton_ext.<name>``, the module ``api.py`` or the package ``api`` of a backend, dialect or pass."""

    @staticmethod
    def is_brought(name: str) -> bool:
        """Whether there is a backend, a dialect or a pass `name` that has such a module."""
        from .backends import api_file

        return name not in _HOME and name.isidentifier() and api_file(name) is not None

    @classmethod
    def find_spec(cls, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:  # noqa: ARG003
        """Returns the spec of such a module; Python calls this for every module that it does not find itself."""
        parent, _, name = fullname.rpartition(".")
        if parent != __name__ or not cls.is_brought(name):
            return None
        from importlib.util import spec_from_file_location

        from .backends import api_file

        return spec_from_file_location(fullname, api_file(name))


sys.meta_path.append(_Api)


follow_builtins()  # for a Triton that was imported before, with TRITON_BACKENDS_IN_TREE=1: it does not import us
