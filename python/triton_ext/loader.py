# SPDX-License-Identifier: Apache-2.0
"""Finds extension libraries and hands them to Triton, each only when it is first used.

Triton's own loader binds ``passes.plugin.add_<name>`` as an overload of what has that name already, so that the first
library silently wins, and the dynamic loader gives back the old code for a path that it has seen. Both are avoided
here: a library is loaded from bytes in memory, the same that were checked and hashed, and its ``add_<name>`` functions
are taken out of the shared module into a `LoadedLibrary`. So a rebuilt library takes effect in the same process, and
the hash in the cache key is that of the code that runs.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import importlib.util
import os
import re
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from . import _plugin_passes, _resources, index
from ._closest import closest
from ._infra import (
    LibraryBytes,
    in_memory,
    in_words,
    infra_library,
    load_infra,
    needed_by,
    read_bytes,
    shared_libraries,
)
from ._json import AnyOf
from ._shown import shown
from ._storage import UnsafeDirectoryError
from .errors import DuplicateExtensionError, ExtensionNotFoundError, TritonExtError
from .manifest import Manifest
from .verify import Plugin, verify

ENTRY_POINT_GROUP = "triton_ext.extensions"
#: Names the package of a bundle that is tested in its source tree: what is installed of it would claim the same names.
HIDDEN_BUNDLE = "TRITON_EXT_HIDDEN_BUNDLE"
_VARIABLES = ("TRITON_EXT_PATH", *_resources.PLUGIN_VARIABLES)
AddPass = Callable[[Any, list[str]], None]
_lock = threading.RLock()


@dataclass(frozen=True)
class Extension:
    """One library that was found, usable or not.

    Attributes:
        name: extension name, plugin name of a foreign library, or file name of one that cannot be read.
        kind: ``pass``, ``dialect``, ``backend``, or ``plugin`` for a library that is not built with triton-ext.
        stage: the stage that its pass is for, e.g. ``ttir``, or ``any``; None where it is not known.
        version: its version; empty where it is not known.
        path: the library.
        origin: who brought it, e.g. ``built in`` or ``bundle hello-bundle``.
        plugin: what it offers; None if it is broken.
        problem: why it cannot be used; None if it can.
    """

    name: str
    kind: str
    stage: str | None
    version: str
    path: Path
    origin: str
    plugin: Plugin | None
    problem: str | None

    def __repr__(self) -> str:
        return f"Extension({self.name}, {self.kind}, {self.path})"

    @property
    def manifest(self) -> Manifest | None:
        """The manifest of a library that was built with triton-ext."""
        return self.plugin.manifest if self.plugin else None

    @property
    def targets(self) -> tuple[str, ...]:
        """The targets that its pass is for, e.g. ``cuda`` or ``cuda:90``; empty for every target."""
        return self.manifest.targets if self.manifest else ()

    def is_for(self, stage: str) -> bool:
        """Whether ``tx.passes.<stage>`` offers its passes; ``plugin`` offers those of foreign libraries."""
        if self.stage == "any":
            return stage != "plugin"
        return (self.stage or "plugin") == stage


@dataclass(frozen=True)
class LoadedLibrary:
    """A library that Triton has loaded.

    Attributes:
        digest: SHA-256 of the bytes that were loaded, as 64 hex digits; of those of the dialects that it uses, too.
        add: for each pass, the function that adds it to a pass manager: ``add[name](pm, ["option=value", ...])``.
    """

    digest: str
    add: dict[str, AddPass]


def extensions() -> list[Extension]:
    """All extensions: built in, from bundles, from ``TRITON_EXT_PATH``, and from Triton's own ``TRITON_PLUGIN_PATHS``
    and ``TRITON_PASS_PLUGIN_PATH``.

    A library that cannot be used is listed with its `problem`; it does not keep the others from being used. Of the
    libraries that claim one name, none can be used.
    """
    found: dict[Path, Extension] = {}
    directory = functools.cache(_real)
    with index.one_look():
        for path, origin, problem in _candidates():
            # Resolving looks at each directory on the way, so that of many libraries is resolved once.
            real = path if problem else _real(path) if os.path.islink(path) else directory(path.parent) / path.name
            if real not in found:
                found[real] = _broken(real, origin, problem) if problem else _examine(real, origin)
    index.save()
    owners: dict[tuple[str, str], list[Extension]] = defaultdict(list)
    for extension in found.values():
        if plugin := extension.plugin:
            for kind, names in (("pass", plugin.passes), ("dialect", plugin.dialects), ("op", plugin.ops)):
                for name in names:
                    owners[kind, name].append(extension)
    clashes: dict[Path, str] = {}
    for (kind, name), claimants in owners.items():
        for extension in claimants if len(claimants) > 1 else ():
            others = ", ".join(f"{o.path} ({o.origin})" for o in claimants if o is not extension)
            clashes.setdefault(extension.path, f"duplicate: the {kind} name '{name}' is also claimed by {others}")
    return [replace(e, problem=clashes.get(e.path, e.problem)) for e in found.values()]


def load(path: str | os.PathLike[str]) -> Extension:
    """Loads one library by hand, passes, dialects and ops, and returns what it is.

    Its passes are then offered by ``tx.passes`` like those of any other extension. Its dialects are in every context
    that is set up from now on, its ops in ``ir.builder``.

    Args:
        path: a library built with triton-ext, or any Triton plugin; a text without a ``/`` is the name of an extension
            that is found, whatever lies in the working directory.

    Raises:
        TritonExtError: the library cannot be used; the message says why.
        ExtensionNotFoundError: there is no extension of that name.
        DuplicateExtensionError: another library has a pass, a dialect or an op of that name.
    """
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise TritonExtError(f"load: expected a name or a path, got {shown(path)}", fix="tx.load('./libmine.so')")
    real = _real(find_library(path) if isinstance(path, str) and "/" not in path else Path(path))
    _verify(real)
    known = real in _by_hand
    _by_hand[real] = None
    try:
        extension = next(e for e in extensions() if e.path == real)
        if extension.problem is not None:
            raise DuplicateExtensionError(f"{real}: {extension.problem}")
        load_library(extension)
    except TritonExtError:
        if not known:
            _by_hand.pop(real, None)  # what was refused claims no name
        raise
    return extension


def find_pass(name: str, stage: str | None = None, among: Sequence[Extension] | None = None) -> Extension:
    """The extension that offers the pass `name` for `stage`; ``plugin`` means foreign plugins, None any stage.

    Who looks for several asks for `extensions()` once, and looks `among` them.

    Raises:
        ExtensionNotFoundError: there is none, or it is broken; the message says what there is.
        DuplicateExtensionError: several libraries offer it.
    """
    everything = extensions() if among is None else among
    offers = [(e, n) for e in everything if e.plugin for n in e.plugin.passes]
    for extension, offered in offers:
        if offered == name and (stage is None or extension.is_for(stage)):
            if extension.problem:
                raise DuplicateExtensionError(f"{extension.path} ({extension.origin}): {extension.problem}")
            return extension
    # A broken library does not say what it offers; its file name is the best guess.
    for extension in everything:
        if extension.plugin is None and extension.name == name:
            raise ExtensionNotFoundError(f"extension '{name}' is broken: {extension.problem}")
    elsewhere = [e.stage or "plugin" for e, n in offers if n == name]
    names = [n for e, n in offers if not e.problem and (stage is None or e.is_for(stage))]
    close = closest(name, names)
    if elsewhere:
        hint = f"; it is in tx.passes.{elsewhere[0]}"
    else:
        hint = f"; did you mean '{close}'?" if close else f"; there is: {', '.join(names) or 'none'}"
    place = f" for stage '{stage}'" if stage else ""
    raise ExtensionNotFoundError(f"no extension offers a pass '{name}'{place}{hint}", fix="triton-ext list")


def load_library(extension: Extension) -> LoadedLibrary:
    """Loads the current bytes of the extension's library, once for each content.

    Raises:
        TritonExtError: the library changed into one that cannot be used, or does not load.
    """
    try:
        stat = extension.path.stat()
    except OSError as error:
        raise TritonExtError(f"{extension.path}: {error.strerror}") from None
    with _lock:
        return _load(extension.path, stat.st_mtime_ns, stat.st_size, stat.st_ino)


def search_path() -> tuple[object, ...]:
    """Where `extensions` looks, apart from the package and bundles: values of the variables, paths given to `load`."""
    return (*map(os.environ.get, _VARIABLES), *_by_hand)


def find_library(name: str) -> Path:
    """The library of the extension `name`, whatever lies in the working directory.

    Raises:
        ExtensionNotFoundError: there is none.
    """
    everything = extensions()
    for extension in everything:
        if extension.name == name:
            return extension.path
    names = [extension.name for extension in everything]
    close = closest(name, names)
    hint = f"did you mean '{close}'?" if close else f"there is: {', '.join(names) or 'none'}"
    is_file = f"; the file is './{name}'" if os.path.lexists(name) else ""
    raise ExtensionNotFoundError(f"no extension '{name}'; {hint}{is_file}", fix="triton-ext list")


_by_hand: dict[Path, None] = {}


def _candidates() -> Iterator[tuple[Path, str, str | None]]:
    """The libraries to look at, where each comes from, and why it cannot even be looked at."""
    yield from ((path, "built in", None) for path in _libraries_in(_resources.library_dir()))
    for name, package, distribution in _bundles():
        if package is not None and package == os.environ.get(HIDDEN_BUNDLE):
            continue
        origin = f"bundle {distribution}"
        if package is None:
            yield Path(name), origin, "its entry_points.txt cannot be read"
            continue
        try:
            libraries = _libraries_of(package)
        except Exception as error:  # what an entry point says may be anything
            yield Path(name), origin, str(error)
        else:
            yield from ((path, origin, None) for path in libraries)
    for variable in _VARIABLES:
        for item in filter(None, os.environ.get(variable, "").split(os.pathsep)):
            # os.path answers False where pathlib raises, e.g. for a name that is too long.
            path, is_dir = Path(item), os.path.isdir(item)
            paths = sorted(path.glob("*.so")) if is_dir else [path]
            # Ours are libtriton_ext_*; libTritonExt* are what they share.
            yield from ((p, variable, None) for p in paths if not (is_dir and p.name.startswith("libTritonExt")))
    yield from ((path, "tx.load", None) for path in _by_hand)


def _bundles() -> list[tuple[str, str | None, str]]:
    """Name, package and distribution of each entry point of bundles, among all that is installed.

    Of a distribution whose entry points cannot be read, there is no package.
    """
    # The files that `importlib.metadata` reads; importing it and reading them takes longer than the rest of discovery.
    files = [Path(info, "entry_points.txt") for place in sys.path for info in _installed_in(place)]
    key, started = hashlib.sha256("\n".join(map(str, files)).encode()).hexdigest(), time.time_ns()
    found = index.recall("bundles", key, [(str, AnyOf(str, None), str)])
    if found is None:
        found = _entry_points()
        index.remember("bundles", key, found, files, started)
    return [(name, package, distribution) for name, package, distribution in found]


def _entry_points() -> list[list[str | None]]:
    """What `_bundles` returns, read from all that is installed."""
    import importlib.metadata

    try:
        entries = importlib.metadata.entry_points(group=ENTRY_POINT_GROUP)
        return [[entry.name, entry.value, entry.dist.name if entry.dist else entry.name] for entry in entries]
    except Exception:  # one of them is damaged; the others are not to be missed for it
        found: list[list[str | None]] = []
        for distribution in importlib.metadata.distributions():
            name = "unknown"
            try:
                name = str(distribution.name)
                chosen = distribution.entry_points.select(group=ENTRY_POINT_GROUP)
                found += ([entry.name, entry.value, name] for entry in chosen)
            except Exception:
                found.append([name, None, name])
        return found


def _installed_in(place: str) -> list[str]:
    """The directories in which an entry of ``sys.path`` describes the distributions that are installed there."""
    try:
        return sorted(f"{place}/{name}" for name in os.listdir(place or ".") if name.endswith("-info"))
    except OSError:  # a zip file, or nothing
        return []


def _libraries_of(bundle: str) -> list[Path]:
    """The libraries in the package `bundle`, which is located, not imported: listing runs none of its code.

    Raises:
        TritonExtError: there is no such package, or none are in it.
    """
    package = re.split(r"[:\[\s]", bundle, maxsplit=1)[0]
    top, *inner = package.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        raise TritonExtError(f"its package '{bundle}' is not installed")
    libraries = [p for root in spec.submodule_search_locations or () for p in _libraries_in(Path(root, *inner))]
    if not libraries:
        raise TritonExtError(f"its package '{package}' has no libtriton_ext_*.so")
    return libraries


def _libraries_in(directory: Path) -> list[Path]:
    return sorted(directory.glob("libtriton_ext_*.so"))


def _real(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):  # a loop of links, a null character
        return path.absolute()


def _verify(path: Path) -> Plugin:
    """Verifies `path`.

    Raises:
        TritonExtError: it cannot be used.
    """
    try:
        return verify(path)
    except TritonExtError:
        raise
    except OSError as error:
        raise TritonExtError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    except Exception as error:  # one library, whatever is in it, does not keep the others from being listed
        raise TritonExtError(f"{path} cannot be read: {type(error).__name__}: {error}") from None


def _examine(path: Path, origin: str) -> Extension:
    """The extension in the file `path`, usable or not."""
    try:
        plugin = _verify(path)
    except UnsafeDirectoryError:  # it is not the library that is at fault
        raise
    except TritonExtError as error:
        return _broken(path, origin, str(error))
    manifest = plugin.manifest
    kind, stage = (manifest.kind, manifest.stage) if manifest else ("plugin", None)
    return Extension(plugin.name, kind, stage, plugin.version, path, origin, plugin, None)


def _broken(path: Path, origin: str, problem: str) -> Extension:
    name = path.stem.removeprefix("libtriton_ext_").removeprefix("lib")
    return Extension(name, "plugin", None, "", path, origin, None, problem)


@functools.cache
def _load(path: Path, _mtime: int, _size: int, _inode: int) -> LoadedLibrary:
    from triton._C.libtriton import ir, passes

    _plugin_passes.offer()
    library, plugin = verified_bytes(path)
    digest = library.digest
    if digest in _loaded:
        return _loaded[digest]
    for dialect in plugin.dialects:
        if dialect in _dialects:
            raise TritonExtError(
                f"{path} has changed or moved: this process has the dialect '{dialect}' from {_dialects[dialect]} "
                "already, and MLIR keeps the first one",
                fix="restart Python",
            )
    load_infra()
    needed = needed_by(path)
    shared = shared_libraries(path, needed)
    used = [_load_shared(each) for each in shared]
    copy = in_memory(library)
    names = [f"add_{name}" for name in plugin.passes]
    before = {name: passes.plugin.__dict__.pop(name) for name in names if name in passes.plugin.__dict__}
    try:
        # What is in memory has left those behind that it would find beside itself.
        ours = {infra_library().name, *(each.name for each in shared)}
        for beside in (path.with_name(name) for name in needed if name not in ours):
            if beside.is_file():
                ctypes.CDLL(str(beside))
        ctypes.CDLL(copy, mode=os.RTLD_NOW)  # what Triton's lazy binding would only find out in the middle of a call
        if plugin.passes:
            passes.plugin.extend_with(copy)
        if plugin.dialects:
            ir.extend_dialects_with(copy)
        if plugin.ops:
            ir.builder.extend_with(copy)
        add = {name: passes.plugin.__dict__.pop(f"add_{name}") for name in plugin.passes}
    except (OSError, RuntimeError, KeyError) as error:
        raise TritonExtError(f"{path} does not load: {in_words(error)}") from None
    finally:
        passes.plugin.__dict__.update(before)
    combined = hashlib.sha256("".join([digest, *used]).encode()).hexdigest() if used else digest
    _loaded[digest] = LoadedLibrary(combined, add)
    _dialects.update(dict.fromkeys(plugin.dialects, path))
    return _loaded[digest]


def verified_bytes(path: Path) -> tuple[LibraryBytes, Plugin]:
    """The bytes of the library `path`, and what was found out about exactly these.

    Raises:
        TritonExtError: it cannot be used, or changes all the time.
    """
    for _ in range(_TRIES):
        library, plugin = read_bytes(path), verify(path)
        if library.digest == plugin.digest:
            return library, plugin
    raise TritonExtError(f"{path} changes while it is loaded", fix="once more, when its build has ended")


def _load_shared(path: Path) -> str:
    """Loads a library of dialects that others use, once: they find it by its name. Returns its digest.

    Raises:
        TritonExtError: it does not load, or this process has another one of that name.
    """
    from triton._C.libtriton import ir

    stat = path.stat()
    if path.name.startswith("libtriton_ext_"):
        return _load(path, stat.st_mtime_ns, stat.st_size, stat.st_ino).digest
    library = read_bytes(path)
    if path.name not in _shared:
        try:
            copy = in_memory(library)
            ctypes.CDLL(copy, mode=os.RTLD_NOW)
            ir.extend_dialects_with(copy)
        except (OSError, RuntimeError) as error:
            raise TritonExtError(f"{path} does not load: {in_words(error)}") from None
        _shared[path.name] = library.digest
    if _shared[path.name] != library.digest:
        raise TritonExtError(
            f"{path} has changed: this process has the dialects of an earlier one, and MLIR keeps the first",
            fix="restart Python",
        )
    return library.digest


_TRIES = 20
_loaded: dict[str, LoadedLibrary] = {}
_shared: dict[str, str] = {}
_dialects: dict[str, Path] = {}
