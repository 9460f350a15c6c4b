# SPDX-License-Identifier: Apache-2.0
"""The tests of libdevice notice each bug of `libdevice_mutations`. One build of the compiler and one of the runtime
have all bugs; an environment variable enables one of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import mutants
from support.cpu.libdevice_mutations import MUTATIONS

DIRECTORIES = ("lowering", "runtime")


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Builds the backend with all bugs of a directory in it. Returns the directories of the libraries."""
    bugs = {
        within: {name: bug for name, bug in MUTATIONS.items() if bug.file.startswith(within)} for within in DIRECTORIES
    }
    return {
        within: mutants.build_with_bugs("backends/cpu", bugs[within], tmp_path_factory.mktemp(within))
        for within in DIRECTORIES
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTATIONS)
def test_a_bug_of_libdevice_is_noticed(name: str, libraries: dict[str, Path], tmp_path: Path) -> None:
    mutation = MUTATIONS[name]
    within = mutation.file.partition("/")[0]
    tests = Path(__file__).with_name(mutation.tests)
    done = mutants.run_tests(tests, mutation.noticed, libraries[within], name, tmp_path / "cache")
    assert done.returncode == 1, done.stdout[-3000:]


@pytest.mark.slow
@pytest.mark.parametrize("within", DIRECTORIES)
@pytest.mark.parametrize("tests", sorted({mutation.tests for mutation in MUTATIONS.values()}))
def test_without_a_bug_of_libdevice_the_tests_pass(
    tests: str, within: str, libraries: dict[str, Path], tmp_path: Path
) -> None:
    chosen = {f"({bug.noticed})" for bug in MUTATIONS.values() if bug.tests == tests and bug.file.startswith(within)}
    file, select = Path(__file__).with_name(tests), " or ".join(sorted(chosen))
    done = mutants.run_tests(file, select, libraries[within], "", tmp_path / "cache")
    assert done.returncode == 0, done.stdout[-3000:]
