# SPDX-License-Identifier: Apache-2.0
"""What this package writes: its cache, files that others read, temporary files.

A cache directory is the user's alone: whoever can write there decides what runs next. A file appears whole or not at
all, under a temporary name that nobody can guess, so that no link which waits there is followed. Nothing here needs a
home directory, a writable ``/tmp`` or free space, unless it says so.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ..errors import TritonExtError

#: Bytes that a file of the cache may have: more would be read for minutes.
_MOST_BYTES = 64 << 20
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class UnsafeDirectoryError(TritonExtError):
    """A directory of the cache belongs to somebody else, or others can write it."""


def cache_dir() -> Path | None:
    """The user's cache for triton-ext, ``$XDG_CACHE_HOME/triton-ext``; None if there is no place for one.

    A relative path in the environment counts as none, as the XDG specification has it: it would lead into the working
    directory, which may be anybody's.
    """
    if os.path.isabs(root := os.environ.get("XDG_CACHE_HOME", "")):
        return Path(root, "triton-ext")
    home = os.path.expanduser("~")  # is "~" for a user without a home directory
    return Path(home, ".cache", "triton-ext") if os.path.isabs(home) else None


def needed_cache_dir(command: str) -> Path:
    """`cache_dir`, for what cannot do without, such as the SDK.

    Raises:
        TritonExtError: there is no place for one; the message names `command`, to be run again.
    """
    found = cache_dir()
    if found is None:
        raise TritonExtError(
            f"user {os.getuid()} has no home directory to keep files in", fix=f"XDG_CACHE_HOME=/a/directory {command}"
        )
    return found


def private_dir(path: Path) -> Path:
    """Makes the directory `path` and the missing ones above it, for this user alone whatever the umask.

    One that is there stays as it is. Below the cache, all directories on the way are looked at, too.

    Raises:
        UnsafeDirectoryError: one of them belongs to somebody else, or group or others can write it.
        OSError: it cannot be made.
    """
    for directory in _to_check(path):
        _make(directory)
        check_private(directory)
    return path


def check_private(path: Path) -> None:
    """Looks at one directory, and at the link if it is one: whoever owns the link decides where it leads.

    Raises:
        UnsafeDirectoryError: it belongs to somebody else, or group or others can write it.
        OSError: it cannot be looked at, or is none.
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
            f"others than its owner can write the directory {path} (mode {stat.S_IMODE(found.st_mode):04o})",
            fix=f"rm -r {path}, or chmod -R go-w {path} if nobody else has written there",
        )


def _to_check(path: Path) -> list[Path]:
    """The directories that have to be the user's own for `path` to be: those of the cache, or `path` alone."""
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
    if path.stat().st_mode & 0o700 != 0o700:  # of such an umask
        path.chmod(0o700)


def read_private(path: Path) -> bytes | None:
    """The content of a file of the cache; None if there is none, or it is not this user's own.

    Raises:
        UnsafeDirectoryError: others can write where it lies.
    """
    try:
        for directory in _to_check(path.parent):
            check_private(directory)
        # Opening a pipe would wait for its writer.
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            found = os.fstat(file.fileno())
            is_ours = found.st_uid == os.geteuid() and not found.st_mode & _OTHERS_WRITE
            if not stat.S_ISREG(found.st_mode) or not is_ours or found.st_size > _MOST_BYTES:
                return None
            return file.read()
    except (OSError, MemoryError):
        return None


def is_private_file(path: Path) -> bool:
    """Whether `path` is a regular file, no link, that belongs to this user and that nobody else can write."""
    try:
        found = path.lstat()
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & _OTHERS_WRITE


def write_cache_file(path: Path, data: bytes) -> bool:
    """Writes a file of the cache; False where that cannot be done, which no caller depends on.

    Raises:
        UnsafeDirectoryError: others can write where it would lie.
    """
    try:
        private_dir(path.parent)
        write_whole(path, data, mode=0o600)
    except OSError:
        return False
    return True


def write_whole(path: Path, data: bytes, *, mode: int | None = None) -> None:
    """Writes `path` whole or not at all: whatever it was, a link included, is replaced.

    Args:
        path: the file, in a directory that exists.
        data: its content.
        mode: its permissions; None for those that the umask leaves, as ``open`` does it.

    Raises:
        OSError: it cannot be written; nothing is left behind.
    """
    import tempfile  # takes longer to import than most commands take to read the cache, and not all write

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


def settle(root: Path) -> None:
    """Lets nobody but their owner write the files and directories from `root` down, and has them all on the disk.

    Whoever renames `root` afterwards finds it complete under its new name, even after a power loss in between.

    Raises:
        OSError: something cannot be changed or written.
    """
    for directory, _, names in os.walk(root):
        for path in (Path(directory), *(Path(directory, name) for name in names)):
            mode = path.lstat().st_mode
            if not stat.S_ISLNK(mode) and mode & _OTHERS_WRITE:
                path.chmod(stat.S_IMODE(mode) & ~_OTHERS_WRITE)
    flush(root)


def flush(directory: Path) -> None:
    """Waits until the file system of `directory` has on the disk all that was written to it.

    One ``syncfs`` takes 0.3 s after an SDK was unpacked; ``fsync`` of each of its 4,000 files took 15 s.

    Raises:
        OSError: something cannot be written.
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
    # The process has one umask, which cannot be read without setting it for all threads, but Linux shows it.
    try:
        with open("/proc/self/status") as status:
            return int(next(line for line in status if line.startswith("Umask:")).split()[1], 8)
    except (OSError, StopIteration, ValueError):
        return 0o077


def scratch_file() -> IO[bytes]:
    """An empty file without a name, in memory, that vanishes when it is closed; a child may be given its descriptor."""
    return os.fdopen(os.memfd_create("triton-ext"), "w+b")


def path_of(file: IO[bytes]) -> str:
    """A path by which this process can open a `scratch_file`, for what takes nothing but paths."""
    file.flush()
    return f"/proc/self/fd/{file.fileno()}"


@contextlib.contextmanager
def scratch_dir(prefix: str) -> Iterator[Path]:
    """A directory for the body of a ``with``.

    Raises:
        TritonExtError: there is no place for one.
    """
    import shutil

    directory = _make_scratch_dir(prefix)
    try:
        yield Path(directory)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def scratch_root() -> str | None:
    """The first directory that temporary files can be written to, None if there is none."""
    return next((root for root in _scratch_roots() if os.access(root, os.W_OK | os.X_OK)), None)


def _scratch_roots() -> Iterator[str]:
    """Where temporary files may go: where `tempfile` puts them, but for the working directory, which may be anybody's,
    and otherwise into memory or the cache.
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
