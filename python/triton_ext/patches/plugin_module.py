# SPDX-License-Identifier: Apache-2.0
"""libtriton's module ``passes.plugin``, into which Triton binds ``add_<name>`` for each pass of a plugin."""

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
    """Has the module give ``function_for(name)`` for each ``add_<name>`` that nothing is bound to.

    Args:
        function_for: raises AttributeError if there is no such pass.
        names: those of all such passes, for ``dir``.

    Raises:
        TritonExtError: Triton is not as expected.
    """
    module = _module()
    if "__getattr__" in vars(module):
        return
    extend_with = module.extend_with

    @functools.wraps(extend_with)
    def extend_as_before(path: str) -> None:
        # nanobind asks the module what it overloads, and ends the process if that is not a function of its own.
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
    """Within the block nothing is bound to ``add_<name>``, so that a library is bound anew and not as an overload."""
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
        TritonExtError: Triton is not as expected.
    """
    _module().extend_with(library)


def take(name: str) -> Any:
    """Takes the function that Triton has bound to ``add_<name>`` out of the module.

    Raises:
        KeyError: there is none.
    """
    return vars(_module()).pop(f"add_{name}")


def names_bound(prefix: str) -> list[str]:
    """The names behind ``add_`` that begin with `prefix` and have a function."""
    return [name.removeprefix("add_") for name in vars(_module()) if name.startswith(f"add_{prefix}")]
