# SPDX-License-Identifier: Apache-2.0
"""Decides whether a library may be handed to Triton, which would crash on many that may not.

Everything is checked on the file, without loading it. Libraries that are not ours are then asked for their plugin
description in a process of their own, so that one that crashes takes nothing with it. What was found is remembered in
the discovery index, so a library is read again only when it, or a library that it binds to, has changed.
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
        name: extension name, or the plugin name of a foreign library.
        version: its version.
        manifest: None for a foreign library.
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


def verify(path: Path) -> Plugin:
    """Checks the library `path` and tells what it offers.

    Raises:
        TritonExtError: no such file, not a library, or not a Triton plugin.
        AbiMismatchError: it does not fit the installed Triton.
    """
    if known := _recalled(path):
        return known
    from .elf import parse_library  # pyelftools takes longer to import than everything else

    started, triton = time.time_ns(), find_triton()
    content = read_bytes(path)
    needed: tuple[str, ...] = ()
    try:
        library = parse_library(content)
        needed = library.needed
        manifest, hosts = _check(library, triton)
    except TritonExtError as error:
        if not isinstance(error.__context__, OSError | MemoryError):  # what the process lacks says nothing of the file
            mends = [resources.library_dir() / name for name in needed if name.startswith(OUR_LIBRARIES)]
            files = _read_for(path, needed, [triton.library, infra_library(), *mends])
            index.remember("unusable", _subject(path), [type(error).__name__, error.message, error.fix], files, started)
        raise
    plugin = _plugin(content, manifest) if manifest else _foreign(content, needed)
    answer = {"note": library.note, **{name: getattr(plugin, name) for name in _FIELDS}}
    index.remember("plugin", _subject(path), answer, _read_for(path, needed, hosts), started)
    return plugin


def _check(library: Library, triton: Triton) -> tuple[Manifest | None, list[Path]]:
    """The library's manifest, None for a foreign one, and the libraries that it takes its symbols from.

    Raises:
        TritonExtError: it is not a Triton plugin.
        AbiMismatchError: it does not fit this Triton.
    """
    from .elf import ENTRY_POINT

    path = library.path
    if not library.exports_entry_point:
        raise TritonExtError(f"{path} is no Triton plugin: it does not export {ENTRY_POINT.decode()}")
    _check_compiler(library)
    manifest = None
    if library.note is not None:
        try:
            manifest = Manifest.parse(library.note)
        except ValueError as error:
            raise TritonExtError(f"{path} has an unreadable manifest: {error}", fix=_REBUILD) from None
        _check_manifest(path, manifest, triton)
    return manifest, _check_symbols(library, triton)


#: Our modules that decide what is said of a library.
_DECIDES = ("elf", "foreign_plugins", "host", "libraries", "library_bytes", "manifest", "verification")
_FIELDS = ("digest", "name", "version", "passes", "dialects", "ops")
#: What the index says of a library.
_ANSWER = {"note": AnyOf(str, None), "digest": str, **DESCRIPTION}
_PROBLEM = (str, str, AnyOf(str, None))


def _subject(path: Path) -> str:
    """What an answer is about: the library for this environment, another may have another Triton or other libraries."""
    return f"{path} in {sys.prefix} with {resources.library_dir()}"


def _recalled(path: Path) -> Plugin | None:
    """What the index says of the library `path`; None if it says nothing.

    Raises:
        TritonExtError: it says that the library cannot be used.
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
    """The files that decide what `verify` says of the library `path`, our own code among them."""
    # A library that appears beside it takes the place of the one in the package.
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
            fix="build it with clang: apt-get install clang-19",
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
            fix=f"apt-get install clang-19 && {_REBUILD}",
        )


def _check_symbols(library: Library, triton: Triton) -> list[Path]:
    """Triton binds lazily: a symbol that is missing would end the process when it is first called.

    Returns the libraries that `library` takes its symbols of MLIR, LLVM and triton-ext from.
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
