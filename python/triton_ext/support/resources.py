# SPDX-License-Identifier: Apache-2.0
"""Finds the files of this project: in a wheel below ``triton_ext/share``, in a checkout beside ``python/``."""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE_DIR = Path(__file__).resolve().parents[1]
#: The variables for paths of plugins, as Triton's documentation and as Triton 3.9 name them. Triton 3.9 reads neither.
PLUGIN_VARIABLES = ("TRITON_PASS_PLUGIN_PATH", "TRITON_PLUGIN_PATHS")


def infra_dir() -> Path:
    """Returns the directory with ``cmake/``, ``pass/`` and ``sdk/``, which extensions are built with."""
    installed = PACKAGE_DIR / "share" / "infra"
    return installed if installed.is_dir() else PACKAGE_DIR.parent.parent / "infra"


def library_dir() -> Path:
    """Returns the directory with ``libTritonExtPassInfra.so`` and the built-in extensions.

    The variable ``TRITON_EXT_LIBRARY_DIR`` may name another build of them.
    """
    return Path(os.environ.get("TRITON_EXT_LIBRARY_DIR") or PACKAGE_DIR / "lib")


@functools.cache
def own_code() -> str:
    """Returns a hash of the Python files of this package, its backends and the APIs of extensions, for cache keys.

    Claim: after an edit of our code no kernel comes from the cache that the old code compiled. The hash covers every
    module, because nothing decides reliably which of them take part in a compilation. It is computed once in a process,
    which also imports each module once.
    """
    from .. import backends

    digest = hashlib.sha256()
    apis = [file.parent for name in backends.apis() if (file := backends.api_file(name))]
    for directory in (PACKAGE_DIR, *map(Path, backends.__path__), *apis):
        for path in sorted([*_modules_in(directory), *directory.glob("*/backend.json")]):
            digest.update(f"{path.relative_to(directory)}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _modules_in(directory: Path) -> Iterator[Path]:
    """Yields the Python files of `directory`, of all packages below it, and of the directory ``startup`` of an API."""
    yield from directory.glob("*.py")
    if not (directory / "startup" / "__init__.py").exists():
        yield from directory.glob("startup/*.py")
    for package in directory.glob("*/__init__.py"):
        yield from _modules_in(package.parent)


def child_environment() -> dict[str, str]:
    """Returns the environment in which ``python -P -m triton_ext.…`` imports the same modules as this process."""
    path = os.pathsep.join([str(PACKAGE_DIR.parent), *filter(None, sys.path)])
    return {**os.environ, "PYTHONPATH": path}
