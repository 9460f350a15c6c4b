# SPDX-License-Identifier: Apache-2.0
"""Takes MLIR's headers and mlir-tblgen out of whatever holds them: a directory, a tar or zip archive, a .deb.

Archives are read as streams and only wanted members are written, below one directory that must exist.
A member whose path or link leads out of the archive is refused. So is an archive that unpacks to far more than it is,
has too many members or takes too long. One whose hash nobody has checked is read to its end, where the
compression's checksums are, before anything that was unpacked is used.
"""

from __future__ import annotations

import bz2
import contextlib
import errno
import gzip
import io
import lzma
import os
import posixpath
import re
import stat
import struct
import sys
import tarfile
import time
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

from ..errors import BuildError
from ..support.shown import printable

# Both layouts: include/llvm/..., and Debian's include/llvm-24/llvm/...
_HEADER = re.compile(r"(?:.*?/)?include/(?:llvm(?:-c)?-\d+/)?((?:mlir|llvm)(?:-c)?/.+)")
_TOOL = re.compile(r"(?:.*/)?bin/mlir-tblgen")

_MOST_MEMBERS = 1_000_000  # LLVM's sources have 197,000
_MOST_WRITTEN = 2_000_000_000  # bytes; an SDK has 174 MB
_MOST_RATIO, _ANY_RATIO = 100, 1 << 26  # bytes out of each byte of the archive, and bytes out of any archive
_MOST_SECONDS = 1800.0
_MOST_NAMES = 1 << 20  # bytes of one tar header: long names, attributes
_IN_MEMORY = (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE, b"X")
_CHUNK = 1 << 20
#: What `tarfile` and `zipfile` raise on damaged archives.
_DAMAGE = (
    tarfile.TarError, zipfile.BadZipFile, lzma.LZMAError, zlib.error, EOFError, struct.error, ValueError,
    OverflowError, RuntimeError, AttributeError, IndexError, KeyError,
)  # fmt: skip

Select = Callable[[str], str | None]


class _Member(NamedTuple):
    """A file or link of an archive; `open` is valid only until the next member is asked for."""

    name: str
    link: str | None
    open: Callable[[], IO[bytes]]


def sdk_files(prune: tuple[str, ...]) -> Select:
    """A selection for `unpack`: where a member of an LLVM install belongs in an SDK, None if nowhere.

    Args:
        prune: patterns of headers, relative to ``include``, that are not wanted.
    """

    def select(name: str) -> str | None:
        if _TOOL.fullmatch(name):
            return "bin/mlir-tblgen"
        header = _HEADER.fullmatch(name)
        if header is None or any(fnmatch(header[1], pattern) for pattern in prune):
            return None
        return f"include/{header[1]}"

    return select


def libraries(names: tuple[str, ...]) -> Select:
    """A selection for `unpack`: the shared libraries called `names`, flat in ``runtime``, and what they link to."""
    stems = tuple(name.partition(".so")[0] + ".so" for name in names)

    def select(name: str) -> str | None:
        base = posixpath.basename(name)
        wanted = base in names or ("/lib" in name and base.startswith(stems) and not base.endswith(".py"))
        return f"runtime/{base}" if wanted else None

    return select


class _DamagedError(Exception):
    """An archive is not what its kind prescribes."""


@dataclass
class _Budget:
    """What may still be taken out of one archive.

    Attributes:
        archive: the archive, for messages.
        most: bytes that may come out of it, wanted or not.
        end: when it must be done.
        read: bytes that have come out of it.
        written: bytes that were written.
        members: members that were seen.
    """

    archive: Path
    most: int
    end: float = field(default_factory=lambda: time.monotonic() + _MOST_SECONDS)
    read: int = 0
    written: int = 0
    members: int = 0

    @classmethod
    def of(cls, archive: Path) -> _Budget:
        size = archive.stat().st_size
        return cls(archive, sys.maxsize if archive.is_dir() else size * _MOST_RATIO + _ANY_RATIO)

    def take(self, *, read: int = 0, written: int = 0, members: int = 0) -> None:
        """Counts what was taken.

        Raises:
            BuildError: it is too much.
        """
        self.read += read
        self.written += written
        self.members += members
        for found, most, what in (
            (self.read, self.most, "bytes"),
            (self.written, min(self.most, _MOST_WRITTEN), "bytes to be written"),
            (self.members, _MOST_MEMBERS, "members"),
        ):
            if found > most:
                raise BuildError(f"{self.archive} unpacks to more than {most} {what}", fix="use another archive")
        if time.monotonic() > self.end:
            raise BuildError(
                f"{self.archive} takes more than {_MOST_SECONDS:.0f} s to unpack", fix="use another archive"
            )


