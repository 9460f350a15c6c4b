# SPDX-License-Identifier: Apache-2.0
"""``passes.plugin.add_<name>(manager, options)``: extension passes for those who fill a pass manager themselves.

Triton's loader binds such a function to the library that it has loaded first, for as long as the process lives. Here
the module is asked for a name that it does not have: the function that it then gives looks the pass up at each call, so
it runs the current bytes of the library that `find_pass` chooses, and fails where two libraries offer the name.
"""

from __future__ import annotations

import functools
import hashlib
import threading
from typing import TYPE_CHECKING, Any

from ..errors import ExtensionNotFoundError, TritonExtError

if TYPE_CHECKING:
    from .loader import Extension

_thread = threading.local()


def offer() -> None:
    """Makes ``passes.plugin`` offer the passes of every extension; they are looked for when one is asked for."""
    from triton._C.libtriton import passes

    module = passes.plugin
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

    module.extend_with = extend_as_before
    module.__getattr__ = _answer
    module.__dir__ = lambda: sorted({*vars(module), *_names()})


def _answer(attribute: str) -> Any:
    if not attribute.startswith("add_") or getattr(_thread, "extending", False):
        raise AttributeError(f"module 'triton._C.libtriton.passes.plugin' has no attribute '{attribute}'")
    from ..keys.guard import note_plugin_pass, unguarded
    from .loader import find_pass, load_library

    name = attribute.removeprefix("add_")
    try:
        with unguarded():  # a Python pass may ask, which is not to blame for how a library is found
            find_pass(name)
    except ExtensionNotFoundError as error:
        raise AttributeError(str(error)) from None

    def add_pass(pm: Any, args: Any = ()) -> None:
        note_plugin_pass(name)
        with unguarded():
            load_library(find_pass(name)).add[name](pm, args)

    add_pass.__name__ = add_pass.__qualname__ = attribute
    add_pass.__doc__ = (
        f"{attribute}(pm: triton._C.libtriton.ir.pass_manager, args: collections.abc.Sequence[str] = []) -> None"
    )
    return add_pass


def _names() -> list[str]:
    """Returns the names that `_answer` has a function for: one for each pass that a single library offers."""
    from .loader import extensions

    return [f"add_{name}" for e in extensions() if e.plugin and not e.problem for name in e.plugin.passes]


def digest(*names: str) -> str:
    """A text for the code that ``passes.plugin.add_<name>`` would run now, for the cache key of a hook.

    The key of a hook in ``knobs.runtime.add_stages_inspection_hook`` does not cover the libraries whose passes the hook
    adds: put this into it. The key of a `Pipeline` covers its libraries without it.

    Args:
        names: the passes that the hook adds.

    Returns:
        SHA-256, as 64 hex digits, of the libraries with these passes and of those that they need.

    Raises:
        ExtensionNotFoundError: no extension offers a pass of that name.
        DuplicateExtensionError: several do.
    """
    return hashlib.sha256(" ".join(map(_digest, names)).encode()).hexdigest()


def _digest(name: str) -> str:
    from .loader import load_library, search_path

    try:
        return load_library(_found(name, search_path())).digest
    except TritonExtError:  # the file is gone, and another library may offer the pass now
        _found.cache_clear()
        return load_library(_found(name, search_path())).digest


@functools.lru_cache(maxsize=256)
def _found(name: str, _where: tuple[object, ...]) -> Extension:
    """The extension that offers `name`: hooks are asked for their key at every launch."""
    from .loader import find_pass

    return find_pass(name)
