# SPDX-License-Identifier: Apache-2.0
"""Where the files of this project lie: in a wheel below ``triton_ext/share``, in a checkout beside ``python/``."""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE_DIR = Path(__file__).resolve().parents[1]
#: Where Triton's documentation and Triton 3.9 have the paths of plugins, which 3.9 itself does not read.
PLUGIN_VARIABLES = ("TRITON_PASS_PLUGIN_PATH", "TRITON_PLUGIN_PATHS")


def infra_dir() -> Path:
    """Directory with ``cmake/``, ``pass/`` and ``sdk/``: the part that extensions build on."""
    installed = PACKAGE_DIR / "share" / "infra"
    return installed if installed.is_dir() else PACKAGE_DIR.parent.parent / "infra"


def library_dir() -> Path:
    """Directory with ``libTritonExtPassInfra.so`` and the built-in extensions.

    ``TRITON_EXT_LIBRARY_DIR`` names another build of them.
    """
    return Path(os.environ.get("TRITON_EXT_LIBRARY_DIR") or PACKAGE_DIR / "lib")


@functools.cache
def own_code() -> str:
    """Digest of all Python of this package and of its backends, for the keys of what it compiles or has a hand in.

    Nothing tells apart the modules that a compilation goes through and the others, so an edit of any of them counts.
    """
    from .. import backends

    digest = hashlib.sha256()
    for directory in (PACKAGE_DIR, *map(Path, backends.__path__)):
        for path in sorted([*_modules_in(directory), *directory.glob("*/backend.json")]):
            digest.update(f"{path.relative_to(directory)}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _modules_in(directory: Path) -> Iterator[Path]:
    """The Python files of `directory` and of the packages in it, however deep."""
    yield from directory.glob("*.py")
    for package in directory.glob("*/__init__.py"):
        yield from _modules_in(package.parent)


def child_environment() -> dict[str, str]:
    """For ``python -P -m triton_ext.…``: it finds the modules that we have, not those of the current directory."""
    path = os.pathsep.join([str(PACKAGE_DIR.parent), *filter(None, sys.path)])
    return {**os.environ, "PYTHONPATH": path}
