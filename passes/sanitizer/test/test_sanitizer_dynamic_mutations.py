# SPDX-License-Identifier: Apache-2.0
"""The tests of kernels without proofs, and of looks at shadows by calls, notice each bug of `MUTATIONS`. One build
contains all bugs; an environment variable enables one of them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from support import mutants
from support.sanitizer import mutations

DYNAMIC, CALLS, LOCKS = (
    Path(__file__).with_name(f"test_sanitizer_{name}.py") for name in ("dynamic", "shadow_calls", "locks")
)
calls, lanes, off, session, bits = (
    partial(mutants.Mutation, f"{name}.cpp") for name in ("ShadowCalls", "Lanes", "OffLanes", "Sanitizer", "Bits")
)

#: The tests that notice each bug, which of them (``-k`` of pytest), and the bug.
MUTATIONS = {
    "the corners of a mask are changed over": (
        DYNAMIC, "lanes_that_are_off", off("isLess ? ends.low : ends.high", "isLess ? ends.high : ends.low"),
    ),
    "a comparison is not inverted": (
        DYNAMIC, "lanes_that_are_off", off("arith::invertPredicate(predicate)", "predicate"),
    ),
    "all conditions have to fail": (DYNAMIC, "one_of_two", off("isa<arith::AndIOp>(op) == isTrue", "true")),
    "masks say nothing of lanes that are off": (DYNAMIC, "not_looked_at", off("mask.getLhs() != lhs", "true")),
    "a number between both limits is none": (
        DYNAMIC, "lanes_that_are_off", off("isLess(own)", "isGreater(own)", behind="Value least ="),
    ),
    "any mask is the load's": (DYNAMIC, "lanes_that_are_off", bits("negation.getLhs() == others", "true")),
    "the look at lanes stays in the kernel": (
        DYNAMIC, "for_a_gpu", lanes("!isRepeatable(op)", "false", behind="isLoaded"),
    ),
    "a kernel for a GPU tells addresses from memory": (
        DYNAMIC, "for_a_gpu", session('proves || !(isFor(module, "cuda:") || isFor(module, "hip:"))', "true"),
    ),
    "two reads race": (CALLS, "read_the_same", calls("!areRaced(own, other)", "false")),
    "two accesses under one lock race": (LOCKS, "take_turns", calls("own.isLocked && other.isLocked", "false")),
    "each access is one of the first set": (
        CALLS, "tiles", calls("llvm::find(word.sets, own) - word.sets.begin()", "int64_t(0)"),
    ),
    "a number has one bit": (CALLS, "threads", calls("int64_t(word.bits)", "int64_t(1)")),
    "a store reads": (CALLS, "unwritten_lanes", calls("int64_t(one.reads())", "int64_t(1)")),
    "nothing is written": (CALLS, "unwritten_lanes", calls("int64_t(one.writes()) << 1", "int64_t(0)")),
    "lanes that are off are looked at": (CALLS, "unwritten_lanes", calls("lanes.mask", "Value()")),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTATIONS)
def test_a_bug_of_checks_in_the_kernel_is_noticed(name: str, libraries: Path, tmp_path: Path) -> None:
    mutations.assert_noticed(MUTATIONS, name, libraries, tmp_path / "cache")
