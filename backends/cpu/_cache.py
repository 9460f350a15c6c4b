# SPDX-License-Identifier: Apache-2.0
"""Refuses kernels that another user may have put into Triton's cache: their code is loaded from there."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import stat
from pathlib import Path
from typing import Any

from triton import knobs
from triton.backends.compiler import GPUTarget

from triton_ext._storage import UnsafeDirectoryError

_ELSEWHERE = "TRITON_CACHE_DIR=/a/directory/of/your/own"


@functools.cache
def check_cache(directory: str) -> None:
    """Refuses a cache of Triton's that others can write.

    Triton makes it as the umask says, so the user's own group, in which there is often nobody else, may write it.

    Raises:
        UnsafeDirectoryError: it is another user's, others can write it, or it is in the working directory.
    """
    if directory.startswith("~"):  # of a user without a home directory
        raise UnsafeDirectoryError(f"Triton's cache, {directory}, would be in the working directory", fix=_ELSEWHERE)
    try:
        problem = _distrust(os.stat(directory))
    except OSError:
        return  # so nothing comes from there
    if problem:
        raise UnsafeDirectoryError(f"Triton's cache, {directory}, {problem}", fix=_ELSEWHERE)


def protect_entry(key: str | None) -> None:
    """Closes the directory of a kernel that is being compiled to others, where the umask lets them write it.

    So nobody can exchange the kernel's files while Triton writes and reads them, whatever modes these have.

    Args:
        key: the hash that Triton gives the kernel; None if nothing is kept of it.
    """
    with contextlib.suppress(OSError):  # there is no entry, or it is another user's, which `check_entry` refuses
        if key and _distrust(os.stat(directory := _entry(key))):
            os.chmod(directory, 0o700)


def check_entry(kernel: Any) -> None:
    """Refuses a ``CompiledKernel`` that another user may have put into Triton's cache, or changed there.

    Triton has read the files by now, so they are also compared with what it has read: whoever can write a directory
    further up could have exchanged them in between.

    Raises:
        UnsafeDirectoryError: its directory, or a file in it, is another user's or can be written by others; or a file
            is gone or has another content by now.
    """
    check_cache(knobs.cache.dir)
    files = [Path(file) for file in kernel.metadata_group.values()]
    # A group may name files elsewhere; what names them lies in the entry.
    for directory in {_entry(kernel.hash), *(str(file.parent) for file in files)}:
        _check_directory(directory)
    for file in files:
        try:
            if file.suffix == ".json":
                is_same = _metadata(file.read_bytes()) == kernel.metadata._asdict()
            else:
                is_same = file.suffix != ".so" or file.read_bytes() == kernel.kernel
        except (OSError, ValueError, TypeError, KeyError):
            is_same = False
        if not is_same:
            message = f"{file}, of a kernel in Triton's cache, is not what it was when Triton read it"
            raise UnsafeDirectoryError(message, fix=f"once more, or {_ELSEWHERE}")


def _entry(key: str) -> str:
    from triton.runtime.cache import _base32

    return os.path.join(str(knobs.cache.dir), _base32(key))


def _check_directory(directory: str) -> None:
    """Looks at a directory and at everything in it, for one file may name another one.

    A link counts as what it leads to, because only who can write the directory could have made it.
    """
    with contextlib.suppress(FileNotFoundError):  # Triton's cache may be in another place, with a manager of one's own
        found = os.stat(directory)
        # Nobody else gets at the files below such a directory, so their modes do not matter.
        is_closed = not found.st_mode & 0o077
        for path in (directory, *(os.path.join(directory, name) for name in os.listdir(directory))):
            with contextlib.suppress(FileNotFoundError):  # a temporary one of another process
                problem = _distrust(os.stat(path), only_owner=is_closed and path != directory)
                if problem:
                    fix = f"rm -r {directory}, and it is compiled again; or {_ELSEWHERE}"
                    raise UnsafeDirectoryError(f"{path}, of a kernel in Triton's cache, {problem}", fix=fix)


def _distrust(found: os.stat_result, *, only_owner: bool = False) -> str | None:
    """Why somebody else may have changed a file or a directory of Triton's cache; None if nobody can."""
    if found.st_uid not in (os.geteuid(), 0):
        return f"belongs to user {found.st_uid}, this process runs as user {os.geteuid()}"
    group_is_foreign = found.st_gid != os.getegid()
    if not only_owner and (found.st_mode & stat.S_IWOTH or (found.st_mode & stat.S_IWGRP and group_is_foreign)):
        return f"can be written by others than its owner (mode {stat.S_IMODE(found.st_mode):04o})"
    return None


def _metadata(text: bytes) -> dict[str, Any]:
    """As ``CompiledKernel`` has it."""
    read = json.loads(text)
    target = read["target"]
    return {**read, "target": GPUTarget(target["backend"], target["arch"], target["warp_size"])}
