# SPDX-License-Identifier: Apache-2.0
"""Unsound rules for the integer analyses, grouped by the client whose claims show them (`integer_claims.CLIENTS`)."""

from __future__ import annotations

from functools import partial

from support.mutants import Mutation

fact = partial(Mutation, "analysis/IntegerFacts.cpp")
rule = partial(Mutation, "analysis/IntegerRules.cpp")
arithmetic = partial(Mutation, "analysis/AxisArithmetic.cpp")
cast = partial(Mutation, "analysis/AxisCasts.cpp")
info = partial(Mutation, "analysis/AxisInfo.cpp")
axis = partial(Mutation, "analysis/AxisMath.cpp")
shape = partial(Mutation, "analysis/AxisShapes.cpp")
mask = partial(Mutation, "analysis/MaskTracker.cpp")
offset = partial(Mutation, "analysis/OffsetTracker.cpp")
terms = partial(Mutation, "analysis/OffsetMath.cpp")
pointer = partial(Mutation, "analysis/PointerTracker.cpp")
form = partial(Mutation, "loop_split/AffineForm.cpp")
known = partial(Mutation, "loop_split/Known.cpp")
recurrence = partial(Mutation, "loop_split/Recurrence.cpp")

#: The operands' smaller and larger divisor.
LESS, MORE = "std::min(of(0), of(1))", "std::max(of(0), of(1))"
NOT_NEGATIVE = "ConstantIntRanges::fromSigned(APInt::getZero(width), APInt::getSignedMaxValue(width))"


def inferred(where: str, claim: str) -> Mutation:
    """Returns an unsound rule that replaces MLIR's: if the C++ condition `where` holds, the range is `claim`."""
    old, same = "rangeOfArith(result, ranges, neverWraps)", "rangeOfArith(result, ranges, (neverWraps))"
    return rule(old, f"{where} ? {claim} : {same}", behind="isa<arith::ArithDialect>(op->getDialect())\n")


