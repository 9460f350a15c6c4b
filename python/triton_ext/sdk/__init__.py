# SPDX-License-Identifier: Apache-2.0
"""The SDK: MLIR headers and mlir-tblgen that match the installed Triton, in the user's cache.

`find` reads one small file per installed SDK and needs only the standard library; `install` imports the modules that
download and unpack.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from ..loading import index
from ..loading.host import Triton, find_triton
from ..support.json_shape import AnyOf, fits, parsed
from ..support.storage import cache_dir, check_private, is_private_file, needed_cache_dir, read_private, write_whole

INSTALL_COMMAND = "triton-ext sdk install"
#: Raise it when guards, kept files or ``sdk.json`` change, so that older SDKs are made anew.
REVISION = 3
USER_ENV = "TRITON_EXT_LLVM_DIR"

__all__ = ["INSTALL_COMMAND", "USER_ENV", "Sdk", "find", "install", "sdk_root"]


@dataclass(frozen=True)
class Sdk:
    """An installed SDK.

    Attributes:
        path: its directory.
        source: id of the source that it was made from.
        rank: position of that source in ``sources.toml``; the lower, the better the match.
        origin: path and time stamp of the install that the user named; empty for other sources.
        triton: the version of Triton that the SDK is for.
        llvm_commit: the LLVM commit of that Triton's libtriton.
        llvm_version: the LLVM version of the headers.
        headers_commit: the LLVM commit of the headers; None if it is unknown.
        abi_breaking_checks: the flag in the overlay header, which is libtriton's.
        guarded_ops: ops whose C++ accessors must not be used, e.g. ``LLVM::InvokeOp``.
        packages: SHA-256 of each downloaded file, by its name.
        programs: SHA-256 of each file that a build runs or loads, by its path in the directory.
        runtime: whether mlir-tblgen runs with the SDK's own C library.
        size: bytes on disk.
        unverified: each download that nothing has verified, and why; None if the SDK was made by a triton-ext that did
            not record it.
    """

    path: Path
    source: str
    rank: int
    origin: str
    triton: str
    llvm_commit: str
    llvm_version: str
    headers_commit: str | None
    abi_breaking_checks: bool
    guarded_ops: tuple[str, ...]
    packages: dict[str, str]
    programs: dict[str, str]
    runtime: bool
    size: int
    unverified: tuple[str, ...] | None = None

    @property
    def include_dirs(self) -> tuple[Path, Path]:
        """The include directories for the compiler, in order: the ABI overlay must come before the headers."""
        return self.path / "overlay" / "include", self.path / "include"

    @property
    def mlir_tblgen(self) -> Path:
        """The ``mlir-tblgen`` program."""
        return self.path / "bin" / "mlir-tblgen"

    @property
    def headers(self) -> str:
        """Version and commit of the headers as a text, e.g. ``LLVM 24.0.0 (2faa90a208a1)``."""
        return f"LLVM {self.llvm_version}" + (f" ({self.headers_commit})" if self.headers_commit else "")

    @property
    def origin_path(self) -> str:
        """The directory or archive of the install that the user named; empty for other sources."""
        return self.origin.rpartition("@")[0]

    def save(self, into: Path) -> None:
        """Writes ``sdk.json`` into the directory `into`, which makes it an SDK."""
        data = {"revision": REVISION, **asdict(self)}
        del data["path"]
        write_whole(into / "sdk.json", (json.dumps(data, indent=2) + "\n").encode(), mode=0o600)

    @classmethod
    def load(cls, path: Path) -> Sdk | None:
        """Reads the SDK in the directory `path`; returns None if there is none, or one of another revision.

        Raises:
            UnsafeDirectoryError: others than this user can write there.
        """
        data = parsed(read_private(path / "sdk.json"), dict)
        if data is None or not fits({"unverified": None, **data}, _SHAPE) or data.pop("revision") != REVISION:
            return None
        if data.get("unverified") is not None:
            data["unverified"] = tuple(data["unverified"])
        return cls(path=path, **{**data, "guarded_ops": tuple(data["guarded_ops"])})

    @property
    def problem(self) -> str | None:
        """Why its programs must not run; None if all are as installed and belong to this user.

        A file whose identity (inode, size, times) is in the index is not read again. Headers are not checked, because
        only this user can write the directory.
        """
        return problem_of(self.path, self.programs, program_files, "bin/mlir-tblgen")

    def fits(self, triton: Triton) -> bool:
        """Whether the SDK was made for this Triton."""
        return (self.llvm_commit, self.abi_breaking_checks) == (triton.llvm_commit, triton.abi_breaking_checks)


_SHAPE = {
    "revision": int,
    **{
        field.name: {"str": str, "int": int, "bool": bool, "str | None": AnyOf(str, None)}.get(str(field.type))
        for field in dataclasses.fields(Sdk)
        if field.name != "path"
    },
    "guarded_ops": [str],
    "packages": {str: str},
    "programs": {str: str},
    "unverified": AnyOf([str], None),
}


def problem_of(root: Path, recorded: dict[str, str], files: Callable[[Path], list[str]], main: str) -> str | None:
    """Returns why the files in a directory must not run or be loaded; None if all are as installed.

    A file whose identity (inode, size, times) is in the index is not read again.

    Args:
        root: the directory, which only this user may be able to write.
        recorded: SHA-256 of each file when it was installed, by its path in the directory.
        files: returns the paths of the files that are there now.
        main: the path that must be among them.
    """
    try:
        check_private(root)
        if main not in recorded:
            return f"its description has no hash of {main.rpartition('/')[2]}"
        if (there := set(files(root))) != recorded.keys():
            return f"{min(there ^ recorded.keys())} is missing or does not belong there"
        for name, digest in recorded.items():
            path = root / name
            if not is_private_file(path):
                return f"{name} is not a file that only its owner can write"
            if index.sha256_of(path) != digest:
                return f"{name} is not what was installed"
    except OSError as error:
        return f"{error.filename}: {error.strerror}"
    return None


def program_files(root: Path) -> list[str]:
    """Returns the files below `root` that a build runs or loads, which are all except headers."""
    places = (path for name in ("bin", "runtime") for path in sorted((root / name).rglob("*")))
    return [path.relative_to(root).as_posix() for path in places if path.is_symlink() or not path.is_dir()]


def sdk_root() -> Path:
    """Returns the directory that holds every installed SDK.

    Raises:
        TritonExtError: the user has no cache directory.
    """
    return needed_cache_dir(INSTALL_COMMAND) / "sdk"


def find() -> Sdk | None:
    """Returns the best SDK that is installed for the installed Triton; None if there is none.

    While the environment variable ``TRITON_EXT_LLVM_DIR`` names an LLVM install, only an SDK that was made from it
    counts. An SDK with a program that is not as installed does not count.

    Raises:
        TritonExtError: Triton is not installed, or plugins cannot be built for it; or other users can write the
            directory of SDKs.
    """
    triton = find_triton()
    if cache_dir() is None:
        return None
    found = (Sdk.load(path) for path in sdk_root().glob(f"{triton.version}-{triton.llvm_commit[:8]}-*"))
    fitting = [sdk for sdk in found if sdk and sdk.fits(triton)]
    if named := os.environ.get(USER_ENV):
        fitting = [sdk for sdk in fitting if sdk.origin_path == str(Path(named).expanduser().resolve())]
    return next((sdk for sdk in sorted(fitting, key=lambda sdk: sdk.rank) if sdk.problem is None), None)


def install(
    from_: str | None = None,
    *,
    source: str | None = None,
    force: bool = False,
    unverified: bool = False,
    say: Callable[[str], None] | None = None,
) -> Sdk:
    """Installs an SDK for the installed Triton; does nothing if there is one.

    Args:
        from_: a directory or archive with an LLVM install, which is then the only source; by default the value of the
            environment variable ``TRITON_EXT_LLVM_DIR``, if it is set.
        source: id of the only source to try.
        force: install again, even if there is an SDK.
        unverified: also use downloads that neither a pinned hash nor a signature verifies; the SDK records them.
        say: is called with one line of news; by default news go to stderr.

    Returns:
        The installed SDK.

    Raises:
        BuildError: the installation failed; nothing incomplete is left behind.
        TritonExtError: Triton is not installed, or plugins cannot be built for it.
    """
    from .install_sdk import install as run

    return run(from_, source, force, say, unverified)
