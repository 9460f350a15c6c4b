# SPDX-License-Identifier: Apache-2.0
"""The tests of libdevice notice each bug of `libdevice_mutations`. One build of the backend has all bugs; an
environment variable enables one of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import mutants
from support.cpu import libdevice_mutations

TESTS = {mutation.tests for mutation in libdevice_mutations.MUTATIONS.values()}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the backend with all bugs in it and returns the directory of its libraries."""
    return mutants.build_with_bugs("backends/cpu", libdevice_mutations.MUTATIONS, tmp_path_factory.mktemp("libdevice"))


@pytest.mark.slow
@pytest.mark.parametrize("name", libdevice_mutations.MUTATIONS)
def test_a_bug_of_libdevice_is_noticed(name: str, libraries: Path, tmp_path: Path) -> None:
    mutation = libdevice_mutations.MUTATIONS[name]
    tests = Path(__file__).with_name(mutation.tests)
    done = mutants.run_tests(tests, mutation.noticed, libraries, name, tmp_path / "cache")
    assert done.returncode == 1, done.stdout[-3000:]


@pytest.mark.slow
@pytest.mark.parametrize("tests", sorted(TESTS))
def test_without_a_bug_of_libdevice_the_tests_pass(tests: str, libraries: Path, tmp_path: Path) -> None:
    chosen = {f"({mutation.noticed})" for mutation in libdevice_mutations.MUTATIONS.values() if mutation.tests == tests}
    done = mutants.run_tests(
        Path(__file__).with_name(tests), " or ".join(sorted(chosen)), libraries, "", tmp_path / "cache"
    )
    assert done.returncode == 0, done.stdout[-3000:]
