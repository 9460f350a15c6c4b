# SPDX-License-Identifier: Apache-2.0
"""libTritonExtPassInfra.so in this process, and the bytes that libraries are loaded from.

Apart from the loader, because ``triton-ext-opt`` needs it at every start and nothing of the rest.
"""

from __future__ import annotations

import ctypes
import functools
import time
from collections.abc import Iterable
from pathlib import Path

from ..errors import TritonExtError
from ..support import resources
from . import index
from .library_bytes import in_memory, read_bytes

#: How the file names of libraries begin that are built here: of extensions, and of what they share.
OUR_LIBRARIES = ("libtriton_ext_", "libTritonExt")


def infra_library() -> Path:
    """``libTritonExtPassInfra.so``, which every pass library needs."""
    return resources.library_dir() / "libTritonExtPassInfra.so"


@functools.cache
def load_infra() -> str:
    """Makes libTritonExtPassInfra.so the copy that every pass library in this process finds.

    Returns:
        SHA-256 of its bytes; empty if there is none, which foreign plugins do without. A process keeps the first one.
    """
    path = infra_library()
    if not path.is_file():
        return ""
    library = read_bytes(path)
    ctypes.CDLL(in_memory(library), mode=ctypes.RTLD_GLOBAL)
    return library.digest


def needed_by(library: Path) -> list[str]:
    """File names of the libraries that `library` is linked to.

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
    """Those of the libraries `needed` by `library` that hold dialects, its own or MLIR's: beside it, or built in.

    Raises:
        TritonExtError: one of them is not there.
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
