# SPDX-License-Identifier: Apache-2.0
"""The tests of products notice each bug of `dot_mutations`. One build of the backend has all bugs; an
environment variable enables one of them."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from support import mutants
from support.cpu import dot_mutations

TESTS = {mutation.tests for mutation in dot_mutations.MUTATIONS.values()}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the backend with all bugs in it and returns the directory of its libraries."""
    bugs, scratch = dot_mutations.MUTATIONS, tmp_path_factory.mktemp("dots")
    return mutants.build_with_bugs("backends/cpu", bugs, scratch, within="lowering")


@pytest.mark.slow
@pytest.mark.parametrize("name", dot_mutations.MUTATIONS)
def test_a_bug_of_products_is_noticed(name: str, libraries: Path, tmp_path: Path) -> None:
    mutation = dot_mutations.MUTATIONS[name]
    tests = Path(__file__).with_name(mutation.tests)
    done = mutants.run_tests(tests, mutation.noticed, libraries, name, tmp_path / "cache")
    # The status 1 means that a test has failed. Other bugs show as a failed assertion of LLVM or a segmentation fault.
    assert done.returncode in {1, -signal.SIGABRT, -signal.SIGSEGV}, done.stdout[-3000:]


@pytest.mark.slow
@pytest.mark.parametrize("tests", sorted(TESTS))
def test_without_a_bug_of_products_the_tests_pass(tests: str, libraries: Path, tmp_path: Path) -> None:
    chosen = {mutation.noticed for mutation in dot_mutations.MUTATIONS.values() if mutation.tests == tests}
    file = Path(__file__).with_name(tests)
    done = mutants.run_tests(file, " or ".join(chosen), libraries, "", tmp_path / "cache")
    assert done.returncode == 0, done.stdout[-3000:]
