# SPDX-License-Identifier: Apache-2.0
"""The tests of lanes notice each bug of `lanes_mutations`. One build of the backend contains all bugs; an environment
variable enables one of them."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from support import mutants
from support.cpu import lanes_mutations

TESTS = Path(__file__).with_name("test_lanes.py")


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the backend with all bugs in it and returns the directory of its libraries."""
    bugs, scratch = lanes_mutations.MUTATIONS, tmp_path_factory.mktemp("lanes")
    return mutants.build_with_bugs("backends/cpu", bugs, scratch, within="lowering")


@pytest.mark.slow
@pytest.mark.parametrize("name", lanes_mutations.MUTATIONS)
def test_a_bug_of_lanes_is_noticed(name: str, libraries: Path, tmp_path: Path) -> None:
    done = mutants.run_tests(TESTS, lanes_mutations.MUTATIONS[name].noticed, libraries, name, tmp_path / "cache")
    # The status 1 means that a test has failed. Other bugs show as a failed assertion of LLVM or a segmentation fault.
    assert done.returncode in {1, -signal.SIGABRT, -signal.SIGSEGV}, done.stdout[-3000:]


@pytest.mark.slow
def test_without_a_bug_the_tests_of_lanes_pass(libraries: Path, tmp_path: Path) -> None:
    select = " or ".join({mutation.noticed for mutation in lanes_mutations.MUTATIONS.values()})
    done = mutants.run_tests(TESTS, select, libraries, "", tmp_path / "cache")
    assert done.returncode == 0, done.stdout[-3000:]