FACTS = {
    # Divisors
    "subi keeps the larger divisor": rule(LESS, MORE, behind="arith::XOrIOp>("),
    "a minimum has the larger divisor": rule(LESS, MORE, behind="arith::MaxUIOp>("),
    "a remainder keeps the divisor": rule(LESS, "of(0)", behind="arith::RemUIOp>("),
    "muli doubles": rule("multiplyDivisors(of(0), of(1))", "multiplyDivisors(2 * of(0), of(1))"),
    "andi multiplies": rule(MORE, "multiplyDivisors(of(0), of(1))", behind="arith::AndIOp) {"),
    "select has the larger divisor": rule("std::min(of(1), of(2))", "std::max(of(1), of(2))"),
    "shli shifts once more": rule("int64_t(1) << bits", "int64_t(2) << bits", behind="arith::ShLIOp"),
    "shrui keeps the divisor": rule("of(0) >> std::min<uint64_t>(bits, maxDivisorLog2)", "of(0)"),
    "any division is a shift": rule("rhs && rhs->isPowerOf2()", "rhs && !rhs->isZero()"),
    "a constant has one more zero": rule("number.countr_zero()", "number.countr_zero() + 1"),
    "a divisor that is not a power of two": fact("divisorOf(divisor)", "divisor"),
    "an argument's divisor that is not a power of two": fact("divisorOf(promise.getInt())", "promise.getInt()"),
    "a loop has its step's divisor": fact("divisor(loop.getLowerBound())", "maxDivisor"),
    "a loop has its start's divisor": fact("divisor(loop.getStep())", "maxDivisor"),
    "a branch has the divisor of one side": fact(
        "std::min(divisor(yields[0]), divisor(yields[1]))", "divisor(yields[0])"
    ),
    # Ranges
    "trunci keeps the sign": inferred("isa<arith::TruncIOp>(op) && !ranges[0].smin().isNegative()", NOT_NEGATIVE),
    "extui keeps a negative number": inferred("isa<arith::ExtUIOp>(op)", "intrange::extSIRange(ranges[0], width)"),
    "extsi is not negative": inferred("isa<arith::ExtSIOp>(op)", NOT_NEGATIVE),
    "sums do not overflow": inferred(
        "isa<arith::AddIOp>(op)", "intrange::inferAdd(ranges, intrange::OverflowFlags::Nsw)"
    ),
    "products do not overflow": inferred(
        "isa<arith::MulIOp>(op)", "intrange::inferMul(ranges, intrange::OverflowFlags::Nsw)"
    ),
    "minsi is not negative": inferred(
        "isa<arith::MinSIOp>(op) && !(ranges[0].smin().isNegative() && ranges[1].smin().isNegative())", NOT_NEGATIVE
    ),
    "select is one of them": inferred("isa<arith::SelectOp>(op)", "ranges[1]"),
    "a constant is not negative": rule(
        "ConstantIntRanges::constant(number)", "ConstantIntRanges::constant(number.abs())"
    ),
    "a remainder is not negative": rule(
        "towardsZero()",
        "towardsZero().intersection(ConstantIntRanges::fromSigned(zero, APInt::getSignedMaxValue(zero.getBitWidth())))",
        behind="arith::RemSIOp) { return ",
    ),
    "remui is less by one": rule("divisor.umax() - 1", "divisor.umax().lshr(1)"),
    "divsi ignores the divisor's sign": rule("divisor.smin().isNegative()", "false"),
    "divui is never negative": rule("dividend.umax()", "dividend.umax().lshr(1)", behind="arith::DivUIOp) {"),
    "a range ends early": rule("range.getEnd() - 1", "range.getEnd() - 2"),
    "programs end early": rule("INT32_MAX - 1", "1"),
    "there are two programs": rule("INT32_MAX", "2", behind="tt::GetNumProgramsOp) {"),
    "an unsigned loop is not negative": fact("!loop.getUnsignedCmp()", "true"),
    "a loop is not negative": fact("isSigned ? lower.smin() : lower.umin()", "lower.umin()"),
    "a loop ends early": fact("end - 1", "end - 2"),
    "a loop ends at a multiple of more": fact(
        "llvm::Log2_64(divisor(variable))", "llvm::Log2_64(divisor(variable)) + 1"
    ),
    "a branch has the range of one side": fact("range(yields[0]).rangeUnion(range(yields[1]))", "range(yields[0])"),
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
    "sums grow twice as much": axis(
        "growBy(a.stride, step, width)", "growBy(a.stride, 2 * step, width)", behind="overflows"
    ),
    "groups are not cut where they wrap": axis(
        "cutToStretches(axis, boundary)", "axis", behind="Axis Reading::withoutWrap"
    ),
    "groups wrap at twice the half": axis(
        "std::min(maxDivisorLog2, width - 1)", "std::min(maxDivisorLog2, width)", behind="Axis Reading::withoutWrap"
    ),
    "stretches are longer by one": axis("last < free", "last <= free"),
    "a quotient is constant": axis(
        "isFloor ? cutToStretches(axis, divisorOf(divisor)) : axis.refined(1)",
        "axis",
        behind="Growth mlir::triton_ext::analysis::growthOfQuotient",
    ),
    "a remainder stays": axis("isFloor && stays", "stays"),
    "masks keep twice the stretch": axis("divisorOf(mask)", "2 * divisorOf(mask)"),
    # Operations
    "groups start where larger ones do": arithmetic(
        "b.refined(growth.stride).divisibility", "b.divisibility", behind="Axis Transfer::resultOf"
    ),
    "sums of what is not negative do not wrap": arithmetic("overflow == Overflow::Never", "true"),
    "signed division rounds down": arithmetic("!isSigned || lhs().isNonNegative", "true"),
    "what is not negative is small": arithmetic(
        "APInt::getSignedMaxValue(bits)", "APInt::getSignedMaxValue(bits).lshr(1)"
    ),
    "what is negative is not": arithmetic("known->smin().isNonNegative()", "known->smax().isNonNegative()"),
    "a minimum grows as its operands": arithmetic(
        "a.strideValue || b.strideValue ? Growth() : Growth{a.stride, 0}", "Growth{a.stride, 0}"
    ),
    "a comparison changes at twice the divisor": arithmetic("std::min(b.divisibility, half)", "2 * b.divisibility"),
    "one condition chooses for all": arithmetic("std::gcd(axis.stride, chosen.constancy())", "axis.stride"),
    "a range starts at zero": arithmetic("divisorOf(range.getStartAttr().getInt())", "maxDivisor"),
    "a comparison of any kind changes there": arithmetic(
        "!llvm::is_contained({P::slt, P::ult, P::sge, P::uge}, relation)", "false"
    ),
    # Casts
    "a pointee is a byte": cast("divisorOf(bytes)", "maxDivisor"),
    "an offset is not scaled": cast("APInt(64, bytes)", "APInt(64, 1)"),
    # Shapes
    "rows follow each other": shape("axis.strideValue != step", "false"),
    "what is broadcast grows evenly": shape("before != after", "true"),
    "rows start where the line does": shape("std::min(starts, divisorOf(line.strideValue))", "starts"),
    "a transposition is the identity": shape(
        "operand.axes[dim]", "operand.axes[info.axes.size()]", behind="tt::TransOp transpose"
    ),
}

