# SPDX-License-Identifier: Apache-2.0
"""The lit tests of `lower_tptr` find bugs of it. test/linalg/test_ptr_operations.py executes it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from support import mutants

addresses = partial(mutants.Mutation, "Addresses.cpp")
memory = partial(mutants.Mutation, "Memory.cpp")
types = partial(mutants.Mutation, "LowerTptr.cpp")

BUGS = {
    "short addresses have a sign": addresses("false", "true", behind="tptr::IntToPtrOp op"),
    "offsets have none": addresses("true", "false", behind="op.getOffset(),"),
    "differences have none": addresses("true", "false", behind="arith::SubIOp::create"),
    "every known pointer is null": addresses("known.getValue().sextOrTrunc(ours::kBits)", "address"),
    "volatile accesses are like others": memory("op.getVolatile_()", "false", behind="isOrdered(OpT op)"),
    "atomic accesses are like others": memory("op.getOrdering() != ours::AtomicOrdering::not_atomic", "false"),
    "no access is streamed": memory("op.getNontemporal()", "false", behind="load.setNontemporal("),
    "a pointer in memory stays one": memory("isa<ours::PtrType>(type)", "false", behind="element("),
    "metadata count only if they must": memory("!isKnown && !metadata", "false"),
    "the memory of pointers is another one": types(
        "!isPlain(type.getMemorySpace())", "true", behind="UnrankedMemRefType type)"
    ),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the pass with all bugs in it and returns the directory of its libraries."""
    return mutants.build_with_bugs("passes/lower_tptr", BUGS, tmp_path_factory.mktemp("bugs"))


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["", *BUGS])
def test_the_lit_tests_notice_a_bug(bug: str, libraries: Path) -> None:
    assert mutants.lit_passes("passes/lower_tptr", libraries, bug) == (not bug)
