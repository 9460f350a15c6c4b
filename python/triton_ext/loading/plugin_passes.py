# SPDX-License-Identifier: Apache-2.0
"""``passes.plugin.add_<name>(manager, options)``: extension passes for those who fill a pass manager themselves.

Triton's loader binds such a function to the library that it has loaded first, for as long as the process lives. Here
the module is asked for a name that it does not have: the function that it then gives looks the pass up at each call, so
it runs the current bytes of the library that `find_pass` chooses, and fails where two libraries offer the name.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..errors import ExtensionNotFoundError, TritonExtError
from ..patches.plugin_module import answer_for_missing

if TYPE_CHECKING:
    from .loader import Extension


def offer() -> None:
    """Makes ``passes.plugin`` offer the passes of every extension; they are looked for when one is asked for.

    Raises:
        TritonExtError: Triton is not as expected.
    """
    answer_for_missing(_function_for, _names)


def _function_for(name: str) -> Any:
    from ..keys.guard import note_plugin_pass, unguarded
    from .loader import find_pass, load_library

    try:
        with unguarded():  # a Python pass may ask, which is not to blame for how a library is found
            find_pass(name)
    except ExtensionNotFoundError as error:
        raise AttributeError(str(error)) from None

    def add_pass(pm: Any, args: Any = ()) -> None:
        note_plugin_pass(name)
        with unguarded():
            load_library(find_pass(name)).add[name](pm, args)

    attribute = f"add_{name}"
    add_pass.__name__ = add_pass.__qualname__ = attribute
    add_pass.__doc__ = (
        f"{attribute}(pm: triton._C.libtriton.ir.pass_manager, args: collections.abc.Sequence[str] = []) -> None"
    )
    return add_pass


def _names() -> Iterator[str]:
    """Yields the names that `_function_for` has a function for: one for each pass that a single library offers."""
    from .loader import extensions

    return (name for e in extensions() if e.plugin and not e.problem for name in e.plugin.passes)


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
