# SPDX-License-Identifier: Apache-2.0
"""Reads archives of ``ar``: Debian packages and static libraries.

The class ``ArFile`` of python-debian is not used, because it does not end at a negative size.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from ..errors import BuildError
from .decompress import DamagedError


def ar_members(file: IO[bytes]) -> Iterator[tuple[bytes, int, int]]:
    """Yields name, start and size of each member of an archive of ``ar``, including its tables of names.

    Raises:
        DamagedError: the file is not such an archive.
    """
    total = file.seek(0, os.SEEK_END)
    file.seek(0)
    if file.read(8) != b"!<arch>\n":
        raise DamagedError("it does not begin as one")
    at = 8
    while at < total:
        file.seek(at)
        header = file.read(60)
        at += len(header)
        size = header[48:58].rstrip()
        if header[58:] != b"`\n" or not size.isdigit() or at + int(size) > total:
            raise DamagedError(f"the header at byte {at - len(header)} is damaged")
        yield header[:16].rstrip(), at, int(size)
        at += int(size) + int(size) % 2


def static_library_members(path: Path) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yields the name of each member of a static library, and a function that reads it.

    Raises:
        BuildError: the file is not a static library, or a thin one, which only names its members.
    """
    names = b""
    try:
        with path.open("rb") as file:
            for field_, at, size in ar_members(file):
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
    except (DamagedError, ValueError) as error:
        why = f"{path} is not a static library that contains its objects: {error}"
        raise BuildError(why, fix="another LLVM install") from None
