# SPDX-License-Identifier: Apache-2.0
"""The discovery index: remembers facts about library files from one process to the next.

Verifying a library reads its symbol table and those of the libraries that it is linked to, which takes tens of
milliseconds. The result depends only on the contents of these files. So it is kept with the identity of each file:
device, inode, size, and the times of the last change of content and status. It is used while every identity is the
same. A program can set back the first time, but not the second, so a changed file has another identity.

The index is one file in the user's cache. Without a cache, or with a damaged index, every process verifies again.
"""

from __future__ import annotations

import atexit
import contextlib
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
from ..support.json_shape import Shape, fits, parsed

_FORMAT = b"1"
_IDENTITY = [int] * 5
_SHAPE = {"files": {str: object}, "answers": {str: object}}  # `_fits` checks the rest, in a tenth of the time
#: A file that was changed within the last tick may change again without getting a new time, because file systems count
#: time in ticks. The second limit is for file systems with ticks of 1 s, and for file servers whose clock differs.
_TICK_NS, _SETTLED_NS = 10_000_000, 2_000_000_000

Identity = list[int] | None  # None if there is no such file

_lock = threading.RLock()
_files: dict[str, Identity] = {}
_answers: dict[str, dict[str, Any]] = {}
_read: Path | None = None  # the index file that was read last
_unsaved = False


def recall(kind: str, subject: str | Path, shape: Shape) -> Any:
    """Returns the answer that `remember` has kept for `kind` and `subject`.

    Returns None if there is no answer, if a file that it depends on has changed, or if it does not have the `shape`
    (see `support.json_shape`), because the index is damaged or of another triton-ext.

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
def one_look() -> Iterator[dict[str, Identity]]:
    """Has `recall` look at each file only once within the block, in this thread; gives what it has seen, by name."""
    seen: dict[str, Identity] = {}

    def look(name: str) -> Identity:
        if name not in seen:
            seen[name] = _identity(name)
        return seen[name]

    token = _look.set(look)
    try:
        yield seen
    finally:
        _look.reset(token)


def look_at(name: str) -> None:
    """Looks at a file or directory, so that `one_look` gives it, too."""
    _look.get()(name)


def is_as_seen(seen: dict[str, Identity]) -> bool:
    """Returns whether all files are as `one_look` has seen them."""
    return all(_identity(name) == identity for name, identity in seen.items())


def is_settled(seen: dict[str, Identity], started: int) -> bool:
    """Returns whether all files had been changed so long before the time `started` that a change after it is seen.

    That holds for file systems with coarse times, too: some count seconds, and FAT counts two.
    """
    return all(_unchanged_since(started - _SETTLED_NS, identity) for identity in seen.values())


def remember(kind: str, subject: str | Path, answer: Any, files: Iterable[Path], started: int) -> None:
    """Keeps an answer, unless one of its files was changed while the answer was computed.

    Args:
        kind: the kind of question.
        subject: the file or other subject of the question.
        answer: any JSON value except null.
        files: the files and directories that the answer depends on. A missing one counts, too: the answer is dropped
            when it appears.
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
    """Returns the SHA-256 of the file `path` as hex digits; an unchanged file is not read again.

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
    """Writes the index to the disk if it has changed. Otherwise this happens when the process exits."""
    global _unsaved, _read  # noqa: PLW0603
    with _lock:
        if not _unsaved:
            return
        _unsaved = False
        atexit.unregister(save)
        # Keep the answers that other processes have written in the meantime, unless a file of theirs has changed.
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
    """Drops the answers that depend on an earlier identity of the file `name`."""
    for key in [key for key, found in _answers.items() if name in found["files"]]:
        del _answers[key]


def _read_once() -> None:
    """Adds the answers in the index file to those of this process, which take precedence."""
    global _read  # noqa: PLW0603
    path = _path()
    if path is None or _read == path:
        return
    content = storage.read_private(path) or b""
    _read = path
    digest, _, content = content.partition(b"\n")
    if digest != _digest(content):  # the index is damaged
        return
    known = parsed(content, _SHAPE)
    if known is None or not _fits(known):
        return
    files: dict[str, Identity] = known["files"]
    for key, found in known["answers"].items():
        names = found["files"]
        if key not in _answers and all(n in files and _files.get(n, files[n]) == files[n] for n in names):
            _files.update((name, files[name]) for name in names)
            _answers[key] = found


def _fits(known: dict[str, dict[str, Any]]) -> bool:
    """Whether each file has an `Identity`, and each answer its files; `recall` checks the answer itself."""
    identities = (identity for identity in known["files"].values() if identity is not None)
    return all(type(i) is list and list(map(type, i)) == _IDENTITY for i in identities) and all(
        type(found) is dict
        and found.keys() == {"answer", "files"}
        and type(found["files"]) is list
        and {str}.issuperset(map(type, found["files"]))
        for found in known["answers"].values()
    )


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(_FORMAT + content).hexdigest().encode()
