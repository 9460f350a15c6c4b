# SPDX-License-Identifier: Apache-2.0
"""`digest`: a hash of the code that ``passes.plugin.add_<name>`` runs, for the keys of hooks that add passes."""

from __future__ import annotations

import functools
import hashlib

from ..errors import TritonExtError
from .discovery import Extension, find_pass, search_path
from .loader import load_library


def digest(*names: str) -> str:
    """Returns a hash of the code that ``passes.plugin.add_<name>`` would run now, for the cache key of a hook.

    The key of a hook in ``knobs.runtime.add_stages_inspection_hook`` does not cover the libraries whose passes the hook
    adds, so put this hash into it. The key of a `Pipeline` covers its libraries by itself.

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
    try:
        return load_library(_found(name, search_path())).digest
    except TritonExtError:  # the file is gone, and another library may offer the pass now
        _found.cache_clear()
        return load_library(_found(name, search_path())).digest


@functools.lru_cache(maxsize=256)
def _found(name: str, _where: tuple[object, ...]) -> Extension:
    """Returns the extension that offers `name`; cached, because Triton asks a hook for its key in every launch."""
    return find_pass(name)
