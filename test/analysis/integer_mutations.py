# SPDX-License-Identifier: Apache-2.0
"""Unsound rules for the analyses of integers, by the client whose claims show them (see `integer_claims.CLIENTS`)."""

from __future__ import annotations

from functools import partial

from mutants import Mutation

fact = partial(Mutation, "cpu/Facts.cpp")
arithmetic = partial(Mutation, "analysis/AxisArithmetic.cpp")
cast = partial(Mutation, "analysis/AxisCasts.cpp")
info = partial(Mutation, "analysis/AxisInfo.cpp")
axis = partial(Mutation, "analysis/AxisMath.cpp")
shape = partial(Mutation, "analysis/AxisShapes.cpp")
mask = partial(Mutation, "analysis/MaskTracker.cpp")
offset = partial(Mutation, "analysis/OffsetTracker.cpp")
pointer = partial(Mutation, "analysis/PointerTracker.cpp")
condition = partial(Mutation, "loop_split/Condition.cpp")
known = partial(Mutation, "loop_split/Known.cpp")

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

WRAPS = {
    # One axis
    "smaller groups start at what divides larger ones": info(
        "std::min(divisibility, divisor)", "divisibility", behind="Axis Axis::refined"
    ),
    "both groups go on": info("std::gcd(a.stride, b.stride)", "std::max(a.stride, b.stride)"),
    "both groups grow alike": info("a.strideValue == b.strideValue", "true"),
    "both are one constant": info("*a.constant == *b.constant", "true"),
    "one that is not negative is enough": info(
        "a.isNonNegative && b.isNonNegative", "(a.isNonNegative || b.isNonNegative)"
    ),
    "a loop has the divisibility of its start": info(
        "std::min(start.divisibilityOfAll(), step.divisibilityOfAll())", "start.divisibilityOfAll()"
    ),
    "an unsigned loop stays not negative": info("start.isNonNegative && !loop.getUnsignedCmp()", "start.isNonNegative"),
    # Arithmetic on axes
    "sums keep the larger divisibility": axis(
        "std::min(a.divisibility, b.divisibility)", "std::max(a.divisibility, b.divisibility)", behind="bool overflows"
    ),
    "a product has one more zero": axis(
        "times(a.divisibility, b.divisibility)", "times(2 * a.divisibility, b.divisibility)"
    ),
    "groups are not cut where they wrap": axis(
        "cutToStretches(axis, int64_t(1) << std::min(62u, width - 1))", "axis", behind="Axis Reading::withoutWrap"
    ),
    "groups wrap at twice the half": axis(
        "std::min(62u, width - 1)", "std::min(62u, width)", behind="Axis Reading::withoutWrap"
    ),
    "stretches are longer by one": axis("last < free", "last <= free"),
    "a quotient is constant": axis(
        "isFloor ? cutToStretches(axis, power) : axis.refined(1)", "axis", behind="Axis cut"
    ),
    "a remainder stays": axis("isFloor && stays", "stays"),
    "a remainder keeps the divisibility": axis("std::min(axis.divisibility, power)", "axis.divisibility"),
    "masks have one more zero": axis("std::max(cut.divisibility, power)", "2 * std::max(cut.divisibility, power)"),
    "constants are divided as signed numbers": axis("a.udiv(b)", "a.sdiv(b)"),
    "constants are shifted as signed numbers": axis("a.lshr(b)", "a.ashr(b)"),
    # Operations
    "sums of what is not negative do not wrap": arithmetic("overflow == Overflow::Never", "true"),
    "signed division rounds down": arithmetic("!isSigned || lhs().isNonNegative", "true"),
    "division by one is not negative": arithmetic("isRemainder || number > 1", "true"),
    "a shift by nothing is not negative": arithmetic("!isSigned && !bits->isZero()", "!isSigned"),
    "minsi needs one": arithmetic("bothNonNegative()", "eitherNonNegative()", behind="arith::MinSIOp>("),
    "maxui needs one": arithmetic("bothNonNegative()", "eitherNonNegative()", behind="arith::MaxUIOp"),
    "divisors of one are kept": arithmetic(
        "std::min(a.divisibilityOfAll(), b.divisibilityOfAll())",
        "std::max(a.divisibilityOfAll(), b.divisibilityOfAll())",
        behind="AxisInfo Transfer::keepsDivisors",
    ),
    "a comparison changes at twice the divisor": arithmetic("std::min(b.divisibility, half)", "2 * b.divisibility"),
    "one condition chooses for all": arithmetic("std::gcd(axis.stride, chosen.constancy())", "axis.stride"),
    "a range starts at zero": arithmetic("powerOfTwoIn(start)", "maxDivisibility"),
    "a comparison of any kind changes there": arithmetic(
        "!llvm::is_contained({P::slt, P::ult, P::sge, P::uge}, relation)", "false"
    ),
    # Casts
    "an extension is not negative": cast("to > from && !isSigned", "to > from"),
    "a truncation keeps the sign": cast("to >= from && info.isNonNegative", "info.isNonNegative"),
    "a pointee is a byte": cast("powerOfTwoIn(bytes)", "maxDivisibility"),
    "an offset is not scaled": cast("APInt(64, bytes)", "APInt(64, 1)"),
    # Shapes
    "rows follow each other": shape("axis.strideValue != step", "false"),
    "what is broadcast grows evenly": shape("before != after", "true"),
    "rows start where the line does": shape("std::min(starts, powerOfTwoIn(line.strideValue))", "starts"),
    "a transposition is the identity": shape(
        "operand.axes[dim]", "operand.axes[info.axes.size()]", behind="tt::TransOp transpose"
    ),
}

