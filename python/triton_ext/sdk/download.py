# SPDX-License-Identifier: Apache-2.0
"""Fetches files over HTTP: resumed where they stopped, checked by hash, with a progress bar on a terminal.

Proxies and certificates are what ``requests`` takes from the environment. A download that is interrupted
leaves a ``.part`` file beside its target; nothing else is left behind.

The server is not trusted. Every download has a limit on its size, on its whole time and on the time without progress,
whatever the server sends: endless headers, one byte a minute, chunks without end. So each request runs in a thread of
its own, and the caller waits no longer than the limit says; the connection of an abandoned thread is shut down, which
ends it. The body of a redirect is not read, and nothing that the server says reaches a terminal unescaped.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import queue
import socket
import stat
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote, urljoin, urlsplit

import requests
import urllib3
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from ..errors import BuildError
from ..support.shown import printable
from .sources import SourceUnavailableError
from .trust import without_credentials

Say = Callable[[str], None]

_TIMEOUT = (4.0, 30.0)  # seconds to connect, seconds without a byte
_ANSWER = 60.0  # seconds until the headers are complete, redirects included
_STALL, _STALL_BYTES = 60.0, 1 << 16  # a try has failed if fewer bytes than these arrive within that many seconds
_PATIENCE, _SLOWEST = 300.0, 50_000  # a download may take that many seconds, and one more for each so many bytes
_MOST = 3_000_000_000  # bytes of a download whose size nobody knows
_TRIES = 3
_REDIRECTS = 5
_CHUNK = 1 << 16
_LONGEST_NAME = 200  # bytes; file systems take 255, of which ".part" and temporary names need some


class MissingFileError(SourceUnavailableError):
    """The server has no such file."""


class _StalledError(Exception):
    """A try brings too little."""


class _StoppedError(Exception):
    """Nobody waits for this request any more."""


@dataclass(frozen=True)
class _Limits:
    """What a download may take: bytes, and the time by which it must be complete."""

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
    """Downloads `url` into the directory `into`, going on from an earlier, interrupted try.

    Args:
        url: what to download; its last component names the file.
        into: directory for the file, which must exist.
        sha256: hash that the file must have; None if nobody knows it.
        say: called with one line of news.
        size: bytes that the file must have; None if nobody knows it.
        most: bytes that a file of unknown size may have.

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
        raise SourceUnavailableError(_cannot(url, _reason(error))) from None
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
    """Whether the server has `url`; False too if it cannot be reached."""
    try:
        with _Request("HEAD", url, 0) as request:
            return request.response(time.monotonic() + 2 * _TIMEOUT[0]).ok
    except (requests.RequestException, urllib3.exceptions.HTTPError, ValueError, _StalledError, BuildError):
        return False


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is_ours(path: Path) -> bool:
    """Whether `path` is a regular file of this user that has no other name; a link is not."""
    try:
        return _regular(path.lstat())
    except FileNotFoundError:
        return False


def _regular(info: os.stat_result) -> bool:
    return stat.S_ISREG(info.st_mode) and info.st_uid == os.geteuid() and info.st_nlink == 1


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)


