# SPDX-License-Identifier: Apache-2.0
"""Fetches files over HTTP: resumed where they stopped, checked by hash, with a progress bar on a terminal.

Proxies and certificates are what ``requests`` takes from the environment. A download that is interrupted
leaves a ``.part`` file beside its target; nothing else is left behind.
"""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

import requests
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from ..errors import BuildError
from .sources import SourceUnavailableError

Say = Callable[[str], None]

_TIMEOUT = (4.0, 30.0)  # seconds to connect, seconds without a byte
_TRIES = 3
_CHUNK = 1 << 16


class MissingFileError(SourceUnavailableError):
    """The server has no such file."""


def fetch(url: str, into: Path, *, sha256: str | None, say: Say) -> Path:
    """Downloads `url` into the directory `into`, going on from an earlier, interrupted try.

    Args:
        url: what to download; its last component names the file.
        into: directory for the file, which must exist.
        sha256: hash that the file must have; None if nobody knows it.
        say: called with one line of news.

    Returns:
        Path of the complete file.

    Raises:
        MissingFileError: the server answers that it has no such file.
        SourceUnavailableError: the server cannot be reached or gives up halfway.
        BuildError: the file has another hash; it is deleted.
    """
    name = unquote(urlsplit(url).path.rpartition("/")[2])
    target, part = into / name, into / f"{name}.part"
    if not target.exists():
        _fetch_part(url, part, name, say)
        part.rename(target)
    if sha256 is not None and (found := file_sha256(target)) != sha256:
        target.unlink()
        raise BuildError(
            f"{name} has the wrong hash and was deleted: expected sha256 {sha256}, found {found}",
            fix="triton-ext sdk install",
        )
    return target


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _fetch_part(url: str, part: Path, name: str, say: Say) -> None:
    """Fills `part` with all of `url`; a try that brings at least one byte does not count as failed."""
    failed = 0
    while True:
        before = _size(part)
        try:
            return _request(url, part, name, say)
        except (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError) as error:
            failed = failed + 1 if _size(part) == before else 1
            if failed == _TRIES or isinstance(error, requests.ConnectTimeout):
                raise SourceUnavailableError(f"cannot download {url}: {_reason(error)}") from None
        except requests.RequestException as error:
            raise SourceUnavailableError(f"cannot download {url}: {_reason(error)}") from None
        time.sleep(0.1 * 2**failed)


def _request(url: str, part: Path, name: str, say: Say) -> None:
    """One try: asks for the rest of `part` and appends it, or starts over if the server has only the whole."""
    have = _size(part)
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    with requests.get(url, headers=headers, stream=True, timeout=_TIMEOUT) as response:
        if response.status_code in (404, 410):
            raise MissingFileError(f"{url} does not exist (HTTP {response.status_code})")
        if response.status_code == 416:
            # Nothing is left to send: either all of it is here already, or what is here is not of this file.
            if response.headers.get("Content-Range", "").rpartition("/")[2] == str(have):
                return
            part.unlink()
            raise requests.ConnectionError("the server has less than was downloaded before")
        if response.status_code >= 500:
            raise requests.ConnectionError(f"HTTP {response.status_code}")
        if response.status_code >= 400:
            raise SourceUnavailableError(f"cannot download {url}: HTTP {response.status_code}")
        if not response.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
            have = 0
        length = response.headers.get("Content-Length")
        total = have + int(length) if length else None
        size = f" ({total / 1e6:.1f} MB)" if total else ""
        with _progress() as progress, part.open("ab" if have else "wb") as file:
            if not sys.stderr.isatty():
                say(f"{'resuming' if have else 'downloading'} {name}{size}")
            task = progress.add_task(name.partition("_")[0], total=total, completed=have)
            for chunk in response.iter_content(_CHUNK):
                file.write(chunk)
                progress.update(task, advance=len(chunk))


def _progress() -> Progress:
    """A bar on stderr, drawn only on a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    return Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty())


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _reason(error: Exception) -> str:
    """The innermost cause of a `requests` error, on one line; the outer ones repeat the URL at length."""
    seen: BaseException = error
    while (inner := seen.__cause__ or seen.__context__) is not None:
        seen = inner
    return " ".join(str(seen).split()) or type(seen).__name__