class _Counted(io.RawIOBase):
    """A stream whose bytes count against a budget."""

    def __init__(self, inner: IO[bytes], budget: _Budget) -> None:
        self._inner, self._budget = inner, budget

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._inner.read(min(len(buffer), _CHUNK))
        except OSError as error:
            if error.errno is not None:
                raise
            raise _DamagedError(str(error)) from error
        except Exception as error:  # of a decompressor
            raise _DamagedError(str(error) or type(error).__name__) from error
        self._budget.take(read=len(data))
        buffer[: len(data)] = data
        return len(data)


class _Section(io.RawIOBase):
    """The bytes of `file` from `start` on, `size` of them."""

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
    """The content of a compressed file as a stream.

    Raises:
        BuildError: on reading, it is damaged or has more than `most` bytes.
    """
    with _damage(path), path.open("rb") as file:
        yield _decompressed(file, path.stat().st_size, _Budget(path, most))


def _decompressed(file: IO[bytes], size: int, budget: _Budget, start: int = 0) -> _Counted:
    """The content of the `size` bytes of `file` from `start` on, decompressed if they are compressed."""
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
def _damage(archive: Path) -> Iterator[None]:
    """Says in one line that `archive` is damaged, whatever reading it raises."""
    kind = "a Debian package" if archive.suffix == ".deb" else "a readable archive"
    try:
        yield
    except (*_DAMAGE, _DamagedError) as error:
        why = printable(" ".join(str(error).split())) or type(error).__name__
        raise BuildError(f"{archive} is not {kind}: {why}", fix="download it again") from error


def unpack(archive: Path, into: Path, select: Select, *, verified: bool, most: int | None = None) -> None:
    """Writes the selected members of `archive` below `into`.

    Args:
        archive: a directory, or a .deb, .zip, .tar.xz, .tar.gz or other tar file.
        into: directory that receives them, which must be new: its files may be written again.
        select: maps the name of a member to its path below `into`, or to None.
        verified: whether the hash of `archive` was checked. If not, it is read to its end, to check what it has of
            checksums.
        most: how many members there are to find; reading ends with the last of them if `verified`.

    Raises:
        BuildError: the archive cannot be read, is too large, or one of its members leads out of it.
    """
    links: dict[str, str] = {}
    written = 0
    budget = _Budget.of(archive)
    with _damage(archive), contextlib.closing(_members(archive, budget, verified)) as members:
        for member in members:
            target = select(_checked(member.name, archive))
            if target is None:
                continue
            if member.link is None:
                _write(member.open, into / target, budget)
                written += 1
                if written == most and verified:
                    return
            else:
                path = posixpath.join(posixpath.dirname(member.name), member.link)
                links[target] = _checked(path, archive)
        for target, path in links.items():
            original = select(path)
            if original is not None and original != target and (into / original).is_file():
                _write(partial(_open_file, into / original), into / target, budget)


def _members(archive: Path, budget: _Budget, verified: bool) -> Generator[_Member, None, None]:
    """The files and links of `archive`, in its own order."""
    if archive.is_dir():
        return _directory_members(archive)
    if archive.suffix == ".deb":
        return _deb_members(archive, budget, verified)
    if zipfile.is_zipfile(archive):
        return _zip_members(archive, budget)
    return _tar_members(archive, budget)


def _directory_members(root: Path) -> Generator[_Member, None, None]:
    for top in ("include", "bin"):
        for directory, _, files in os.walk(root / top, followlinks=True):
            for file in files:
                path = Path(directory, file)
                if path.is_file():
                    yield _Member(str(path.relative_to(root)), None, partial(_open_file, path))


def _tar_members(archive: Path, budget: _Budget) -> Generator[_Member, None, None]:
    with archive.open("rb") as file:
        yield from _walk_tar(_decompressed(file, archive.stat().st_size, budget), budget)


def _deb_members(archive: Path, budget: _Budget, verified: bool) -> Generator[_Member, None, None]:
    # Not with python-debian: its ArFile never ends at a negative size, its DebFile unpacks all of a .zst into memory.
    with archive.open("rb") as file:
        parts = {
            name.removesuffix(b"/").decode(errors="replace"): (start, size) for name, start, size in _ar_members(file)
        }
        if "debian-binary" not in parts or not any(name.startswith("data.tar") for name in parts):
            raise _DamagedError("it has no debian-binary or no data.tar")
        for name, (start, size) in parts.items():
            if name.startswith("control.tar") and not verified:
                _read_to_end(_decompressed(file, size, budget, start))
            if name.startswith("data.tar"):
                for member in _walk_tar(_decompressed(file, size, budget, start), budget):
                    # dpkg-deb sorts what it packs: no header comes after the static libraries, and no package has any
                    # after mlir-tblgen. What is left out is nine tenths of the work.
                    if verified and member.name.endswith(".a"):
                        return
                    yield member
                    if verified and _TOOL.fullmatch(member.name):
                        return


def _read_to_end(stream: io.RawIOBase) -> None:
    """Reads the rest of `stream`: decompressors check what they have read only there."""
    while stream.read(_CHUNK):
        pass


