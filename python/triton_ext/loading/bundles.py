# SPDX-License-Identifier: Apache-2.0
"""Finds the bundles that are installed: packages that an entry point of the group ``triton_ext.extensions`` names.

A bundle's package holds libraries, and in ``backends`` the Python files of its targets. No package is imported.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import sys
import time
from pathlib import Path

from ..errors import TritonExtError
from ..support.json_shape import AnyOf
from . import index

ENTRY_POINT_GROUP = "triton_ext.extensions"
#: The variable with the package of a bundle that is tested in its source tree. The installed copy of the bundle is then
#: ignored, because it claims the same names.
HIDDEN_BUNDLE = "TRITON_EXT_HIDDEN_BUNDLE"


def bundles() -> list[tuple[str, str | None, str]]:
    """Returns name, package and distribution of each entry point of a bundle in the installed distributions.

    The package is None if the entry points of the distribution cannot be read. A bundle that is tested in its source
    tree is left out.
    """
    # The files that `importlib.metadata` reads; importing it and reading them takes longer than the rest of discovery.
    files = [os.path.join(info, "entry_points.txt") for place in sys.path for info in _installed_in(place)]
    for file in files:
        index.look_at(file)
    key, started = hashlib.sha256("\n".join(files).encode()).hexdigest(), time.time_ns()
    found = index.recall("bundles", key, [(str, AnyOf(str, None), str)])
    if found is None:
        found = _entry_points()
        index.remember("bundles", key, found, map(Path, files), started)
    hidden = os.environ.get(HIDDEN_BUNDLE)
    return [(name, package, distribution) for name, package, distribution in found if not package or package != hidden]


def _entry_points() -> list[list[str | None]]:
    """Reads what `bundles` returns from the installed distributions."""
    import importlib.metadata

    try:
        entries = importlib.metadata.entry_points(group=ENTRY_POINT_GROUP)
        return [[entry.name, entry.value, entry.dist.name if entry.dist else entry.name] for entry in entries]
    except Exception:  # one distribution is damaged, so each is read by itself
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
    """Returns the directories that describe the distributions which are installed in an entry of ``sys.path``."""
    index.look_at(place or ".")
    try:
        return sorted(f"{place}/{name}" for name in os.listdir(place or ".") if name.endswith("-info"))
    except OSError:  # the entry is a zip file, or does not exist
        return []


def directories_of(bundle: str) -> list[Path]:
    """Returns the directories of the package `bundle`, which is located without importing it, so none of its code runs.

    Raises:
        TritonExtError: the package is not installed.
    """
    package = re.split(r"[:\[\s]", bundle, maxsplit=1)[0]
    top, *inner = package.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        raise TritonExtError(f"its package '{bundle}' is not installed")
    return [Path(root, *inner) for root in spec.submodule_search_locations or ()]
