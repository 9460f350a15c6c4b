# SPDX-License-Identifier: Apache-2.0
"""The SDK: MLIR headers and mlir-tblgen that match the installed Triton, in the user's cache.

`find` reads one small file per installed SDK and imports nothing beyond the standard library; `install`
brings in what downloads and unpacks.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .._resources import cache_dir
from ..host import Triton, find_triton

INSTALL_COMMAND = "triton-ext sdk install"
#: Of what an SDK holds: raise it when guards, kept files or ``sdk.json`` change, and older SDKs are made anew.
REVISION = 2
USER_ENV = "TRITON_EXT_LLVM_DIR"

__all__ = ["INSTALL_COMMAND", "USER_ENV", "Sdk", "find", "install", "sdk_root"]


@dataclass(frozen=True)
class Sdk:
    """An installed SDK.

    Attributes:
        path: its directory.
        source: id of the source that it came from.
        rank: position of that source in the manifest; the lower, the better the match.
        origin: where a user-named install was taken from and its time stamp, empty for other sources.
        triton: version of Triton that it is for.
        llvm_commit: LLVM commit of libtriton, which it is for.
        llvm_version: version of the LLVM that the headers are of.
        headers_commit: LLVM commit of the headers, None if nobody says.
        abi_breaking_checks: flag in the overlay header, that of libtriton.
        guarded_ops: ops that are unusable through their C++ accessors, e.g. ``LLVM::InvokeOp``.
        packages: file name and SHA-256 of each thing that was downloaded.
        runtime: whether mlir-tblgen runs on the SDK's own C library.
        size: bytes on disk.
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
    runtime: bool
    size: int

    @property
    def include_dirs(self) -> tuple[Path, Path]:
        """Directories for the compiler, in order: the ABI overlay must come before the headers."""
        return self.path / "overlay" / "include", self.path / "include"

    @property
    def mlir_tblgen(self) -> Path:
        """The ``mlir-tblgen`` program."""
        return self.path / "bin" / "mlir-tblgen"

    @property
    def headers(self) -> str:
        """What the headers are, for people: ``LLVM 24.0.0 (2faa90a208a1)``."""
        return f"LLVM {self.llvm_version}" + (f" ({self.headers_commit})" if self.headers_commit else "")

    @property
    def origin_path(self) -> str:
        """The directory or archive that a user-named install was taken from, empty for other sources."""
        return self.origin.rpartition("@")[0]

    def save(self, into: Path) -> None:
        """Writes ``sdk.json`` into the directory `into`, which makes it an SDK."""
        data = {"revision": REVISION, **asdict(self)}
        del data["path"]
        (into / "sdk.json").write_text(json.dumps(data, indent=2) + "\n")

    @classmethod
    def load(cls, path: Path) -> Sdk | None:
        """Reads the SDK in the directory `path`; None if there is none, or one of another triton-ext."""
        try:
            data: dict[str, Any] = json.loads((path / "sdk.json").read_text())
            if data.pop("revision") != REVISION:
                return None
            return cls(path=path, **{**data, "guarded_ops": tuple(data["guarded_ops"])})
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def fits(self, triton: Triton) -> bool:
        """Whether it was made for this Triton."""
        return (self.llvm_commit, self.abi_breaking_checks) == (triton.llvm_commit, triton.abi_breaking_checks)


def sdk_root() -> Path:
    """The directory that holds every installed SDK."""
    return cache_dir() / "sdk"


def find() -> Sdk | None:
    """The best SDK that is installed for the installed Triton, None if there is none.

    While the environment variable ``TRITON_EXT_LLVM_DIR`` names an LLVM install, only what was taken from it counts.

    Raises:
        TritonExtError: no Triton, or one that plugins cannot be built for.
    """
    triton = find_triton()
    found = (Sdk.load(path) for path in sdk_root().glob(f"{triton.version}-{triton.llvm_commit[:8]}-*"))
    fitting = [sdk for sdk in found if sdk and sdk.fits(triton)]
    if named := os.environ.get(USER_ENV):
        fitting = [sdk for sdk in fitting if sdk.origin_path == str(Path(named).expanduser().resolve())]
    return min(fitting, key=lambda sdk: sdk.rank, default=None)


def install(
    from_: str | None = None,
    *,
    source: str | None = None,
    force: bool = False,
    say: Callable[[str], None] | None = None,
) -> Sdk:
    """Installs an SDK for the installed Triton; does nothing if there is one.

    Args:
        from_: a directory or archive with an LLVM install, the only source then; by default what the
            environment variable ``TRITON_EXT_LLVM_DIR`` names, if it is set.
        source: id of the only source to try.
        force: install again what is installed already.
        say: called with one line of news; by default news go to stderr.

    Returns:
        The installed SDK.

    Raises:
        BuildError: it could not be installed; nothing is left half-done.
        TritonExtError: no Triton, or one that plugins cannot be built for.
    """
    from ._install import install as run

    return run(from_, source, force, say)
