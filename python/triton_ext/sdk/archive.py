# SPDX-License-Identifier: Apache-2.0
"""Takes MLIR's headers and mlir-tblgen out of whatever holds them: a directory, a tar or zip archive, a .deb.

Archives are read as streams and only wanted members are written, below one directory that must exist.
A member whose path or link leads out of the archive is refused.
"""

from __future__ import annotations

import contextlib
import lzma
import os
import posixpath
import re
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import IO, NamedTuple

from ..errors import BuildError

# Both layouts: include/llvm/..., and Debian's include/llvm-24/llvm/...
_HEADER = re.compile(r"(?:.*?/)?include/(?:llvm(?:-c)?-\d+/)?((?:mlir|llvm)(?:-c)?/.+)")
_TOOL = re.compile(r"(?:.*/)?bin/mlir-tblgen")

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


def unpack(archive: Path, into: Path, select: Select, most: int | None = None) -> None:
    """Writes the selected members of `archive` below `into`.

    Args:
        archive: a directory, or a .deb, .zip, .tar.xz, .tar.gz or other tar file.
        into: directory that receives them.
        select: maps the name of a member to its path below `into`, or to None.
        most: how many members there are to find; reading ends with the last of them.

    Raises:
        BuildError: the archive cannot be read, or one of its members leads out of it.
    """
    links: dict[str, str] = {}
    written = 0
    try:
        with contextlib.closing(_members(archive)) as members:
            for member in members:
                target = select(_checked(member.name, archive))
                if target is None:
                    continue
                if member.link is None:
                    _write(member, into / target)
                    written += 1
                    if written == most:
                        return
                else:
                    path = posixpath.join(posixpath.dirname(member.name), member.link)
                    links[target] = _checked(path, archive)
    except (tarfile.TarError, zipfile.BadZipFile, lzma.LZMAError, zlib.error, EOFError) as error:
        raise BuildError(f"{archive} is not a readable archive: {error}", fix="download it again") from None
    for target, path in links.items():
        original = select(path)
        if original is not None and original != target and (into / original).is_file():
            shutil.copy(into / original, into / target)


def _members(archive: Path) -> Generator[_Member, None, None]:
    """The files and links of `archive`, in its own order."""
    if archive.is_dir():
        return _directory_members(archive)
    if archive.suffix == ".deb":
        return _deb_members(archive)
    if zipfile.is_zipfile(archive):
        return _zip_members(archive)
    return _tar_members(archive)


def _directory_members(root: Path) -> Generator[_Member, None, None]:
    for top in ("include", "bin"):
        for directory, _, files in os.walk(root / top, followlinks=True):
            for file in files:
                path = Path(directory, file)
                if path.is_file():
                    yield _Member(str(path.relative_to(root)), None, partial(_open_file, path))


def _tar_members(archive: Path) -> Generator[_Member, None, None]:
    with tarfile.open(archive, "r|*") as tar:
        yield from _walk_tar(tar)


def _deb_members(archive: Path) -> Generator[_Member, None, None]:
    from debian.arfile import ArError
    from debian.debfile import DebError, DebFile

    try:
        deb = DebFile(str(archive))
    except (ArError, DebError) as error:
        raise BuildError(f"{archive} is not a Debian package: {error}", fix="download it again") from None
    with contextlib.closing(deb):
        for member in _walk_tar(deb.data.tgz()):
            # dpkg-deb sorts what it packs: no header comes after the static libraries, and no package has any
            # after mlir-tblgen. What is left out is nine tenths of the work.
            if member.name.endswith(".a"):
                return
            yield member
            if _TOOL.fullmatch(member.name):
                return


def _walk_tar(tar: tarfile.TarFile) -> Generator[_Member, None, None]:
    for info in tar:
        name = info.name.removeprefix("./")
        if info.isfile():
            yield _Member(name, None, partial(_open_member, tar, info))
        elif info.issym():
            yield _Member(name, info.linkname, _no_content)
        elif info.islnk():
            # The target of a hard link is relative to the root of the archive.
            root = posixpath.relpath(info.linkname.removeprefix("./"), posixpath.dirname(name) or ".")
            yield _Member(name, root, _no_content)


def _zip_members(archive: Path) -> Generator[_Member, None, None]:
    with zipfile.ZipFile(archive) as file:
        for info in file.infolist():
            link = stat.S_ISLNK(info.external_attr >> 16)
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


def _write(member: _Member, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with member.open() as source, target.open("wb") as file:
        shutil.copyfileobj(source, file, 1 << 20)
    target.chmod(0o755 if target.parent.name in ("bin", "runtime") else 0o644)


def _checked(name: str, archive: Path) -> str:
    """`name` without ``.`` and ``..``; refused if it leads out of the archive."""
    path = posixpath.normpath(name)
    if path.startswith(("/", "../")) or path == "..":
        raise BuildError(f"{archive} has a member that leads out of it: {name}", fix="use another archive")
    return path


def static_library_members(path: Path) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """The members of a static library as ``ar`` writes them on Linux: name, and what reads it.

    Raises:
        BuildError: it is none, or a thin one, which only names its members.
    """
    with path.open("rb") as file:
        if file.read(8) != b"!<arch>\n":
            raise BuildError(f"{path} is no static library that holds its objects", fix="another LLVM install")
        names = b""
        while header := file.read(60):
            name, size, at = header[:16].rstrip(), int(header[48:58]), file.tell()
            if name == b"//":  # names that are too long for a header
                names = file.read(size)
            elif name not in (b"/", b"/SYM64/"):
                if name.startswith(b"/"):
                    name = names[int(name[1:]) :].partition(b"\n")[0]

                def read(at: int = at, size: int = size) -> bytes:
                    with path.open("rb") as again:
                        again.seek(at)
                        return again.read(size)

                yield name.decode().removesuffix("/"), read
            file.seek(at + size + size % 2)
