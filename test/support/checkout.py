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


def copy(directory: Path, *, builds_core: bool = False) -> Path:
    """Copies the files that git tracks or would add to `directory`, with the environment and the built libraries.

    Builds in the copy use the precompiled header of other projects and, unless `builds_core`, the core's libraries of
    the checkout: to make either takes longer than to compile the extension that a test adds.
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
    shutil.copytree(resources.library_dir(), directory / "python" / "triton_ext" / "lib")
    settings = build.default_build_dir(directory) / "CMakeCache.txt"
    settings.parent.mkdir(parents=True)
    settings.write_text(f"TRITON_EXT_PCH:STRING=SHARED\nTRITON_EXT_BUILT_CORE:BOOL={'OFF' if builds_core else 'ON'}\n")
    return directory


def environment(directory: Path) -> dict[str, str]:
    """Returns the environment in which this installation uses the copy's libraries."""
    return {**os.environ, "TRITON_EXT_LIBRARY_DIR": str(directory / "python" / "triton_ext" / "lib")}
