# SPDX-License-Identifier: Apache-2.0
"""The library of an operation's dialect: found, loaded before a kernel is translated, and in the kernel's key."""

from __future__ import annotations

import functools
import hashlib

from ..errors import TritonExtError
from ..loading.discovery import Extension, extensions, search_path
from ..loading.libraries import load_infra
from ..loading.loader import load_library
from ..pipeline import lowering
from ..support.resources import own_code
from . import library


def find(dialect: str) -> Extension | None:
    """Returns the extension that has `dialect`, usable or not; None if no extension has it."""
    everything = extensions()
    for extension in everything:
        if extension.plugin and dialect in extension.plugin.dialects:
            return extension
    # A broken library does not say what it offers; its name is the best guess.
    return next((e for e in everything if e.plugin is None and e.name in (dialect, f"libtriton_ext_{dialect}")), None)


def load(dialect: str) -> str:
    """Loads the library of `dialect`, so that every context that is set up from now on has it.

    Returns:
        A text for its bytes and for those of the pass that lowers it; empty if it is not a dialect of an extension.

    Raises:
        TritonExtError: the library cannot be used.
    """
    return _load(dialect, search_path())


@functools.cache
def _load(dialect: str, _where: tuple[object, ...]) -> str:
    """As `load`; a process keeps the dialect that it has, and so does not look again."""
    extension = find(dialect)
    if extension is None:
        return ""
    if extension.problem is not None:
        raise TritonExtError(extension.problem)
    return f"{load_library(extension).digest} {lowering.follow(extension)}"


def key(dialects: list[str]) -> str:
    """Returns a text that changes with everything that decides what operations of `dialects` become.

    Loads their libraries: Triton asks for a kernel's key before it sets up the context. What cannot be loaded is an
    error where the kernel calls the function.
    """
    parts = [own_code()]
    for dialect in dialects:
        try:
            parts.append(f"{dialect} {library.digest()} {load_infra()} {load(dialect)}")
        except TritonExtError as error:
            parts.append(f"{dialect}: {error}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def missing(dialect: str) -> TritonExtError:
    """Returns the error that says why a context does not have `dialect`."""
    try:
        extension = find(dialect)
        if extension is not None and extension.problem is None:
            load(dialect)
            return TritonExtError(
                f"the dialect '{dialect}' is not in this context, which was set up before {extension.path} was loaded",
                fix=f"tx.load({dialect!r}) before the context is made",
            )
    except TritonExtError as error:
        return TritonExtError(f"the dialect '{dialect}' cannot be used: {error.message}", fix=error.fix)
    if extension is None:
        return TritonExtError(
            f"no extension has the dialect '{dialect}'; `triton-ext list` shows those that there are",
            fix=f"pip install the project that brings it, or in its directory: triton-ext build {dialect}",
        )
    return TritonExtError(f"the dialect '{dialect}' of {extension.path} cannot be used: {extension.problem}")