NEVER = {
    "narrow numbers do not wrap, either": axis("isSigned && width >= 32", "isSigned"),
    "unsigned numbers do not wrap, either": axis("isSigned && width >= 32", "width >= 32"),
    "narrow sums stay not negative": arithmetic("bothNonNegative() && width >= 32", "bothNonNegative()"),
    "differences stay not negative": arithmetic(
        "!isa<arith::AddIOp, arith::MulIOp>(op)", "!isa<arith::AddIOp, arith::MulIOp, arith::SubIOp>(op)"
    ),
}

TRACKERS = {
    "narrow sums do not wrap": offset("bitsOf(type) >= 32", "true"),
    "a number of all bits is not negative": offset("bits - 1", "bits", behind="areBelow(*offsets, shapeOf(value), "),
    "differences are sums": terms("math.sub(a.offset, b.offset)", "math.add(a.offset, b.offset)"),
    "differences have the strides of sums": terms("math.sub(x, y)", "math.add(x, y)"),
    "a shift is by one more": offset("int64_t(1) << bits", "int64_t(2) << bits", behind="arith::ShLIOp"),
    "casts of pointers keep elements": pointer(
        "bytes != 0 && bytes == bytesOfPointee(cast.getSrc().getType())", "bytes != 0"
    ),
    "a scalar offset is forgotten": pointer(
        "math.add(math.fromInteger(add.getOffset()), offset)", "math.fromInteger(add.getOffset())"
    ),
    "less is at most": mask("/*behind=*/false", "true", behind="case P::slt:"),
    "at most is less": mask("/*behind=*/true", "false", behind="case P::sle:"),
    "at least is more": mask("/*behind=*/false", "true", behind="case P::sge:"),
    "unsigned is signed": mask("!isSigned", "false"),
    "masks end at the bound": mask("math.min(end, bound)", "bound"),
    "masks do not overlap": mask("math.min(a.high[dim], b.high[dim])", "math.max(a.high[dim], b.high[dim])"),
}

LOOPS = {
    # Recurrences, affine forms
    "numbers stay in their type": recurrence("newLow.sge(least) && newHigh.sle(greatest)", "true"),
    "an extension is affine": recurrence("(!extends || narrow.views[zeroes].exact)", "true"),
    "an extension is signed": recurrence("extends ? zeroes : isUnsigned", "isUnsigned"),
    "a difference has the range of a sum": recurrence("add ? b.low : -b.high", "b.low"),
    "a difference has the slope of a sum": recurrence("lhs.slope - rhs.slope", "lhs.slope + rhs.slope"),
    "a negative factor is unsigned": recurrence("(isUnsigned && factor.isNegative())", "false"),
    "factors are unsigned": form("coefficient.sext(width)", "coefficient.zext(width)"),
    "constants are unsigned": form("narrow->constant.sext(width)", "narrow->constant.zext(width)"),
    "a negative factor keeps the order": form("factor.isNegative()", "false"),
    "sums do not wrap before an extension": form("low.sge(first) && high.sle(last)", "true"),
    "lanes do not differ": form("APInt(width, range.getEnd() - 1) - result.constant", "APInt::getZero(width)"),
    # Known
    "a multiple is one of twice as much": known("llvm::Log2_64(divisor)", "llvm::Log2_64(divisor) + 1"),
    "programs are two less": known("sum.constant += count", "sum.constant += 2 * count"),
    "a maximum is at most what one is": known(
        "llvm::all_of(greatest->getOperands(), isBelow)", "llvm::any_of(greatest->getOperands(), isBelow)"
    ),
    "a minimum is at least what one is": known(
        "llvm::all_of(least->getOperands(), isAbove)", "llvm::any_of(least->getOperands(), isAbove)"
    ),
    "factors have no sign": known("isa<arith::AddIOp>(op) ? factor : -factor", "factor"),
    "any factor is positive": known("factor.isNegative() ? range.smax() : range.smin()", "range.smin()"),
    "constants may be negative": known("sum.constant", "sum.constant.abs()", behind="APInt least = "),
    "sums of any kind are not negative": known("!isNonNegative(std::move(sum), rangeOf)", "false"),
}

MUTATIONS = {
    **{name: ("facts", mutation) for name, mutation in FACTS.items()},
    **{name: ("wraps", mutation) for name, mutation in WRAPS.items()},
    **{name: ("never", mutation) for name, mutation in NEVER.items()},
    **{name: ("trackers", mutation) for name, mutation in TRACKERS.items()},
    **{name: ("loops", mutation) for name, mutation in LOOPS.items()},
}
