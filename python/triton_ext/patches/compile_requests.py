# SPDX-License-Identifier: Apache-2.0
"""What `triton.compile` is asked for, where it calls the hook.

Launches call the same hook, and it gets no argument that would tell which of them asks. `triton.compile` computes its
key with ``get_cache_key``, asks the hook to complete it, looks it up with ``get_cache_manager``, and may then have the
backend add its stages, which calls the hook again. These functions are wrapped, and note the request for this thread.
"""

from __future__ import annotations

import functools
import threading
from dataclasses import dataclass
from typing import Any

from .table import expected

_NOTE = "triton_ext_request"


@dataclass(frozen=True, eq=False)
class Request:
    """What one call of `triton.compile` is for.

    Attributes:
        source: the ``ASTSource`` or ``IRSource``.
        options: of the backend, as that has parsed them.
        variables: the environment variables that Triton's key has.
        key: Triton's key, without what hooks add.
    """

    source: Any
    options: Any
    variables: dict[str, Any]
    key: str


class _Thread(threading.local):
    keyed: Request | None = None  # its key has been computed, and has not been looked up yet
    adding: Request | None = None  # its backend is adding the stages


_thread = _Thread()


@functools.cache
def follow_requests() -> None:
    """From now on `being_keyed` and `being_compiled` know.

    Raises:
        TritonExtError: Triton is not as expected.
    """
    from triton.compiler import compiler

    parameters = ("src", "backend", "backend_options", "env_vars")
    get_cache_key = expected("compile_requests", compiler, "get_cache_key", parameters)
    get_cache_manager = expected("compile_requests", compiler, "get_cache_manager", ("key",))

    @functools.wraps(get_cache_key)
    def get_and_note(src: Any, backend: Any, backend_options: Any, env_vars: Any) -> Any:
        key = get_cache_key(src, backend, backend_options, env_vars)
        request = Request(src, backend_options, env_vars, key)
        _note_stages(type(backend))
        vars(backend)[_NOTE] = request  # triton.compile makes a backend for each call
        _thread.keyed = request
        return key

    @functools.wraps(get_cache_manager)
    def get_manager(*args: Any, **kwargs: Any) -> Any:
        _thread.keyed = None
        return get_cache_manager(*args, **kwargs)

    compiler.get_cache_key, compiler.get_cache_manager = get_and_note, get_manager


_lock = threading.Lock()
_noting: set[type] = set()  # the classes whose `add_stages` is wrapped


def _note_stages(backend_class: type) -> None:
    with _lock:
        if backend_class not in _noting:
            _wrap_add_stages(backend_class)
            _noting.add(backend_class)


def _wrap_add_stages(backend_class: type) -> None:
    add_stages = expected("compile_requests", backend_class, "add_stages")

    @functools.wraps(add_stages)
    def add_and_note(self: Any, stages: Any, options: Any, *rest: Any, **named: Any) -> Any:
        request, outer = vars(self).get(_NOTE), _thread.adding
        _thread.adding = request if request is not None and request.options is options else None
        try:
            return add_stages(self, stages, options, *rest, **named)
        finally:
            _thread.adding = outer

    backend_class.add_stages = add_and_note  # type: ignore[attr-defined]


def being_keyed() -> Request | None:
    """The compilation that asks the hook to complete its key."""
    return _thread.keyed


def key_is_complete() -> None:
    """Says that the hook is not going to be asked for it again."""
    _thread.keyed = None


def being_compiled() -> Request | None:
    """The compilation that asks the hook for the first or the second time; None if it is a launch that asks."""
    return _thread.keyed or _thread.adding


def adding_stages() -> Request | None:
    """The compilation whose backend adds its stages."""
    return _thread.adding
