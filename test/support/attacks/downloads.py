# SPDX-License-Identifier: Apache-2.0
"""Attacks on downloads: mirrors, archives, package indexes, and other users of the download directory.

Everything stays on this machine: servers listen on the loopback interface, and files lie in temporary directories.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import hashlib
import io
import itertools
import lzma
import os
import random
import shutil
import socket
import stat
import struct
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from support.attacks.attack import Attack, Outcome
from support.sdk.signing import forge, make_signer, release_text
from support.sdk.world import closed_port, llvm_debs, make_world, serving
from triton_ext.errors import BuildError
from triton_ext.sdk import Sdk, archive, debian_release, download, http_request
from triton_ext.sdk.sources import Archive, Suite
from triton_ext.sdk.trust import Trust

SECRET = "what nobody else may read"
Entry = tuple[str, bytes, str]  # name, type of tar, content or target


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="triton-ext-attack-") as directory:
        yield Path(directory)


def everything(name: str) -> str:
    """Selects all members, under their own names."""
    return name


# Package indexes


def forged_indexes(chance: random.Random, scale: int) -> Outcome:
    """Release files with a text that the archive has not signed; got through: the text is used."""
    if not shutil.which("gpg") or not shutil.which("gpgv"):
        return Outcome(0, 0, "gpg or gpgv is not installed")
    through = []
    with scratch() as root, contextlib.closing(make_signer()) as signers, pytest.MonkeyPatch.context() as patch:
        signer = next(signers)
        ring = signer.keyring(root / "keyring.gpg", "archive", "archive2", "security", "expired")
        patch.setattr(debian_release, "_KEYRINGS", (ring,))
        keys = Archive((signer.keys["archive"],), ())
        forged = forge(signer, release_text(b"good"), release_text(b"evil"))
        for name, data in forged.items():
            (root / "InRelease").write_bytes(data)
            try:
                debian_release.signed_text(
                    root / "InRelease", keys, Suite("sid", "unstable", "sid", 10), Trust(True, print)
                )
                through.append(name)
            except BuildError:
                pass
    return Outcome(len(forged), len(through), ", ".join(through))


# Archives


def tar_of(entries: list[Entry], mode: str = "") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=f"w:{mode}", format=tarfile.GNU_FORMAT) as tar:
        for name, kind, text in entries:
            info = tarfile.TarInfo(name)
            info.type = kind
            if kind == tarfile.REGTYPE:
                info.size = len(text.encode())
                tar.addfile(info, io.BytesIO(text.encode()))
            else:
                info.linkname = text
                tar.addfile(info)
    return buffer.getvalue()


def deb_of(data: bytes, name: str = "data.tar.xz", size: str | None = None) -> bytes:
    parts = {"debian-binary": b"2.0\n", "control.tar.gz": tar_of([("control", tarfile.REGTYPE, "x")], "gz"), name: data}
    result = b"!<arch>\n"
    for part, content in parts.items():
        shown = size if size is not None and part == name else str(len(content))
        result += f"{part:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{shown:<10}`\n".encode() + content
        result += b"\n" * (len(content) % 2)
    return result


def zip_of(entries: list[Entry]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, kind, text in entries:
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = ((stat.S_IFLNK if kind == tarfile.SYMTYPE else stat.S_IFREG) | 0o644) << 16
            file.writestr(info, text)
    return buffer.getvalue()


def zstd_of(data: bytes) -> bytes:
    zstd: Any
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    packed: bytes = zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1})
    return packed


def traversals(outside: Path) -> dict[str, list[Entry]]:
    """Returns members that lead to the directory `outside`, which is beside the target directory."""
    reg, sym, hard = tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE
    there, secret = str(outside), str(outside / "secret")
    return {
        "up": [("../outside/evil.h", reg, "evil")],
        "down and up": [("a/../../outside/evil.h", reg, "evil")],
        "absolute": [(f"{there}/evil.h", reg, "evil")],
        "dot and up": [("./../outside/evil.h", reg, "evil")],
        "as a header": [("include/llvm/../../../outside/evil.h", reg, "evil")],
        "empty components": [("a//..//..//outside/evil.h", reg, "evil")],
        "through a link": [("d", sym, there), ("d/evil.h", reg, "evil")],
        "through a relative link": [("d", sym, "../outside"), ("d/evil.h", reg, "evil")],
        "link to a secret": [("include/llvm/a.h", sym, secret)],
        "relative link to a secret": [("include/llvm/a.h", sym, "../../../outside/secret")],
        "chain of links": [("a.h", sym, "b.h"), ("b.h", sym, "../outside/secret")],
        "over a link": [("a.h", sym, secret), ("a.h", reg, "evil")],
        "hard link to a secret": [("a.h", hard, "../outside/secret")],
        "absolute hard link": [("a.h", hard, secret)],
        "over a hard link": [("a.h", hard, "../outside/secret"), ("a.h", reg, "evil")],
        "device": [("a.h", tarfile.CHRTYPE, "")],
        "pipe": [("a.h", tarfile.FIFOTYPE, "")],
    }


def traversal_archives(chance: random.Random, scale: int) -> Outcome:
    """Got through: something outside is written or copied, or a link or device is made."""
    through, tried = [], 0
    kinds: dict[str, Callable[[list[Entry]], bytes]] = {
        "tar.gz": lambda entries: tar_of(entries, "gz"),
        "deb": lambda entries: deb_of(tar_of(entries, "xz")),
        "zip": zip_of,
    }
    with scratch() as root:
        outside = root / "outside"
        outside.mkdir()
        (outside / "secret").write_text(SECRET)
        for (kind, make), (name, entries) in itertools.product(kinds.items(), traversals(outside).items()):
            if kind == "zip" and (
                any(type_ not in (tarfile.REGTYPE, tarfile.SYMTYPE) for _, type_, _ in entries)
                or len({name for name, _, _ in entries}) < len(entries)
            ):
                continue
            tried += 1
            into = root / "into"
            into.mkdir()
            file = root / f"archive.{kind}"
            file.write_bytes(make(entries))
            with contextlib.suppress(BuildError):
                archive.unpack(file, into, everything, verified=False)
            made = [path for path in into.rglob("*") if not path.is_dir() or path.is_symlink()]
            bad = [path for path in made if path.is_symlink() or not path.is_file() or path.read_text() == SECRET]
            if bad or [path.name for path in outside.iterdir()] != ["secret"]:
                through.append(f"{kind}: {name}")
            if (outside / "secret").read_text() != SECRET:
                through.append(f"{kind}: {name} overwrites")
            shutil.rmtree(into)
    return Outcome(tried, len(through), ", ".join(through))


def flipped_bits(chance: random.Random, scale: int) -> Outcome:
    """One bit of an archive is flipped; got through: the unpacked files differ from the packed ones."""
    texts = {f"include/llvm/{n}.h": chance.randbytes(400).hex() for n in range(6)}
    entries: list[Entry] = [(name, tarfile.REGTYPE, text) for name, text in texts.items()]
    plain = tar_of(entries)
    kinds = {
        "tar.gz": gzip.compress(plain, mtime=0),
        "tar.xz": lzma.compress(plain),
        "tar.bz2": bz2.compress(plain),
        "tar.zst": zstd_of(plain),
        "xz.deb": deb_of(lzma.compress(plain)),
        "gz.deb": deb_of(gzip.compress(plain, mtime=0), "data.tar.gz"),
        "zip": zip_of(entries),
    }
    tried, refused, through = 0, 0, []
    with scratch() as root:
        for kind, data in kinds.items():
            # The directory at the end of a zip file has no checksum; a bit of it can make a file a link.
            bits = range(8 * (len(data) if kind != "zip" else data.index(b"PK\1\2")))
            for bit in chance.sample(bits, 20 * scale):
                tried += 1
                damaged = bytearray(data)
                damaged[bit // 8] ^= 1 << bit % 8
                file, into = root / f"a.{kind}", root / "into"
                file.write_bytes(damaged)
                into.mkdir()
                try:
                    archive.unpack(file, into, everything, verified=False)
                    found = {str(path.relative_to(into)): path.read_text() for path in into.rglob("*.h")}
                    if found != texts:
                        through.append(f"{kind}: bit {bit}")
                except BuildError:
                    refused += 1
                shutil.rmtree(into)
    return Outcome(tried, len(through), ", ".join([f"{refused} refused, the others change nothing", *through[:5]]))


def bombs(root: Path) -> dict[str, bytes]:
    """Returns small archives that unpack to a huge size, or never end."""
    zeros = tar_of([("a.h", tarfile.REGTYPE, "0" * 100_000_000)])
    packed = lzma.compress(zeros, preset=0)
    huge = tarfile.TarInfo("long")
    huge.size, huge.type = 100_000_000, tarfile.XHDTYPE
    backwards = bytearray(tarfile.TarInfo("a.h").tobuf())
    backwards[124:136] = b"\xff" * 8 + struct.pack(">i", -1024)
    backwards[148:156] = b" " * 8
    backwards[148:155] = b"%06o\0" % sum(backwards)
    sparse = tarfile.TarInfo("a.h")
    sparse.type, sparse.size = tarfile.GNUTYPE_SPARSE, 0
    holes = bytearray(sparse.tobuf())
    holes[483:495] = b"77777777777\0"  # the size of the file, of which no byte is in the archive
    holes[148:156] = b" " * 8
    holes[148:155] = b"%06o\0" % sum(holes)
    links = [("a.h", tarfile.REGTYPE, "0" * 4_000_000)]
    links += [(f"l{n}.h", tarfile.SYMTYPE, "a.h") for n in range(2_000)]
    return {
        "zeros.tar.gz": gzip.compress(zeros),
        "zeros.tar.xz": packed,
        "zeros.tar.bz2": bz2.compress(zeros, 1),
        "zeros.tar.zst": zstd_of(zeros),
        "zeros.deb": deb_of(packed),
        "control.deb": deb_of(packed, "control.tar.xz"),
        "zeros.zip": zip_of([("a.h", tarfile.REGTYPE, "0" * 100_000_000)]),
        "members.tar.gz": gzip.compress(tar_of([(f"{n}/a", tarfile.DIRTYPE, "") for n in range(30_000)]), 1),
        "members.zip": zip_of([(f"{n}/a", tarfile.REGTYPE, "") for n in range(30_000)]),
        "links.tar.gz": gzip.compress(tar_of(links), 1),
        "attributes.tar.gz": gzip.compress(huge.tobuf(tarfile.GNU_FORMAT) + bytes(100_000_000), 1),
        "holes.tar": bytes(holes) + bytes(1024),
        "backwards.tar": bytes(backwards) + bytes(1024),
        "backwards.deb": deb_of(packed, size="-60"),
        "beyond.deb": deb_of(packed, size="9999999999"),
    }


UNPACK = """
import sys
from pathlib import Path
from triton_ext.errors import BuildError
from triton_ext.sdk import archive, decompress
decompress.MOST_MEMBERS = 20_000  # else a million, which takes long to pack
def peak():
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) // 1024
before = peak()
try:
    archive.unpack(Path(sys.argv[1]), Path(sys.argv[2]), lambda name: name, verified=False)
    sys.exit("no error")
