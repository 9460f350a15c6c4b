# SPDX-License-Identifier: Apache-2.0
"""Proves that an extension's lit tests would notice a bug: builds it with one and expects the tests to fail."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from triton_ext import _resources, build

ROOT = Path(__file__).resolve().parent.parent


def lit_passes(extension: str, mutation: tuple[str, str], scratch: Path) -> bool:
    """Whether the lit tests of `extension` (e.g. ``passes/rename``) pass with a mutation of its C++ source.

    Args:
        extension: directory, relative to the repository.
        mutation: text that must occur in one of its ``.cpp`` files, and what replaces it.
        scratch: an empty directory.
    """
    source = scratch / "source"
    shutil.copytree(ROOT / extension, source / Path(extension).name)
    old, new = mutation
    (file,) = [f for f in source.rglob("*.cpp") if old in f.read_text()]
    file.write_text(file.read_text().replace(old, new))
    (source / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.27)\n"
        "project(mutant VERSION 0 LANGUAGES CXX)\n"
        "find_package(TritonExt REQUIRED)\n"
        f"add_subdirectory({Path(extension).name})\n"
    )
    libraries = scratch / "lib"
    shutil.copytree(_resources.library_dir(), libraries)
    build.build_tree(
        source,
        scratch / "build",
        definitions=(f"TRITON_EXT_STAGE_DIR={libraries}",),
    )
    done = subprocess.run(
        [Path(sys.executable).with_name("lit"), "-s", ROOT / extension],
        env={**os.environ, "TRITON_EXT_LIBRARY_DIR": str(libraries)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Total Discovered Tests" in done.stdout, done.stdout + done.stderr
    return done.returncode == 0
