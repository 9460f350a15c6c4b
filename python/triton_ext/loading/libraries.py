# SPDX-License-Identifier: Apache-2.0
"""Loads libTritonExtPassInfra.so, and finds the libraries that a library is linked to.

This is apart from the loader because ``triton-ext-opt`` needs it at every start and does not need the rest.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Iterable
from pathlib import Path

from ..errors import TritonExtError
from ..support import resources
from ..support.once import once
from . import index
from .library_bytes import in_memory, read_bytes

#: The beginnings of the file names of our libraries: extensions, and the libraries that they share.
OUR_LIBRARIES = ("libtriton_ext_", "libTritonExt")


def infra_library() -> Path:
    """Returns the path of ``libTritonExtPassInfra.so``, which every pass library needs."""
    return resources.library_dir() / "libTritonExtPassInfra.so"


@once
def load_infra() -> str:
    """Loads libTritonExtPassInfra.so, so that every pass library in this process uses this copy.

    A process keeps the first copy that it loads.

    Returns:
        SHA-256 of its bytes as hex digits; empty if the file does not exist. Foreign plugins do not need it.
    """
    path = infra_library()
    if not path.is_file():
        return ""
    library = read_bytes(path)
    ctypes.CDLL(in_memory(library), mode=ctypes.RTLD_GLOBAL)
    return library.digest


def needed_by(library: Path) -> list[str]:
    """Returns the file names of the libraries that `library` is linked to.

    Raises:
        TritonExtError: it is not an ELF shared library.
    """
    found: list[str] | None = index.recall("needed", library, [str])
    if found is not None:
        return found
    from .elf import read_library

    started = time.time_ns()
    needed = list(read_library(library).needed)
    index.remember("needed", library, needed, [library], started)
    return needed


def shared_libraries(library: Path, needed: Iterable[str]) -> list[Path]:
    """Returns those of the libraries `needed` by `library` that hold dialects, ours or MLIR's.

    Each is looked for beside `library`, then among the built-in libraries.

    Raises:
        TritonExtError: a library is in neither place.
    """
    found = []
    for name in needed:
        if name == infra_library().name or not name.startswith(OUR_LIBRARIES):
            continue
        places = [directory / name for directory in (library.parent, resources.library_dir())]
        if not any(place.is_file() for place in places):
            raise TritonExtError(
                f"{library} needs {name}, which is neither beside it nor in {resources.library_dir()}",
                fix="triton-ext sdk install --with linalg && triton-ext build",
            )
        found.append(next(place.resolve() for place in places if place.is_file()))
    return found
