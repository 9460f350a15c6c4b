# SPDX-License-Identifier: Apache-2.0
"""Reads compressed files as streams, within limits, and reports damage as one error.

The content of an archive from the network may be anything. So a `Budget` limits how many bytes come out of it, how many
are written, how many members it has and how long unpacking takes.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import struct
import sys
import tarfile
import time
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from ..errors import BuildError
from ..support.shown import printable

MOST_MEMBERS = 1_000_000  # LLVM's sources have 197,000
MOST_WRITTEN = 2_000_000_000  # bytes; an SDK has 174 MB
#: Bytes that may come out of each byte of an archive, and bytes that may come out of any archive.
MOST_RATIO, ANY_RATIO = 100, 1 << 26
MOST_SECONDS = 1800.0
CHUNK = 1 << 20
#: What `tarfile` and `zipfile` raise on damaged archives.
_DAMAGE = (
    tarfile.TarError, zipfile.BadZipFile, lzma.LZMAError, zlib.error, EOFError, struct.error, ValueError,
    OverflowError, RuntimeError, AttributeError, IndexError, KeyError,
)  # fmt: skip


class DamagedError(Exception):
    """An archive does not follow its format."""


@dataclass
class Budget:
    """The limits of unpacking one archive, and what has been used of them.

    Attributes:
        archive: the archive, for messages.
        most: bytes that may come out of it, whether they are written or not.
        end: the time, of `time.monotonic`, by which it must be unpacked.
        read: bytes that have come out of it.
        written: bytes that were written.
        members: members that were read.
    """

    archive: Path
    most: int
    end: float = field(default_factory=lambda: time.monotonic() + MOST_SECONDS)
    read: int = 0
    written: int = 0
    members: int = 0

    @classmethod
    def of(cls, archive: Path) -> Budget:
        """Returns the budget of `archive`, which grows with its size; bytes of a directory are not limited."""
        size = archive.stat().st_size
        return cls(archive, sys.maxsize if archive.is_dir() else size * MOST_RATIO + ANY_RATIO)

    def take(self, *, read: int = 0, written: int = 0, members: int = 0) -> None:
        """Adds to the counts.

        Raises:
            BuildError: a limit is exceeded.
        """
        self.read += read
        self.written += written
        self.members += members
        for found, most, what in (
            (self.read, self.most, "bytes"),
            (self.written, min(self.most, MOST_WRITTEN), "bytes to be written"),
            (self.members, MOST_MEMBERS, "members"),
        ):
            if found > most:
                raise BuildError(f"{self.archive} unpacks to more than {most} {what}", fix="use another archive")
        if time.monotonic() > self.end:
            raise BuildError(
                f"{self.archive} takes more than {MOST_SECONDS:.0f} s to unpack", fix="use another archive"
            )


class _Counted(io.RawIOBase):
    """A stream whose bytes count against a budget."""

    def __init__(self, inner: IO[bytes], budget: Budget) -> None:
        self._inner, self._budget = inner, budget

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._inner.read(min(len(buffer), CHUNK))
        except OSError as error:
            if error.errno is not None:
                raise
            raise DamagedError(str(error)) from error
        except Exception as error:  # of a decompressor
            raise DamagedError(str(error) or type(error).__name__) from error
        self._budget.take(read=len(data))
        buffer[: len(data)] = data
        return len(data)


class _Section(io.RawIOBase):
    """A stream of `size` bytes of `file`, from `start` on."""

    def __init__(self, file: IO[bytes], start: int, size: int) -> None:
        self._file, self._at, self._left = file, start, size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._file.seek(self._at)
        data = self._file.read(min(len(buffer), self._left))
        self._at += len(data)
        self._left -= len(data)
        if not data and self._left and len(buffer):
            raise EOFError("it ends too early")
        buffer[: len(data)] = data
        return len(data)


@contextlib.contextmanager
def decompressed(path: Path, *, most: int) -> Iterator[io.RawIOBase]:
    """Opens a compressed file as a stream of its content.

    Raises:
        BuildError: while it is read: it is damaged or has more than `most` bytes.
    """
    with damage(path), path.open("rb") as file:
        yield decompressed_part(file, path.stat().st_size, Budget(path, most))


def decompressed_part(file: IO[bytes], size: int, budget: Budget, start: int = 0) -> _Counted:
    """Returns a stream of `size` bytes of `file` from `start` on, decompressed if they are compressed."""
    file.seek(start)
    magic = file.read(6)
    section: Any = io.BufferedReader(_Section(file, start, size), 1 << 16)
    inner: Any = section
    if magic.startswith(b"\x1f\x8b"):
        inner = gzip.GzipFile(fileobj=section)
    elif magic.startswith(b"\xfd7zXZ\0"):
        inner = lzma.LZMAFile(section)  # noqa: SIM115  closed with `file`
    elif magic.startswith(b"BZh"):
        inner = bz2.BZ2File(section)
    elif magic.startswith(b"\x28\xb5\x2f\xfd"):
        inner = _zstd(section)
    return _Counted(inner, budget)


def _zstd(section: IO[bytes]) -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        try:
            from backports import zstd
        except ImportError:
            raise BuildError("zstd cannot be unpacked without a package", fix="pip install backports.zstd") from None
    return zstd.ZstdFile(section)


@contextlib.contextmanager
def damage(archive: Path) -> Iterator[None]:
    """Turns every exception that a damaged archive causes in the body into one line.

    Raises:
        BuildError: the archive is damaged.
    """
    kind = "a Debian package" if archive.suffix == ".deb" else "a readable archive"
    try:
        yield
    except (*_DAMAGE, DamagedError) as error:
        why = printable(" ".join(str(error).split())) or type(error).__name__
        raise BuildError(f"{archive} is not {kind}: {why}", fix="download it again") from error
