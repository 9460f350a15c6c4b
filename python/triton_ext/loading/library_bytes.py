# SPDX-License-Identifier: Apache-2.0
"""The bytes of libraries: read once, so that what is checked, hashed and loaded are the same."""

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
    """A library as it was when it was read, once: what is checked, hashed and loaded are these bytes.

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
        TritonExtError: it is missing, unreadable, no regular file or larger than any library.
    """
    try:
        _check_regular(path, path.stat())
        # Should it be a pipe by now, opening it would wait for a writer.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            _check_regular(path, found := os.fstat(file.fileno()))
            if found.st_size > _MOST_BYTES:
                raise TritonExtError(f"{path} is no shared library: it has {found.st_size:,} bytes")
            content = file.read()
    except FileNotFoundError:
        raise TritonExtError(f"{path}: no such file") from None
    except (OSError, ValueError, MemoryError) as error:
        raise TritonExtError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    return LibraryBytes(path, content, hashlib.sha256(content).hexdigest())


def _check_regular(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise TritonExtError(f"{path} is {'a directory' if stat.S_ISDIR(found.st_mode) else 'no regular file'}")


def in_memory(library: LibraryBytes) -> str:
    """A name by which ``dlopen`` gets exactly these bytes, once for each content.

    The bytes are in a file without a name, sealed so that nobody can change it, because any path, even one in the
    user's own cache, may lead to other bytes by the time that it is opened. The name is that of its descriptor, which
    stays open for debuggers, and of this process by number, since a debugger's ``/proc/self`` is another. It is new
    each time, for ``dlopen`` takes a name that it has seen for the library that it knows.

    Raises:
        TritonExtError: there is no memory for them, and the file has other bytes now.
    """
    if "vgpreload" in os.environ.get("LD_PRELOAD", ""):  # valgrind reads the names of functions from the file
        return str(library.path)
    with _lock:
        if library.digest not in _names:
            try:
                descriptor = _sealed(library)
            except OSError:  # limits of the process, or a system that lets no code run from memory
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
    """The file itself, opened, if it has these bytes still: only its owner can change it from now on."""
    descriptor = os.open(library.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb", closefd=False) as file:
        if file.read(len(library.content) + 1) == library.content:
            return descriptor
    os.close(descriptor)
    raise TritonExtError(f"{library.path} changes while it is loaded", fix="once more, when its build has ended")


def descriptor_of(name: str) -> int:
    """The descriptor behind a name that `in_memory` has given, for a child process."""
    return int(name.rpartition("/")[2])


def in_words(text: object) -> str:
    """What the dynamic loader says, with the paths of libraries where it has the names of `in_memory`."""
    return _NAME.sub(lambda match: str(_paths.get(int(match[1]), match[0])), str(text))


_NAME = re.compile(r"/proc/(?:self|\d+)/fd/+(\d+)")
_lock = threading.Lock()
_names: dict[str, str] = {}
_paths: dict[int, Path] = {}  # by the descriptor of their bytes
_SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
#: libtriton has 500 MB.
_MOST_BYTES = 2 << 30
