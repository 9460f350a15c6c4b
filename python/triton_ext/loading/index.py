# SPDX-License-Identifier: Apache-2.0
"""The discovery index: answers about library files, remembered from one process to the next.

Verifying a library reads its symbol table and those of the libraries that it binds to, which takes tens of
milliseconds. The answer depends on the contents of those files only. It is kept together with the identity of each
file: device, inode, size, and the times of the last change of its contents and of its status, which a program cannot
set back. An answer counts while every identity is the same.

The index is one file in the user's cache. Without a cache, or with a damaged one, every process verifies again.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import json
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from ..support import storage
from ..support.json_shape import AnyOf, Shape, fits, parsed

_FORMAT = b"1"
_IDENTITY = AnyOf((int,) * 5, None)
_SHAPE = {"files": {str: _IDENTITY}, "answers": {str: {"answer": object, "files": [str]}}}
#: A file that was changed this recently may change again without a new time: file systems count time in ticks. What is
#: kept for other processes waits longer, because the clock of a file server may differ.
_TICK_NS, _SETTLED_NS = 10_000_000, 2_000_000_000

Identity = list[int] | None  # None: there is no such file

_lock = threading.RLock()
_files: dict[str, Identity] = {}
_answers: dict[str, dict[str, Any]] = {}
_read: Path | None = None  # the file that `_answers` came from
_unsaved = False


def recall(kind: str, subject: str | Path, shape: Shape) -> Any:
    """Returns what `remember` was given for `kind` and `subject`.

    None if it was given nothing, if a file that the answer depends on has changed since, or if the answer does not have
    `shape`, see `_json`: the index may be of another triton-ext, or damaged.

    Raises:
        UnsafeDirectoryError: others than this user can write the index.
    """
    with _lock:
        _read_once()
        found = _answers.get(f"{kind} {subject}")
        look = _look.get()
        if found is None or any(name not in _files or look(name) != _files[name] for name in found["files"]):
            return None
        return found["answer"] if fits(found["answer"], shape) else None


@contextlib.contextmanager
def one_look() -> Iterator[None]:
    """Within the block, this thread's `recall` looks at each file once, for all answers that depend on it."""
    token = _look.set(functools.cache(_identity))
    try:
        yield
    finally:
        _look.reset(token)


def remember(kind: str, subject: str | Path, answer: Any, files: Iterable[Path], started: int) -> None:
    """Keeps an answer about `subject`, unless a file was changed while it was worked out.

    Args:
        kind: what was asked.
        subject: what it was asked about.
        answer: anything that JSON holds, but None.
        files: the files and directories that the answer depends on; one that is missing has to stay so.
        started: ``time.time_ns()`` before the first of the files was read.
    """
    global _unsaved  # noqa: PLW0603 - the index is one per process
    names = [str(file) for file in files]
    with _lock:
        _read_once()
        if not all(_unchanged_since(started - _TICK_NS, _identity(name)) for name in names):
            return
        for name in names:
            identity = _identity(name)
            if _files.get(name, identity) != identity:
                _forget(name)
            _files[name] = identity
        _answers[f"{kind} {subject}"] = {"answer": answer, "files": names}
        if not _unsaved:
            atexit.register(save)
        _unsaved = True


def sha256_of(path: Path) -> str:
    """The SHA-256 of the file `path`, which is read only if it is not the one that was read before.

    Raises:
        OSError: it cannot be read.
    """
    found: str | None = recall("sha256", path, str)
    if found is None:
        started = time.time_ns()
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        remember("sha256", path, found, [path], started)
    return found


def save() -> None:
    """Writes the index for the processes to come, if there is anything new; done at exit for those who do not."""
    global _unsaved, _read  # noqa: PLW0603
    with _lock:
        if not _unsaved:
            return
        _unsaved = False
        atexit.unregister(save)
        # What other processes have written since stays, unless a file that it depends on has changed.
        _read = None
        _read_once()
        settled = time.time_ns() - _SETTLED_NS
        current = {name: _identity(name) for name in _files}
        lasting = {n for n, i in current.items() if i == _files[n] and _unchanged_since(settled, i)}
        answers = {key: found for key, found in _answers.items() if lasting.issuperset(found["files"])}
        used = {name for found in answers.values() for name in found["files"]}
        content = json.dumps({"files": {name: _files[name] for name in used}, "answers": answers}).encode()
        if path := _path():
            storage.write_cache_file(path, _digest(content) + b"\n" + content)


def _path() -> Path | None:
    cache = storage.cache_dir()
    return cache / "index" if cache else None


def _identity(name: str) -> Identity:
    try:
        stat = os.stat(name)
    except (OSError, ValueError):
        return None
    return [stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns]


_look: ContextVar[Callable[[str], Identity]] = ContextVar("look", default=_identity)


def _unchanged_since(time_ns: int, identity: Identity) -> bool:
    return identity is None or max(identity[-2:]) < time_ns


def _forget(name: str) -> None:
    """Drops the answers that depend on the file `name` as it was."""
    for key in [key for key, found in _answers.items() if name in found["files"]]:
        del _answers[key]


def _read_once() -> None:
    """Adds what the file holds to what this process knows, which counts where they differ."""
    global _read  # noqa: PLW0603
    path = _path()
    if path is None or _read == path:
        return
    content = storage.read_private(path) or b""
    _read = path
    digest, _, content = content.partition(b"\n")
    if digest != _digest(content):  # a damaged index is as good as none
        return
    known = parsed(content, _SHAPE)
    if known is None:
        return
    files: dict[str, Identity] = known["files"]
    for key, found in known["answers"].items():
        names = found["files"]
        if key not in _answers and all(n in files and _files.get(n, files[n]) == files[n] for n in names):
            _files.update((name, files[name]) for name in names)
            _answers[key] = found


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(_FORMAT + content).hexdigest().encode()
