# SPDX-License-Identifier: Apache-2.0
"""Loads the dialects of extensions that options of passes name, as ``layout=#dialect.name<...>`` does.

A pass reads such an option in the context of its module, which has the dialect only if the library was loaded before
the context was set up. What the attribute means is in that library, so its bytes belong to the key of the pipeline.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

from ..loading import named_dialects
from ..loading.discovery import search_path
from ..loading.loader import load_library


def digests(args: Iterable[str]) -> dict[str, str]:
    """Loads the libraries of the dialects that `args` name, and returns the digest of each.

    Args:
        args: options of passes, as MLIR spells them.

    Returns:
        By dialect, the SHA-256 of its library. Dialects inside Triton and names that nobody has are left out.

    Raises:
        TritonExtError: a library cannot be used.
    """
    found = {name: _load(name, search_path()) for name in named_dialects.names(args)}
    return {name: digest for name, digest in found.items() if digest}


@functools.cache
def _load(dialect: str, _where: tuple[object, ...]) -> str:
    """Returns the digest; a process keeps the library that it has, as MLIR keeps the first dialect of a name."""
    extension = named_dialects.find(dialect)
    return load_library(extension).digest if extension else ""
