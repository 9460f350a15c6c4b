# SPDX-License-Identifier: Apache-2.0
"""Parts: dialects of MLIR that libtriton lacks, built once from LLVM's sources into one shared library.

A part is a directory beside its SDK, complete or absent. Its key is a hash of what it was made from: SDK, compiler,
sources, our own file. A part with another key is made anew. `find_parts` needs only the standard library.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from ..errors import BuildError
from ..support import clang
from ..support.json_shape import parsed
from ..support.resources import infra_dir
from ..support.storage import read_private, write_whole
from . import Sdk, problem_of, sdk_root
from .source_file import load_source_list
from .sources import PartSource, contents

#: Raise it when the flags or steps of a build change, so that older parts are made anew.
REVISION = 2
Say = Callable[[str], None]


@dataclass(frozen=True)
class Part:
    """An installed part.

    Attributes:
        path: its directory.
        id: its name, e.g. ``linalg``.
        key: hash of all that it was made from.
        library: file name of its library.
        dialects: the names of its dialects.
        origin: where the objects come from: ``sources``, or the path of a full LLVM install.
        files: the number of LLVM's source files in it.
        size: bytes of the library.
        programs: SHA-256 of the library, by its file name.
    """

    path: Path
    id: str
    key: str
    library: str
    dialects: tuple[str, ...]
    origin: str
    files: int
    size: int
    programs: dict[str, str]

    @property
    def library_path(self) -> Path:
        """The library."""
        return self.path / self.library

    def save(self, into: Path) -> None:
        """Writes ``part.json`` into the directory `into`, which makes it a part."""
        data = asdict(self)
        del data["path"]
        write_whole(into / "part.json", (json.dumps(data, indent=2) + "\n").encode(), mode=0o600)

    @property
    def problem(self) -> str | None:
        """Why its library must not be loaded; None if it is as it was built and belongs to this user."""
        return problem_of(self.path, self.programs, _library_files, self.library)

    @classmethod
    def load(cls, path: Path) -> Part | None:
        """Reads the part in the directory `path`; returns None if there is none.

        Raises:
            UnsafeDirectoryError: others than this user can write there.
        """
        data = parsed(read_private(path / "part.json"), _SHAPE)
        if data is None:
            return None
        return cls(path=path, **{**data, "dialects": tuple(data["dialects"])})


_SHAPE = {
    **dict.fromkeys(("id", "key", "library", "origin"), str),
    "dialects": [str],
    "files": int,
    "size": int,
    "programs": {str: str},
}


def _library_files(root: Path) -> list[str]:
    # Every file beside the library counts: $ORIGIN comes first, so it could replace a library that this one needs.
    return [path.name for path in root.iterdir() if path.name != "part.json"]


def part_dir(sdk: Sdk, id_: str) -> Path:
    """Returns the directory of the part `id_` for `sdk`."""
    return sdk_root() / f"{sdk.path.name}.{id_}"


def find_parts(sdk: Sdk) -> list[Part]:
    """Returns the parts that are installed for `sdk`, except those that a build today would make differently."""
    found = []
    for source in load_source_list().parts:
        part = Part.load(part_dir(sdk, source.id))
        if part is not None and part.key == key_of(source, sdk) and part.problem is None:
            found.append(part)
    return found


def key_of(source: PartSource, sdk: Sdk, own: bool = True) -> str:
    """Returns the hash of all that a part is made from.

    Args:
        source: the part.
        sdk: the SDK that it is for.
        own: whether our own file counts.
    """
    return hashlib.sha256(
        json.dumps(
            {
                "revision": REVISION,
                "sdk": [sdk.source, sdk.origin, sdk.llvm_commit, sdk.headers_commit, sdk.packages],
                "compiler": _version(compiler()),
                "part": contents(source),
                "own": (infra_dir() / source.own).read_text() if own else "",
            },
            sort_keys=True,
        ).encode()
    ).hexdigest()


@functools.cache
def compiler() -> str:
    """Returns the clang that builds parts: the value of ``CXX`` if that is a clang, else the one that CMake would take.

    Raises:
        BuildError: there is no clang.
    """
    chosen = os.environ.get("CXX", "")
    names = [*([chosen] if "clang" in chosen else []), *clang.names_of("clang++")]
    for name in names:
        if found := shutil.which(name):
            return found
    raise BuildError("no clang++ found; the dialects must be built with clang", fix=clang.get_clang())


@functools.cache
def _version(path: str) -> str:
    return subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout.partition("\n")[0]


def llvm_library_dir(sdk: Sdk) -> Path | None:
    """Returns ``lib`` of the LLVM install that `sdk` was made from; None if its objects do not fit libtriton.

    The install has to be a directory, of exactly libtriton's commit, built with libtriton's ABI flag.
    """
    root = Path(sdk.origin_path) if sdk.origin_path else None
    if root is None or not root.is_dir() or sdk.headers_commit != sdk.llvm_commit:
        return None
    header = root / "include" / "llvm" / "Config" / "abi-breaking.h"
    flag = re.search(r"^#define LLVM_ENABLE_ABI_BREAKING_CHECKS (\d)", header.read_text(), re.MULTILINE)
    fits = flag is not None and flag[1] == str(int(sdk.abi_breaking_checks))
    return root / "lib" if fits else None
