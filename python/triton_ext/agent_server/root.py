# SPDX-License-Identifier: Apache-2.0
"""The files that an agent may name: those below one directory, after symbolic links and ``..`` are resolved."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator
from pathlib import Path

from ..errors import TritonExtError
from ..support.shown import shown

_NAME = re.compile(r"[A-Za-z_]\w{0,199}", re.ASCII)
#: Directories that are looked into for Python files.
_MOST_DIRECTORIES = 5000
_MODULES = (".ttir", ".ttgir", ".glir")


class RefusedError(TritonExtError):
    """A request that the server does not carry out; nothing has run."""


class Root:
    """The directory whose files an agent may name.

    Args:
        directory: the directory; symbolic links in its own path are resolved once.

    Raises:
        TritonExtError: it is not a directory.

    Attributes:
        path: its real path.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        try:
            self.path = Path(directory).resolve(strict=True)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise TritonExtError(f"--root {directory}: {reason}", fix="name a directory that exists") from None
        if not self.path.is_dir():
            raise TritonExtError(f"--root {directory} is not a directory", fix="name the directory of the kernels")

    def file(self, name: str) -> Path:
        """Returns the real path of the file `name`, which is relative to the root, or absolute.

        Raises:
            RefusedError: it is outside of the root, or not a regular file. Of files outside nothing else is said.
        """
        real = self._inside(name)
        try:
            is_file = real.is_file()
        except OSError:  # a name that is too long
            is_file = False
        if not is_file:
            raise RefusedError(f"no file {shown(name)} under the root", fix="list_kernels shows what is there")
        return real

    def _inside(self, name: str) -> Path:
        try:
            real = Path(os.path.realpath(self.path / name))
            os.fsencode(real)
        except (OSError, ValueError):  # a null character, or one that no file name can have
            raise RefusedError(f"{shown(name)} is not the name of a file") from None
        if not real.is_relative_to(self.path):
            raise RefusedError(
                f"{shown(name)} is outside of the root", fix="name a file relative to the directory given as --root"
            )
        return real

    def kernel(self, text: str) -> str:
        """Returns ``FILE.py:kernel`` or the name of a file with IR, with the real path of the file.

        Raises:
            RefusedError: `text` has another form, or the file cannot be named.
        """
        if text.endswith(_MODULES):
            return str(self.file(text))
        return self.function(text, "FILE.py:KERNEL, or a file with ttir, ttgir or glir")

    def function(self, text: str, form: str = "FILE.py:FUNCTION") -> str:
        """Returns ``FILE.py:name`` with the real path of the file.

        Raises:
            RefusedError: `text` has another form, or the file cannot be named.
        """
        file, colon, name = text.rpartition(":")
        if not colon or not file or not _NAME.fullmatch(name):
            raise RefusedError(f"{shown(text)}: expected {form}")
        return f"{self.file(file)}:{name}"

    def python_files(self, most: int) -> Iterator[Path]:
        """Yields up to `most` Python files below the root, without directories whose name begins with a dot.

        At most `_MOST_DIRECTORIES` directories are looked into.
        """
        found = 0
        for directory, inner, files in itertools.islice(os.walk(self.path), _MOST_DIRECTORIES):
            inner[:] = sorted(name for name in inner if not name.startswith(".") and name != "__pycache__")
            for name in sorted(files):
                path = Path(directory, name)
                if path.suffix == ".py" and path.resolve().is_relative_to(self.path) and path.is_file():
                    found += 1
                    if found > most:
                        return
                    yield path
