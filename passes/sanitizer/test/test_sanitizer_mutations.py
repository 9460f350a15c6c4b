# SPDX-License-Identifier: Apache-2.0
"""The tests of bounds notice each bug of `MUTATIONS`. One build contains all bugs; an environment variable enables one
of them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from support import mutants
from support.probe.native import native_backend

TESTS = Path(__file__).with_name("test_sanitizer_bounds.py")
box, corners, shadow = (partial(mutants.Mutation, file) for file in ("MaskBox.cpp", "Strided.cpp", "Shadow.cpp"))

#: The test that notices each bug (``-k`` of pytest), and the bug.
MUTATIONS = {
    "a mask is false": (
        "tiles",
        box("math.sub(math.number(*stride - 1), base)", "OpFoldResult(math.number(0))"),
    ),
    "the slack is forgotten": ("tiles", corners("math.add(result.high, strided.slackHigh)", "result.high")),
    "a program that has written may not write again": (
        "races",
        shadow("arith::CmpIOp::create(b, P::eq, found, both)", "arith::CmpIOp::create(b, P::ne, found, both)"),
    ),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the pass with all bugs in it and returns the directory of its libraries."""
    native_backend()
    bugs = {name: mutation for name, (_, mutation) in MUTATIONS.items()}
    return mutants.build_with_bugs(
        "passes/sanitizer", bugs, tmp_path_factory.mktemp("mutants"), beside="dialects/probe"
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTATIONS)
def test_a_bug_of_the_sanitizer_is_noticed(name: str, libraries: Path, tmp_path: Path) -> None:
    done = mutants.run_tests(TESTS, MUTATIONS[name][0], libraries, name, tmp_path / "cache")
    assert done.returncode == 1, done.stdout[-3000:]  # a test has failed
    assert "AssertionError" in done.stdout, done.stdout[-3000:]
