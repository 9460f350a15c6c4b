# SPDX-License-Identifier: Apache-2.0
"""Reads the bytes of a library once, so that the bytes that are checked, hashed and loaded are the same."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import stat
import threading
from pathlib import Path
from typing import NamedTuple

from ..errors import TritonExtError


class LibraryBytes(NamedTuple):
    """The content of a library when it was read. These bytes are checked, hashed and loaded.

    Attributes:
        path: the file.
        content: its bytes.
        digest: their SHA-256, as 64 hex digits.
    """

    path: Path
    content: bytes
    digest: str

    def __repr__(self) -> str:
        return f"LibraryBytes({self.path}, {self.digest})"


def read_bytes(path: Path) -> LibraryBytes:
    """Reads the library `path`.

    Raises:
        TritonExtError: it is missing, unreadable, not a regular file or larger than any library.
    """
    try:
        _check_regular(path, path.stat())
        # If it has become a pipe in the meantime, O_NONBLOCK keeps the call from waiting for a writer.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            _check_regular(path, found := os.fstat(file.fileno()))
            if found.st_size > _MOST_BYTES:
                raise TritonExtError(f"{path} is not a shared library: it has {found.st_size:,} bytes")
            content = file.read()
    except FileNotFoundError:
        raise TritonExtError(f"{path}: no such file") from None
    except (OSError, ValueError, MemoryError) as error:
        raise TritonExtError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    return LibraryBytes(path, content, hashlib.sha256(content).hexdigest())


def _check_regular(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise TritonExtError(f"{path} is {'a directory' if stat.S_ISDIR(found.st_mode) else 'not a regular file'}")


def in_memory(library: LibraryBytes) -> str:
    """Returns a path by which ``dlopen`` loads exactly these bytes; the same path for the same bytes.

    A path in a file system, even in the user's own cache, may lead to other bytes when it is opened. So the bytes are
    copied to an anonymous file in memory, which is sealed against changes. The path is that of its descriptor, which
    stays open for debuggers; it has the number of this process, because ``/proc/self`` means another one to a debugger.
    Each content gets a new path, because ``dlopen`` returns the library that it has loaded before under the same path.

    Raises:
        TritonExtError: the anonymous file cannot be made, and the library has other bytes now.
    """
    if "vgpreload" in os.environ.get("LD_PRELOAD", ""):  # valgrind reads the names of functions from the file
        return str(library.path)
    with _lock:
        if library.digest not in _names:
            try:
                descriptor = _sealed(library)
            except OSError:  # the process is limited, or the system does not run code from memory
                descriptor = _unchanged(library)
            name = f"/proc/{os.getpid()}/fd{'/' * (len(_names) + 1)}{descriptor}"
            _names[library.digest] = name
            _paths[descriptor] = library.path
        return _names[library.digest]


def _sealed(library: LibraryBytes) -> int:
    descriptor = os.memfd_create(library.path.name[:200], os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        with open(descriptor, "wb", closefd=False) as file:
            file.write(library.content)
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEALS)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _unchanged(library: LibraryBytes) -> int:
    """Opens the file itself and returns the descriptor, if it still has these bytes.

    After this only the owner of the file can change them.
    """
    descriptor = os.open(library.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb", closefd=False) as file:
        if file.read(len(library.content) + 1) == library.content:
            return descriptor
    os.close(descriptor)
    raise TritonExtError(f"{library.path} changes while it is loaded", fix="once more, when its build has ended")


def descriptor_of(name: str) -> int:
    """Returns the descriptor in a path of `in_memory`, for a child process."""
    return int(name.rpartition("/")[2])


def in_words(text: object) -> str:
    """Returns a message of the dynamic loader with the paths of the libraries in place of those of `in_memory`."""
    return _NAME.sub(lambda match: str(_paths.get(int(match[1]), match[0])), str(text))


_NAME = re.compile(r"/proc/(?:self|\d+)/fd/+(\d+)")
_lock = threading.Lock()
_names: dict[str, str] = {}
_paths: dict[int, Path] = {}  # by the descriptor of their bytes
_SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
#: libtriton has 500 MB.
_MOST_BYTES = 2 << 30
