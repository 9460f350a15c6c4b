# SPDX-License-Identifier: Apache-2.0
"""Checks whether Triton can load a library, because Triton would crash on many libraries that it cannot load.

The file is checked without loading it. A library that is not built with triton-ext is then asked for its plugin
description in a separate process, which may crash. The result is kept in the discovery index, so a library is read
again only if it, or a library that it is linked to, has changed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import AbiMismatchError, TritonExtError
from ..support import resources
from ..support.clang import get_clang
from ..support.json_shape import AnyOf
from . import index
from .foreign_plugins import DESCRIPTION, OFFERS, description_of
from .host import Triton, find_triton
from .libraries import OUR_LIBRARIES, infra_library, shared_libraries
from .library_bytes import LibraryBytes, read_bytes
from .manifest import Manifest

if TYPE_CHECKING:
    from .elf import Library

_REBUILD = "triton-ext build"


@dataclass(frozen=True)
class Plugin:
    """A library that Triton can load.

    Attributes:
        path: the library.
        digest: SHA-256 of the bytes that were checked, as 64 hex digits.
        name: the extension's name, or the plugin's name of a foreign library.
        version: its version.
        manifest: its manifest; None for a foreign library.
        passes: names of its passes, as in ``passes.plugin.add_<name>``.
        dialects: names of its dialects.
        ops: names of its custom ops.
    """

    path: Path
    digest: str
    name: str
    version: str
    manifest: Manifest | None
    passes: tuple[str, ...]
    dialects: tuple[str, ...] = ()
    ops: tuple[str, ...] = ()


#: How many libraries this process has verified whose result the index did not know.
unknown = 0


def verify(path: Path) -> Plugin:
    """Checks the library `path`, and returns what it offers.

    Raises:
        TritonExtError: the file does not exist, or is not a Triton plugin.
        AbiMismatchError: it does not fit the installed Triton.
    """
    global unknown  # noqa: PLW0603 - a count of the process, as the index is
    if known := _recalled(path):
        return known
    unknown += 1
    from .elf import parse_library  # pyelftools takes longer to import than everything else

    started, triton = time.time_ns(), find_triton()
    content = read_bytes(path)
    needed: tuple[str, ...] = ()
    try:
        library = parse_library(content)
        needed = library.needed
        manifest, hosts = _check(library, triton)
    except TritonExtError as error:
        # A lack of memory or file descriptors is a problem of this process and not of the file.
        if not isinstance(error.__context__, OSError | MemoryError):
            mends = [resources.library_dir() / name for name in needed if name.startswith(OUR_LIBRARIES)]
            files = _read_for(path, needed, [triton.library, infra_library(), *mends])
            index.remember("unusable", _subject(path), [type(error).__name__, error.message, error.fix], files, started)
        raise
    plugin = _plugin(content, manifest) if manifest else _foreign(content, needed)
    answer = {"note": library.note, **{name: getattr(plugin, name) for name in _FIELDS}}
    index.remember("plugin", _subject(path), answer, _read_for(path, needed, hosts), started)
    return plugin


def _check(library: Library, triton: Triton) -> tuple[Manifest | None, list[Path]]:
    """Returns the library's manifest, None for a foreign one, and the libraries that it takes its symbols from.

    Raises:
        TritonExtError: it is not a Triton plugin.
        AbiMismatchError: it does not fit this Triton.
    """
    from .elf import ENTRY_POINT

    path = library.path
    if not library.exports_entry_point:
        raise TritonExtError(f"{path} is not a Triton plugin: it does not export {ENTRY_POINT.decode()}")
    _check_compiler(library)
    manifest = None
    if library.note is not None:
        try:
            manifest = Manifest.parse(library.note)
        except ValueError as error:
            raise TritonExtError(f"{path} has an unreadable manifest: {error}", fix=_REBUILD) from None
        _check_manifest(path, manifest, triton)
    return manifest, _check_symbols(library, triton)


#: The modules whose code determines the result.
_DECIDES = ("elf", "elf_tables", "foreign_plugins", "host", "libraries", "library_bytes", "manifest", "verification")
_FIELDS = ("digest", "name", "version", "passes", "dialects", "ops")
#: The shape of an answer in the index.
_ANSWER = {"note": AnyOf(str, None), "digest": str, **DESCRIPTION}
_PROBLEM = (str, str, AnyOf(str, None))


def _subject(path: Path) -> str:
    """Returns the subject of an answer: the library in this environment, since another may have another Triton."""
    return f"{path} in {sys.prefix} with {resources.library_dir()}"


def _recalled(path: Path) -> Plugin | None:
    """Returns the index's answer about the library `path`; None if it has none.

    Raises:
        TritonExtError: the answer is that the library cannot be used.
    """
    found = index.recall("plugin", _subject(path), _ANSWER)
    if found is None:
        if problem := index.recall("unusable", _subject(path), _PROBLEM):
            kind, message, fix = problem
            raise (AbiMismatchError if kind == AbiMismatchError.__name__ else TritonExtError)(message, fix=fix)
        return None
    try:
        manifest = Manifest.parse(found["note"]) if found["note"] is not None else None
    except ValueError:
        return None
    offers = (tuple(found[kind]) for kind in OFFERS)
    return Plugin(path, found["digest"], found["name"], found["version"], manifest, *offers)


def _read_for(path: Path, needed: Iterable[str], hosts: Iterable[Path]) -> list[Path]:
    """Returns the files that determine the result of `verify` for the library `path`, including our own code."""
    # A library that appears beside it takes precedence over the one in the package.
    beside = [path.with_name(name) for name in needed if name.startswith(OUR_LIBRARIES)]
    code = [Path(__file__).with_name(f"{name}.py") for name in _DECIDES]
    return list(dict.fromkeys([path, *hosts, *beside, *code]))


def _plugin(library: LibraryBytes, manifest: Manifest) -> Plugin:
    offers = {kind: (manifest.name,) if manifest.kind == kind else () for kind in ("pass", "dialect")}
    name, version = manifest.name, manifest.version
    return Plugin(
        library.path, library.digest, name, version, manifest, offers["pass"], offers["dialect"], manifest.ops
    )


def _foreign(library: LibraryBytes, needed: Iterable[str]) -> Plugin:
    found = description_of(library, needed)
    offers = (tuple(found[kind]) for kind in OFFERS)
    return Plugin(library.path, library.digest, found["name"], found["version"], None, *offers)


def _check_compiler(library: Library) -> None:
    if library.gcc_type_names:
        raise AbiMismatchError(
            f"{library.path} was built with g++, as the spelling of its type names shows: libtriton was built with "
            "clang, and traits and interfaces would silently answer no",
            fix=f"build it with clang: {get_clang()}",
        )


def _check_manifest(path: Path, manifest: Manifest, triton: Triton) -> None:
    wanted = {
        "Triton": (manifest.triton, triton.version),
        "LLVM": (manifest.llvm_commit[:8], triton.llvm_commit[:8]),
        "ABI-breaking checks": (manifest.abi_breaking_checks, triton.abi_breaking_checks),
    }
    for what, (found, expected) in wanted.items():
        if found != expected:
            raise AbiMismatchError(f"{path} was built for {what} {found}, installed is {expected}", fix=_REBUILD)
    if not manifest.compiler.startswith("clang "):
        raise AbiMismatchError(
            f"{path} was built with another compiler than clang ({manifest.compiler})",
            fix=f"{get_clang()} && {_REBUILD}",
        )


def _check_symbols(library: Library, triton: Triton) -> list[Path]:
    """Checks that all symbols of MLIR, LLVM and triton-ext that `library` needs exist.

    Triton binds lazily, so a missing symbol would end the process when it is first called.

    Returns:
        The libraries that the symbols come from.

    Raises:
        AbiMismatchError: a symbol is missing.
        TritonExtError: a library that `library` needs is missing.
    """
    from .elf import missing_symbols

    ours = frozenset(name for name in library.undefined if "4mlir" in name or "4llvm" in name)
    hosts = [triton.library]
    if any("10triton_ext" in name for name in ours):
        if not infra_library().is_file():
            raise TritonExtError(f"{infra_library()} is missing", fix=_REBUILD)
        hosts.append(infra_library())
    hosts += shared_libraries(library.path, library.needed)
    missing = missing_symbols(ours, hosts)
    if any("ABIBreakingChecks" in name for name in missing):
        raise AbiMismatchError(
            f"{library.path} was built with LLVM_ENABLE_ABI_BREAKING_CHECKS={int(not triton.abi_breaking_checks)}, "
            f"libtriton with {int(triton.abi_breaking_checks)}",
            fix="build it against the SDK: triton-ext sdk install",
        )
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise AbiMismatchError(
            f"{library.path} needs {missing[0]}{more}, which Triton {triton.version} does not have", fix=_REBUILD
        )
    return hosts
