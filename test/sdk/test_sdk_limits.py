# SPDX-License-Identifier: Apache-2.0
"""Limits of downloads and archives that the attacks do not cover: https, messages, and input that must still work."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import http.server
import itertools
import lzma
import os
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import requests
import urllib3.util.connection

from support.sdk.world import ROOT, Server, World, closed_port, deb_bytes, llvm_files, tar_bytes
from triton_ext.errors import BuildError
from triton_ext.sdk import ar_archive, archive, debian, decompress, download, http_request
from triton_ext.sdk.source_file import load_source_list
from triton_ext.sdk.sources import SourceUnavailableError
from triton_ext.sdk.trust import without_credentials

SNAPSHOT = "debian-24-snapshot"


def quiet(line: str) -> None:
    """Discards messages."""


# https


@pytest.fixture
def secure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], str]]:
    """Runs an https server for 127.0.0.1 and `mirror.test`. Returns a function that adds a path, and the target of its
    redirect."""
    if not shutil.which("openssl"):
        pytest.skip("making a certificate needs openssl")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-keyout", key, "-out", certificate, "-subj", "/CN=mirror.test",
         "-addext", "subjectAltName=DNS:mirror.test,IP:127.0.0.1"],
        check=True, capture_output=True,
    )  # fmt: skip
    answers: dict[str, str] = {}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path not in answers:
                return self.send_error(404)
            self.send_response(302 if answers[self.path] else 200)
            if answers[self.path]:
                self.send_header("Location", answers[self.path])
            self.send_header("Content-Length", "0")
            return self.end_headers()

        do_HEAD = do_GET  # noqa: N815

        def log_message(self, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    real = urllib3.util.connection.create_connection

    def connect(address: tuple[str, int], *args: object, **kwargs: object) -> object:
        """Connections to the usual port of `mirror.test` reach this server."""
        port = server.server_port if address == ("mirror.test", 443) else address[1]
        return real(("127.0.0.1", port), *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(urllib3.util.connection, "create_connection", connect)

    def answer(path: str, location: str = "") -> str:
        answers[path] = location
        return f"https://127.0.0.1:{server.server_port}"

    yield answer
    server.shutdown()
    server.server_close()
    thread.join()


def test_mirror_of_http_is_used_over_https(secure: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_EXT_DEBIAN_MIRROR", "http://user:hunter2@mirror.test/debian")
    news: list[str] = []
    assert debian.connect(news.append) == "http://user:hunter2@mirror.test/debian"
    assert news == [
        "http://***@mirror.test/debian has no https: going on with http; hashes and signatures are checked all the same"
    ]
    secure("/debian/dists/sid/InRelease")
    assert debian.connect(news.append) == "https://user:hunter2@mirror.test/debian"
    assert len(news) == 1


def test_port_and_https_are_left_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debian, "answers", lambda url: pytest.fail("nobody is to be asked"))
    for address in (closed_port(), "https://mirror.test/debian", "http://u:p@mirror.test:80/debian", "http://[::1"):
        monkeypatch.setenv("TRITON_EXT_DEBIAN_MIRROR", address)
        assert debian.connect(quiet) == address


def test_https_never_becomes_http(secure: Callable[..., str], server: Server, tmp_path: Path) -> None:
    """An https server redirects to http: that address is never requested."""
    server.add("file.deb", b"content")
    url = secure("/file.deb", f"{server.url}/file.deb")
    with pytest.raises(SourceUnavailableError, match="redirects from https to an address without it"):
        download.fetch(f"{url}/file.deb", tmp_path, sha256=None, say=quiet)
    assert server.log == []


@pytest.mark.slow
def test_certificate_that_is_not_known(
    secure: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REQUESTS_CA_BUNDLE")
    monkeypatch.delenv("CURL_CA_BUNDLE", raising=False)
    url = secure("/file.deb")
    assert not download.answers(f"{url}/file.deb")
    with pytest.raises(SourceUnavailableError, match="certificate"):
        download.fetch(f"{url}/file.deb", tmp_path, sha256=None, say=quiet)


# Downloads


def test_size_that_is_known_is_the_limit(server: Server, tmp_path: Path) -> None:
    digest = server.add("file.deb", b"0123456789")
    with pytest.raises(SourceUnavailableError, match=r"sends 10 bytes, expected 9 bytes$"):
        download.fetch(f"{server.url}/file.deb", tmp_path, sha256=digest, size=9, say=quiet)
    with pytest.raises(SourceUnavailableError, match=r"sends 10 bytes, expected 9 bytes at most$"):
        download.fetch(f"{server.url}/file.deb", tmp_path, sha256=None, most=9, say=quiet)
    assert download.fetch(f"{server.url}/file.deb", tmp_path, sha256=digest, size=10, say=quiet).read_bytes()


def test_slow_download_ends_and_is_resumed(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every attempt receives bytes, so only the limit on the whole time ends the download."""
    digest = server.add("file.deb", os.urandom(1 << 20))
    server.delay = 0.2
    monkeypatch.setattr(download, "_PATIENCE", 3.0)
    monkeypatch.setattr(download, "_SLOWEST", 1e9)
    start = time.monotonic()
    with pytest.raises(SourceUnavailableError, match="too few bytes in the time that is allowed"):
        download.fetch(f"{server.url}/file.deb", tmp_path, sha256=digest, size=1 << 20, say=quiet)
    assert time.monotonic() - start < 60
    (part,) = tmp_path.glob("*.part")
    have = part.stat().st_size
    assert have > 0
    assert part.stat().st_mode & 0o777 == 0o600
    server.delay = 0.0
    monkeypatch.undo()
    download.fetch(f"{server.url}/file.deb", tmp_path, sha256=digest, size=1 << 20, say=quiet)
    assert server.asked("file.deb")[1] == f"bytes={have}-"


