// SPDX-License-Identifier: Apache-2.0
//
// Integer operations without a defined result: division by 0, the least number
// divided by -1, shifts past the width, floats that do not fit into an integer.
// Lanes without an effect are not reported.

#include "Arith.h"
#include "Bits.h"
#include "Effect.h"

#include "analysis/Dimensions.h"
#include "analysis/IntegerFacts.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::sanitizer;
namespace tt = mlir::triton;
using P = arith::CmpIPredicate;

namespace {
/// What may be wrong with an operation.
struct Fault {
  StringRef what;
  Value bad;        ///< lanes in which it is wrong
  Conditions facts; ///< that hold in these lanes
};
} // namespace

static unsigned widthOf(Value value) {
  return getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
}

/// Returns the comparison of `value` with a number, as a value and as a fact.
static Fault compared(ImplicitLocOpBuilder &b, StringRef what, P predicate,
                      Value value, int64_t number) {
  Value other = constantOf(b, value.getType(), number);
  return {what,
          arith::CmpIOp::create(b, predicate, value, other),
          {comparison(predicate, value, other)}};
}

static bool mayBeZero(const ConstantIntRanges &range) {
  return range.umin().isZero() && !range.smin().isStrictlyPositive() &&
         !range.smax().isNegative();
}

/// Adds what may be wrong with a division or a remainder.
static void addFaultsOfDivision(ImplicitLocOpBuilder &b, Operation *op,
                                SmallVectorImpl<Fault> &faults) {
  analysis::IntegerFacts facts;
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  ConstantIntRanges left = facts.range(lhs), right = facts.range(rhs);
  if (mayBeZero(right))
    faults.push_back(compared(b, "division by zero", P::eq, rhs, 0));
  bool isSigned = isa<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp,
                      arith::FloorDivSIOp>(op);
  if (!isSigned || !left.smin().isMinSignedValue() ||
      right.smin().isNonNegative() || right.smax().slt(-1))
    return;
  unsigned width = widthOf(lhs);
  Fault fault = compared(b, "the least integer divided by -1", P::eq, rhs, -1);
  Fault least = compared(b, "", P::eq, lhs,
                         llvm::APInt::getSignedMinValue(width).getSExtValue());
  fault.bad = arith::AndIOp::create(b, fault.bad, least.bad);
  fault.facts.append(least.facts);
  faults.push_back(std::move(fault));
}

/// Adds what may be wrong with a shift.
static void addFaultsOfShift(ImplicitLocOpBuilder &b, Operation *op,
                             SmallVectorImpl<Fault> &faults) {
  Value amount = op->getOperand(1);
  unsigned width = widthOf(amount);
  if (analysis::IntegerFacts().range(amount).umax().uge(width))
    faults.push_back(
        compared(b, "shift past the width", P::uge, amount, width));
}

/// Adds what may be wrong with a conversion of floats to integers.
static void addFaultsOfConversion(ImplicitLocOpBuilder &b, FloatCopy &copies,
                                  Operation *op,
                                  SmallVectorImpl<Fault> &faults) {
  Value source = copies.of(op->getOperand(0));
  auto type = cast<FloatType>(getElementTypeOrSelf(source.getType()));
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  if (type.getWidth() < 16) // Triton has no comparison of such floats
    return;
  unsigned width = widthOf(op->getResult(0));
  bool isSigned = isa<arith::FPToSIOp>(op);
  // An integer one bit wider holds the ends of the range, which is open.
  auto low = isSigned ? llvm::APInt::getSignedMinValue(width).sext(width + 2)
                      : llvm::APInt(width + 2, 0);
  auto high =
      llvm::APInt::getOneBitSet(width + 2, isSigned ? width - 1 : width);
  auto toFloat = [&](const llvm::APInt &number, bool &isExact) {
    llvm::APFloat value(semantics);
    isExact = value.convertFromAPInt(number, /*IsSigned=*/true,
                                     llvm::APFloat::rmTowardZero) ==
              llvm::APFloat::opOK;
    return value;
  };
  bool isExact, isHighExact;
  llvm::APFloat below = toFloat(low - 1, isExact);
  // Where low - 1 is not a float, the float before `low` is less than it.
  auto lowPredicate =
      isExact ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OGE;
  if (!isExact)
    below = toFloat(low, isExact);
  llvm::APFloat above = toFloat(high, isHighExact);
  if (!isHighExact) // beyond the greatest float
    above = llvm::APFloat::getInf(semantics);
  if (!isExact) {
    below = llvm::APFloat::getInf(semantics, /*Negative=*/true);
    lowPredicate = arith::CmpFPredicate::OGT;
  }
  auto compareWith = [&](arith::CmpFPredicate predicate,
                         const llvm::APFloat &bound) {
    return arith::CmpFOp::create(b, predicate, source,
                                 floatConstantOf(b, source.getType(), bound));
  };
  Value fits =
      arith::AndIOp::create(b, compareWith(lowPredicate, below),
                            compareWith(arith::CmpFPredicate::OLT, above));
  faults.push_back({"float to int out of range", notOf(b, fits), {}});
}

