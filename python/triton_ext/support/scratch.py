# SPDX-License-Identifier: Apache-2.0
"""Temporary files and directories, also on a machine without a home directory, a writable ``/tmp`` or free space."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ..errors import TritonExtError
from .storage import cache_dir, private_dir


def scratch_file() -> IO[bytes]:
    """Returns an empty anonymous file in memory. It vanishes when it is closed; a child may inherit its descriptor."""
    return os.fdopen(os.memfd_create("triton-ext"), "w+b")


def path_of(file: IO[bytes]) -> str:
    """Returns a path by which this process can open a `scratch_file`, for functions that take a path."""
    file.flush()
    return f"/proc/self/fd/{file.fileno()}"


@contextlib.contextmanager
def scratch_dir(prefix: str) -> Iterator[Path]:
    """Yields a temporary directory, which is removed after the block.

    Raises:
        TritonExtError: no directory for temporary files can be written.
    """
    import shutil

    directory = _make_scratch_dir(prefix)
    try:
        yield Path(directory)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def scratch_root() -> str | None:
    """Returns the first directory that temporary files can be written to; None if there is none."""
    return next((root for root in _scratch_roots() if os.access(root, os.W_OK | os.X_OK)), None)


def _scratch_roots() -> Iterator[str]:
    """Yields the directories for temporary files: that of `tempfile`, then memory, then the cache.

    The working directory, which `tempfile` uses as a last resort, is left out, because others may be able to write it.
    """
    import tempfile

    with contextlib.suppress(OSError):
        found, named = tempfile.gettempdir(), [os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP")]
        if found != os.getcwd() or found in named:
            yield found
    yield "/dev/shm"
    with contextlib.suppress(OSError, TritonExtError):
        if cache := cache_dir():
            yield str(private_dir(cache))


def _make_scratch_dir(prefix: str) -> str:
    import tempfile

    for root in _scratch_roots():
        with contextlib.suppress(OSError):
            return tempfile.mkdtemp(prefix=prefix, dir=root)
    raise TritonExtError("no directory for temporary files can be made", fix="TMPDIR=/a/writable/directory")
