# SPDX-License-Identifier: Apache-2.0
"""Takes selected files out of a directory, a tar or zip archive, or a .deb, e.g. MLIR's headers and mlir-tblgen.

Archives are read as streams, and only selected members are written, below one directory. A member whose path or link
leads out of the archive is refused. An archive is refused if it unpacks to far more than its size, has too many members
or takes too long. If its hash was not checked, it is read to its end before any file is used, because the checksums of
compression formats are there.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import posixpath
import re
import stat
import tarfile
import zipfile
from collections.abc import Callable, Generator
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

from ..errors import BuildError
from ..support.shown import printable
from .ar_archive import ar_members
from .decompress import CHUNK, Budget, DamagedError, damage, decompressed_part

# Both layouts: include/llvm/..., and Debian's include/llvm-24/llvm/...
_HEADER = re.compile(r"(?:.*?/)?include/(?:llvm(?:-c)?-\d+/)?((?:mlir|llvm)(?:-c)?/.+)")
_TOOL = re.compile(r"(?:.*/)?bin/mlir-tblgen")

_MOST_NAMES = 1 << 20  # bytes of one tar header: long names, attributes
_IN_MEMORY = (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE, b"X")

Select = Callable[[str], str | None]


class _Member(NamedTuple):
    """A file or link in an archive.

    Attributes:
        name: its path in the archive.
        link: what it links to; None for a file.
        open: opens the content; valid only until the next member is read.
    """

    name: str
    link: str | None
    open: Callable[[], IO[bytes]]


def sdk_files(prune: tuple[str, ...]) -> Select:
    """Returns a selection for `unpack`, which maps a member of an LLVM install to its path in an SDK.

    Args:
        prune: patterns of headers, relative to ``include``, that an SDK leaves out.
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
    """Returns a selection for `unpack`, which puts the libraries `names` and their link targets into ``runtime``."""
    stems = tuple(name.partition(".so")[0] + ".so" for name in names)

    def select(name: str) -> str | None:
        base = posixpath.basename(name)
        wanted = base in names or ("/lib" in name and base.startswith(stems) and not base.endswith(".py"))
        return f"runtime/{base}" if wanted else None

    return select


def unpack(archive: Path, into: Path, select: Select, *, verified: bool, most: int | None = None) -> None:
    """Writes the selected members of `archive` below `into`.

    Args:
        archive: a directory, or a .deb, .zip, .tar.xz, .tar.gz or other tar file.
        into: the directory for the files, which must be new, because files in it may be overwritten.
        select: maps the name of a member to its path below `into`, or to None if it is not wanted.
        verified: whether the hash of `archive` was checked. If not, the archive is read to its end, so that its own
            checksums are checked.
        most: the number of wanted members, if it is known; if `verified`, reading stops after the last of them.

    Raises:
        BuildError: the archive cannot be read, is too large, or a member leads out of it.
    """
    links: dict[str, str] = {}
    written = 0
    budget = Budget.of(archive)
    with damage(archive), contextlib.closing(_members(archive, budget, verified)) as members:
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


def _members(archive: Path, budget: Budget, verified: bool) -> Generator[_Member, None, None]:
    """Returns the files and links of `archive`, in the order of the archive."""
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


def _tar_members(archive: Path, budget: Budget) -> Generator[_Member, None, None]:
    with archive.open("rb") as file:
        yield from _walk_tar(decompressed_part(file, archive.stat().st_size, budget), budget)


def _deb_members(archive: Path, budget: Budget, verified: bool) -> Generator[_Member, None, None]:
    # Not with python-debian: its ArFile does not end at a negative size, its DebFile unpacks a whole .zst into memory.
    with archive.open("rb") as file:
        parts = {
            name.removesuffix(b"/").decode(errors="replace"): (start, size) for name, start, size in ar_members(file)
        }
        if "debian-binary" not in parts or not any(name.startswith("data.tar") for name in parts):
            raise DamagedError("it has no debian-binary or no data.tar")
        for name, (start, size) in parts.items():
            if name.startswith("control.tar") and not verified:
                _read_to_end(decompressed_part(file, size, budget, start))
            if name.startswith("data.tar"):
                for member in _walk_tar(decompressed_part(file, size, budget, start), budget):
                    # dpkg-deb sorts the members: headers come before the static libraries and before mlir-tblgen. The
                    # rest would be nine tenths of the work.
                    if verified and member.name.endswith(".a"):
                        return
                    yield member
                    if verified and _TOOL.fullmatch(member.name):
                        return


def _read_to_end(stream: io.RawIOBase) -> None:
    """Reads the rest of `stream`, because decompressors check their checksums only at the end."""
    while stream.read(CHUNK):
        pass


class _TarInfo(tarfile.TarInfo):
    """A header of a tar file that is checked before its content is read.

    `fromtarfile` reads each header, and `_proc_member` the content that belongs to a header. `frombuf` is not the place
    for a check, because newer versions of Python do not call it.
    """

    @classmethod
    def fromtarfile(cls, file: tarfile.TarFile) -> _TarInfo:
        """Raises an error for a damaged header, which `tarfile` would take for the end of the file."""
        try:
            return super().fromtarfile(file)
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined]  # a block of zeros: the regular end
            raise
        except tarfile.HeaderError as error:
            raise tarfile.ReadError(str(error)) from None

    def _proc_member(self, *arguments: Any, **keywords: Any) -> tarfile.TarInfo:
        if self.size < 0 or (self.size > _MOST_NAMES and self.type in _IN_MEMORY):
            raise tarfile.ReadError(f"a header of {self.size} bytes")
        return super()._proc_member(*arguments, **keywords)  # type: ignore[misc, no-any-return]


def _walk_tar(stream: io.RawIOBase, budget: Budget) -> Generator[_Member, None, None]:
    """Yields the files and links of a tar file, and reads it to its end."""
    with tarfile.open(fileobj=stream, mode="r|", bufsize=CHUNK, tarinfo=_TarInfo) as tar:
        while (info := tar.next()) is not None:
            tar.members.clear()  # type: ignore[attr-defined]  # tarfile keeps all headers, which may be many
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


def _zip_members(archive: Path, budget: Budget) -> Generator[_Member, None, None]:
    with zipfile.ZipFile(archive) as file:
        budget.take(members=len(file.infolist()))
        for info in file.infolist():
            link = stat.S_ISLNK(info.external_attr >> 16)
            if link and info.file_size > _MOST_NAMES:
                raise DamagedError(f"a link of {info.file_size} bytes")
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


def _write(source: Callable[[], IO[bytes]], target: Path, budget: Budget) -> None:
    """Writes the stream that `source` opens to the file `target`; a link of that name is not followed."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        file = os.fdopen(os.open(target, flags, 0o644), "wb")
    except OSError as error:
        if error.errno in (errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG):
            raise DamagedError(f"{target.name[:80]} cannot be written: {error.strerror}") from None
        raise
    with file, source() as stream:
        while chunk := stream.read(CHUNK):
            budget.take(written=len(chunk))
            file.write(chunk)
    target.chmod(0o755 if target.parent.name in ("bin", "runtime") else 0o644)


def _checked(name: str, archive: Path) -> str:
    """Returns the path `name` without ``.`` and ``..``.

    Raises:
        BuildError: it leads out of the archive.
    """
    path = posixpath.normpath(name)
    if path.startswith(("/", "../")) or path == "..":
        raise BuildError(f"{archive} has a member that leads out of it: {printable(name)}", fix="use another archive")
    return path
