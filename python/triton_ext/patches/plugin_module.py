# SPDX-License-Identifier: Apache-2.0
"""Extends libtriton's module ``passes.plugin``, into which Triton binds ``add_<name>`` for each pass of a plugin."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from .table import expected

_thread = threading.local()


def _module() -> Any:
    from triton._C import libtriton

    module = expected("plugin_module", expected("plugin_module", libtriton, "passes"), "plugin")
    expected("plugin_module", module, "extend_with")
    return module


def answer_for_missing(function_for: Callable[[str], Any], names: Callable[[], Iterable[str]]) -> None:
    """Has the module return ``function_for(name)`` for an ``add_<name>`` that Triton has not bound.

    Args:
        function_for: returns the function that adds the pass; raises AttributeError if there is no such pass.
        names: returns the names of all such passes, for ``dir``.

    Raises:
        TritonExtError: Triton differs from what the patch expects.
    """
    module = _module()
    if "__getattr__" in vars(module):
        return
    extend_with = module.extend_with

    @functools.wraps(extend_with)
    def extend_as_before(path: str) -> None:
        # nanobind asks the module whether the name exists already, and ends the process if it is a Python function.
        _thread.extending = True
        try:
            extend_with(path)
        finally:
            _thread.extending = False

    def answer(attribute: str) -> Any:
        if not attribute.startswith("add_") or getattr(_thread, "extending", False):
            raise AttributeError(f"module 'triton._C.libtriton.passes.plugin' has no attribute '{attribute}'")
        return function_for(attribute.removeprefix("add_"))

    module.extend_with = extend_as_before
    module.__getattr__ = answer
    module.__dir__ = lambda: sorted({*vars(module), *(f"add_{name}" for name in names())})


@contextmanager
def without(names: Iterable[str]) -> Iterator[None]:
    """Takes ``add_<name>`` out of the module within the block, so that a library is not bound as an overload."""
    bound = vars(_module())
    before = {f"add_{name}": bound.pop(f"add_{name}") for name in names if f"add_{name}" in bound}
    try:
        yield
    finally:
        bound.update(before)


def bind(library: str) -> None:
    """Has Triton bind the passes of `library`.

    Raises:
        RuntimeError: Triton cannot load it.
        TritonExtError: Triton differs from what the patch expects.
    """
    _module().extend_with(library)


def take(name: str) -> Any:
    """Takes the function that Triton has bound to ``add_<name>`` out of the module, and returns it.

    Raises:
        KeyError: Triton has bound no such function.
    """
    return vars(_module()).pop(f"add_{name}")


def names_bound(prefix: str) -> list[str]:
    """Returns ``<name>`` of each ``add_<name>`` in the module, if it begins with `prefix`."""
    return [name.removeprefix("add_") for name in vars(_module()) if name.startswith(f"add_{prefix}")]
