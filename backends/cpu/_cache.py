# SPDX-License-Identifier: Apache-2.0
"""Refuses kernels in Triton's cache that another user may have written, because this process loads their code."""

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

from triton_ext.support.storage import UnsafeDirectoryError

_ELSEWHERE = "TRITON_CACHE_DIR=/a/directory/of/your/own"


@functools.cache
def check_cache(directory: str) -> None:
    """Refuses Triton's cache directory if other users can write it.

    Triton creates the directory with the modes that the umask allows. So the user's own group, which often has no other
    member, may write it.

    Raises:
        UnsafeDirectoryError: the directory belongs to another user, others can write it, or it is in the working
            directory.
    """
    if directory.startswith("~"):  # of a user without a home directory
        raise UnsafeDirectoryError(f"Triton's cache, {directory}, would be in the working directory", fix=_ELSEWHERE)
    try:
        problem = _distrust(os.stat(directory))
    except OSError:
        return  # there is no directory to load from
    if problem:
        raise UnsafeDirectoryError(f"Triton's cache, {directory}, {problem}", fix=_ELSEWHERE)


def protect_entry(key: str | None) -> None:
    """Makes the directory of a kernel that is being compiled private, if the umask lets others write it.

    Then no other user can replace the kernel's files while Triton writes and reads them, whatever modes they have.

    Args:
        key: the hash that Triton gives the kernel; None if the kernel is not cached.
    """
    with contextlib.suppress(OSError):  # there is no entry, or it is another user's, which `check_entry` refuses
        if key and _distrust(os.stat(directory := _entry(key))):
            os.chmod(directory, 0o700)


def check_entry(kernel: Any) -> None:
    """Refuses a ``CompiledKernel`` that another user may have put into Triton's cache, or changed there.

    Triton has already read the files, so this function also compares them with what Triton has read: a user who can
    write a parent directory could have replaced them in between.

    Raises:
        UnsafeDirectoryError: the kernel's directory, or a file in it, belongs to another user or can be written by
            others; or a file is missing or has changed since Triton read it.
    """
    check_cache(knobs.cache.dir)
    files = [Path(file) for file in kernel.metadata_group.values()]
    # A group may name files in other directories; the file that names them is in the entry.
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

    return os.path.join(str(knobs.cache.dir), str(_base32(key)))


def _check_directory(directory: str) -> None:
    """Checks a directory and every file in it, because one file may name another one.

    Links are followed: only a user who can write the directory could have made a link in it.
    """
    with contextlib.suppress(FileNotFoundError):  # a custom cache manager may keep Triton's cache elsewhere
        found = os.stat(directory)
        # Other users cannot reach the files in a closed directory, so the files' modes do not matter.
        is_closed = not found.st_mode & 0o077
        for path in (directory, *(os.path.join(directory, name) for name in os.listdir(directory))):
            with contextlib.suppress(FileNotFoundError):  # another process has removed its temporary file
                problem = _distrust(os.stat(path), only_owner=is_closed and path != directory)
                if problem:
                    fix = f"rm -r {directory}, and it is compiled again; or {_ELSEWHERE}"
                    raise UnsafeDirectoryError(f"{path}, of a kernel in Triton's cache, {problem}", fix=fix)


def _distrust(found: os.stat_result, *, only_owner: bool = False) -> str | None:
    """Returns why another user may have changed a file or a directory of Triton's cache; None if no other user can."""
    if found.st_uid not in (os.geteuid(), 0):
        return f"belongs to user {found.st_uid}, this process runs as user {os.geteuid()}"
    group_is_foreign = found.st_gid != os.getegid()
    if not only_owner and (found.st_mode & stat.S_IWOTH or (found.st_mode & stat.S_IWGRP and group_is_foreign)):
        return f"can be written by users other than its owner (mode {stat.S_IMODE(found.st_mode):04o})"
    return None


def _metadata(text: bytes) -> dict[str, Any]:
    """Returns the metadata in the JSON `text`, with the target as a ``GPUTarget``, as ``CompiledKernel`` holds it."""
    read = json.loads(text)
    target = read["target"]
    return {**read, "target": GPUTarget(target["backend"], target["arch"], target["warp_size"])}
