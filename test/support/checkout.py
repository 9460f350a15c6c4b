# SPDX-License-Identifier: Apache-2.0
"""A copy of this checkout, with its libraries, for tests that write into one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from support import ROOT
from triton_ext.authoring import build
from triton_ext.support import resources

_LIBRARIES = Path("python", "triton_ext", "lib")


def copy(directory: Path, *, builds_core: bool = False, libraries: Path | None = None) -> Path:
    """Copies the files that git tracks or would add to `directory`, with the environment and the built libraries.

    Builds in the copy use the precompiled header of other projects and, unless `builds_core`, the core's libraries of
    the checkout: to make either takes longer than to compile the extension that a test adds.

    Args:
        directory: does not exist yet.
        builds_core: whether builds in the copy compile the core's libraries.
        libraries: a directory with copies of some of the libraries, which becomes that of the copy.
    """
    files = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    for name in files:
        if (ROOT / name).is_file():
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, directory / name)
    for cache in (ROOT / "python" / "triton_ext").rglob("__pycache__"):  # otherwise each copy would compile all modules
        shutil.copytree(cache, directory / cache.relative_to(ROOT), dirs_exist_ok=True)
    (directory / ".venv").symlink_to(Path(sys.prefix))
    if libraries:
        libraries.rename(directory / _LIBRARIES)
    (directory / _LIBRARIES).mkdir(exist_ok=True)
    for library in resources.library_dir().iterdir():
        if not (directory / _LIBRARIES / library.name).exists():
            shutil.copy2(library, directory / _LIBRARIES)
    settings = build.default_build_dir(directory) / "CMakeCache.txt"
    settings.parent.mkdir(parents=True)
    settings.write_text(f"TRITON_EXT_PCH:STRING=SHARED\nTRITON_EXT_BUILT_CORE:BOOL={'OFF' if builds_core else 'ON'}\n")
    return directory


def environment(directory: Path) -> dict[str, str]:
    """Returns the environment in which this installation uses the copy's libraries."""
    return {**os.environ, "TRITON_EXT_LIBRARY_DIR": str(directory / _LIBRARIES)}


class Place:
    """A place for one copy after another.

    A library that a test has not changed stays in the next copy. The first process that sees a library at a new place
    reads it and all that it needs, 1.5 s of processor time for a copy; other processes find in the index what it said.
    The index tells a change from device, inode, size and times of a file, and so does this.
    """

    def __init__(self, directory: Path) -> None:
        """Takes `directory`, which does not exist yet."""
        self._directory = directory
        self._copied: dict[str, tuple[int, ...]] = {}

    def copy(self) -> Path:
        """Removes the last copy, makes a new one, and returns its directory."""
        kept = None
        if self._directory.exists():
            # Moving the directory, unlike moving a file in it, changes no time of a library.
            kept = (self._directory / _LIBRARIES).rename(self._directory.with_name("libraries"))
            for name in {file.name for file in kept.iterdir()} - self._unchanged(kept):
                (kept / name).unlink()
            shutil.rmtree(self._directory)
        copy(self._directory, libraries=kept)
        self._copied = _identities(self._directory / _LIBRARIES)
        return self._directory

    def _unchanged(self, libraries: Path) -> set[str]:
        found = _identities(libraries)
        return {name for name, identity in self._copied.items() if found.get(name) == identity}


def _identities(directory: Path) -> dict[str, tuple[int, ...]]:
    stats = {file.name: file.lstat() for file in directory.iterdir()}
    return {name: (s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for name, s in stats.items()}
