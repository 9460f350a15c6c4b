# SPDX-License-Identifier: Apache-2.0
"""The lit tests of `triton_ptr_to_memref` find bugs of it. test/linalg/test_memref_pointers.py executes it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from support import mutants

bug = partial(mutants.Mutation, "TritonPtrToMemref.cpp")

BUGS = {
    "results stay pointers": bug("types(type.getResults())", "llvm::to_vector(type.getResults())"),
    "called functions are never left alone": bug("called.contains(function.getNameAttr())", "false"),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the pass with all bugs in it and returns the directory of its libraries."""
    return mutants.build_with_bugs("passes/triton_ptr_to_memref", BUGS, tmp_path_factory.mktemp("bugs"))


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["", *BUGS])
def test_the_lit_tests_notice_a_bug(bug: str, libraries: Path) -> None:
    assert mutants.lit_passes("passes/triton_ptr_to_memref", libraries, bug) == (not bug)
