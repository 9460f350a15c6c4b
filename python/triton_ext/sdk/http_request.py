# SPDX-License-Identifier: Apache-2.0
"""One HTTP request to a server that is not trusted, with limits on what the caller waits for.

The server may send endless headers, one byte a minute or chunks without end. So a request runs in a thread of its own,
and the caller waits no longer than its limits allow; then the connection is shut down, which ends the thread. The body
of a redirect is not read. Proxies and certificates are what ``requests`` takes from the environment.
"""

from __future__ import annotations

import contextlib
import queue
import socket
import struct
import threading
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urljoin

import requests

from ..support.shown import printable
from .sources import SourceUnavailableError
from .trust import without_credentials

TIMEOUT = (4.0, 30.0)  # seconds to connect, seconds without a byte
#: A request has stalled if fewer than `STALL_BYTES` arrive within `STALL` seconds.
STALL, STALL_BYTES = 60.0, 1 << 16
_REDIRECTS = 5
_CHUNK = 1 << 16


def cannot_download(url: str, why: str) -> str:
    """The message that `url` cannot be downloaded, without credentials and control characters."""
    return printable(without_credentials(f"cannot download {url}: {why}"))


class StalledError(Exception):
    """The server sends too few bytes, or none, within the time limit."""


class _StoppedError(Exception):
    """The caller has given up this request."""


class _Session(requests.Session):
    """A session that does not follow redirects, and calls `opened` with the socket of each connection.

    `requests` would read the whole body of a redirect into memory, even if it does not follow it.
    """

    def __init__(self, opened: Callable[[object], None]) -> None:
        super().__init__()
        for prefix in ("http://", "https://"):
            self.mount(prefix, _Adapter(opened))

    def get_redirect_target(self, resp: requests.Response) -> str | None:  # noqa: ARG002 - its name there
        return None

    def next_address(self, response: requests.Response) -> str | None:
        """Returns the address that `response` redirects to; None if it is not a redirect.

        Raises:
            SourceUnavailableError: it redirects from https to an address without it.
        """
        target: str | None = super().get_redirect_target(response)
        if not target:
            return None
        address = urljoin(response.url, target)
        if response.url.startswith("https:") and not address.startswith("https:"):
            why = "the server redirects from https to an address without it"
            raise SourceUnavailableError(cannot_download(response.url, why))
        return address


class _Adapter(requests.adapters.HTTPAdapter):
    """Calls `opened` with the socket of each connection."""

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
    """Returns a subclass of `pool` whose connections call `opened` with their socket."""

    class Connection(pool.ConnectionCls):  # type: ignore[misc]
        def connect(self) -> None:
            super().connect()
            opened(self.sock)

    return type(pool.__name__, (pool,), {"ConnectionCls": Connection})


class Request:
    """One HTTP request in a thread of its own, which puts the response and then its bytes into a queue."""

    def __init__(self, method: str, url: str, have: int) -> None:
        self._news: queue.Queue[requests.Response | bytes | Exception] = queue.Queue(16)
        self._stopped = threading.Event()
        self._sockets: list[object] = []
        self._window = time.monotonic()
        self._arrived = 0
        threading.Thread(target=self._run, args=(method, url, have), daemon=True).start()

    def __enter__(self) -> Request:
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._hang_up()

    def _opened(self, connection: object) -> None:
        self._sockets.append(connection)
        if self._stopped.is_set():
            self._hang_up()

    def _hang_up(self) -> None:
        """Shuts down the connections and empties their buffers, which ends a thread that is reading.

        What has arrived can still be read after the shutdown. Megabytes of short lines would take the thread seconds.
        The thread then closes the connection with a reset; a server with a full buffer would wait a minute for less.
        """
        for connection in self._sockets:
            if isinstance(connection, socket.socket):
                # The methods of the base class, below TLS, which the thread may be using.
                with contextlib.suppress(OSError):
                    reset = struct.pack("ii", 1, 0)  # linger for 0 seconds
                    socket.socket.setsockopt(connection, socket.SOL_SOCKET, socket.SO_LINGER, reset)
                    socket.socket.shutdown(connection, socket.SHUT_RDWR)
                    while socket.socket.recv(connection, 1 << 20):
                        pass

    def response(self, end: float) -> requests.Response:
        """Waits until `end` for the headers of the response, and returns it.

        Raises:
            StalledError: they are not complete in time.
            Exception: the exception of the request.
        """
        found = self._next(end, "no complete answer")
        assert isinstance(found, requests.Response)
        self._window = time.monotonic()
        return found

    def chunk(self, end: float) -> bytes:
        """Waits for the next bytes and returns them; empty after the last.

        Raises:
            StalledError: too few bytes arrive in time.
            Exception: the exception of the request.
        """
        found = self._next(min(end, self._window + STALL), "too few bytes")
        assert isinstance(found, bytes)
        self._arrived += len(found)
        if self._arrived >= STALL_BYTES:
            self._window, self._arrived = time.monotonic(), 0
        return found

    def _next(self, end: float, what: str) -> requests.Response | bytes:
        begin = time.monotonic()
        try:
            found = self._news.get(timeout=max(end - begin, 0.001))
        except queue.Empty:
            raise StalledError(f"{what} in the time that is allowed") from None
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
                    # read1 returns what has arrived and does not wait for a full chunk, so the caller sees progress.
                    while method != "HEAD" and (chunk := response.raw.read1(_CHUNK, decode_content=False)):
                        self._put(chunk)
                    self._put(b"")
            except _StoppedError:
                raise
            except Exception as error:  # `_next` raises it in the caller's thread
                self._put(error)
        except _StoppedError:
            pass

    def _final(self, session: _Session, method: str, url: str, headers: dict[str, str]) -> requests.Response:
        """Follows redirects, whose bodies are not read, and returns the first response that is not a redirect."""
        for _ in range(_REDIRECTS + 1):
            response = session.request(
                method, url, headers=headers, stream=True, timeout=TIMEOUT, allow_redirects=False
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
