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
from .discovery import Extension, extensions, find_library, find_pass, real_path, verify_any
from .libraries import infra_library, load_infra, needed_by, shared_libraries
from .library_bytes import LibraryBytes, in_memory, in_words, read_bytes
from .verification import Plugin, verify

#: How often a library that changes is read again.
_TRIES = 20
AddPass = Callable[[Any, list[str]], None]
_lock = threading.RLock()


@dataclass(frozen=True)
class LoadedLibrary:
    """A library that Triton has loaded.

    Attributes:
        digest: SHA-256 of the bytes that were loaded, as 64 hex digits; of those of the dialects that it uses, too.
        add: for each pass, the function that adds it to a pass manager: ``add[name](pm, ["option=value", ...])``.
    """

    digest: str
    add: dict[str, AddPass]


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
            discovery.by_hand.pop(real, None)  # what was refused claims no name
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
    """Makes ``passes.plugin`` offer the passes of every extension; they are looked for when one is asked for.

    Raises:
        TritonExtError: Triton is not as expected.
    """
    answer_for_missing(function_for, names)


def function_for(name: str) -> Any:
    """What ``passes.plugin.add_<name>`` is: a function that looks the pass up at each call.

    Raises:
        AttributeError: there is no such pass.
    """
    from ..keys.guard import note_plugin_pass, unguarded

    try:
        with unguarded():  # a Python pass may ask, which is not to blame for how a library is found
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
    """Yields the names that `function_for` has a function for: one for each pass that a single library offers."""
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
        # What is in memory has left those behind that it would find beside itself.
        ours = {infra_library().name, *(each.name for each in shared)}
        for beside in (path.with_name(name) for name in needed if name not in ours):
            if beside.is_file():
                ctypes.CDLL(str(beside))
        ctypes.CDLL(copy, mode=os.RTLD_NOW)  # what Triton's lazy binding would only find out in the middle of a call
        add: dict[str, AddPass] = {}
        if plugin.passes:
            with plugin_module.without(plugin.passes):
                plugin_module.bind(copy)
                add = {name: plugin_module.take(name) for name in plugin.passes}
        if plugin.dialects:
            ir.extend_dialects_with(copy)
        if plugin.ops:
            ir.builder.extend_with(copy)
    except (OSError, RuntimeError, KeyError) as error:
        raise TritonExtError(f"{path} does not load: {in_words(error)}") from None
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


_loaded: dict[str, LoadedLibrary] = {}
_shared: dict[str, str] = {}
_dialects: dict[str, Path] = {}
