# SPDX-License-Identifier: Apache-2.0
"""Unsound rules for `lowering/Facts.cpp`: what stands there, and what a bug would make of it."""

from __future__ import annotations

#: In front of the file; which bug is active is in the environment, so that one build has all of them.
SWITCH = """
#include <cstdlib>
#include <string_view>
static bool mutant(std::string_view name) {
  const char *active = std::getenv("TRITON_EXT_MUTANT");
  return active && name == active;
}
"""

#: Name: text in front of it, the expression, and what is there instead, of the same type.
MUTATIONS = {
    "trunci keeps the sign": ("", "inner->isIntN(width - 1)", "true"),
    "extui keeps a negative number": ("", "APInt::getLowBitsSet(width, from)", "APInt::getLowBitsSet(width, from - 1)"),
    "extsi is not negative": (
        "isa<arith::ExtSIOp>",
        "inner ? inner->zext(width) : Limit()",
        "Limit(APInt::getSignedMaxValue(width))",
    ),
    "subi keeps the larger divisor": ("SubIOp", "std::min(of(0), of(1))", "std::max(of(0), of(1))"),
    "muli doubles": ("", "of(0) * of(1)", "2 * of(0) * of(1)"),
    "andi multiplies": ("isa<arith::AndIOp>(op))\n    return ", "std::max(of(0), of(1))", "of(0) * of(1)"),
    "select has the larger divisor": ("arith::SelectOp", "std::min(of(1), of(2))", "std::max(of(1), of(2))"),
    "shli shifts once more": ("", "of(0) << by", "of(0) << (by + 1)"),
    "shrui keeps the divisor": ("", "of(0) >> by", "of(0)"),
    "a divisor that is no power of two": ("", "divisor & -divisor", "divisor"),
    "a constant has one more zero": ("", "number.countr_zero()", "number.countr_zero() + 1"),
    "a loop has its step's divisor": ("", "divisor(loop.getLowerBound(), depth + 1)", "maxDivisor"),
    "a loop has its start's divisor": ("", "divisor(loop.getStep(), depth + 1)", "maxDivisor"),
    "a constant is not negative": (
        "", "number.isNegative() ? Limit() : number", "Limit(APInt::getSignedMaxValue(width))"
    ),
    "an unsigned loop is not negative": ("", "loop.getUnsignedCmp()", "false"),
    "a loop is not negative": ("", "!limit(loop.getLowerBound(), depth + 1)", "false"),
    "a loop ends early": ("", "*upper - 1", "APInt(*upper - 2)"),
    "sums do not overflow": ("", "overflow ? Limit() : most", "Limit(most)"),
    "a remainder is not negative": ("isa<arith::RemSIOp>(op)) //", "of(0)", "Limit(APInt::getSignedMaxValue(width))"),
    "remui is not negative": (
        "isa<arith::RemUIOp>", "least(of(0), of(1))", "Limit(APInt::getSignedMaxValue(width))"
    ),
    "divsi ignores the divisor's sign": ("", "of(1) ? of(0) : Limit()", "of(0)"),
    "divui is never negative": (
        "isa<arith::DivUIOp>(op))\n    return ", "of(0)", "Limit(APInt::getSignedMaxValue(width))"
    ),
    "minsi is not negative": ("isa<arith::MinSIOp>", "b ? least(a, b) : b", "least(a, b)"),
    "select is one of them": ("", "!isSelect && (a || b)", "(a || b)"),
    "select has the smaller limit": ("isSelect ? 2", "llvm::APIntOps::umax(*a, *b)", "llvm::APIntOps::umin(*a, *b)"),
}  # fmt: skip


def replace(text: str, name: str, behind: str, old: str, new: str) -> str:
    """`text` with both expressions, and a choice at run time."""
    at = text.index(old, text.index(behind))
    assert behind or text.count(old) == 1, f"{name}: {text.count(old)} times {old!r}"
    return f'{text[:at]}(mutant("{name}") ? ({new}) : ({old})){text[at + len(old) :]}'


def apply(text: str) -> str:
    """The source with all bugs in it, each behind a switch."""
    for name, (behind, old, new) in MUTATIONS.items():
        text = replace(text, name, behind, old, new)
    return SWITCH + text
