// SPDX-License-Identifier: Apache-2.0
//
// Divisors have rules of our own. Ranges come from MLIR: each operation of
// arith implements InferIntRangeInterface. This file adds ranges for the
// operations of Triton that create or move integers, and for quotients and
// remainders by a number that may be zero.

#include "analysis/IntegerRules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/Utils/InferIntRangeCommon.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext::analysis;
namespace tt = mlir::triton;

/// Returns whether the elements of the result are elements of the only operand.
static bool movesElements(Operation *op) {
  return isa<tt::SplatOp, tt::UnsplatOp, tt::BroadcastOp, tt::ExpandDimsOp,
             tt::ReshapeOp, tt::TransOp>(op);
}

bool mlir::triton_ext::analysis::hasRule(Operation *op) {
  return isa<arith::ArithDialect>(op->getDialect()) || movesElements(op) ||
         isa<tt::MakeRangeOp, tt::GetProgramIdOp, tt::GetNumProgramsOp>(op);
}

//===----------------------------------------------------------------------===//
// Divisors
//===----------------------------------------------------------------------===//

int64_t mlir::triton_ext::analysis::divisorOf(int64_t number) {
  return int64_t(1) << llvm::countr_zero(uint64_t(number | maxDivisor));
}

int64_t mlir::triton_ext::analysis::divisorOf(const APInt &number) {
  return number.isZero()
             ? maxDivisor
             : int64_t(1) << std::min(maxDivisorLog2, number.countr_zero());
}

int64_t mlir::triton_ext::analysis::multiplyDivisors(int64_t a, int64_t b) {
  int64_t product;
  return llvm::MulOverflow(a, b, product) ? maxDivisor
                                          : std::min(maxDivisor, product);
}

