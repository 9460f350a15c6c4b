# SPDX-License-Identifier: Apache-2.0
"""Fetches files over HTTP: resumed where they stopped, checked by hash, with a progress bar on a terminal.

A download that is interrupted leaves a ``.part`` file beside its target; nothing else is left behind. The server is not
trusted: every download has a limit on its size, on its whole time and on the time without progress, and no text of the
server reaches a terminal unescaped. `http_request` keeps the limits of one request.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from urllib.parse import unquote, urlsplit

import requests
import urllib3
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from ..errors import BuildError
from .http_request import TIMEOUT, Request, StalledError, cannot_download
from .sources import SourceUnavailableError
from .trust import without_credentials

Say = Callable[[str], None]

_ANSWER = 60.0  # seconds until the headers are complete, including those of redirects
_PATIENCE, _SLOWEST = 300.0, 50_000  # a download may take 300 seconds, and one more for each 50,000 bytes
_MOST = 3_000_000_000  # bytes of a download of unknown size
_TRIES = 3
_LONGEST_NAME = 200  # bytes; file systems take 255, of which ".part" and temporary names need some


class MissingFileError(SourceUnavailableError):
    """The server has no such file."""


@dataclass(frozen=True)
class _Limits:
    """The limits of one download.

    Attributes:
        size: the bytes that the file must have; None if that is unknown.
        most: the bytes that it may have.
        end: the time, of `time.monotonic`, by which it must be complete.
    """

    size: int | None
    most: int
    end: float

    @classmethod
    def of(cls, size: int | None, most: int | None) -> _Limits:
        limit = size if size is not None else most if most is not None else _MOST
        return cls(size, limit, time.monotonic() + _PATIENCE + limit / _SLOWEST)


def fetch(
    url: str, into: Path, *, sha256: str | None, say: Say, size: int | None = None, most: int | None = None
) -> Path:
    """Downloads `url` into the directory `into`, and resumes an earlier download that was interrupted.

    Args:
        url: the address; its last component is the name of the file.
        into: the directory for the file, which must exist.
        sha256: the hash that the file must have, as hex digits; None if it is unknown.
        say: is called with one line of news.
        size: the bytes that the file must have; None if that is unknown.
        most: the bytes that a file of unknown size may have.

    Returns:
        Path of the complete file.

    Raises:
        MissingFileError: the server answers that it has no such file.
        SourceUnavailableError: the server cannot be reached, gives up halfway, is too slow or sends too much.
        BuildError: the file has another hash; it is deleted.
    """
    try:
        name = unquote(urlsplit(url).path.rpartition("/")[2])
    except ValueError as error:
        raise SourceUnavailableError(cannot_download(url, _reason(error))) from None
    if "/" in name or name.startswith(".") or not name.isprintable() or not name:
        raise BuildError(f"{without_credentials(url)} names no file", fix="triton-ext sdk install")
    if len(os.fsencode(name)) > _LONGEST_NAME:
        raise BuildError(
            f"{without_credentials(url)[:_LONGEST_NAME]}... names a file of more than {_LONGEST_NAME} bytes",
            fix="triton-ext sdk install",
        )
    target, part = into / name, into / f"{name}.part"
    if not _is_ours(target):
        _remove(target)
        with _open_part(part) as file:
            _fetch_part(url, file, name, say, _Limits.of(size, most))
        part.rename(target)
    if sha256 is not None and (found := file_sha256(target)) != sha256:
        target.unlink()
        raise BuildError(
            f"{name} has the wrong hash and was deleted: expected sha256 {sha256}, found {found}",
            fix="triton-ext sdk install",
        )
    return target


def answers(url: str) -> bool:
    """Whether the server has `url`; False if it cannot be reached."""
    try:
        with Request("HEAD", url, 0) as request:
            return request.response(time.monotonic() + 2 * TIMEOUT[0]).ok
    except (requests.RequestException, urllib3.exceptions.HTTPError, ValueError, StalledError, BuildError):
        return False


def file_sha256(path: Path) -> str:
    """Returns the SHA-256 of a file as hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is_ours(path: Path) -> bool:
    """Whether `path` is a regular file of this user with no second name; a link is not."""
    try:
        return _regular(path.lstat())
    except FileNotFoundError:
        return False


def _regular(info: os.stat_result) -> bool:
    return stat.S_ISREG(info.st_mode) and info.st_uid == os.geteuid() and info.st_nlink == 1


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)


