# SPDX-License-Identifier: Apache-2.0
"""Unsound rules for the facts of `lowering/Facts.cpp`, and wrong ones for the strides of `lowering/Plan.cpp`."""

from __future__ import annotations

from functools import partial

from mutants import Mutation

fact = partial(Mutation, "Facts.cpp")
stride = partial(Mutation, "Plan.cpp")

#: Any number that is not negative; the operands' smaller and larger divisor.
ANY, LESS, MORE = "Limit(APInt::getSignedMaxValue(width))", "std::min(of(0), of(1))", "std::max(of(0), of(1))"

FACTS = {
    # Divisors
    "subi keeps the larger divisor": fact(LESS, MORE, behind="SubIOp"),
    "muli doubles": fact("of(0) * of(1)", "2 * of(0) * of(1)"),
    "andi multiplies": fact(MORE, "of(0) * of(1)", behind="isa<arith::AndIOp>(op))\n    return "),
    "select has the larger divisor": fact("std::min(of(1), of(2))", "std::max(of(1), of(2))"),
    "shli shifts once more": fact("of(0) << by", "of(0) << (by + 1)"),
    "shrui keeps the divisor": fact("of(0) >> by", "of(0)"),
    "a divisor that is no power of two": fact("divisor & -divisor", "divisor"),
    "a constant has one more zero": fact("number.countr_zero()", "number.countr_zero() + 1"),
    "a loop has its step's divisor": fact("divisor(loop.getLowerBound(), depth + 1)", "maxDivisor"),
    "a loop has its start's divisor": fact("divisor(loop.getStep(), depth + 1)", "maxDivisor"),
    # Limits
    "trunci keeps the sign": fact("inner->isIntN(width - 1)", "true"),
    "extui keeps a negative number": fact("APInt::getLowBitsSet(width, from)", "APInt::getLowBitsSet(width, from - 1)"),
    "extsi is not negative": fact("inner ? inner->zext(width) : Limit()", ANY, behind="isa<arith::ExtSIOp>"),
    "a constant is not negative": fact("number.isNegative() ? Limit() : number", ANY),
    "an unsigned loop is not negative": fact("loop.getUnsignedCmp()", "false"),
    "a loop is not negative": fact("!limit(loop.getLowerBound(), depth + 1)", "false"),
    "a loop ends early": fact("*upper - 1", "APInt(*upper - 2)"),
    "a loop ends at a multiple of more": fact("divisor(value, depth)", "2 * divisor(value, depth)"),
    "sums do not overflow": fact("overflow ? Limit() : most", "Limit(most)"),
    "a remainder is not negative": fact("of(0)", ANY, behind="isa<arith::RemSIOp>(op)) //"),
    "remui is not negative": fact("least(of(0), of(1))", ANY, behind="isa<arith::RemUIOp>"),
    "divsi ignores the divisor's sign": fact("of(1) ? of(0) : Limit()", "of(0)"),
    "divui is never negative": fact("of(0)", ANY, behind="isa<arith::DivUIOp>(op))\n    return "),
    "minsi is not negative": fact("b ? least(a, b) : b", "least(a, b)"),
    "select is one of them": fact("!isSelect && (a || b)", "(a || b)"),
    "select has the smaller limit": fact("llvm::APIntOps::umax(*a, *b)", "llvm::APIntOps::umin(*a, *b)"),
}

STRIDES = {
    "differences are sums": stride("-1", "1", behind="int64_t sign = isa<arith::SubIOp>(add) ? "),
    "the second term has no stride": stride("sign * uint64_t(*r[i])", "0"),
    "strides have 64 bits": stride("integer ? integer.getWidth() : 64", "64"),
    "a range has no stride": stride("result.assign(1, 1)", "result.assign(1, 0)"),
    "a new dimension is the last": stride(
        "expand.getAxis()", "result.size()", behind="result.insert(result.begin() + "
    ),
    "what is broadcast keeps its stride": stride("size == 1", "size == 0", behind="triton::BroadcastOp broadcast"),
    "a transposition is the identity": stride("from[d]", "from[i]"),
    "factors do not count": stride("dense.getSplatValue<APInt>().getSExtValue()", "1", behind="arith::MulIOp mul"),
    "one factor is the same everywhere": stride("l[i] == 0 && r[i] == 0", "l[i] == 0"),
    "trunci keeps the stride": stride("wrap(*s)", "*s"),
    "a pointer's pointee does not count": stride("pointeeBytes(type)", "from", behind="triton::BitcastOp cast"),
    "pointers lie between two elements": stride("*s * from % to == 0", "true"),
    "any operation has the same results": stride("s != 0", "false", behind=".Default([&](Operation *op) {"),
}
