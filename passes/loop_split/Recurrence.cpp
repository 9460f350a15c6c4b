// SPDX-License-Identifier: Apache-2.0
//
// Ranges come from IntegerFacts; here they are carried on in numbers without a
// width, so that a sum that leaves its type is seen.

#include "Recurrence.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::triton_ext::loop_split;

unsigned mlir::triton_ext::loop_split::bitWidth(Type type) {
  if (type.isIndex())
    return IndexType::kInternalStorageBitWidth;
  auto integer = dyn_cast<IntegerType>(type);
  return integer && integer.isSignless() && integer.getWidth() <= 64
             ? integer.getWidth()
             : 0;
}

APInt mlir::triton_ext::loop_split::wide(const APInt &value, bool isUnsigned) {
  return isUnsigned ? value.zext(wideBits) : value.sext(wideBits);
}

std::pair<APInt, APInt> mlir::triton_ext::loop_split::limits(unsigned width,
                                                             bool isUnsigned) {
  if (isUnsigned)
    return {APInt::getZero(wideBits), wide(APInt::getMaxValue(width), true)};
  return {wide(APInt::getSignedMinValue(width), false),
          wide(APInt::getSignedMaxValue(width), false)};
}

void Recurrence::View::set(APInt newLow, APInt newHigh, unsigned width,
                           bool isUnsigned, bool flag) {
  auto [least, greatest] = limits(width, isUnsigned);
  exact = flag || (newLow.sge(least) && newHigh.sle(greatest));
  low = llvm::APIntOps::smax(newLow, least);
  high = llvm::APIntOps::smin(newHigh, greatest);
}

void Recurrence::complete(unsigned width) {
  for (bool isUnsigned : {false, true}) {
    View &view = views[isUnsigned], &other = views[!isUnsigned];
    if (!view.exact && other.exact)
      view.set(other.low, other.high, width, isUnsigned);
  }
  // Products of slopes must not leave `wideBits`: 65 bits hold each slope of
  // 64, signed or unsigned.
  affine &= slope.getSignificantBits() <= 65;
}

static bool hasFlag(Operation *op, bool isUnsigned) {
  auto flags = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op);
  return flags &&
         (isUnsigned ? flags.hasNoUnsignedWrap() : flags.hasNoSignedWrap());
}

bool RecurrenceAnalysis::isInvariant(Value value, unsigned depth) {
  if (loop.isDefinedOutsideOfLoop(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions() != 0 || depth == 0)
    return false;
  auto known = invariant.find(op);
  if (known != invariant.end())
    return known->second;
  bool result = isMemoryEffectFree(op) && isSpeculatable(op) &&
                llvm::all_of(op->getOperands(), [&](Value v) {
                  return isInvariant(v, depth - 1);
                });
  invariant[op] = result;
  return result;
}

Recurrence RecurrenceAnalysis::get(Value value, bool trustsFlags,
                                   unsigned depth) {
  auto known = recurrences[trustsFlags].find(value);
  if (known != recurrences[trustsFlags].end())
    return known->second;
  Recurrence result =
      depth ? compute(value, trustsFlags, depth - 1) : Recurrence();
  recurrences[trustsFlags][value] = result;
  return result;
}

Recurrence RecurrenceAnalysis::compute(Value value, bool trustsFlags,
                                       unsigned depth) {
  Recurrence result;
  unsigned width = bitWidth(value.getType());
  if (width == 0)
    return result;
  auto done = [&] {
    result.complete(width);
    return result;
  };
  Operation *op = value.getDefiningOp();
  auto flag = [&](bool isUnsigned) {
    return trustsFlags && hasFlag(op, isUnsigned);
  };
  auto operand = [&](int i) {
    return get(op->getOperand(i), trustsFlags, depth);
  };

  bool isVariable = value == loop.getInductionVar();
  if (isVariable || isInvariant(value)) {
    ConstantIntRanges range = facts.range(value);
    result.affine = true;
    result.slope = APInt(wideBits, isVariable);
    for (bool isUnsigned : {false, true}) {
      // It does not wrap in the order in which the loop compares it.
      if (isVariable && isUnsigned != loop.getUnsignedCmp())
        continue;
      result.views[isUnsigned].set(
          wide(isUnsigned ? range.umin() : range.smin(), isUnsigned),
          wide(isUnsigned ? range.umax() : range.smax(), isUnsigned), width,
          isUnsigned);
    }
    return done();
  }

  if (isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op)) {
    Recurrence lhs = operand(0), rhs = operand(1);
    bool add = isa<arith::AddIOp>(op);
    result.affine = lhs.affine && rhs.affine;
    result.slope = add ? lhs.slope + rhs.slope : lhs.slope - rhs.slope;
    for (bool isUnsigned : {false, true}) {
      const auto &a = lhs.views[isUnsigned], &b = rhs.views[isUnsigned];
      if (result.affine && a.exact && b.exact)
        result.views[isUnsigned].set(a.low + (add ? b.low : -b.high),
                                     a.high + (add ? b.high : -b.low), width,
                                     isUnsigned, flag(isUnsigned));
    }
    return done();
  }

  if (isa_and_nonnull<arith::MulIOp, arith::ShLIOp>(op)) {
    int variable = 0;
    APInt constant;
    if (!matchPattern(op->getOperand(1), m_ConstantInt(&constant))) {
      variable = 1;
      if (!isa<arith::MulIOp>(op) ||
          !matchPattern(op->getOperand(0), m_ConstantInt(&constant)))
        return result;
    }
    APInt factor = wide(constant, false);
    if (isa<arith::ShLIOp>(op)) {
      if (constant.uge(width - 1))
        return result;
      factor = APInt::getOneBitSet(wideBits, constant.getZExtValue());
    }
    Recurrence moving = operand(variable);
    result.affine = moving.affine;
    result.slope = moving.slope * factor;
    for (bool isUnsigned : {false, true}) {
      const auto &view = moving.views[isUnsigned];
      // A negative factor, read as unsigned, is another number: the product is
      // then not exact. Times -1, an i8 that is 3 becomes 253.
      if (!view.exact || (isUnsigned && factor.isNegative()))
        continue;
      APInt one = view.low * factor, other = view.high * factor;
      result.views[isUnsigned].set(llvm::APIntOps::smin(one, other),
                                   llvm::APIntOps::smax(one, other), width,
                                   isUnsigned, flag(isUnsigned));
    }
    return done();
  }

  if (isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp,
                      arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
    Recurrence narrow = operand(0);
    bool extends = bitWidth(op->getOperand(0).getType()) < width;
    bool zeroes = isa<arith::ExtUIOp, arith::IndexCastUIOp>(op);
    // A value that is affine modulo 2^8 need not be affine modulo 2^32:
    // extended to 32 bits, an i8 that wraps falls from 127 to -128. So the view
    // that the extension reads must be exact.
    result.affine = narrow.affine && (!extends || narrow.views[zeroes].exact);
    result.slope = narrow.slope;
    for (bool isUnsigned : {false, true}) {
      const auto &view = narrow.views[extends ? zeroes : isUnsigned];
      if (result.affine && view.exact)
        result.views[isUnsigned].set(view.low, view.high, width, isUnsigned,
                                     !extends && flag(isUnsigned));
    }
    return done();
  }
  return result;
}
