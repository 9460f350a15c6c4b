# SPDX-License-Identifier: Apache-2.0
"""Describes the installed Triton, from its files, without importing it or loading its library of 500 MB."""

from __future__ import annotations

import functools
import importlib.util
import mmap
import re
import struct
import time
from dataclasses import dataclass
from pathlib import Path

from ..errors import AbiMismatchError, TritonExtError
from . import index

OLDEST_TRITON = (3, 9)
_LLVM_VERSION = re.compile(rb"LLVM version (\S+) \(([0-9a-f]{40})\)")
_ABI_SYMBOL = "_ZN4llvm{}{}ABIBreakingChecksE"


@dataclass(frozen=True)
class Triton:
    """An installed Triton wheel, as a host for plugins.

    Attributes:
        version: distribution version, e.g. ``3.9.0``.
        root: the ``triton`` package directory.
        llvm_version: version of the LLVM inside libtriton, e.g. ``24.0.0git``.
        llvm_commit: the 40 hex digits of the LLVM commit that libtriton was built from.
        abi_breaking_checks: whether that LLVM was built with ``LLVM_ENABLE_ABI_BREAKING_CHECKS``.
    """

    version: str
    root: Path
    llvm_version: str
    llvm_commit: str
    abi_breaking_checks: bool

    @property
    def library(self) -> Path:
        """``libtriton.so``."""
        return self.root / "_C" / "libtriton.so"

    @property
    def include_dir(self) -> Path:
        """Triton's own headers, which only building needs.

        Raises:
            TritonExtError: the installed Triton has none.
        """
        include = self.root / "include"
        if not (include / "triton" / "Tools" / "PluginUtils.h").is_file():
            raise TritonExtError(
                f"Triton {self.version} in {self.root} has no headers (triton/Tools/PluginUtils.h)",
                fix="pip install --force-reinstall triton==3.9.0",
            )
        return include

    @property
    def filecheck(self) -> Path:
        """The FileCheck binary that ships in the wheel."""
        return self.root / "FileCheck"


def triton_root() -> Path:
    """Returns the directory of the installed ``triton`` package.

    Raises:
        TritonExtError: Triton is not installed in this Python.
    """
    spec = importlib.util.find_spec("triton")
    if spec is None or spec.origin is None:
        raise TritonExtError("Triton is not installed in this Python", fix="pip install triton==3.9.0")
    return Path(spec.origin).parent


def triton_version() -> str:
    """Returns the version of the installed Triton, e.g. ``3.9.0``.

    Raises:
        TritonExtError: Triton is not installed in this Python.
    """
    import importlib.metadata  # takes as long as finding every extension, and the index knows the answer

    try:
        return importlib.metadata.version("triton")
    except importlib.metadata.PackageNotFoundError:
        match = re.search(r"__version__ = '([^']+)'", (triton_root() / "__init__.py").read_text())
        if match is None:
            raise TritonExtError(
                "cannot tell the version of the installed Triton", fix="pip install triton==3.9.0"
            ) from None
        return match[1]


@functools.cache
def find_triton() -> Triton:
    """Finds the installed Triton and reads the versions and the flag that plugins must agree with.

    The LLVM commit is part of the version text in libtriton. The ABI flag follows from which symbol libtriton exports,
    ``EnableABIBreakingChecks`` or ``DisableABIBreakingChecks``: ``llvm/Config/abi-breaking.h`` makes every translation
    unit refer to one of them.

    Raises:
        TritonExtError: Triton is not installed, or older than 3.9.
        AbiMismatchError: libtriton does not contain these facts.
    """
    root = triton_root()
    library = root / "_C" / "libtriton.so"
    if found := index.recall("libtriton", library, (str, str, str, bool)):
        version, *facts = found
        return Triton(version, root, *facts)
    started, version = time.time_ns(), triton_version()
    numbers = re.match(r"(\d+)\.(\d+)", version)
    if numbers is None or (int(numbers[1]), int(numbers[2])) < OLDEST_TRITON:
        raise TritonExtError(
            f"Triton {version} ships no plugin headers, 3.9 or newer is needed", fix="pip install triton==3.9.0"
        )
    facts = _read_libtriton(library)
    index.remember("libtriton", library, [version, *facts], [library, Path(__file__)], started)
    return Triton(version, root, *facts)


def _read_libtriton(library: Path) -> tuple[str, str, bool]:
    """Returns version and commit of the LLVM inside libtriton, and its ABI flag.

    Raises:
        AbiMismatchError: libtriton does not contain them.
    """
    try:
        with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            at = data.find(b"LLVM version ")
            found = None
            while at >= 0 and found is None:
                found = _LLVM_VERSION.match(data[at : at + 128])
                at = data.find(b"LLVM version ", at + 1)
        flags = _abi_flags(library)
    except (OSError, ValueError, struct.error, ZeroDivisionError) as error:
        raise AbiMismatchError(
            f"cannot read {library}: {error}", fix="pip install --force-reinstall triton==3.9.0"
        ) from None
    if found is None or len(flags) != 1:
        raise AbiMismatchError(
            f"{library} does not say which LLVM it was built from", fix="pip install --force-reinstall triton==3.9.0"
        )
    return found[1].decode(), found[2].decode(), flags[0]


def _abi_flags(library: Path) -> list[bool]:
    """Returns the flag value of each of the two ABI-check symbols that `library` exports."""
    from .elf_tables import Exports, NoHashTableError

    try:
        exports = Exports(library)
    except NoHashTableError:
        return []
    names = {True: _ABI_SYMBOL.format(23, "Enable"), False: _ABI_SYMBOL.format(24, "Disable")}
    return [flag for flag, name in names.items() if exports.has(name)]
