# SPDX-License-Identifier: Apache-2.0
"""A backend that supports nothing.

Importing it applies ``TRITON_EXT_PIPELINE`` and offers ``passes.plugin.add_*``; asking it completes kernels' keys.
"""

from __future__ import annotations

import os
import warnings
from types import ModuleType

from triton.backends.compiler import BaseBackend, GPUTarget, Language

from triton_ext.errors import TritonExtError
from triton_ext.keys.builtins import follow_builtins
from triton_ext.loading import plugin_passes
from triton_ext.patches.compile_requests import follow_requests


class NoBackend(BaseBackend):  # type: ignore[misc]
    """What Triton asks an entry point of ``triton.backends`` for."""

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:  # noqa: ARG004
        """No target at all. Triton asks at each compilation, before it makes the kernel's key."""
        follow_builtins()
        if _has_pipeline:
            follow_requests()
        return False

    def hash(self) -> str:  # noqa: D102
        raise NotImplementedError

    def parse_options(self, options: dict[str, object]) -> object:  # noqa: D102
        raise NotImplementedError

    def add_stages(self, stages: dict[str, object], options: object, language: Language) -> None:  # noqa: D102
        raise NotImplementedError

    def load_dialects(self, context: object) -> None:  # noqa: D102
        raise NotImplementedError

    def get_module_map(self) -> dict[str, ModuleType]:  # noqa: D102
        raise NotImplementedError


try:
    plugin_passes.offer()
except TritonExtError as error:  # whoever imports Triton may want nothing of triton-ext
    warnings.warn(str(error), RuntimeWarning, stacklevel=1)
_has_pipeline = bool(os.environ.get("TRITON_EXT_PIPELINE", "").strip())
if _has_pipeline:  # everybody imports this; few want more of it
    from triton_ext.pipeline.pipeline import from_environment

    from_environment()