NEVER = {
    "narrow numbers do not wrap, either": axis("isSigned && width >= 32", "isSigned"),
    "unsigned numbers do not wrap, either": axis("isSigned && width >= 32", "width >= 32"),
    "narrow sums stay not negative": arithmetic("bothNonNegative() && width >= 32", "bothNonNegative()"),
    "differences stay not negative": arithmetic("!subtract && staysNonNegative(result)", "staysNonNegative(result)"),
}

TRACKERS = {
    "narrow sums do not wrap": offset("bitsOf(type) >= 32", "true"),
    "a number of all bits is not negative": offset("bits - 1", "bits", behind="areBelow(*offsets, shapeOf(value), "),
    "differences are sums": offset("math.sub(lhs.offset, rhs.offset)", "math.add(lhs.offset, rhs.offset)"),
    "differences have the strides of sums": offset("math.sub(a, b)", "math.add(a, b)"),
    "a shift is by one more": offset("int64_t(1) << bits", "int64_t(2) << bits", behind="arith::ShLIOp"),
    "casts of pointers keep elements": pointer(
        "bytes != 0 && bytes == bytesOfPointee(cast.getSrc().getType())", "bytes != 0"
    ),
    "a scalar offset is forgotten": pointer(
        "math.add(math.fromInteger(add.getOffset()), offset)", "math.fromInteger(add.getOffset())"
    ),
    "less is at most": mask("changes(/*behind=*/false)", "changes(/*behind=*/true)", behind="case P::slt:"),
    "at most is less": mask("changes(/*behind=*/true)", "changes(/*behind=*/false)", behind="case P::sle:"),
    "at least is more": mask("changes(/*behind=*/false)", "changes(/*behind=*/true)", behind="case P::sge:"),
    "unsigned is signed": mask("!isSigned", "false"),
    "masks end at the bound": mask("math.min(end, math.max(bound, start))", "math.max(bound, start)"),
    "masks do not overlap": mask("math.min(a.high[dim], b.high[dim])", "math.max(a.high[dim], b.high[dim])"),
}

LOOPS = {
    # Ranges, sequences, forms
    "a loop ends before its last": condition("upper - 1", "upper - 2", behind="ConstantIntRanges rangeOf"),
    "numbers stay in their type": condition("newLow.sge(least) && newHigh.sle(greatest)", "true"),
    "an extension is affine": condition("(!extends || operand.views[zeroes].exact)", "true"),
    "an extension is signed": condition("extends ? zeroes : isUnsigned", "isUnsigned"),
    "a difference has the range of a sum": condition("add ? b.low : -b.high", "b.low"),
    "a difference has the slope of a sum": condition("lhs.slope - rhs.slope", "lhs.slope + rhs.slope"),
    "lanes do not differ": condition("APInt(width, range.getEnd() - 1) - result.constant", "APInt::getZero(width)"),
    # Known
    "a sum is a multiple if one term is": known(
        "llvm::all_of(op->getOperands(), isMultiple)", "llvm::any_of(op->getOperands(), isMultiple)"
    ),
    "a loop is a multiple if its step is": known(
        "isMultiple(loop.getLowerBound()) && isMultiple(loop.getStep())", "isMultiple(loop.getStep())"
    ),
    "a select is a multiple if one side is": known(
        "isMultiple(select.getTrueValue()) &&\n           isMultiple(select.getFalseValue())",
        "isMultiple(select.getTrueValue())",
    ),
    "a minimum needs one": known(
        "llvm::all_of(op->getOperands(), known)",
        "llvm::any_of(op->getOperands(), known)",
        behind="isa<arith::MinSIOp, arith::DivSIOp",
    ),
    "an extended number is not negative": known("known(op->getOperand(0))", "true"),
    "an unsigned loop is in order": known("!loop.getUnsignedCmp()", "true"),
    "programs are two less": known("sum.constant += count", "sum.constant += 2 * count"),
    "a maximum is at most what one is": known(
        "llvm::all_of(greatest->getOperands(), isBelow)", "llvm::any_of(greatest->getOperands(), isBelow)"
    ),
    "a minimum is at least what one is": known(
        "llvm::all_of(least->getOperands(), isAbove)", "llvm::any_of(least->getOperands(), isAbove)"
    ),
    "factors have no sign": known("isa<arith::AddIOp>(op) ? factor : -factor", "factor"),
    "any factor is positive": known("factor.isStrictlyPositive()", "true", behind="return factor.isZero() ||"),
    "constants may be negative": known("sum.constant.isNonNegative()", "true"),
}

MUTATIONS = {
    **{name: ("facts", mutation) for name, mutation in FACTS.items()},
    **{name: ("wraps", mutation) for name, mutation in WRAPS.items()},
    **{name: ("never", mutation) for name, mutation in NEVER.items()},
    **{name: ("trackers", mutation) for name, mutation in TRACKERS.items()},
    **{name: ("loops", mutation) for name, mutation in LOOPS.items()},
}
