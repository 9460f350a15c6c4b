# SPDX-License-Identifier: Apache-2.0
"""The lit tests of `reconcile_ptr_casts` find bugs of it. test/linalg/test_memref_pointers.py executes it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from support import mutants

bug = partial(mutants.Mutation, "ReconcilePtrCasts.cpp")

BUGS = {
    "every integer is an address": bug("type.isInteger(64)", "type.isInteger()"),
    "a chain starts from its middle": bug("!op || !isCastOfAddress(op)", "true"),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the pass with all bugs in it and returns the directory of its libraries."""
    return mutants.build_with_bugs("passes/reconcile_ptr_casts", BUGS, tmp_path_factory.mktemp("bugs"))


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["", *BUGS])
def test_the_lit_tests_notice_a_bug(bug: str, libraries: Path) -> None:
    assert mutants.lit_passes("passes/reconcile_ptr_casts", libraries, bug) == (not bug)
