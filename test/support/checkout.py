# SPDX-License-Identifier: Apache-2.0
"""A copy of this checkout, with its libraries, for tests that write into one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Container, Iterator
from pathlib import Path

from support import ROOT
from triton_ext.authoring import build
from triton_ext.support import resources

_LIBRARIES = Path("python", "triton_ext", "lib")


def copy(directory: Path, *, builds_core: bool = False) -> Path:
    """Copies the files that git tracks or would add to `directory`, with the environment and the built libraries.

    Builds in the copy use the precompiled header of other projects and, unless `builds_core`, the core's libraries of
    the checkout: to make either takes longer than to compile the extension that a test adds.

    Args:
        directory: does not exist yet.
        builds_core: whether builds in the copy compile the core's libraries.
    """
    _fill(directory, builds_core=builds_core)
    return directory


def _fill(directory: Path, *, builds_core: bool = False) -> None:
    """Makes those files of a copy that are not there."""

    def fill(name: Path, source: Path) -> None:
        target = directory / name
        if not os.path.lexists(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)

    files = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    for name in files:
        if (ROOT / name).is_file():
            fill(Path(name), ROOT / name)
    for cache in (ROOT / "python" / "triton_ext").rglob("__pycache__"):  # otherwise each copy would compile all modules
        for file in cache.iterdir():
            fill(file.relative_to(ROOT), file)
    for library in resources.library_dir().iterdir():
        fill(_LIBRARIES / library.name, library)
    if not os.path.lexists(directory / ".venv"):
        (directory / ".venv").symlink_to(Path(sys.prefix))
    settings = build.default_build_dir(directory) / "CMakeCache.txt"
    if not settings.exists():
        settings.parent.mkdir(parents=True, exist_ok=True)
        core = "OFF" if builds_core else "ON"
        settings.write_text(f"TRITON_EXT_PCH:STRING=SHARED\nTRITON_EXT_BUILT_CORE:BOOL={core}\n")


def environment(directory: Path) -> dict[str, str]:
    """Returns the environment in which this installation uses the copy's libraries."""
    return {**os.environ, "TRITON_EXT_LIBRARY_DIR": str(directory / _LIBRARIES)}


class Place:
    """A place for one copy after another.

    What a test has not changed stays in the next copy. To make a whole copy takes 0.2 s of processor time. And the
    first process that sees a library at a new place reads it and all that it needs, 1.5 s for a copy; other processes
    find in the index what it said. The index tells a change from device, inode, size and times of a file, and so does
    this.
    """

    def __init__(self, directory: Path) -> None:
        """Takes `directory`, which does not exist yet."""
        self._directory = directory
        self._copied: dict[str, tuple[int, ...]] = {}
        self._directories: set[str] = set()

    def copy(self) -> Path:
        """Makes the next copy out of the last one, if there is one, and returns its directory."""
        if self._directory.exists():
            self._remove_changed()
        _fill(self._directory)
        self._copied, self._directories = {}, set()
        for entry in _entries(self._directory):
            if entry.is_dir(follow_symlinks=False):
                self._directories.add(entry.path)
            else:
                self._copied[entry.path] = _identity(entry)
        return self._directory

    def _remove_changed(self) -> None:
        for entry in _entries(self._directory, self._directories):
            if entry.is_dir(follow_symlinks=False):
                if entry.path not in self._directories:
                    shutil.rmtree(entry.path)
            elif self._copied.get(entry.path) != _identity(entry):
                os.unlink(entry.path)


def _entries(directory: Path | str, within: Container[str] | None = None) -> Iterator[os.DirEntry[str]]:
    """Yields what is below `directory`, but nothing that is below a directory which is not in `within`."""
    with os.scandir(directory) as found:
        entries = list(found)
    for entry in entries:
        yield entry
        if entry.is_dir(follow_symlinks=False) and (within is None or entry.path in within):
            yield from _entries(entry.path, within)


def _identity(entry: os.DirEntry[str]) -> tuple[int, ...]:
    s = entry.stat(follow_symlinks=False)
    return s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns
