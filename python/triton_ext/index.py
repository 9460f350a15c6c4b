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
import hashlib
import json
import os
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from . import _resources

_FORMAT = b"1"
#: A file that was changed this recently may change again without a new time: file systems count time in ticks. What is
#: kept for other processes waits longer, because the clock of a file server may differ.
_TICK_NS, _SETTLED_NS = 10_000_000, 2_000_000_000

Identity = list[int] | None  # None: there is no such file

_lock = threading.RLock()
_files: dict[str, Identity] = {}
_answers: dict[str, dict[str, Any]] = {}
_read: Path | None = None  # the file that `_answers` came from
_unsaved = False


def recall(kind: str, subject: str | Path) -> Any:
    """The answer of `kind` about `subject`, most often a file, or None if there is none that still counts."""
    with _lock:
        _read_once()
        found = _answers.get(f"{kind} {subject}")
        if found is None or any(name not in _files or _identity(name) != _files[name] for name in found["files"]):
            return None
        return found["answer"]


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
        _resources.write_cache_file(_path(), _digest(content) + b"\n" + content)


def _path() -> Path:
    return _resources.cache_dir() / "index"


def _identity(name: str) -> Identity:
    try:
        stat = os.stat(name)
    except OSError:
        return None
    return [stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns]


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
    if _read == path:
        return
    _read = path
    with contextlib.suppress(OSError):
        digest, _, content = path.read_bytes().partition(b"\n")
        if digest != _digest(content):  # a damaged index is as good as none
            return
        known = json.loads(content)
        files: dict[str, Identity] = known["files"]
        for key, found in known["answers"].items():
            names = found["files"]
            if key not in _answers and all(_files.get(name, files[name]) == files[name] for name in names):
                _files.update((name, files[name]) for name in names)
                _answers[key] = found


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(_FORMAT + content).hexdigest().encode()
