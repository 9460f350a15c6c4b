# SPDX-License-Identifier: Apache-2.0
"""The tests of lanes notice each bug of `lanes_mutations`. One build of the backend has them all."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import lanes_mutations
import pytest

from triton_ext import _resources, build

CPU = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a backend with all bugs."""
    scratch = tmp_path_factory.mktemp("lanes")
    source = scratch / "backends" / "cpu"  # as in the repository, so that ccache knows what has no bug
    shutil.copytree(CPU, source, ignore=shutil.ignore_patterns("test", "__pycache__"))
    shutil.copytree(_resources.library_dir(), scratch / "lib")
    lanes_mutations.apply(source / "lowering")
    (scratch / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.27)\n"
        "project(mutant VERSION 0 LANGUAGES CXX)\n"
        "find_package(TritonExt REQUIRED)\n"
        "add_subdirectory(backends/cpu)\n"
    )
    build.build_tree(scratch, scratch / "build" / "dev", definitions=(f"TRITON_EXT_STAGE_DIR={scratch / 'lib'}",))
    return scratch / "lib"


def run_tests(libraries: Path, mutant: str) -> subprocess.CompletedProcess[str]:
    """The tests of lanes, up to the first that fails."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", CPU / "test" / "test_lanes.py"],
        env={**os.environ, "TRITON_EXT_LIBRARY_DIR": str(libraries), "TRITON_EXT_MUTANT": mutant},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", lanes_mutations.MUTATIONS)
def test_a_bug_of_lanes_is_noticed(name: str, libraries: Path) -> None:
    done = run_tests(libraries, name)
    # Some are noticed by an assertion of LLVM.
    assert done.returncode in {1, -signal.SIGABRT}, done.stdout[-3000:]


@pytest.mark.slow
def test_without_a_bug_of_lanes_all_is_well(libraries: Path) -> None:
    done = run_tests(libraries, "")
    assert done.returncode == 0, done.stdout[-3000:]
