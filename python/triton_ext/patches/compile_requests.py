# SPDX-License-Identifier: Apache-2.0
"""Tells the hook which call of `triton.compile` it is called for.

Launches and `triton.compile` call the same hook, with the same arguments. `triton.compile` computes its key with
``get_cache_key``, calls the hook to complete the key, looks the key up with ``get_cache_manager``, and on a miss has
the backend add its stages, which calls the hook again. These functions are wrapped: they note the request for this
thread, from ``get_cache_key`` to ``get_cache_manager``, and while stages are added.
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
    """One call of `triton.compile`.

    Attributes:
        source: the ``ASTSource`` or ``IRSource``.
        options: the options, as the backend has parsed them.
        variables: the environment variables that are part of Triton's key.
        key: Triton's key, without the part of the hook.
    """

    source: Any
    options: Any
    variables: dict[str, Any]
    key: str


class _Thread(threading.local):
    keyed: Request | None = None  # the request whose key is computed, but not looked up yet
    adding: Request | None = None  # the request whose backend is adding the stages


_thread = _Thread()


@functools.cache
def follow_requests() -> None:
    """Wraps Triton's functions, so that `being_keyed` and the others below return the request.

    Raises:
        TritonExtError: Triton differs from what the patch expects.
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
        vars(backend)[_NOTE] = request  # triton.compile makes a new backend object in each call
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
    """Returns the compilation that calls the hook to complete its key; None if a launch calls it."""
    return _thread.keyed


def key_is_complete() -> None:
    """Forgets the request of `being_keyed`: the hook has completed its key, or has failed."""
    _thread.keyed = None


def being_compiled() -> Request | None:
    """Returns the compilation that calls the hook, for its key or for its stages; None if a launch calls it."""
    return _thread.keyed or _thread.adding


def adding_stages() -> Request | None:
    """Returns the compilation whose backend is adding its stages; None if there is none."""
    return _thread.adding