def _open_part(part: Path) -> IO[bytes]:
    """Opens `part` for appending: the one that an earlier try has left, or a new one.

    What somebody else put there is removed and never written to: a link, a pipe, a file with a second name.
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
    """Fills `file` with all of `url`; a try that brings at least one byte does not count as failed."""
    failed = 0
    while True:
        before = _size(file)
        try:
            return _try(url, file, name, say, limits)
        except (requests.ConnectionError, requests.Timeout, urllib3.exceptions.HTTPError, _StalledError) as error:
            failed = failed + 1 if _size(file) == before else 1
            late = time.monotonic() >= limits.end
            if failed == _TRIES or isinstance(error, requests.ConnectTimeout) or late:
                raise SourceUnavailableError(_cannot(url, _reason(error))) from None
        except (requests.RequestException, ValueError) as error:
            raise SourceUnavailableError(_cannot(url, _reason(error))) from None
        time.sleep(min(0.1 * 2**failed, 1.0))


def _try(url: str, file: IO[bytes], name: str, say: Say, limits: _Limits) -> None:
    """One try: asks for the rest of `file` and appends it, or starts over if the server has only the whole."""
    have = _size(file)
    if limits.size is not None and have >= limits.size:
        if have == limits.size:
            return
        file.truncate(0)
        have = 0
    with _Request("GET", url, have) as request:
        response = request.response(min(time.monotonic() + _ANSWER, limits.end))
        if response.status_code in (404, 410):
            raise MissingFileError(f"{without_credentials(url)} does not exist (HTTP {response.status_code})")
        if response.status_code == 416:
            # Nothing is left to send: either all of it is here already, or what is here is not of this file.
            if have and response.headers.get("Content-Range", "").rpartition("/")[2] == str(have):
                return
            file.truncate(0)
            raise requests.ConnectionError("the server has less than was downloaded before")
        if response.status_code >= 500:
            raise requests.ConnectionError(f"HTTP {response.status_code}")
        if response.status_code not in (200, 206):
            raise SourceUnavailableError(_cannot(url, f"HTTP {response.status_code}"))
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
    return SourceUnavailableError(_cannot(url, f"the server sends {found}, expected {expected}"))


class _Session(requests.Session):
    """A session that leaves redirects to its caller, and tells `opened` of each connection.

    `requests` would read the body of a redirect whole into memory, whether it follows it or not.
    """

    def __init__(self, opened: Callable[[object], None]) -> None:
        super().__init__()
        for prefix in ("http://", "https://"):
            self.mount(prefix, _Adapter(opened))

    def get_redirect_target(self, resp: requests.Response) -> str | None:  # noqa: ARG002 - its name there
        return None

    def next_address(self, response: requests.Response) -> str | None:
        """Where `response` redirects to, None if it does not.

        Raises:
            SourceUnavailableError: from https to something else.
        """
        target: str | None = super().get_redirect_target(response)
        if not target:
            return None
        address = urljoin(response.url, target)
        if response.url.startswith("https:") and not address.startswith("https:"):
            why = "the server redirects from https to an address without it"
            raise SourceUnavailableError(_cannot(response.url, why))
        return address


class _Adapter(requests.adapters.HTTPAdapter):
    """Tells `opened` of the socket of each connection."""

    def __init__(self, opened: Callable[[object], None]) -> None:
        self._opened = opened
        super().__init__()

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        self._watch(self.poolmanager)

    def proxy_manager_for(self, *args: Any, **kwargs: Any) -> Any:
        known = len(self.proxy_manager)
        manager = super().proxy_manager_for(*args, **kwargs)
        return self._watch(manager) if len(self.proxy_manager) > known else manager

    def _watch(self, manager: Any) -> Any:
        pools = manager.pool_classes_by_scheme.items()
        manager.pool_classes_by_scheme = {scheme: _telling(pool, self._opened) for scheme, pool in pools}
        return manager


def _telling(pool: Any, opened: Callable[[object], None]) -> Any:
    """The class `pool` of connections, but that each tells `opened` of its socket."""

    class Connection(pool.ConnectionCls):  # type: ignore[misc]
        def connect(self) -> None:
            super().connect()
            opened(self.sock)

    return type(pool.__name__, (pool,), {"ConnectionCls": Connection})


class _Request:
    """One HTTP request in a thread of its own, which puts the response and then its bytes into a queue."""

    def __init__(self, method: str, url: str, have: int) -> None:
        self._news: queue.Queue[requests.Response | bytes | Exception] = queue.Queue(16)
        self._stopped = threading.Event()
        self._sockets: list[object] = []
        self._window = time.monotonic()
        self._arrived = 0
        threading.Thread(target=self._run, args=(method, url, have), daemon=True).start()

    def __enter__(self) -> _Request:
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._hang_up()

    def _opened(self, connection: object) -> None:
        self._sockets.append(connection)
        if self._stopped.is_set():
            self._hang_up()

    def _hang_up(self) -> None:
        """Ends the thread, should it be reading: what would be read is for nobody."""
        for connection in self._sockets:
            if isinstance(connection, socket.socket):
                with contextlib.suppress(OSError):
                    socket.socket.shutdown(connection, socket.SHUT_RDWR)  # below TLS, which the thread may be using

    def response(self, end: float) -> requests.Response:
        """The answer, as soon as its headers are complete."""
        found = self._next(end, "no complete answer")
        assert isinstance(found, requests.Response)
        self._window = time.monotonic()
        return found

    def chunk(self, end: float) -> bytes:
        """The next bytes, none after the last."""
        found = self._next(min(end, self._window + _STALL), "too few bytes")
        assert isinstance(found, bytes)
        self._arrived += len(found)
        if self._arrived >= _STALL_BYTES:
            self._window, self._arrived = time.monotonic(), 0
        return found

    def _next(self, end: float, what: str) -> requests.Response | bytes:
        begin = time.monotonic()
        try:
            found = self._news.get(timeout=max(end - begin, 0.001))
        except queue.Empty:
            raise _StalledError(f"{what} in the time that there is for it") from None
        if isinstance(found, Exception):
            raise found
        return found

    def _put(self, news: requests.Response | bytes | Exception) -> None:
        while not self._stopped.is_set():
            try:
                return self._news.put(news, timeout=0.2)
            except queue.Full:
                continue
        raise _StoppedError

    def _run(self, method: str, url: str, have: int) -> None:
        headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
        try:
            try:
                with _Session(self._opened) as session, self._final(session, method, url, headers) as response:
                    self._put(response)
                    # Whatever has arrived, not a full chunk: whoever waits must see progress, or that there is none.
                    while method != "HEAD" and (chunk := response.raw.read1(_CHUNK, decode_content=False)):
                        self._put(chunk)
                    self._put(b"")
            except _StoppedError:
                raise
            except Exception as error:  # handed over to whoever waits
                self._put(error)
        except _StoppedError:
            pass

    def _final(self, session: _Session, method: str, url: str, headers: dict[str, str]) -> requests.Response:
        """The answer that is not a redirect; those before it are closed, and their bodies are not read."""
        for _ in range(_REDIRECTS + 1):
            response = session.request(
                method, url, headers=headers, stream=True, timeout=_TIMEOUT, allow_redirects=False
            )
            try:
                address = session.next_address(response)
            except BaseException:
                response.close()
                raise
            if address is None:
                return response
            response.close()
            credentials = response.request.headers.get("Authorization")
            headers = {name: value for name, value in headers.items() if name != "Authorization"}
            if credentials and not session.should_strip_auth(response.url, address):  # type: ignore[no-untyped-call]
                headers["Authorization"] = credentials
            url = address
        raise requests.TooManyRedirects(f"the server redirects more than {_REDIRECTS} times")


def _progress() -> Progress:
    """A bar on stderr, drawn only on a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    return Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty())


def _size(file: IO[bytes]) -> int:
    file.flush()
    return os.fstat(file.fileno()).st_size


def _cannot(url: str, why: str) -> str:
    return printable(without_credentials(f"cannot download {url}: {why}"))


def _reason(error: Exception) -> str:
    """The innermost cause of a `requests` error, on one line; the outer ones repeat the URL at length."""
    if isinstance(error, ValueError):
        # Not what it says: that quotes pieces of the address, such as the start of a password as the port.
        return "the address is not one for HTTP, nor that of a proxy for it"
    seen: BaseException = error
    while not isinstance(seen, _StalledError) and (inner := seen.__cause__ or seen.__context__) is not None:
        seen = inner
    return " ".join(str(seen).split()) or type(seen).__name__
