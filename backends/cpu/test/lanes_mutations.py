# SPDX-License-Identifier: Apache-2.0
"""Bugs for the arithmetic of lanes: in which file, what stands there, and what a bug would make of it."""

from __future__ import annotations

from pathlib import Path

import facts_mutations

#: Name: file, text in front of it, the expression, and what is there instead, of the same type.
MUTATIONS = {
    "extensions never wrap": (
        "Elementwise.cpp", "", "!isa<arith::TruncIOp>(op) && !neverWraps(operands[0])", "false"
    ),
    "remainders are of what is not negative": (
        "Elementwise.cpp", "", "isa<arith::RemSIOp>(op) && !facts.limit(operands[0].base)", "false"
    ),
    "remainders keep any pattern": ("Elementwise.cpp", "", "p < 0 || p >= common", "p < 0"),
    "what is exact is forgotten": ("Elementwise.cpp", "", "isAssumed |= bool(operand.exact)", "isAssumed"),
    "differences are sums": ("Elementwise.cpp", "", "result.pattern[i] -= p", "result.pattern[i] += p"),
    "a load trusts its pattern": ("Memory.cpp", "Lanes Lowering::loadLanes", "ptr.holds", "Value()"),
    "a pattern has 64 bits": ("Lanes.cpp", "", "integer.getWidth() < 64", "false"),
    "all bits are disjoint": ("Lanes.cpp", "", "p >= 0 && p < divisor", "p >= 0"),
    "the largest lane does not count": ("Lanes.cpp", "bool Lowering::neverWraps", "*high", "*low"),
    "no lane is negative": ("Lanes.cpp", "bool Lowering::neverWraps", "*low < 0", "false"),
    "a group lies in two runs": (
        "Evaluate.cpp", "", "runs[dim].getSExtValue() % scope->lanes == 0", "runs[dim].getSExtValue() >= scope->lanes"
    ),
    "other dimensions do not count": ("Evaluate.cpp", "", "other == dim || lanesThere.isUniform()", "true"),
    "pointers are a byte apart": ("Evaluate.cpp", "step = ", "pointeeBytes(element)", "1"),
}  # fmt: skip


def apply(lowering: Path) -> None:
    """Puts all bugs into the sources in `lowering`, each behind a switch."""
    texts = {file: (lowering / file).read_text() for file, *_ in MUTATIONS.values()}
    for name, (file, behind, old, new) in MUTATIONS.items():
        texts[file] = facts_mutations.replace(texts[file], name, behind, old, new)
    for file, text in texts.items():
        (lowering / file).write_text(facts_mutations.SWITCH + text)
