# SPDX-License-Identifier: Apache-2.0
"""The tests of numbers notice each bug of `MUTATIONS`. One build contains all bugs; an environment variable enables
one of them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from support import mutants
from support.probe.native import native_backend

TESTS = Path(__file__).with_name("test_instrument.py")
insert, loops, nan = (partial(mutants.Mutation, file) for file in ("Instrument.cpp", "Loops.cpp", "NaN.cpp"))

#: The test that notices each bug (``-k`` of pytest), and the bug.
MUTATIONS = {
    "an access without a mask counts half of its bytes": (
        "masks",
        insert("access.lanes * access.laneBytes", "access.lanes * access.laneBytes / 2", behind="int64_t lanes ="),
    ),
    "a masked load asks for all lanes": (
        "masks",
        insert(
            "access.copies * access.laneBytes", "access.lanes * access.laneBytes", behind="observer.count((access.rule"
        ),
    ),
    "a last iteration that is not whole is forgotten": (
        "loops",
        loops("arith::SubIOp::create(b, distance, one)", "arith::SubIOp::create(b, distance, step)"),
    ),
    "a load's NaN is of the first argument": ("nans", nan("argument.getArgNumber()", "0u")),
    "floats of 32 bits cannot be NaN": ("nans", nan("element.getWidth() < 16", "element.getWidth() < 64")),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the pass with all bugs in it and returns the directory of its libraries."""
    native_backend()
    bugs = {name: mutation for name, (_, mutation) in MUTATIONS.items()}
    return mutants.build_with_bugs(
        "passes/instrument", bugs, tmp_path_factory.mktemp("mutants"), beside=["dialects/probe"]
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTATIONS)
def test_a_bug_of_instrument_is_noticed(name: str, libraries: Path, tmp_path: Path) -> None:
    done = mutants.run_tests(TESTS, MUTATIONS[name][0], libraries, name, tmp_path / "cache")
    assert done.returncode == 1, done.stdout[-3000:]  # a test has failed
    assert "AssertionError" in done.stdout, done.stdout[-3000:]


@pytest.mark.slow
def test_without_a_bug_the_tests_of_numbers_pass(libraries: Path, tmp_path: Path) -> None:
    done = mutants.run_tests(TESTS, "test", libraries, "", tmp_path / "cache")
    assert done.returncode == 0, done.stdout[-3000:]