/// Reports a fault in the lanes that have an effect.
static void reportFault(Checker &checker, FloatCopy &copies, Operation *op,
                        const Fault &fault, const Effect &effect) {
  ImplicitLocOpBuilder b = checker.after(effect.known);
  b.setLoc(op->getLoc());
  Value bad = fault.bad;
  if (Value lanes = effect.materialize(b, analysis::shapeOf(op->getResult(0))))
    bad = arith::AndIOp::create(b, bad, lanes);
  SmallVector<Value> operands(op->getOperands());
  reportWhere(checker, b, bad, "arith", op, [&](Finding &finding) {
    finding.note["fault"] = fault.what;
    addOperands(checker, finding, op, operands, copies);
  });
}

static void checkInteger(Checker &checker, FloatCopy &copies, Operation *op) {
  ImplicitLocOpBuilder b = checker.before(op);
  SmallVector<Fault, 2> faults;
  bool isDivision =
      isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
          arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(op);
  if (isDivision)
    addFaultsOfDivision(b, op, faults);
  else if (isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op))
    addFaultsOfShift(b, op, faults);
  else if (isa<arith::FPToSIOp, arith::FPToUIOp>(op))
    addFaultsOfConversion(b, copies, op, faults);
  else
    return;
  if (faults.empty())
    return checker.say(op, "arith", Verdict::Proved,
                       "the operands are in range");
  Value unsafe;
  bool hasEffect = false;
  for (const Fault &fault : faults) {
    Effect effect = Effect::of(cast<OpResult>(op->getResult(0)), fault.facts);
    if (effect.isNone)
      continue;
    hasEffect = true;
    reportFault(checker, copies, op, fault, effect);
    unsafe =
        unsafe ? Value(arith::OrIOp::create(b, unsafe, fault.bad)) : fault.bad;
  }
  if (!hasEffect)
    return checker.say(op, "arith", Verdict::Proved,
                       "no lane with a wrong operand has an effect");
  checker.say(op, "arith", Verdict::Checked, "");
  // A division by 0 ends a program on some processors. On others the compiler
  // takes it not to happen, and would remove the check.
  if (isDivision) {
    Value divisor = op->getOperand(1);
    op->setOperand(
        1, arith::SelectOp::create(
               b, unsafe, constantOf(b, divisor.getType(), 1), divisor));
  }
}

/// Whether a value has no name of its own: Triton names all operations of `q =
/// (a + b) // c` after q.
static bool isPartOf(Value value, Operation *op) {
  auto name = dyn_cast<NameLoc>(value.getLoc());
  auto whole = dyn_cast<NameLoc>(op->getLoc());
  return name && whole && name.getName() == whole.getName() &&
         positionOf(name).getLine() == positionOf(whole).getLine();
}

void sanitizer::addOperands(Checker &checker, Finding &finding,
                            Operation *reader, ArrayRef<Value> operands,
                            FloatCopy &copies) {
  ArrayRef<int64_t> shape = analysis::shapeOf(finding.ok);
  StringRef names[] = {"lhs", "rhs", "third"};
  for (auto [i, value] : llvm::enumerate(operands)) {
    Type element = getElementTypeOrSelf(value.getType());
    ArrayRef<int64_t> own = analysis::shapeOf(value);
    bool isShown = element.isIntOrFloat() &&
                   element.getIntOrFloatBitWidth() <= 64 &&
                   (own.empty() || own == shape) && i < std::size(names);
    StringRef name = operands.size() == 1 ? "operand" : names[i];
    if (isShown)
      finding.values.push_back(
          {isPartOf(value, finding.op) ? name.str() : nameOf(value, name),
           copies.of(value), checker.signs.isUnsigned(value, reader)});
  }
}

void sanitizer::checkArith(Checker &checker) {
  if (!checker.wants("arith"))
    return;
  SmallVector<Operation *> ops;
  checker.kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != checker.kernel)
      ops.push_back(op);
    // The operations in a reduction run once for each pair of elements.
    return isa<tt::ReduceOp, tt::ScanOp, tt::MapElementwiseOp>(op)
               ? WalkResult::skip()
               : WalkResult::advance();
  });
  FloatCopy copies(checker);
  for (Operation *op : ops) {
    checkInteger(checker, copies, op);
    checkFloat(checker, copies, op);
  }
  keepProductsBesideSums(checker.kernel);
}
