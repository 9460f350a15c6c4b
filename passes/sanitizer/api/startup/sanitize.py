# SPDX-License-Identifier: Apache-2.0
"""Applies ``TRITON_EXT_SANITIZE`` before the first kernel of a process, or before torch's first operator.

`torch.empty` may come before the first kernel, and the check `uninit` has to see it.
"""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.machinery
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from triton_ext.errors import TritonExtError


def start(value: str) -> None:
    """Begins to check the kernels of this process.

    Args:
        value: the value of the variable; ``0`` for no checks.
    """
    if value.strip() == "0":
        return
    from triton import knobs
    from triton_ext.sanitize import _process, _settings

    settings = _settings.parse(value)
    if knobs.runtime.interpret:
        warnings.warn("TRITON_INTERPRET=1: the interpreter runs no passes, so nothing is checked", stacklevel=2)
        return
    _process.start(settings)


def imported(value: str, start_all: Callable[[], None]) -> None:
    """Has the checks begin with the next operator of torch if `uninit` may be one of them.

    Args:
        value: of the variable.
        start_all: calls `start`, once Triton is imported completely.
    """
    if "uninit" not in value and "all" not in value:
        return
    if "torch" not in sys.modules:
        sys.meta_path.insert(0, _AfterTorch(start_all))
    elif _is_complete("torch"):
        _follow_operators(start_all)


def _is_complete(name: str) -> bool:
    """Whether a module is imported, and no thread is about to."""
    module = sys.modules.get(name)
    return module is not None and not getattr(module.__spec__, "_initializing", False)


def _follow_operators(start_all: Callable[[], None]) -> None:
    """Has the next operator of this thread start the checks, if Triton is imported by then."""
    from triton_ext.support.torch_operators import Following

    class Begin(Following):
        has_begun = False

        def called(self, operator: Any, args: Any, kwargs: Any) -> Any:
            if not self.has_begun and _is_complete("triton"):
                self.has_begun = True
                with contextlib.suppress(TritonExtError):  # the first kernel tries again, and fails
                    start_all()
            return operator(*args, **kwargs)

    Begin().__enter__()


class _AfterTorch(importlib.abc.MetaPathFinder):
    """Follows operators of torch as soon as it is imported."""

    def __init__(self, start_all: Callable[[], None]) -> None:
        self._start_all = start_all

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Returns the spec of torch, with a loader that follows its operators; of other modules None."""
        if fullname != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self._start_all)
        return spec


class _Loader(importlib.abc.Loader):
    """Imports torch by its own loader."""

    def __init__(self, loader: Any, start_all: Callable[[], None]) -> None:
        self._loader = loader
        self._start_all = start_all

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Returns what torch's loader does."""
        found: ModuleType | None = self._loader.create_module(spec)
        return found

    def exec_module(self, module: ModuleType) -> None:
        """Imports torch, and follows its operators from then on."""
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        _follow_operators(self._start_all)
