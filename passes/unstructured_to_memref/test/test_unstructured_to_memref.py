# SPDX-License-Identifier: Apache-2.0
"""The lit tests of `unstructured_to_memref` find bugs of it; test/linalg/test_shared_inputs.py executes its results."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from support import mutants

bug = partial(mutants.Mutation, "UnstructuredToMemref.cpp")

BUGS = {
    "all offsets have 64 bits": bug("offset.getType() != i64", "false"),
    "a default is lost": bug("op.getOther()", "decltype(op.getOther())()"),
    "a store has no mask": bug("op.getMask()", "decltype(op.getMask())()", behind="storeIndexed("),
    "a tensor without dimensions has one": bug("tensor.getRank() > 0", "true"),
    "a size is known": bug("tensor.hasStaticShape()", "true"),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the pass with all bugs in it and returns the directory of its libraries."""
    return mutants.build_with_bugs("passes/unstructured_to_memref", BUGS, tmp_path_factory.mktemp("bugs"))


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["", *BUGS])
def test_the_lit_tests_notice_a_bug(bug: str, libraries: Path) -> None:
    assert mutants.lit_passes("passes/unstructured_to_memref", libraries, bug) == (not bug)
