# SPDX-License-Identifier: Apache-2.0
"""The lit test of masks that are data finds bugs in how they become boxes; test/linalg executes the results."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from support import mutants

bug = partial(mutants.Mutation, "Boxes.cpp")

BUGS = {
    "pointers are copied": bug("isa<tt::PointerType>(type.getElementType())", "false"),
    "the wrong tensor is copied": bug("op.getTrueValue()", "op.getFalseValue()"),
    "the box begins at 0": bug(
        "box.low", "SmallVector<OpFoldResult>(sizes.size(), access.math.number(0))", behind="part, into"
    ),
    "the box is false": bug("builder.getBoolAttr(true)", "builder.getBoolAttr(false)"),
    "no mask is data": bug("llvm::any_of(result.getUsers(), needsElements)", "false"),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the conversion with all bugs in it and returns the directory of its libraries."""
    return mutants.build_with_bugs("passes/convert_triton_to_linalg", BUGS, tmp_path_factory.mktemp("bugs"))


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["", *BUGS])
def test_the_lit_test_notices_a_bug(bug: str, libraries: Path) -> None:
    assert mutants.lit_passes("passes/convert_triton_to_linalg/test/boxes.mlir", libraries, bug) == (not bug)
