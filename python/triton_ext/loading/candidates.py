# SPDX-License-Identifier: Apache-2.0
"""Finds the files that may be extensions: built in, in bundles, and those that variables and ``tx.load`` name."""

from __future__ import annotations

import functools
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ..errors import TritonExtError
from ..support import resources, storage
from . import index
from .bundles import HIDDEN_BUNDLE, bundles, directories_of

#: The variables that name libraries, or directories with libraries.
VARIABLES = ("TRITON_EXT_PATH", *resources.PLUGIN_VARIABLES)

#: Each file to examine, with its origin and the reason if it cannot be examined.
Candidates = dict[Path, tuple[str, str | None]]

#: What `candidates` has found last: the settings of the process, the directories and files that decide, the links that
#: were resolved, and the result.
_last: tuple[tuple[object, ...], dict[str, index.Identity], dict[Path, Path], Candidates] | None = None


def candidates(by_hand: Sequence[Path]) -> Candidates:
    """Returns the files to examine, without links.

    Each pass that a program places asks for them. To list the directories takes 1.5 ms, and to look whether they have
    changed a fifth of that. Claim: the answer is the last one if the settings, the directories and the files with entry
    points are as they were, and all links lead to the same places. For the files are those that the directories have
    and the settings name. A directory gets another time when a file comes or goes, or a link takes the place of a file.
    In file systems whose times are coarse that may fail until the next tick, so `_last` is set only if all is
    `index.is_settled`. It assumes ticks of at most 2 s, less what the clock of a file server is behind. Links are
    resolved each time, because the file at their end is the same one when its directory gets another name. If there
    are bundles, any module may decide where Python finds their packages, so `_last` is not set either.

    Args:
        by_hand: the paths of ``tx.load``.
    """
    global _last  # noqa: PLW0603 - of the process, as the index is
    last, settings = _last, _settings(by_hand)  # another thread may set `_last` at any time
    if last and last[0] == settings and index.is_as_seen(last[1]) and _are_as_resolved(last[2]):
        return last[3]
    found: Candidates = {}
    directory, links, started = functools.cache(real_path), dict[Path, Path](), time.time_ns()
    with index.one_look() as seen:
        installed = bundles()
        for path, origin, problem in _candidates(installed, by_hand):
            index.look_at(str(path.parent))
            # Resolving a path looks at each of its directories, so each directory is resolved only once.
            if problem:
                real = path
            elif os.path.islink(path):
                real = links[path] = real_path(path)
            else:
                links[path.parent] = directory(path.parent)
                real = links[path.parent] / path.name
            found.setdefault(real, (origin, problem))
    # Another thread may have changed the settings in the meantime.
    lasting = not installed and index.is_settled(seen, started) and _settings(by_hand) == settings
    _last = (settings, seen, links, found) if lasting else None
    return found


def _settings(by_hand: Sequence[Path]) -> tuple[object, ...]:
    """Returns what of this process decides where there are candidates."""
    try:
        working_directory = os.getcwd()
    except OSError:  # it has been removed
        working_directory = ""
    variables = map(os.environ.get, (*VARIABLES, HIDDEN_BUNDLE))
    own = str(resources.library_dir()), str(storage.cache_dir())
    return (*variables, *own, working_directory, *by_hand, tuple(sys.path))


def _candidates(
    installed: Iterable[tuple[str, str | None, str]], by_hand: Sequence[Path]
) -> Iterator[tuple[Path, str, str | None]]:
    """Yields each library to examine, its origin, and the reason if it cannot be examined."""
    yield from ((path, "built in", None) for path in _libraries_in(resources.library_dir()))
    for name, package, distribution in installed:
        origin = f"bundle {distribution}"
        if package is None:
            yield Path(name), origin, "its entry_points.txt cannot be read"
            continue
        try:
            libraries = [path for directory in directories_of(package) for path in _libraries_in(directory)]
            if not libraries:
                raise TritonExtError(f"its package '{package}' has no libtriton_ext_*.so")
        except Exception as error:  # an entry point may name anything
            yield Path(name), origin, str(error)
        else:
            yield from ((path, origin, None) for path in libraries)
    for variable in VARIABLES:
        for item in filter(None, os.environ.get(variable, "").split(os.pathsep)):
            index.look_at(item)
            # os.path returns False where pathlib raises, e.g. for a name that is too long.
            path, is_dir = Path(item), os.path.isdir(item)
            paths = sorted(path.glob("*.so")) if is_dir else [path]
            # Extensions are libtriton_ext_*; they share the libraries libTritonExt*.
            yield from ((p, variable, None) for p in paths if not (is_dir and p.name.startswith("libTritonExt")))
    yield from ((path, "tx.load", None) for path in by_hand)


def _libraries_in(directory: Path) -> list[Path]:
    index.look_at(str(directory))
    try:
        names = sorted(os.listdir(directory))
    except OSError:
        return []
    return [directory / name for name in names if name.startswith("libtriton_ext_") and name.endswith(".so")]


def _are_as_resolved(links: dict[Path, Path]) -> bool:
    return all(real_path(path) == real for path, real in links.items())


def real_path(path: Path) -> Path:
    """Returns `path` with its links resolved, or only made absolute if that fails."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):  # a loop of links, a null character
        return path.absolute()
