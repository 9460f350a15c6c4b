# SPDX-License-Identifier: Apache-2.0
"""Has Triton load extension libraries, each when it is first used.

Triton's own loader has two problems. It binds ``passes.plugin.add_<name>`` as an overload if the name is taken, so the
first library silently wins. And the dynamic loader returns the old code for a path that it has seen. Here, a library is
loaded from the bytes in memory that were checked and hashed, and its ``add_<name>`` functions are moved from the shared
module to a `LoadedLibrary`. So a rebuilt library takes effect in the same process, and the hash in the cache key is
that of the code that runs.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import DuplicateExtensionError, ExtensionNotFoundError, TritonExtError
from ..patches import plugin_module
from ..patches.plugin_module import answer_for_missing
from ..support.shown import shown
from . import discovery
from .candidates import real_path
from .discovery import Extension, extensions, find_library, find_pass, verify_any
from .libraries import infra_library, load_infra, needed_by, shared_libraries
from .library_bytes import LibraryBytes, in_memory, in_words, read_bytes
from .verification import Plugin, verify

#: How often a library that changes while it is read is read again.
_TRIES = 20
AddPass = Callable[[Any, list[str]], None]
_lock = threading.RLock()


@dataclass(frozen=True)
class LoadedLibrary:
    """A library that Triton has loaded.

    Attributes:
        digest: SHA-256 of the bytes that were loaded, as 64 hex digits; it also covers the dialects that they use.
        add: for each pass, the function that adds it to a pass manager: ``add[name](pm, ["option=value", ...])``. The
            name of a pass of a backend is ``<backend>_<pass>``.
        llvm: the address of ``llvmGetPassPluginInfo`` of a library with an LLVM pass; None for others.
    """

    digest: str
    add: dict[str, AddPass]
    llvm: int | None = None


def load(path: str | os.PathLike[str]) -> Extension:
    """Loads one library, with its passes, dialects and ops, and returns its description.

    ``tx.passes`` then offers its passes like those of any other extension. Its dialects are registered in every context
    that is set up from now on, its ops are in ``ir.builder``.

    Args:
        path: a library built with triton-ext, or any Triton plugin. A text without a ``/`` is the name of an installed
            extension, even if the working directory has a file of that name.

    Raises:
        TritonExtError: the library cannot be used; the message says why.
        ExtensionNotFoundError: there is no extension of that name.
        DuplicateExtensionError: another library has a pass, a dialect or an op of the same name.
    """
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise TritonExtError(f"load: expected a name or a path, got {shown(path)}", fix="tx.load('./libmine.so')")
    real = real_path(find_library(path) if isinstance(path, str) and "/" not in path else Path(path))
    verify_any(real)
    known = real in discovery.by_hand
    discovery.by_hand[real] = None
    try:
        extension = next(e for e in extensions() if e.path == real)
        if extension.problem is not None:
            raise DuplicateExtensionError(f"{real}: {extension.problem}")
        load_library(extension)
    except TritonExtError:
        if not known:
            discovery.by_hand.pop(real, None)  # a library that was refused must not claim its names
        raise
    return extension


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


def offer() -> None:
    """Makes ``passes.plugin`` offer the passes of every extension, which are looked up on demand.

    Raises:
        TritonExtError: Triton differs from what the patch expects.
    """
    answer_for_missing(function_for, names)


def function_for(name: str) -> Any:
    """Returns ``passes.plugin.add_<name>``: a function that looks up the pass in each call.

    Raises:
        AttributeError: there is no such pass.
    """
    from ..keys.guard import note_plugin_pass, unguarded

    try:
        with unguarded():  # the caller may be a watched Python pass, and what follows is not part of it
            find_pass(name)
    except ExtensionNotFoundError as error:
        raise AttributeError(str(error)) from None

    def add_pass(pm: Any, args: Any = ()) -> None:
        note_plugin_pass(name)
        with unguarded():
            load_library(find_pass(name)).add[name](pm, args)

    attribute = f"add_{name}"
    add_pass.__name__ = add_pass.__qualname__ = attribute
    add_pass.__doc__ = (
        f"{attribute}(pm: triton._C.libtriton.ir.pass_manager, args: collections.abc.Sequence[str] = []) -> None"
    )
    return add_pass


def names() -> Iterator[str]:
    """Returns the names that `function_for` accepts: one for each pass that a single library offers."""
    return (name for e in extensions() if e.plugin and not e.problem for name in e.plugin.passes)


@functools.cache
def _load(path: Path, _mtime: int, _size: int, _inode: int) -> LoadedLibrary:
    from triton._C.libtriton import ir

    offer()
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
    try:
        # The copy in memory has no directory, so load first what the library would find beside itself.
        ours = {infra_library().name, *(each.name for each in shared)}
        for beside in (path.with_name(name) for name in needed if name not in ours):
            if beside.is_file():
                ctypes.CDLL(str(beside))
        # Triton binds lazily; a missing symbol has to show now, not in a call.
        handle = ctypes.CDLL(copy, mode=os.RTLD_NOW)
        add: dict[str, AddPass] = {}
        own = plugin.manifest.passes if plugin.manifest else ()  # of a backend
        if passes := (*plugin.passes, *(f"{plugin.name}_{each.name}" for each in own)):
            with plugin_module.without(passes):
                plugin_module.bind(copy)
                add = {name: plugin_module.take(name) for name in passes}
        if plugin.dialects:
            ir.extend_dialects_with(copy)
        if plugin.ops:
            ir.builder.extend_with(copy)
    except (OSError, RuntimeError, KeyError) as error:
        raise TritonExtError(f"{path} does not load: {in_words(error)}") from None
    combined = hashlib.sha256("".join([digest, *used]).encode()).hexdigest() if used else digest
    _loaded[digest] = LoadedLibrary(combined, add, _llvm_entry(handle, plugin))
    _dialects.update(dict.fromkeys(plugin.dialects, path))
    return _loaded[digest]


def _llvm_entry(library: ctypes.CDLL, plugin: Plugin) -> int | None:
    """Returns the address of the function by which LLVM learns of the passes in `library`; None for MLIR's passes."""
    if plugin.manifest is None or plugin.manifest.stage != "llvm":
        return None
    return ctypes.cast(library.llvmGetPassPluginInfo, ctypes.c_void_p).value


def verified_bytes(path: Path) -> tuple[LibraryBytes, Plugin]:
    """Returns the bytes of the library `path`, and the result of verifying exactly these bytes.

    Raises:
        TritonExtError: the library cannot be used, or changes all the time.
    """
    for _ in range(_TRIES):
        library, plugin = read_bytes(path), verify(path)
        if library.digest == plugin.digest:
            return library, plugin
    raise TritonExtError(f"{path} changes while it is loaded", fix="once more, when its build has ended")


def _load_shared(path: Path) -> str:
    """Loads a library of dialects that other libraries use, once, because they find it by its name.

    Returns:
        SHA-256 of its bytes, as hex digits.

    Raises:
        TritonExtError: it does not load, or this process has loaded another library of that name.
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


_loaded: dict[str, LoadedLibrary] = {}
_shared: dict[str, str] = {}
_dialects: dict[str, Path] = {}