int64_t mlir::triton_ext::analysis::divisorOf(Operation *op,
                                              ArrayRef<int64_t> divisors,
                                              const std::optional<APInt> &rhs) {
  auto of = [&](unsigned i) { return divisors[i]; };
  // A shift divides by 2^bits, without a remainder if the operand is a multiple
  // of it.
  auto quotient = [&](uint64_t bits) {
    return std::max<int64_t>(1,
                             of(0) >> std::min<uint64_t>(bits, maxDivisorLog2));
  };
  if (movesElements(op))
    return of(0);
  return llvm::TypeSwitch<Operation *, int64_t>(op)
      .Case<arith::AddIOp, arith::SubIOp, arith::OrIOp, arith::XOrIOp>(
          [&](auto) { return std::min(of(0), of(1)); })
      // The result is one of the operands.
      .Case<arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp>(
          [&](auto) { return std::min(of(0), of(1)); })
      // The result is the dividend minus a multiple of the divisor.
      .Case<arith::RemSIOp, arith::RemUIOp>(
          [&](auto) { return std::min(of(0), of(1)); })
      .Case([&](arith::SelectOp) { return std::min(of(1), of(2)); })
      .Case([&](arith::MulIOp) { return multiplyDivisors(of(0), of(1)); })
      // An `or` or `xor` has the trailing zeros that both operands have.
      .Case([&](arith::AndIOp) { return std::max(of(0), of(1)); })
      .Case([&](arith::ShLIOp) {
        int64_t bits = rhs ? rhs->getLimitedValue(maxDivisorLog2) : 0;
        return multiplyDivisors(of(0), int64_t(1) << bits);
      })
      .Case<arith::ShRSIOp, arith::ShRUIOp>([&](auto) {
        return rhs ? quotient(rhs->getLimitedValue(maxDivisorLog2)) : 1;
      })
      .Case<arith::DivSIOp, arith::DivUIOp>([&](auto) {
        return rhs && rhs->isPowerOf2() ? quotient(rhs->logBase2()) : 1;
      })
      .Case<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp,
            arith::IndexCastUIOp>([&](auto) { return of(0); })
      .Default([](Operation *) { return 1; });
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

/// Returns whether no number is in both the signed and the unsigned interval of
/// `range`.
static bool isEmpty(const ConstantIntRanges &range) {
  if (range.smin().getBitWidth() == 0) // not integers, such as floats
    return false;
  return range.smin().sgt(range.smax()) || range.umin().ugt(range.umax());
}

ConstantIntRanges mlir::triton_ext::analysis::fullRange(Value value) {
  unsigned width = ConstantIntRanges::getStorageBitwidth(
      getElementTypeOrSelf(value.getType()));
  if (width == 0) { // maxRange() fails without a bit
    APInt nothing = APInt::getZeroWidth();
    return {nothing, nothing, nothing, nothing};
  }
  return ConstantIntRanges::maxRange(width);
}

ConstantIntRanges mlir::triton_ext::analysis::meet(const ConstantIntRanges &a,
                                                   const ConstantIntRanges &b) {
  ConstantIntRanges both = a.intersection(b);
  return isEmpty(both) ? a : both;
}

/// Returns the range of a quotient or a remainder. MLIR's rules give no bounds
/// if the divisor may be zero, as in `x % n` for an argument `n`. But a
/// division by zero has no result, so the bounds may assume that the divisor is
/// not zero.
static ConstantIntRanges rangeOfDivision(Operation *op,
                                         const ConstantIntRanges &dividend,
                                         const ConstantIntRanges &divisor) {
  APInt zero = APInt::getZero(dividend.smin().getBitWidth());
  // The result lies between zero and the dividend.
  auto towardsZero = [&] {
    return ConstantIntRanges::fromSigned(
        llvm::APIntOps::smin(dividend.smin(), zero),
        llvm::APIntOps::smax(dividend.smax(), zero));
  };
  return llvm::TypeSwitch<Operation *, ConstantIntRanges>(op)
      .Case([&](arith::RemSIOp) { return towardsZero(); })
      .Case([&](arith::DivSIOp) {
        // A negative divisor inverts the sign.
        return divisor.smin().isNegative() ? fullRange(op->getResult(0))
                                           : towardsZero();
      })
      .Case([&](arith::RemUIOp) {
        // The remainder is less than the divisor.
        APInt greatest = divisor.umax().isZero() ? zero : divisor.umax() - 1;
        return ConstantIntRanges::fromUnsigned(
            zero, llvm::APIntOps::umin(dividend.umax(), greatest));
      })
      .Case([&](arith::DivUIOp) {
        return ConstantIntRanges::fromUnsigned(zero, dividend.umax());
      })
      .Default([&](Operation *) { return fullRange(op->getResult(0)); });
}

static ConstantIntRanges rangeOfArith(OpResult result,
                                      ArrayRef<ConstantIntRanges> ranges,
                                      bool neverWraps) {
  Operation *op = result.getOwner();
  auto flag = intrange::OverflowFlags::Nsw;
  if (neverWraps && isa<arith::AddIOp>(op))
    return intrange::inferAdd(ranges, flag);
  if (neverWraps && isa<arith::SubIOp>(op))
    return intrange::inferSub(ranges, flag);
  if (neverWraps && isa<arith::MulIOp>(op))
    return intrange::inferMul(ranges, flag);
  ConstantIntRanges range = fullRange(result);
  auto isInteger = [](const ConstantIntRanges &operand) {
    return operand.smin().getBitWidth() != 0;
  };
  auto inferrable = dyn_cast<InferIntRangeInterface>(op);
  if (!inferrable || !llvm::all_of(ranges, isInteger))
    return range;
  inferrable.inferResultRanges(
      ranges, [&](Value value, const ConstantIntRanges &inferred) {
        if (value == result)
          range = inferred;
      });
  return range;
}

/// Returns the range of the elements of a constant.
static ConstantIntRanges rangeOfConstant(arith::ConstantOp op) {
  APInt number;
  if (matchPattern(op.getResult(), m_ConstantInt(&number)))
    return ConstantIntRanges::constant(number);
  auto dense = dyn_cast<DenseIntElementsAttr>(op.getValue());
  if (!dense || dense.empty())
    return fullRange(op.getResult());
  ConstantIntRanges range = ConstantIntRanges::constant(*dense.begin());
  for (const APInt &element : dense)
    range = range.rangeUnion(ConstantIntRanges::constant(element));
  return range;
}

ConstantIntRanges mlir::triton_ext::analysis::rangeOf(
    OpResult result, ArrayRef<ConstantIntRanges> ranges, bool neverWraps) {
  ConstantIntRanges full = fullRange(result);
  unsigned width = full.smin().getBitWidth();
  if (width == 0)
    return full;
  auto from = [&](int64_t least, int64_t greatest) {
    return ConstantIntRanges::fromSigned(APInt(width, least, true),
                                         APInt(width, greatest, true));
  };
  // MLIR's rules infer an empty range for a value that cannot exist, such as a
  // sum that breaks its flags for all operands. They fail on empty ranges as
  // inputs: their rule for divisions takes the empty range (1, 0) for a divisor
  // that is not zero.
  if (llvm::any_of(ranges, isEmpty))
    return full;
  Operation *op = result.getOwner();
  if (movesElements(op))
    return ranges[0];
  return llvm::TypeSwitch<Operation *, ConstantIntRanges>(op)
      .Case(
          [&](arith::ConstantOp constant) { return rangeOfConstant(constant); })
      .Case([&](tt::MakeRangeOp range) {
        return from(int32_t(range.getStart()), int32_t(range.getEnd() - 1));
      })
      // A grid has at most 2^31 - 1 programs along an axis, and at least one,
      // since a program runs.
      .Case([&](tt::GetProgramIdOp) { return from(0, INT32_MAX - 1); })
      .Case([&](tt::GetNumProgramsOp) { return from(1, INT32_MAX); })
      .Case<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(
          [&](auto) {
            return meet(rangeOfArith(result, ranges, neverWraps),
                        rangeOfDivision(op, ranges[0], ranges[1]));
          })
      .Default([&](Operation *) {
        return isa<arith::ArithDialect>(op->getDialect())
                   ? rangeOfArith(result, ranges, neverWraps)
                   : full;
      });
}
