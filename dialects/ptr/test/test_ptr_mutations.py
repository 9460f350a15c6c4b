# SPDX-License-Identifier: Apache-2.0
"""The lit tests of `ptr` find bugs of it. test/linalg/test_ptr_operations.py executes it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from support import mutants

ops = partial(mutants.Mutation, "Ptr.cpp")
memory = partial(mutants.Mutation, "Memory.cpp")

BUGS = {
    "offsets are added in 32 bits": ops(
        "first.sextOrTrunc(kBits) + second.sextOrTrunc(kBits)",
        "(first.sextOrTrunc(32) + second.sextOrTrunc(32)).sext(kBits)",
    ),
    "an offset has no sign": ops("offset.sextOrTrunc(kBits)", "offset.zextOrTrunc(kBits)", behind="*base + "),
    "offsets of both sides are added": ops("to - from", "to + from"),
    "metadata of any memref restore one": ops("read && read.getPtr() == from.getPtr()", "bool(read)"),
    "a memref is restored without its size": ops("memref.hasStaticShape()", "true"),
    "one pointer plus many zeros is one": ops("getBase().getType() == getType()", "true", behind="isZero && "),
    "a tensor and a vector have one shape": ops("many != sum", "many.getShape() != more.getShape()"),
    "volatile accesses are like others": memory("!op.getVolatile_()", "true"),
    "atomic accesses order no others": memory("!orders", "true"),
    "Triton's loads do not see a store": memory(
        "triton::GlobalMemory::get()", "static_cast<SideEffects::Resource *>(SideEffects::DefaultResource::get())"
    ),
    "atomic accesses need no alignment": memory("!alignment", "false", behind="if ("),
}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the dialect with all bugs in it and returns the directory of its libraries."""
    return mutants.build_with_bugs("dialects/ptr", BUGS, tmp_path_factory.mktemp("bugs"))


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["", *BUGS])
def test_the_lit_tests_notice_a_bug(bug: str, libraries: Path) -> None:
    assert mutants.lit_passes("dialects/ptr", libraries, bug) == (not bug)
