# SPDX-License-Identifier: Apache-2.0
"""MLIR's headers, precompiled once for all projects that build against an SDK.

Most of the time that it takes to compile a pass is spent on reading MLIR's headers. One project does not gain by
precompiling them, several do. So the precompiled header lies beside the SDK, in a directory that is complete or absent.
Its key is a hash of what it was made from: SDK, compiler, flags and list of headers. With other flags clang refuses it,
so each set of flags has a header of its own; those that were not used for longest are removed.

``TritonExtPrecompiled.cmake`` runs this module. A build needs no precompiled header, so where none can be made, because
the cache cannot be written or the disk is full, there is none and nothing is reported.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ..errors import TritonExtError
from ..loading import index
from ..support.json_shape import parsed
from ..support.lock import alone
from ..support.storage import private_dir, read_private, write_whole
from . import Sdk, find, problem_of
from .install_steps import check_space, complete_or_absent, to_stderr

#: Raise it when the steps that make a header change.
REVISION = 1
#: How many headers an SDK has at most; each takes about 80 MB.
MOST = 4
_HEADER = "mlir.pch"
_DESCRIPTION = "header.json"
_NEEDED_MB = 100


@dataclass(frozen=True)
class Header:
    """A precompiled header.

    Attributes:
        path: its directory.
        sdk: hash of the SDK that it is for.
        compiler: what the compiler prints as its version.
        flags: the flags, of which a build must use the same.
        size: bytes of the header.
        programs: SHA-256 of each file, by its name.
    """

    path: Path
    sdk: str
    compiler: str
    flags: tuple[str, ...]
    size: int
    programs: dict[str, str]

    @property
    def file(self) -> Path:
        """The file for ``-include-pch``."""
        return self.path / _HEADER

    def save(self, into: Path) -> None:
        """Writes the description into the directory `into`, which makes it a precompiled header."""
        data = asdict(self)
        del data["path"]
        write_whole(into / _DESCRIPTION, (json.dumps(data, indent=2) + "\n").encode(), mode=0o600)

    @property
    def problem(self) -> str | None:
        """Why clang must not read it; None if it is as it was made and belongs to this user."""
        return problem_of(self.path, self.programs, _files, _HEADER)

    @classmethod
    def load(cls, path: Path) -> Header | None:
        """Reads the header in the directory `path`; returns None if there is none.

        Raises:
            UnsafeDirectoryError: others than this user can write there.
        """
        data = parsed(read_private(path / _DESCRIPTION), _SHAPE)
        return None if data is None else cls(path=path, **{**data, "flags": tuple(data["flags"])})


_SHAPE = {"sdk": str, "compiler": str, "flags": [str], "size": int, "programs": {str: str}}


def _files(root: Path) -> list[str]:
    return [path.name for path in root.iterdir() if path.name != _DESCRIPTION]


def find_headers(sdk: Sdk) -> list[Header]:
    """Returns the precompiled headers for `sdk` that can be used, the one that was used last first."""
    found = [header for path in _directories(sdk) if (header := Header.load(path))]
    current = _hash_of(sdk)
    usable = [header for header in found if header.sdk == current and header.problem is None]
    return sorted(usable, key=lambda header: header.path.stat().st_mtime_ns, reverse=True)


def precompiled(sdk: Sdk, compiler: Path, flags: Sequence[str], headers: Sequence[str]) -> Path | None:
    """Returns the precompiled header for `sdk`, and makes it if it is missing or damaged.

    Args:
        sdk: the SDK, whose include directories are searched, and no others.
        compiler: a clang.
        flags: its flags, without include directories.
        headers: the headers to include, in this order.

    Returns:
        None if there is none and none can be made.
    """
    with contextlib.suppress(OSError, TritonExtError, subprocess.SubprocessError):
        version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
        key = json.dumps([REVISION, _hash_of(sdk), version, list(flags), list(headers)])
        target = Path(f"{sdk.path}.headers-{hashlib.sha256(key.encode()).hexdigest()[:16]}")
        if found := _usable(target):
            return found.file
        private_dir(target.parent)
        waiting = "triton-ext: another process is precompiling MLIR's headers, waiting for it"
        with alone(Path(f"{sdk.path}.headers.lock"), to_stderr, waiting):
            if found := _usable(target):
                return found.file
            check_space(target.parent, _NEEDED_MB)
            _remove_old(sdk)
            with complete_or_absent(target) as staging:
                make_header(staging / _HEADER, sdk, compiler, flags, headers)
                # ccache hashes this file instead of the header.
                (staging / f"{_HEADER}.sum").write_text(key)
                Header(
                    path=target,
                    sdk=_hash_of(sdk),
                    compiler=version.partition("\n")[0],
                    flags=tuple(flags),
                    size=(staging / _HEADER).stat().st_size,
                    programs={name: index.sha256_of(staging / name) for name in _files(staging)},
                ).save(staging)
        return target / _HEADER
    return None


def make_header(file: Path, sdk: Sdk, compiler: Path, flags: Sequence[str], headers: Sequence[str]) -> None:
    """Compiles the headers into `file`, for ``-include-pch``.

    Args:
        file: the result.
        sdk: the SDK, whose include directories are searched, and no others.
        compiler: a clang.
        flags: its flags, without include directories.
        headers: the headers to include, in this order.

    Raises:
        CalledProcessError: the compiler refuses the headers or the flags.
    """
    # The first header is compiled, the others are included before it: a file that includes them all would be named in
    # the result, and clang would look for it. Without time stamps clang compares the sizes of the headers; a new SDK
    # has another key.
    first = next(path for directory in sdk.include_dirs if (path := directory / headers[0]).is_file())
    subprocess.run(
        [
            compiler, *(f"-isystem{path}" for path in sdk.include_dirs), *flags, "-fpch-instantiate-templates",
            *(word for header in headers[1:] for word in ("-include", header)),
            "-x", "c++-header", "-c", first, "-Xclang", "-fno-pch-timestamp", "-o", file,
        ],
        capture_output=True,
        check=True,
    )  # fmt: skip


def _usable(target: Path) -> Header | None:
    found = Header.load(target)
    if found is None or found.problem is not None:
        return None
    with contextlib.suppress(OSError):
        os.utime(target)  # for `_remove_old`
    return found


def _directories(sdk: Sdk) -> list[Path]:
    return sorted(sdk.path.parent.glob(f"{sdk.path.name}.headers-*"))


def _remove_old(sdk: Sdk) -> None:
    """Removes what no build can use, and of the rest all but those that were used last; makes room for one more."""
    kept = {header.path for header in find_headers(sdk)[: MOST - 1]}
    for path in _directories(sdk):
        if path not in kept:
            shutil.rmtree(path, ignore_errors=True)


def _hash_of(sdk: Sdk) -> str:
    """Returns a hash that differs for each installation of an SDK, and for each place."""
    description = sdk.path / "sdk.json"
    identity = f"{sdk.path} {description.stat().st_mtime_ns} ".encode()
    return hashlib.sha256(identity + description.read_bytes()).hexdigest()


def main() -> None:
    """Prints the path of the precompiled header; prints nothing if there is none."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--compiler", required=True, type=Path)
    parser.add_argument("--header", action="append", required=True)
    parser.add_argument("flags", nargs="*", help="after --")
    arguments = parser.parse_args()
    sdk = find()
    if sdk and (path := precompiled(sdk, arguments.compiler, arguments.flags, arguments.header)):
        sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    main()
