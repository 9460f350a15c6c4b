# SPDX-License-Identifier: Apache-2.0
"""The tests of `lanes`, `arith` and `hints` notice each bug of `MUTATIONS`. One build contains all bugs; an environment
variable enables one of them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from support import mutants
from support.sanitizer import mutations

HERE = Path(__file__).parent
LANES, ARITH, CORRECT, HINTS = (HERE / f"test_sanitizer_{name}.py" for name in ("lanes", "arith", "correct", "hints"))
arith, condition, copies, effect, flow, hints, loops, marks, taint = (
    partial(mutants.Mutation, f"{name}.cpp")
    for name in ("Arith", "Condition", "FloatCopy", "Effect", "Flow", "Hints", "TaintLoops", "Marks", "Taint")
)

#: The tests that notice each bug, which of them (``-k`` of pytest), and the bug.
MUTATIONS = {
    "a loop carries no taint to its next turn": (
        LANES, "carry", loops("carried.push_back({yield, extra, i, widths[j]})", "void()")
    ),
    "a scan runs backwards": (LANES, "move", taint("scan.getReverse()", "!scan.getReverse()")),
    "at least n is more than n": (LANES, "replaced", condition("6", "4", behind="case P::uge:\n    return ")),
    "a select passes what it drops": (LANES, "proved", flow("gate->isOpen", "!gate->isOpen")),
    "the mask of a turn is that of the next": (LANES, "carry", flow("isMadeIn(one, loop)", "false")),
    "a shift by the width is allowed": (
        ARITH, "integers", arith("P::uge", "P::ugt", behind='compared(b, "shift past the width"')
    ),
    "a lane that a store has off has an effect": (
        CORRECT, "division", effect("effect.ways.push_back(std::move(when))", "void()")
    ),
    "a check comes between a product and its sum": (
        CORRECT, "products_stay", copies("op.user_begin()->getBlock() == block", "false")
    ),
    "a promise of some programs is one of all": (HINTS, "holds", hints("promise->getBlock() == &entry", "true")),
    "every number of a run has to be a multiple": (ARITH, "marks", marks("run <= 1", "run <= 99")),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTATIONS)
def test_a_bug_of_the_sanitizer_is_noticed(name: str, libraries: Path, tmp_path: Path) -> None:
    mutations.assert_noticed(MUTATIONS, name, libraries, tmp_path / "cache")