class _TarInfo(tarfile.TarInfo):
    """A header of a tar file; a damaged one is an error, not the end of the file, as it is for `tarfile`."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> _TarInfo:
        try:
            info = super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as error:
            if len(buf) == tarfile.BLOCKSIZE and buf.count(0) == tarfile.BLOCKSIZE:  # the regular end
                raise
            raise tarfile.ReadError(str(error)) from None
        if info.size < 0 or (info.size > _MOST_NAMES and info.type in _IN_MEMORY):
            raise tarfile.ReadError(f"a header of {info.size} bytes")
        return info


def _walk_tar(stream: io.RawIOBase, budget: _Budget) -> Generator[_Member, None, None]:
    """The files and links of a tar file, which is read to its end."""
    with tarfile.open(fileobj=stream, mode="r|", bufsize=_CHUNK, tarinfo=_TarInfo) as tar:
        while (info := tar.next()) is not None:
            tar.members.clear()  # type: ignore[attr-defined]  # which nobody needs, and which may be many
            budget.take(members=1)
            name = info.name.removeprefix("./")
            if info.isfile():
                yield _Member(name, None, partial(_open_member, tar, info))
            elif info.issym():
                yield _Member(name, info.linkname, _no_content)
            elif info.islnk():
                # The target of a hard link is relative to the root of the archive.
                root = posixpath.relpath(info.linkname.removeprefix("./"), posixpath.dirname(name) or ".")
                yield _Member(name, root, _no_content)
    _read_to_end(stream)


def _zip_members(archive: Path, budget: _Budget) -> Generator[_Member, None, None]:
    with zipfile.ZipFile(archive) as file:
        budget.take(members=len(file.infolist()))
        for info in file.infolist():
            link = stat.S_ISLNK(info.external_attr >> 16)
            if link and info.file_size > _MOST_NAMES:
                raise _DamagedError(f"a link of {info.file_size} bytes")
            if not info.is_dir():
                target = file.read(info).decode() if link else None
                yield _Member(info.filename, target, partial(file.open, info))


def _open_file(path: Path) -> IO[bytes]:
    return path.open("rb")


def _open_member(tar: tarfile.TarFile, info: tarfile.TarInfo) -> IO[bytes]:
    file = tar.extractfile(info)
    assert file is not None
    return file


def _no_content() -> IO[bytes]:
    raise AssertionError("a link has no content")


def _write(source: Callable[[], IO[bytes]], target: Path, budget: _Budget) -> None:
    """Writes what `source` opens to `target`, which is never a link."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        file = os.fdopen(os.open(target, flags, 0o644), "wb")
    except OSError as error:
        if error.errno in (errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG):
            raise _DamagedError(f"{target.name[:80]} cannot be written: {error.strerror}") from None
        raise
    with file, source() as stream:
        while chunk := stream.read(_CHUNK):
            budget.take(written=len(chunk))
            file.write(chunk)
    target.chmod(0o755 if target.parent.name in ("bin", "runtime") else 0o644)


def _checked(name: str, archive: Path) -> str:
    """`name` without ``.`` and ``..``; refused if it leads out of the archive."""
    path = posixpath.normpath(name)
    if path.startswith(("/", "../")) or path == "..":
        raise BuildError(f"{archive} has a member that leads out of it: {printable(name)}", fix="use another archive")
    return path


def _ar_members(file: IO[bytes]) -> Iterator[tuple[bytes, int, int]]:
    """Name, start and size of the members of an archive of ``ar``, the tables of names included.

    Raises:
        _DamagedError: it is not one.
    """
    total = file.seek(0, os.SEEK_END)
    file.seek(0)
    if file.read(8) != b"!<arch>\n":
        raise _DamagedError("it does not begin as one")
    at = 8
    while at < total:
        file.seek(at)
        header = file.read(60)
        at += len(header)
        size = header[48:58].rstrip()
        if header[58:] != b"`\n" or not size.isdigit() or at + int(size) > total:
            raise _DamagedError(f"the header at byte {at - len(header)} is damaged")
        yield header[:16].rstrip(), at, int(size)
        at += int(size) + int(size) % 2


def static_library_members(path: Path) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """The members of a static library as ``ar`` writes them on Linux: name, and what reads it.

    Raises:
        BuildError: it is none, or a thin one, which only names its members.
    """
    names = b""
    try:
        with path.open("rb") as file:
            for field_, at, size in _ar_members(file):
                name = field_
                if name == b"//":  # names that are too long for a header
                    file.seek(at)
                    names = file.read(size)
                elif name not in (b"/", b"/SYM64/"):
                    if name.startswith(b"/"):
                        name = names[int(name[1:]) :].partition(b"\n")[0]

                    def read(at: int = at, size: int = size) -> bytes:
                        with path.open("rb") as again:
                            again.seek(at)
                            return again.read(size)

                    yield name.decode().removesuffix("/"), read
    except (_DamagedError, ValueError) as error:
        why = f"{path} is no static library that holds its objects: {error}"
        raise BuildError(why, fix="another LLVM install") from None