def _open_part(part: Path) -> IO[bytes]:
    """Opens `part` for appending, if an earlier download has left it, or makes a new file.

    Anything else of this name, such as a link, a pipe or a file with a second name, is removed and not written to.
    """
    flags = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    if _is_ours(part):
        found = os.open(part, flags)
        if _regular(os.fstat(found)):
            return os.fdopen(found, "ab")
        os.close(found)
    _remove(part)
    return os.fdopen(os.open(part, flags | os.O_CREAT | os.O_EXCL, 0o600), "ab")


def _fetch_part(url: str, file: IO[bytes], name: str, say: Say, limits: _Limits) -> None:
    """Fills `file` with the content of `url`, in several requests if needed.

    A request that brings at least one byte does not count as failed.
    """
    failed = 0
    while True:
        before = _size(file)
        try:
            return _try(url, file, name, say, limits)
        except (requests.ConnectionError, requests.Timeout, urllib3.exceptions.HTTPError, StalledError) as error:
            failed = failed + 1 if _size(file) == before else 1
            late = time.monotonic() >= limits.end
            if failed == _TRIES or isinstance(error, requests.ConnectTimeout) or late:
                raise SourceUnavailableError(cannot_download(url, _reason(error))) from None
        except (requests.RequestException, ValueError) as error:
            raise SourceUnavailableError(cannot_download(url, _reason(error))) from None
        time.sleep(min(0.1 * 2**failed, 1.0))


def _try(url: str, file: IO[bytes], name: str, say: Say, limits: _Limits) -> None:
    """Requests the rest of `file` and appends it, or starts over if the server sends only the whole file."""
    have = _size(file)
    if limits.size is not None and have >= limits.size:
        if have == limits.size:
            return
        file.truncate(0)
        have = 0
    with Request("GET", url, have) as request:
        response = request.response(min(time.monotonic() + _ANSWER, limits.end))
        if response.status_code in (404, 410):
            raise MissingFileError(f"{without_credentials(url)} does not exist (HTTP {response.status_code})")
        if response.status_code == 416:
            # The server has nothing left to send: either `file` is complete, or it is part of another file.
            if have and response.headers.get("Content-Range", "").rpartition("/")[2] == str(have):
                return
            file.truncate(0)
            raise requests.ConnectionError("the server has less than was downloaded before")
        if response.status_code >= 500:
            raise requests.ConnectionError(f"HTTP {response.status_code}")
        if response.status_code not in (200, 206):
            raise SourceUnavailableError(cannot_download(url, f"HTTP {response.status_code}"))
        if response.status_code == 200 and have:
            file.truncate(0)
            have = 0
        elif response.status_code == 206 and not response.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
            file.truncate(0)
            raise requests.ConnectionError("the server sends another part of the file than was asked for")
        length = response.headers.get("Content-Length", "")
        total = have + int(length) if length.isdecimal() and len(length) < 20 else None
        if total is not None and total > limits.most:
            raise _too_much(url, limits, f"{total} bytes")
        shown_size = f" ({total / 1e6:.1f} MB)" if total else ""
        with _progress() as progress:
            if not sys.stderr.isatty():
                say(f"{'resuming' if have else 'downloading'} {name}{shown_size}")
            task = progress.add_task(name.partition("_")[0], total=total, completed=have)
            while chunk := request.chunk(limits.end):
                have += len(chunk)
                if have > limits.most:
                    file.truncate(0)
                    raise _too_much(url, limits, "more")
                file.write(chunk)
                progress.update(task, advance=len(chunk))
        file.flush()


def _too_much(url: str, limits: _Limits, found: str) -> SourceUnavailableError:
    expected = f"{limits.most} bytes" if limits.size is not None else f"{limits.most} bytes at most"
    return SourceUnavailableError(cannot_download(url, f"the server sends {found}, expected {expected}"))


def _progress() -> Progress:
    """Returns a progress bar on stderr, which is drawn only on a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    return Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty())


def _size(file: IO[bytes]) -> int:
    file.flush()
    return os.fstat(file.fileno()).st_size


def _reason(error: Exception) -> str:
    """Returns the innermost cause of a `requests` error, on one line; the outer ones repeat the URL at length."""
    if isinstance(error, ValueError):
        # The text of the error may quote a part of a password, which it takes for the port.
        return "the address is not one for HTTP, nor that of a proxy for it"
    seen: BaseException = error
    while not isinstance(seen, StalledError) and (inner := seen.__cause__ or seen.__context__) is not None:
        seen = inner
    return " ".join(str(seen).split()) or type(seen).__name__
