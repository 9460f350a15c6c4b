# SPDX-License-Identifier: Apache-2.0
"""A backend that supports no target.

Its import applies ``TRITON_EXT_PIPELINE`` and offers ``passes.plugin.add_*``. When Triton asks it for its targets, it
patches the keys of kernels, because then Triton is imported completely.
"""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Iterable
from types import ModuleType

from triton.backends.compiler import BaseBackend, GPUTarget, Language

from triton_ext.backends import offer
from triton_ext.errors import TritonExtError
from triton_ext.keys.builtins import follow_builtins
from triton_ext.patches.compile_requests import follow_requests
from triton_ext.patches.plugin_module import answer_for_missing


class NoBackend(BaseBackend):  # type: ignore[misc]
    """The compiler that an entry point of ``triton.backends`` must have."""

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:  # noqa: ARG004
        """Returns False. Triton calls this in each compilation, before it makes the kernel's key."""
        follow_builtins()
        if _has_pipeline:
            follow_requests()
        _start_extensions()
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


def _function_for(name: str) -> object:
    from triton_ext.loading.loader import function_for  # imported late: every program imports this, few use a pass

    return function_for(name)


def _names() -> Iterable[str]:
    from triton_ext.loading.loader import names

    return names()


_has_started = not any(name.startswith("TRITON_EXT_") for name in os.environ)
#: The environment variables whose extensions have been started.
_started: set[str] = set()


def _start_extensions() -> None:
    """Runs once what extensions want to be run before the first kernel, if their environment variables are set.

    If one fails, the kernel is not compiled. Each later kernel tries again, and fails until the variable is mended: a
    program that catches the first error must not run on without what the variable asks for.
    """
    global _has_started  # noqa: PLW0603 - of the process
    if _has_started:
        return
    _has_started = True  # now, because what is run may come here again
    from triton_ext.backends import import_file, startups

    try:
        for variable, file in startups().items():
            value = os.environ.get(variable, "").strip()
            if value and variable not in _started:
                import_file(file, f"triton_ext_startup_{file.stem}").start(value)
                _started.add(variable)
    except BaseException:
        _has_started = False
        raise


def _tell_extensions() -> None:
    """Tells extensions whose environment variables are set that a program imports Triton, if they want to know."""
    from triton_ext.backends import import_file, startups

    for variable, file in startups().items():
        value = os.environ.get(variable, "").strip()
        if value and "def imported(" in file.read_text():
            import_file(file, f"triton_ext_startup_{file.stem}").imported(value, _start_extensions)


for patch in (functools.partial(answer_for_missing, _function_for, _names), offer):
    try:
        patch()
    except TritonExtError as error:  # only a warning, because the program may not use triton-ext
        warnings.warn(str(error), RuntimeWarning, stacklevel=1)
_has_pipeline = bool(os.environ.get("TRITON_EXT_PIPELINE", "").strip())
if _has_pipeline:  # imported late: every program imports this module, and few set a pipeline
    from triton_ext.pipeline.pipeline import from_environment

    from_environment()
if not _has_started:
    _tell_extensions()