except BuildError:
    print(peak() - before)
"""


def archive_bombs(chance: random.Random, scale: int) -> Outcome:
    """Got through: no error, 100 MB written, more than 60 s, or more than 100 MB of memory."""
    through: list[str] = []
    slowest, largest = 0.0, 0
    with scratch() as root:
        found = bombs(root)
        for name, data in found.items():
            file, into = root / name, root / "into"
            file.write_bytes(data)
            into.mkdir()
            start = time.monotonic()
            try:
                done = subprocess.run(
                    [sys.executable, "-c", UNPACK, file, into], capture_output=True, text=True, timeout=60, check=True
                )
                largest = max(largest, int(done.stdout))
                if int(done.stdout) > 100:
                    through.append(f"{name}: {done.stdout.strip()} MB of memory")
                if sum(path.stat().st_size for path in into.rglob("*")) >= 100_000_000:
                    through.append(f"{name}: writes all")
            except (subprocess.SubprocessError, ValueError) as error:
                through.append(f"{name}: {error}")
            slowest = max(slowest, time.monotonic() - start)
            shutil.rmtree(into)
    return Outcome(len(found), len(through), ", ".join([f"slowest {slowest:.1f} s, {largest} MB", *through]))


# Servers

CONTENT = b"0123456789abcdef" * 4096
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
LENGTH = b"Content-Length: %d\r\n\r\n" % len(CONTENT)
Talk = Iterator[bytes]


def dripping(data: bytes) -> Talk:
    """Repeats `data`, twenty bytes a second."""
    for byte in itertools.cycle(data):
        time.sleep(0.05)
        yield bytes([byte])


def bad_servers_talk() -> dict[str, Callable[[int], Talk]]:
    """Returns the answer of each server to its n-th request."""
    every = itertools.repeat
    return {
        "body without end": lambda n: itertools.chain([HEAD + b"\r\n"], every(CONTENT)),
        "headers without end": lambda n: itertools.chain([HEAD], every(b"X: y\r\n")),
        "header line without end": lambda n: itertools.chain([HEAD, b"X: "], every(b"y" * 1000)),
        "headers by the byte": lambda n: itertools.chain([HEAD], dripping(b"X: y\r\n")),
        "status line by the byte": lambda n: dripping(b"HTTP/1.1 100 C\r\n\r\n"),
        "interim answers without end": lambda n: every(b"HTTP/1.1 100 Continue\r\n\r\n"),
        "body by the byte": lambda n: itertools.chain([HEAD + LENGTH], dripping(CONTENT)),
        "chunks without end": lambda n: itertools.chain(
            [HEAD + b"Transfer-Encoding: chunked\r\n\r\n"], every(b"1\r\nx\r\n")
        ),
        "chunk size without end": lambda n: itertools.chain(
            [HEAD + b"Transfer-Encoding: chunked\r\n\r\n"], dripping(b"0")
        ),
        "trailers without end": lambda n: itertools.chain(
            [HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n"], every(b"X: y\r\n" * 1000)
        ),
        "a length of a terabyte": lambda n: itertools.chain(
            [HEAD + b"Content-Length: 1000000000000\r\n\r\n"], every(CONTENT)
        ),
        "a negative length": lambda n: itertools.chain([HEAD + b"Content-Length: -1\r\n\r\n"], every(CONTENT)),
        "a length that is none": lambda n: itertools.chain([HEAD + b"Content-Length: x\r\n\r\n"], every(CONTENT)),
        "nothing": lambda n: iter(()),
        "one byte each time": lambda n: iter([HEAD + LENGTH + CONTENT[:1]]),
        "too few bytes": lambda n: iter([HEAD + b"Content-Length: 9\r\n\r\n" + CONTENT[:9]]),
        "other bytes": lambda n: iter([HEAD + LENGTH + bytes(len(CONTENT))]),
        "redirects to itself": lambda n: iter([b"HTTP/1.1 302 F\r\nLocation: ?%d\r\nContent-Length: 0\r\n\r\n" % n]),
        "redirect with a body without end": lambda n: itertools.chain(
            [b"HTTP/1.1 302 F\r\nLocation: ?%d\r\nTransfer-Encoding: chunked\r\n\r\n" % n],
            every(b"10000\r\n" + CONTENT + b"\r\n"),
        ),
        "redirect to a file": lambda n: iter(
            [b"HTTP/1.1 302 F\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n"]
        ),
        "another range": lambda n: iter(
            [b"HTTP/1.1 206 P\r\nContent-Range: bytes 7-65535/65536\r\n" + LENGTH + bytes(len(CONTENT))]
        ),
        "a range that is not there": lambda n: iter([b"HTTP/1.1 416 R\r\nContent-Range: bytes */0\r\n\r\n"]),
        "compressed": lambda n: iter(
            [HEAD + b"Content-Encoding: gzip\r\nConnection: close\r\n\r\n" + gzip.compress(CONTENT)]
        ),
        "not HTTP": lambda n: every(b"\0\xff" * 1000),
        "errors": lambda n: iter([b"HTTP/1.1 503 U\r\nContent-Length: 0\r\n\r\n"]),
    }


@contextlib.contextmanager
def talking(talk: Callable[[int], Talk]) -> Iterator[str]:
    """Runs a server that answers every request with `talk`; yields its address."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        stop = threading.Event()

        def answer(connection: socket.socket, n: int) -> None:
            with connection, contextlib.suppress(OSError):
                connection.recv(1 << 16)
                for data in talk(n):
                    if stop.is_set():
                        return
                    connection.sendall(data)

        def accept() -> None:
            with contextlib.suppress(OSError):
                for n in itertools.count():
                    connection, _ = listening.accept()
                    threading.Thread(target=answer, args=(connection, n), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            stop.set()
            listening.shutdown(socket.SHUT_RDWR)


def bad_servers(chance: random.Random, scale: int) -> Outcome:
    """Got through: other bytes than were asked for, an error that is not ours, more than 60 s, or a file that is left.

    Each server is asked with and without a known hash and size.
    """
    limits = {"_ANSWER": 2.0, "_PATIENCE": 8.0, "_SLOWEST": 1e9}

    def ask(root: Path, name: str, talk: Callable[[int], Talk], known: bool) -> tuple[str, float]:
        into = root / f"{name}-{known}"
        into.mkdir()
        digest = hashlib.sha256(CONTENT).hexdigest()
        start, problem = time.monotonic(), ""
        with talking(talk) as url:
            try:
                got = download.fetch(
                    f"{url}/file.deb", into, sha256=digest if known else None, size=len(CONTENT) if known else None,
                    most=200_000, say=lambda line: None,
                )  # fmt: skip
                # Nothing can detect wrong bytes of an unknown file, but their number must not exceed the limit.
                if (known and got.read_bytes() != CONTENT) or got.stat().st_size > 200_000:
                    problem = "wrong bytes"
            except BuildError:
                if (into / "file.deb").exists():
                    problem = "a file is left"
            except BaseException as error:
                problem = type(error).__name__
        took = time.monotonic() - start
        if took > 60:
            problem = f"{took:.0f} s"
        if sum(path.stat().st_size for path in into.iterdir()) > 200_000:
            problem = "too much is left"
        return (f"{name}: {problem}" if problem else ""), took

    with scratch() as root, pytest.MonkeyPatch.context() as patch:
        patch.setattr(http_request, "STALL", 2.0)
        for limit, value in limits.items():
            patch.setattr(download, limit, value)
        with ThreadPoolExecutor(12) as pool:
            asked = [
                pool.submit(ask, root, name, talk, known)
                for name, talk in bad_servers_talk().items()
                for known in (True, False)
            ]
            results = [each.result() for each in asked]
    through = [problem for problem, _ in results if problem]
    note = ", ".join([f"slowest {max(took for _, took in results):.1f} s", *through])
    return Outcome(len(results), len(through), note)


def planted_files(chance: random.Random, scale: int) -> Outcome:
    """Somebody else has put a file at the place of the download; got through: its target is written, or its content is
    used."""
    through, tried = [], 0
    with scratch() as root, serving(root / "www") as server:
        digest = server.add("file.deb", CONTENT)
        victim = root / "victim"
        plants: dict[str, Callable[[Path], object]] = {
            "link": lambda path: path.symlink_to(victim),
            "dangling link": lambda path: path.symlink_to(root / "created"),
            "second name": lambda path: path.hardlink_to(victim),
            "pipe": os.mkfifo,
        }
        for (name, plant), suffix, known in itertools.product(plants.items(), (".part", ""), (True, False)):
            tried += 1
            victim.write_text(SECRET)
            into = root / "into"
            into.mkdir()
            plant(into / f"file.deb{suffix}")
            done: list[bytes] = []

            def ask(into: Path = into, known: bool = known, done: list[bytes] = done) -> None:
                got = download.fetch(
                    f"{server.url}/file.deb", into, sha256=digest if known else None, say=lambda line: None
                )
                done.append(b"" if got.is_symlink() else got.read_bytes())

            thread = threading.Thread(target=ask, daemon=True)
            thread.start()
            thread.join(30)
            if done != [CONTENT] or victim.read_text() != SECRET or (root / "created").exists():
                through.append(f"{name} at file.deb{suffix}")
            shutil.rmtree(into)
    return Outcome(tried, len(through), ", ".join(through))


def shown_credentials(chance: random.Random, scale: int) -> Outcome:
    """Got through: an installation prints or writes a password of a mirror's address."""
    through, tried = [], 0
    with scratch() as root, serving(root / "www") as server, pytest.MonkeyPatch.context() as patch:
        world = make_world(root, server, patch, None)
        world.manifest(llvm_debs())
        host = server.url.removeprefix("http://")
        for password in ("hunter2", "hunter2@home", "hunter2%2Fa", "hunter2/a"):
            for address in (host, f"{host}/none", closed_port().removeprefix("http://"), "nowhere.invalid", f"{host}x"):
                tried += 1
                mirror = f"http://user:{password}@{address}"
                patch.setenv("TRITON_EXT_DEBIAN_MIRROR", mirror)
                patch.setenv("TRITON_EXT_LLVM_MIRROR", mirror)
                patch.setenv("http_proxy", mirror if address == "nowhere.invalid" else "")
                printed = ""
                for source in ("debian-23", "triton-llvm"):
                    process = world.start("install", "--source", source, "--unverified")
                    printed += "".join(process.communicate(timeout=120))
                files = [path for path in world.cache.rglob("*") if path.is_file()]
                if "hunter2" in printed or any(b"hunter2" in path.read_bytes() for path in files):
                    through.append(mirror)
                shutil.rmtree(world.cache, ignore_errors=True)
                if scale < 2:
                    break
    return Outcome(tried, len(through), ", ".join(through))


def kills(chance: random.Random, scale: int) -> Outcome:
    """An installation is killed at any moment; got through: half an SDK is found, or the next installation does not
    repair it."""
    through, tried, found = [], min(4 * scale, 40), 0
    with scratch() as root, serving(root / "www") as server, pytest.MonkeyPatch.context() as patch:
        world = make_world(root, server, patch, None)
        world.manifest(llvm_debs(padding=1 << 18))
        target = world.target("debian-23")
        server.delay = 0.02
        start = time.monotonic()
        world.start("install", "--source", "debian-23").communicate(timeout=120)
        whole = time.monotonic() - start
        for _ in range(tried):
            shutil.rmtree(world.cache)
            server.delay = 0.02
            process = world.start("install", "--source", "debian-23")
            after = chance.uniform(0.2, 1.0) * whole
            time.sleep(after)
            process.kill()
            process.communicate(timeout=60)
            files = [target / "bin" / "mlir-tblgen", target / "include" / "llvm-c" / "Types.h"]
            if target.exists() and (Sdk.load(target) is None or not all(file.is_file() for file in files)):
                through.append(f"half an SDK after {after:.2f} s")
            found += target.exists()
            server.delay = 0.0
            process = world.start("install", "--source", "debian-23")
            _, err = process.communicate(timeout=120)
            if process.returncode or world.leftovers() != [target.name] or Sdk.load(target) is None:
                through.append(f"not mended after {after:.2f} s: {err[-200:]}")
    return Outcome(tried, len(through), ", ".join([f"{found} were complete", *through]))


ATTACKS = [
    Attack("forged package indexes", forged_indexes),
    Attack("archives that lead out", traversal_archives),
    Attack("archives with one bit flipped", flipped_bits),
    Attack("archive bombs", archive_bombs),
    Attack("bad servers", bad_servers),
    Attack("planted files in the download directory", planted_files),
    Attack("passwords of mirrors shown", shown_credentials),
    Attack("installations killed in the middle", kills),
]
