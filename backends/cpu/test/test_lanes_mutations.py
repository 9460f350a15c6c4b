# SPDX-License-Identifier: Apache-2.0
"""The tests of lanes notice each bug of `lanes_mutations`. One build of the backend contains all bugs; an environment
variable enables one of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support import mutants
from support.cpu import lanes_mutations


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the backend with all bugs in it and returns the directory of its libraries."""
    scratch = tmp_path_factory.mktemp("lanes")
    mutants.apply(mutants.copy_source("backends/cpu", scratch) / "lowering", lanes_mutations.MUTATIONS)
    return mutants.build_source("backends/cpu", scratch, mostly_unchanged=True)


def run_tests(select: str, libraries: Path, mutant: str, cache: Path) -> subprocess.CompletedProcess[str]:
    """Runs the tests of lanes that `select` selects, up to the first one that fails."""
    tests = Path(__file__).with_name("test_lanes.py")
    # Each mutant needs its own cache: all mutants are in the same library, so their kernels have the same cache key.
    environment = {"TRITON_EXT_LIBRARY_DIR": libraries, "TRITON_EXT_MUTANT": mutant, "TRITON_CACHE_DIR": cache}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", tests, "-k", select],
        env={**os.environ, **{name: str(value) for name, value in environment.items()}},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", lanes_mutations.MUTATIONS)
def test_a_bug_of_lanes_is_noticed(name: str, libraries: Path, tmp_path: Path) -> None:
    done = run_tests(lanes_mutations.MUTATIONS[name].noticed, libraries, name, tmp_path / "cache")
    # The status 1 means that a test has failed. Other bugs show as a failed assertion of LLVM or a segmentation fault.
    assert done.returncode in {1, -signal.SIGABRT, -signal.SIGSEGV}, done.stdout[-3000:]


@pytest.mark.slow
def test_without_a_bug_the_tests_of_lanes_pass(libraries: Path, tmp_path: Path) -> None:
    select = " or ".join({mutation.noticed for mutation in lanes_mutations.MUTATIONS.values()})
    done = run_tests(select, libraries, "", tmp_path / "cache")
    assert done.returncode == 0, done.stdout[-3000:]