@contextlib.contextmanager
def saying(answers: list[Iterator[bytes]]) -> Iterator[tuple[str, list[int], list[threading.Thread]]]:
    """Runs a server that gives one answer to each connection. Returns its address, and for each connection its bytes
    and thread."""
    sent: list[int] = []
    threads: list[threading.Thread] = []

    def answer(connection: socket.socket, n: int) -> None:
        with connection, contextlib.suppress(OSError):
            connection.recv(1 << 16)
            for data in answers[min(n, len(answers) - 1)]:
                connection.sendall(data)
                sent[n] += len(data)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listening.accept()
                sent.append(0)
                threads.append(threading.Thread(target=answer, args=(connection, len(sent) - 1), daemon=True))
                threads[-1].start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=accept, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}", sent, threads
        finally:
            listening.shutdown(socket.SHUT_RDWR)


REDIRECT = b"HTTP/1.1 302 Found\r\nLocation: /other.deb\r\nTransfer-Encoding: chunked\r\n\r\n"
BLOCK = b"100000\r\n" + b"a" * (1 << 20) + b"\r\n"


def test_body_of_a_redirect_is_not_read(tmp_path: Path) -> None:
    """The body has no end, and `requests` would read it into memory without a limit before it goes on."""
    good = [b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\ncontent"]
    endless = itertools.chain([REDIRECT], itertools.repeat(BLOCK, 500))
    with saying([endless, iter(good)]) as (url, sent, threads):
        found = download.fetch(f"{url}/file.deb", tmp_path, sha256=None, most=100, say=quiet)
        assert found.read_bytes() == b"content"
        threads[0].join(10)
        assert not threads[0].is_alive()
        assert len(sent) == 2
        assert sent[0] < 16 << 20  # the bytes that fit into the buffers of the connection


def test_six_redirects_are_too_many(tmp_path: Path) -> None:
    with (
        saying([iter([REDIRECT, BLOCK]) for _ in range(9)]) as (url, sent, _),
        pytest.raises(SourceUnavailableError, match="redirects more than 5 times"),
    ):
        download.fetch(f"{url}/file.deb", tmp_path, sha256=None, most=100, say=quiet)
    assert len(sent) == 6


@pytest.mark.slow
@pytest.mark.parametrize("start", [b"", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"])
def test_download_that_was_given_up_is_not_read_on(
    start: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that reads endless interim answers or trailers is not left behind."""
    line = b"X: y\r\n" if start else b"HTTP/1.1 100 Continue\r\n\r\n"
    monkeypatch.setattr(http_request, "STALL", 0.5)
    for name, seconds in (("_ANSWER", 0.5), ("_PATIENCE", 0.5), ("_SLOWEST", 1e9)):
        monkeypatch.setattr(download, name, seconds)
    with saying([itertools.chain([start], itertools.repeat(line))]) as (url, _, threads):
        before = threading.active_count()
        with pytest.raises(SourceUnavailableError, match="cannot download"):
            download.fetch(f"{url}/file.deb", tmp_path, sha256=None, most=100, say=quiet)
        for thread in threads:
            thread.join(10)
            assert not thread.is_alive()
        end = time.monotonic() + 10
        while threading.active_count() > before and time.monotonic() < end:
            time.sleep(0.05)
        assert threading.active_count() <= before


def test_redirect_keeps_credentials_for_its_own_server_only(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[object] = []
    real = requests.Session.send

    def send(self: requests.Session, request: requests.PreparedRequest, **kwargs: object) -> requests.Response:
        seen.append(request.headers.get("Authorization"))
        return real(self, request, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(requests.Session, "send", send)
    server.add("file.deb", b"content")

    def to(address: str) -> Iterator[bytes]:
        # The server closes each connection. Unless it says so, the client may send its next request into one.
        return iter(
            [f"HTTP/1.1 302 F\r\nConnection: close\r\nLocation: {address}\r\nContent-Length: 0\r\n\r\n".encode()]
        )

    answers: list[Iterator[bytes]] = []
    with saying(answers) as (url, _, _):
        answers += [to(f"{url}/again"), to(f"{server.url.replace('127.0.0.1', '127.1')}/file.deb")]
        with_password = url.replace("://", "://user:hunter2@")
        download.fetch(f"{with_password}/file.deb", tmp_path, sha256=None, most=100, say=quiet)
    assert [bool(credentials) for credentials in seen] == [True, True, False], seen


@pytest.mark.parametrize(
    "said", [b"\x1b]0;owned\x07\x1b[2Jhello\r\n\r\n", b"HTTP/1.1 302 \x1b[2J\r\nLocation: http://\x1b[2J/\r\n\r\n"]
)
def test_what_a_server_says_is_printable(said: bytes, tmp_path: Path) -> None:
    with (
        saying([iter([said]) for _ in range(9)]) as (url, _, _),
        pytest.raises(SourceUnavailableError) as caught,
    ):
        download.fetch(f"{url}/file.deb", tmp_path, sha256=None, most=100, say=quiet)
    assert str(caught.value).isprintable(), str(caught.value)


def test_name_that_is_too_long(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="names a file of more than 200 bytes"):
        download.fetch(f"{closed_port()}/{'a' * 300}", tmp_path, sha256=None, say=quiet)
    with pytest.raises(SourceUnavailableError):
        download.fetch(f"{closed_port()}/{'a' * 200}", tmp_path, sha256=None, say=quiet)


@pytest.mark.parametrize("name", ["..%2Fevil", "%2Fevil", ".evil", "%2e%2e", "", "a%00b", "a%0Ab"])
def test_name_that_is_none(tmp_path: Path, name: str) -> None:
    with pytest.raises(BuildError, match="names no file"):
        download.fetch(f"{closed_port()}/{name}", tmp_path, sha256=None, say=quiet)


def test_credentials_are_hidden_in_every_text() -> None:
    assert without_credentials("get http://u:p@h/x and https://u:a@b/c@h:1/y, a@b") == (
        "get http://***@h/x and https://***@h:1/y, a@b"
    )
    assert without_credentials("http://h/x") == "http://h/x"


@pytest.mark.parametrize(
    "address",
    ["http://user:hun ter2@h/debian", "http://user:hun'ter2@h/x", "http:/user:hunter2@h/x", "http:user:hunter2@h/x"],
)
def test_address_that_is_none_is_not_shown(world: World, address: str) -> None:
    world.monkeypatch.setenv("TRITON_EXT_DEBIAN_MIRROR", address)
    said = world.fails("install", "--source", SNAPSHOT)
    assert "ter2" not in said
    assert "TRITON_EXT_DEBIAN_MIRROR is not an address of a server" in said


def test_proxy_with_a_password(world: World) -> None:
    world.monkeypatch.setenv("http_proxy", f"{closed_port().replace('//', '//user:hunter2@')}")
    assert "hunter2" not in world.fails("install", "--source", SNAPSHOT)
    world.monkeypatch.setenv("http_proxy", "http://user:hunter2/x@nowhere")
    assert "hunter2" not in world.fails("install", "--source", SNAPSHOT)


# Archives


def packed(kind: str, files: dict[str, str]) -> bytes:
    plain = tar_bytes(files, "")
    if kind == "zst":
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd
        data: bytes = zstd.compress(plain)
        return data
    return {"gz": gzip.compress, "xz": lzma.compress, "bz2": bz2.compress, "": bytes}[kind](plain)


@pytest.mark.parametrize("kind", ["gz", "xz", "bz2", "zst", ""])
def test_every_compression_in_tar_and_deb(tmp_path: Path, kind: str) -> None:
    data = packed(kind, llvm_files())
    (tmp_path / "llvm.tar").write_bytes(data)
    name = f"data.tar.{kind}".rstrip(".")
    deb = b"!<arch>\n"
    for part, content in (("debian-binary", b"2.0\n"), (name, data)):
        deb += f"{part:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(content):<10}`\n".encode() + content
        deb += b"\n" * (len(content) % 2)
    (tmp_path / "llvm.deb").write_bytes(deb)
    for suffix in ("tar", "deb"):
        archive.unpack(tmp_path / f"llvm.{suffix}", tmp_path / suffix, archive.sdk_files(()), verified=False)
        assert (tmp_path / suffix / "include/mlir/IR/BuiltinOps.h").read_text() == "// builtin\n"


@pytest.mark.parametrize("kind", ["gz", "xz", "bz2", "zst", ""])
def test_stream_that_is_cut(tmp_path: Path, kind: str) -> None:
    """A truncated archive is an error wherever it ends, even after the last file that is needed."""
    data = packed(kind, llvm_files())
    file = tmp_path / "llvm.tar"
    # The padding of a tar file to a multiple of its record holds no data.
    whole = len(data) if kind else len(data.rstrip(b"\0")) + 512
    for end in range(1, whole, max(1, whole // 100)):
        file.write_bytes(data[:end])
        with pytest.raises(BuildError, match="is not a readable archive"):
            archive.unpack(file, tmp_path / "into", archive.sdk_files(()), verified=False)


@pytest.mark.slow
def test_damage_after_all_that_is_wanted(tmp_path: Path) -> None:
    """Damage at the end is found, because the file is read to its end unless a hash has verified it."""
    files = llvm_files() | {"lib/libMLIRIR.a": os.urandom(1 << 21).hex()}
    deb = bytearray(deb_bytes(files))
    deb[-1000] ^= 1
    (tmp_path / "llvm.deb").write_bytes(deb)
    with pytest.raises(BuildError, match="is not a Debian package"):
        archive.unpack(tmp_path / "llvm.deb", tmp_path / "a", archive.sdk_files(()), verified=False)
    archive.unpack(tmp_path / "llvm.deb", tmp_path / "b", archive.sdk_files(()), verified=True)
    tar = bytearray(tar_bytes(files, "gz"))
    tar[-6] ^= 1  # of the checksum
    (tmp_path / "llvm.tar").write_bytes(tar)
    with pytest.raises(BuildError, match="is not a readable archive: CRC check failed"):
        archive.unpack(tmp_path / "llvm.tar", tmp_path / "c", archive.sdk_files(()), verified=False, most=3)


@pytest.mark.parametrize("suffix", ["deb", "zip"])
def test_corrupt_archive_is_one_clear_error(world: World, suffix: str) -> None:
    import io
    import zipfile

    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, text in llvm_files().items():
            file.writestr(name, text)
    data = deb_bytes(llvm_files()) if suffix == "deb" else buffer.getvalue()
    named = world.tmp / f"llvm.{suffix}"
    step = len(data) // 12
    for at in range(8 if suffix == "deb" else 0, len(data), step):
        named.write_bytes(data[:at] + bytes(8) + data[at + 8 :])
        code, _, err = world.run("install", "--from", str(named), "--force")
        lines = [line for line in err.splitlines() if line.startswith("triton-ext: error: ")]
        assert code == 0 or lines == err.splitlines()[-1:], err
        assert "internal" not in err


@pytest.mark.parametrize(
    "header",
    [b"-60       ", b"          ", b"x         ", b"9999999999", b"+1        "],
)
def test_static_library_with_a_wrong_size(tmp_path: Path, header: bytes) -> None:
    """A negative size was once read endlessly."""
    library = tmp_path / "lib.a"
    library.write_bytes(b"!<arch>\n" + b"a.o/".ljust(48) + header + b"`\n" + bytes(64))
    with pytest.raises(BuildError, match="is not a static library that contains its objects"):
        list(ar_archive.static_library_members(library))


@pytest.mark.parametrize("link", [False, True])
def test_members_that_collide(tmp_path: Path, link: bool) -> None:
    files, below = {"include/llvm/a": "file", "include/llvm/c.h": ""}, "include/llvm/a/b.h"
    data = tar_bytes(files, "gz", "", {below: "../c.h"}) if link else tar_bytes(files | {below: "below it"}, "gz")
    (tmp_path / "llvm.tar").write_bytes(data)
    with pytest.raises(BuildError, match=r"is not a readable archive: b\.h cannot be written"):
        archive.unpack(tmp_path / "llvm.tar", tmp_path / "into", archive.sdk_files(()), verified=False)


def test_time_of_unpacking_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decompress, "MOST_SECONDS", -1.0)
    (tmp_path / "llvm.tar").write_bytes(tar_bytes(llvm_files(), "gz"))
    with pytest.raises(BuildError, match="s to unpack"):
        archive.unpack(tmp_path / "llvm.tar", tmp_path / "into", archive.sdk_files(()), verified=False)


def test_index_is_limited(tmp_path: Path) -> None:
    (tmp_path / "Packages.xz").write_bytes(lzma.compress(bytes(1 << 20)))
    with decompress.decompressed(tmp_path / "Packages.xz", most=1_000_000) as stream:
        assert len(stream.read(900_000)) == 900_000
        with pytest.raises(BuildError, match="unpacks to more than 1000000 bytes"):
            stream.read(200_000)


def test_sources_of_llvm_are_within_the_limits() -> None:
    """Measured: llvm-toolchain-23 has 197,000 members and unpacks to 11.4 times its size."""
    assert decompress.MOST_MEMBERS > 4 * 197_000
    assert decompress.MOST_RATIO > 4 * 11.4


def test_planted_directory_of_the_next_sdk_is_not_followed(world: World) -> None:
    """Others know the name of the directory that becomes the SDK."""
    outside = world.tmp / "outside"
    outside.mkdir()
    (outside / "keep").write_text("")
    target = world.target(SNAPSHOT)
    target.parent.mkdir(parents=True)
    target.with_name(f".{target.name}.new").symlink_to(outside)
    _, _, err = world.run("install", "--source", SNAPSHOT)
    assert [path.name for path in outside.iterdir()] == ["keep"], err
    assert not list(world.tmp.glob("outside/*/"))


def test_limits_are_those_of_the_documentation() -> None:
    page = " ".join((ROOT / "docs" / "sdk.md").read_text().split())
    assert f"unpack to {decompress.MOST_RATIO} times its size and {decompress.ANY_RATIO >> 20} MiB" in page
    assert f"write {decompress.MOST_WRITTEN // 10**9} GB, have a million members and take half an hour" in page
    assert (decompress.MOST_MEMBERS, decompress.MOST_SECONDS) == (10**6, 1800)
    assert f"a minute in which less than {http_request.STALL_BYTES >> 10} KiB arrive" in page
    assert http_request.STALL == 60
    assert [suite.max_age_days for suite in load_source_list().debian.suites] == [10]
    assert "the file may be ten days old" in page
