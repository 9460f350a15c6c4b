# SPDX-License-Identifier: Apache-2.0
"""Writes the files of this package: its cache and files for the user.

Only the user may be able to write a cache directory, because its content decides which code runs next. A file appears
complete or not at all: it is written under a temporary name that nobody can guess, so that no prepared link is
followed, and then renamed. Unless a function says otherwise, it works without a home directory, a writable ``/tmp`` and
free space.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from ..errors import TritonExtError

#: The bytes that a file of the cache may have; reading more would take minutes.
_MOST_BYTES = 64 << 20
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class UnsafeDirectoryError(TritonExtError):
    """A directory of the cache belongs to another user, or others can write it."""


def cache_dir() -> Path | None:
    """Returns the user's cache for triton-ext, ``$XDG_CACHE_HOME/triton-ext``; None if the user has no home directory.

    A relative path in the variable is ignored, as the XDG specification says: it would lead into the working directory,
    which others may be able to write.
    """
    if os.path.isabs(root := os.environ.get("XDG_CACHE_HOME", "")):
        return Path(root, "triton-ext")
    home = os.path.expanduser("~")  # is "~" for a user without a home directory
    return Path(home, ".cache", "triton-ext") if os.path.isabs(home) else None


def needed_cache_dir(command: str) -> Path:
    """Returns `cache_dir`, for code that cannot work without it, such as the SDK.

    Raises:
        TritonExtError: there is no such directory; the message names `command`, to be run again.
    """
    found = cache_dir()
    if found is None:
        raise TritonExtError(
            f"user {os.getuid()} has no home directory to keep files in", fix=f"XDG_CACHE_HOME=/a/directory {command}"
        )
    return found


def private_dir(path: Path) -> Path:
    """Makes the directory `path` and the missing ones above it, so that only this user can write them.

    An existing directory is not changed. In the cache, all directories on the way are checked, too.

    Raises:
        UnsafeDirectoryError: one of them belongs to another user, or group or others can write it.
        OSError: it cannot be made.
    """
    for directory in _to_check(path):
        _make(directory)
        check_private(directory)
    return path


def check_private(path: Path) -> None:
    """Checks that only this user can write a directory. If it is a link, the link has to be this user's, too.

    Raises:
        UnsafeDirectoryError: it belongs to another user, or group or others can write it.
        OSError: it does not exist or is not a directory.
    """
    found = os.stat(path)
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(20, "Not a directory", str(path))
    owner = next((o for o in (os.lstat(path).st_uid, found.st_uid) if o != os.geteuid()), None)
    if owner is not None:
        raise UnsafeDirectoryError(
            f"the directory {path} belongs to user {owner}, this process runs as user {os.geteuid()}",
            fix="XDG_CACHE_HOME=/a/directory/of/your/own",
        )
    if found.st_mode & _OTHERS_WRITE:
        raise UnsafeDirectoryError(
            f"users other than its owner can write the directory {path} (mode {stat.S_IMODE(found.st_mode):04o})",
            fix=f"rm -r {path}, or chmod -R go-w {path} if nobody else has written there",
        )


def _to_check(path: Path) -> list[Path]:
    """Returns the directories to check for `path`: in the cache, all from the cache down to it; else itself."""
    cache = cache_dir()
    if cache is None or not path.is_relative_to(cache):
        return [path]
    return [parent for parent in (*reversed(path.parents), path) if parent.is_relative_to(cache)]


def _make(path: Path) -> None:
    try:
        path.mkdir(0o700)
    except FileNotFoundError:
        _make(path.parent)
        path.mkdir(0o700, exist_ok=True)
    except FileExistsError:
        return
    if path.stat().st_mode & 0o700 != 0o700:  # the umask has taken permissions of the user
        path.chmod(0o700)


def read_private(path: Path) -> bytes | None:
    """Returns the content of a file of the cache; None if it does not exist or others can write it.

    Raises:
        UnsafeDirectoryError: others can write its directory.
    """
    try:
        for directory in _to_check(path.parent):
            check_private(directory)
        # O_NONBLOCK, because opening a pipe would wait for its writer.
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            found = os.fstat(file.fileno())
            is_ours = found.st_uid == os.geteuid() and not found.st_mode & _OTHERS_WRITE
            if not stat.S_ISREG(found.st_mode) or not is_ours or found.st_size > _MOST_BYTES:
                return None
            return file.read()
    except (OSError, MemoryError):
        return None


def is_private_file(path: Path) -> bool:
    """Whether `path` is a regular file, and not a link, that belongs to this user and that nobody else can write."""
    try:
        found = path.lstat()
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & _OTHERS_WRITE


def write_cache_file(path: Path, data: bytes) -> bool:
    """Writes a file of the cache; returns False if that fails, which callers must be able to live with.

    Raises:
        UnsafeDirectoryError: others can write its directory.
    """
    try:
        private_dir(path.parent)
        write_whole(path, data, mode=0o600)
    except OSError:
        return False
    return True


def write_whole(path: Path, data: bytes, *, mode: int | None = None) -> None:
    """Writes a file, complete or not at all. An existing file or link of this name is replaced.

    Args:
        path: the file, in a directory that exists.
        data: its content.
        mode: its permissions; None for those that ``open`` gives a file, which depend on the umask.

    Raises:
        OSError: it cannot be written; nothing is left behind.
    """
    import tempfile  # imported late: that takes longer than most commands take to read the cache

    # mkstemp opens with O_EXCL and O_NOFOLLOW.
    descriptor, partial = tempfile.mkstemp(prefix=f".{path.name[:100]}.", dir=path.parent)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            os.fchmod(file.fileno(), 0o666 & ~_umask() if mode is None else mode)
        os.replace(partial, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(partial)
        raise


@contextlib.contextmanager
def whole_directory(target: Path, *, beside: Path | None = None) -> Iterator[Path]:
    """Yields a new directory, which takes the place of `target` if the body succeeds and is removed if it does not.

    Until then `target` stays as it was, and so it does if it cannot be replaced. Unlike an SDK (`sdk.install_steps`),
    what is written may be lost in a power failure.

    Args:
        target: the directory; its parent has to exist when the body ends.
        beside: where the new directory waits, on the file system of `target`; by default the parent of `target`.

    Raises:
        OSError: the directory cannot be made or renamed.
    """
    import shutil
    import tempfile

    # Nobody else can enter it, so nobody sees the new directory before it has its name.
    scratch = Path(tempfile.mkdtemp(prefix=f".{target.name[:100]}.", dir=beside or target.parent))
    new, replaced = scratch / "new", scratch / "old"
    try:
        new.mkdir()
        yield new
        if target.exists():
            target.rename(replaced)
        try:
            new.rename(target)
        except OSError:
            if replaced.exists():
                replaced.rename(target)
            raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def settle(root: Path) -> None:
    """Takes write permission for others from all files and directories from `root` down, and flushes them to the disk.

    If `root` is renamed afterwards, it is complete under its new name even after a power loss.

    Raises:
        OSError: permissions cannot be changed, or data cannot be written.
    """
    for directory, _, names in os.walk(root):
        for path in (Path(directory), *(Path(directory, name) for name in names)):
            mode = path.lstat().st_mode
            if not stat.S_ISLNK(mode) and mode & _OTHERS_WRITE:
                path.chmod(stat.S_IMODE(mode) & ~_OTHERS_WRITE)
    flush(root)


def flush(directory: Path) -> None:
    """Waits until all data of the file system of `directory` is on the disk.

    After an SDK was unpacked, this takes 0.3 s with one ``syncfs``, and 15 s with ``fsync`` of its 4,000 files.

    Raises:
        OSError: data cannot be written.
    """
    import ctypes

    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if ctypes.CDLL(None, use_errno=True).syncfs(descriptor):
            error = ctypes.get_errno()
            raise OSError(error, os.strerror(error), str(directory))
    finally:
        os.close(descriptor)


def _umask() -> int:
    # os.umask would change the umask of all threads for a moment, so it is read from /proc.
    try:
        with open("/proc/self/status") as status:
            return int(next(line for line in status if line.startswith("Umask:")).split()[1], 8)
    except (OSError, StopIteration, ValueError):
        return 0o077
