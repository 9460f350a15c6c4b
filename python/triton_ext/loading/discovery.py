# SPDX-License-Identifier: Apache-2.0
"""Finds extensions: built in, in bundles, and those that variables and `load` name. No library is loaded."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import DuplicateExtensionError, ExtensionNotFoundError, TritonExtError
from ..support import resources, storage
from ..support.closest import closest
from ..support.storage import UnsafeDirectoryError
from . import index, verification
from .candidates import VARIABLES, candidates
from .manifest import Manifest
from .verification import Plugin, verify


@dataclass(frozen=True)
class Extension:
    """One library that was found, usable or not.

    Attributes:
        name: the extension's name, the plugin's name of a foreign library, or the file name if it cannot be read.
        kind: ``pass``, ``dialect``, ``backend``, or ``plugin`` for a library that is not built with triton-ext.
        stage: the stage that its pass is for, e.g. ``ttir``, or ``any``; None if it is unknown.
        version: its version; empty if it is unknown.
        path: the library.
        origin: where it comes from, e.g. ``built in`` or ``bundle hello-bundle``.
        plugin: its passes, dialects and ops; None if it is broken.
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
            return stage not in ("plugin", "llvm")  # a pass for every stage takes modules of MLIR
        return (self.stage or "plugin") == stage


def extensions() -> list[Extension]:
    """Returns all extensions: built in, from bundles, from ``TRITON_EXT_PATH``, and from Triton's own
    ``TRITON_PLUGIN_PATHS`` and ``TRITON_PASS_PLUGIN_PATH``.

    A library that cannot be used is listed with its `problem`; the others can be used nevertheless. If several
    libraries claim one name, none of them can be used.
    """
    once = _once.get()
    if once is None:
        return _discovered()
    if not once:
        once.append(_discovered())
    return list(once[0])


#: What `extensions` has found in a block of `discovered_once`; None outside of one.
_once: ContextVar[list[list[Extension]] | None] = ContextVar("triton_ext_discovered", default=None)


@contextmanager
def discovered_once() -> Iterator[None]:
    """Has `extensions` look for libraries only once in a block, for code that places several passes."""
    token = _once.set([] if _once.get() is None else _once.get())
    try:
        yield
    finally:
        _once.reset(token)


#: What `_discovered` has found last: the libraries that there were, the files that decide about them, and the result.
_last: tuple[object, dict[str, index.Identity], list[Extension]] | None = None


def _discovered() -> list[Extension]:
    """Looks for libraries and returns the extension in each.

    A compilation asks for several passes, and asking the index about fifty libraries takes 10 ms. Claim: the answer is
    the last one if there are the same libraries and all files that the index looked at are as they were. For the index
    gives the same answers then; and `_last` is set only if it has given all of them.
    """
    global _last  # noqa: PLW0603 - of the process, as the index is
    last, found = _last, candidates(tuple(by_hand))  # another thread may set `_last` and `by_hand` at any time
    asked = ([*found.items()], resources.library_dir(), storage.cache_dir())
    if last and last[0] == asked and index.is_as_seen(last[1]):
        return list(last[2])
    unknown = verification.unknown
    with index.one_look() as seen:
        each = [
            _broken(path, origin, problem) if problem else _examine(path, origin)
            for path, (origin, problem) in found.items()
        ]
    index.save()
    each = _without_clashes(each)
    _last = (asked, seen, list(each)) if verification.unknown == unknown else None
    return each


def _without_clashes(found: list[Extension]) -> list[Extension]:
    """Returns the extensions; those that claim a name that another one claims, too, have that as their problem."""
    owners: dict[tuple[str, str], list[Extension]] = defaultdict(list)
    for extension in found:
        if plugin := extension.plugin:
            for kind, names in (("pass", plugin.passes), ("dialect", plugin.dialects), ("op", plugin.ops)):
                for name in names:
                    owners[kind, name].append(extension)
    clashes: dict[Path, str] = {}
    for (kind, name), claimants in owners.items():
        for extension in claimants if len(claimants) > 1 else ():
            others = ", ".join(f"{o.path} ({o.origin})" for o in claimants if o is not extension)
            clashes.setdefault(extension.path, f"duplicate: the {kind} name '{name}' is also claimed by {others}")
    return [replace(e, problem=clashes.get(e.path, e.problem)) for e in found]


def find_pass(name: str, stage: str | None = None, among: Sequence[Extension] | None = None) -> Extension:
    """Returns the extension that offers a pass.

    Args:
        name: name of the pass.
        stage: the stage that it must be for; ``plugin`` for the passes of foreign plugins, None for any stage.
        among: the extensions to search, for callers that look up several; None for all `extensions()`.

    Raises:
        ExtensionNotFoundError: there is none, or it is broken; the message lists the passes that there are.
        DuplicateExtensionError: several libraries offer it.
    """
    everything = extensions() if among is None else among
    offers = [(e, n) for e in everything if e.plugin for n in e.plugin.passes]
    for extension, offered in offers:
        if offered == name and (stage is None or extension.is_for(stage)):
            if extension.problem:
                raise DuplicateExtensionError(f"{extension.path} ({extension.origin}): {extension.problem}")
            return extension
    # The passes of a broken library are unknown; its file name is the best guess.
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


def search_path() -> tuple[object, ...]:
    """Returns where `extensions` looks besides package and bundles: the values of variables, the paths of `load`."""
    return (*map(os.environ.get, VARIABLES), *by_hand)


def find_library(name: str) -> Path:
    """Returns the library of the extension `name`; a file of that name in the working directory does not count.

    Raises:
        ExtensionNotFoundError: there is no such extension.
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


#: The libraries that `load` was called with, in order.
by_hand: dict[Path, None] = {}


def verify_any(path: Path) -> Plugin:
    """Verifies the library `path`; turns any other exception into a TritonExtError.

    Raises:
        TritonExtError: the library cannot be used.
    """
    try:
        return verify(path)
    except TritonExtError:
        raise
    except OSError as error:
        raise TritonExtError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    except Exception as error:  # a malformed library must not keep the others from being listed
        raise TritonExtError(f"{path} cannot be read: {type(error).__name__}: {error}") from None


def _examine(path: Path, origin: str) -> Extension:
    """Returns the extension in the file `path`, usable or not."""
    try:
        plugin = verify_any(path)
    except UnsafeDirectoryError:  # a problem of the cache and not of the library
        raise
    except TritonExtError as error:
        return _broken(path, origin, str(error))
    manifest = plugin.manifest
    kind, stage = (manifest.kind, manifest.stage) if manifest else ("plugin", None)
    return Extension(plugin.name, kind, stage, plugin.version, path, origin, plugin, None)


def _broken(path: Path, origin: str, problem: str) -> Extension:
    name = path.stem.removeprefix("libtriton_ext_").removeprefix("lib")
    return Extension(name, "plugin", None, "", path, origin, None, problem)
