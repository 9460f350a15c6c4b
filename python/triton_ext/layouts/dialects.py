# SPDX-License-Identifier: Apache-2.0
"""Makes the dialects of extensions known to libTritonExtOpt.so, which reads layouts."""

from __future__ import annotations

import threading

from .. import driver
from ..loading import named_dialects
from ..loading.library_bytes import read_bytes
from .errors import LayoutError

#: The dialects that have been made known, with the digests of their libraries.
_known: dict[str, str] = {}
_lock = threading.Lock()


def load(text: str) -> None:
    """Loads the extensions with the dialects whose attributes `text` has; names that no extension has are left out.

    Raises:
        LayoutError: the library was built again after this process had loaded it.
        TritonExtError: an extension is broken.
    """
    for name in named_dialects.names([text]):
        extension = named_dialects.find(name)
        if extension is None:
            continue
        with _lock:
            if name not in _known:
                _known[name] = driver.register(extension.path)
            if _known[name] != read_bytes(extension.path).digest:
                raise LayoutError(
                    f"{extension.path} was built again after this process had loaded it; MLIR keeps the first dialect "
                    f"'{name}'",
                    fix="restart Python",
                )
