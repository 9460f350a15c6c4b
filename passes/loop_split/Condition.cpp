// SPDX-License-Identifier: Apache-2.0
//
// Analysis of the comparisons in a loop: as what affine function of the
// induction variable a value runs, and whether it provably does not wrap.

#include "Condition.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton_ext::loop_split;
using arith::CmpIPredicate;
using arith::IntegerOverflowFlags;

unsigned mlir::triton_ext::loop_split::bitWidth(Type type) {
  if (type.isIndex())
    return IndexType::kInternalStorageBitWidth;
  auto integer = dyn_cast<IntegerType>(type);
  return integer && integer.isSignless() && integer.getWidth() <= 64
             ? integer.getWidth()
             : 0;
}

CmpIPredicate
mlir::triton_ext::loop_split::toUnsigned(CmpIPredicate predicate) {
  switch (predicate) {
  case CmpIPredicate::slt:
    return CmpIPredicate::ult;
  case CmpIPredicate::sle:
    return CmpIPredicate::ule;
  case CmpIPredicate::sgt:
    return CmpIPredicate::ugt;
  case CmpIPredicate::sge:
    return CmpIPredicate::uge;
  default:
    return predicate;
  }
}

bool Condition::holdsBelow() const {
  switch (predicate) {
  case CmpIPredicate::slt:
  case CmpIPredicate::sle:
  case CmpIPredicate::ult:
  case CmpIPredicate::ule:
    return true;
  default:
    return false;
  }
}

bool Condition::changesAtEqual() const {
  switch (predicate) {
  case CmpIPredicate::sle:
  case CmpIPredicate::ule:
  case CmpIPredicate::sgt:
  case CmpIPredicate::ugt:
    return false;
  default:
    return true;
  }
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

/// Between what an integer lies that is not a variable of the loop in question.
static ConstantIntRanges rangeOf(Value value, unsigned depth = 8) {
  unsigned width = bitWidth(value.getType());
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return ConstantIntRanges::constant(constant);
  ConstantIntRanges any = ConstantIntRanges::maxRange(width);
  if (depth == 0)
    return any;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop =
        dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || value != loop.getInductionVar() || loop.getUnsignedCmp())
      return any;
    APInt lower = rangeOf(loop.getLowerBound(), depth - 1).smin();
    APInt upper = rangeOf(loop.getUpperBound(), depth - 1).smax();
    return lower.slt(upper) ? ConstantIntRanges::fromSigned(lower, upper - 1)
                            : any;
  }
  Operation *op = value.getDefiningOp();
  if (isa<triton::GetProgramIdOp, triton::GetNumProgramsOp>(op))
    return ConstantIntRanges::fromSigned(APInt::getZero(width),
                                         APInt::getSignedMaxValue(width));
  auto inferrable = dyn_cast<InferIntRangeInterface>(op);
  if (!inferrable || !llvm::all_of(op->getOperandTypes(),
                                   [](Type type) { return bitWidth(type); }))
    return any;
  SmallVector<ConstantIntRanges> operands;
  for (Value operand : op->getOperands())
    operands.push_back(rangeOf(operand, depth - 1));
  inferrable.inferResultRanges(
      operands, [&](Value result, const ConstantIntRanges &range) {
        if (result == value)
          any = range;
      });
  return any;
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

static APInt wide(const APInt &value, bool isUnsigned) {
  return isUnsigned ? value.zext(wideBits) : value.sext(wideBits);
}

/// The least and the greatest number of `width` bits.
static std::pair<APInt, APInt> limits(unsigned width, bool isUnsigned) {
  if (isUnsigned)
    return {APInt::getZero(wideBits), wide(APInt::getMaxValue(width), true)};
  return {wide(APInt::getSignedMinValue(width), false),
          wide(APInt::getSignedMaxValue(width), false)};
}

void Sequence::View::set(APInt newLow, APInt newHigh, unsigned width,
                         bool isUnsigned, bool flag) {
  auto [least, greatest] = limits(width, isUnsigned);
  exact = flag || (newLow.sge(least) && newHigh.sle(greatest));
  low = llvm::APIntOps::smax(newLow, least);
  high = llvm::APIntOps::smin(newHigh, greatest);
}

void Sequence::complete(unsigned width) {
  for (bool isUnsigned : {false, true}) {
    View &view = views[isUnsigned], &other = views[!isUnsigned];
    if (!view.exact && other.exact)
      view.set(other.low, other.high, width, isUnsigned);
  }
  affine &= slope.getSignificantBits() <= 65;
}

bool ConditionAnalysis::hasFlag(Operation *op, bool isUnsigned) const {
  auto flags = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op);
  return trustsFlags && flags &&
         (isUnsigned ? flags.hasNoUnsignedWrap() : flags.hasNoSignedWrap());
}

bool ConditionAnalysis::isInvariant(Value value, unsigned depth) {
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

Sequence ConditionAnalysis::sequence(Value value, unsigned depth) {
  auto known = sequences[trustsFlags].find(value);
  if (known != sequences[trustsFlags].end())
    return known->second;
  Sequence result = depth ? computeSequence(value, depth - 1) : Sequence();
  sequences[trustsFlags][value] = result;
  return result;
}

Sequence ConditionAnalysis::computeSequence(Value value, unsigned depth) {
  Sequence result;
  unsigned width = bitWidth(value.getType());
  if (width == 0)
    return result;
  auto done = [&] {
    result.complete(width);
    return result;
  };

  if (isInvariant(value) || value == loop.getInductionVar()) {
    bool variable = value == loop.getInductionVar();
    ConstantIntRanges from = rangeOf(variable ? loop.getLowerBound() : value);
    ConstantIntRanges to = rangeOf(variable ? loop.getUpperBound() : value);
    result.affine = true;
    result.slope = APInt(wideBits, variable);
    for (bool isUnsigned : {false, true}) {
      if (variable && isUnsigned != loop.getUnsignedCmp())
        continue;
      APInt low = wide(isUnsigned ? from.umin() : from.smin(), isUnsigned);
      APInt high = wide(isUnsigned ? to.umax() : to.smax(), isUnsigned);
      if (variable)
        high = llvm::APIntOps::smax(low, high - 1);
      result.views[isUnsigned].set(low, high, width, isUnsigned);
    }
    return done();
  }

  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op)) {
    Sequence lhs = sequence(op->getOperand(0), depth);
    Sequence rhs = sequence(op->getOperand(1), depth);
    bool add = isa<arith::AddIOp>(op);
    result.affine = lhs.affine && rhs.affine;
    result.slope = add ? lhs.slope + rhs.slope : lhs.slope - rhs.slope;
    for (bool isUnsigned : {false, true}) {
      const auto &a = lhs.views[isUnsigned], &b = rhs.views[isUnsigned];
      if (result.affine && a.exact && b.exact)
        result.views[isUnsigned].set(a.low + (add ? b.low : -b.high),
                                     a.high + (add ? b.high : -b.low), width,
                                     isUnsigned, hasFlag(op, isUnsigned));
    }
    return done();
  }

  if (isa_and_nonnull<arith::MulIOp, arith::ShLIOp>(op)) {
    Value variable = op->getOperand(0);
    APInt constant;
    if (!matchPattern(op->getOperand(1), m_ConstantInt(&constant))) {
      variable = op->getOperand(1);
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
    Sequence operand = sequence(variable, depth);
    result.affine = operand.affine;
    result.slope = operand.slope * factor;
    for (bool isUnsigned : {false, true}) {
      const auto &view = operand.views[isUnsigned];
      if (!view.exact || (isUnsigned && factor.isNegative()))
        continue;
      APInt one = view.low * factor, other = view.high * factor;
      result.views[isUnsigned].set(llvm::APIntOps::smin(one, other),
                                   llvm::APIntOps::smax(one, other), width,
                                   isUnsigned, hasFlag(op, isUnsigned));
    }
    return done();
  }

  if (isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp,
                      arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
    Sequence operand = sequence(op->getOperand(0), depth);
    bool extends = bitWidth(op->getOperand(0).getType()) < width;
    bool zeroes = isa<arith::ExtUIOp, arith::IndexCastUIOp>(op);
    // What wraps before it is extended is affine no more.
    result.affine = operand.affine && (!extends || operand.views[zeroes].exact);
    result.slope = operand.slope;
    for (bool isUnsigned : {false, true}) {
      const auto &view = operand.views[extends ? zeroes : isUnsigned];
      if (result.affine && view.exact)
        result.views[isUnsigned].set(view.low, view.high, width, isUnsigned,
                                     !extends && hasFlag(op, isUnsigned));
    }
    return done();
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Forms and conditions
//===----------------------------------------------------------------------===//

/// `factor` times the form; `factor` is signed.
static std::optional<Form> scale(Form form, const APInt &factor) {
  bool overflow = false;
  APInt spread = form.spread.umul_ov(factor.abs(), overflow);
  if (overflow)
    return std::nullopt;
  for (auto &[value, coefficient] : form.terms)
    coefficient *= factor;
  form.constant *= factor;
  if (factor.isNegative()) // the greatest becomes the least
    form.constant -= spread;
  form.spread = spread;
  return form;
}

static std::optional<Form> add(Form lhs, const Form &rhs) {
  bool overflow = false;
  lhs.spread = lhs.spread.uadd_ov(rhs.spread, overflow);
  if (overflow)
    return std::nullopt;
  lhs.constant += rhs.constant;
  for (const auto &[value, coefficient] : rhs.terms) {
    auto same = llvm::find_if(
        lhs.terms, [value = value](auto &term) { return term.first == value; });
    if (same == lhs.terms.end())
      lhs.terms.emplace_back(value, coefficient);
    else
      same->second += coefficient;
  }
  llvm::erase_if(lhs.terms, [](auto &term) { return term.second.isZero(); });
  return lhs;
}

/// Whether no element wraps in any iteration, as signed numbers.
bool ConditionAnalysis::isExtendable(const Form &form) {
  if (noWrap)
    return true;
  APInt low = wide(form.constant, false);
  APInt high = low + wide(form.spread, true);
  for (const auto &[value, coefficient] : form.terms) {
    const auto &[exact, least, greatest] = sequence(value).views[false];
    if (!exact)
      return false;
    APInt factor = wide(coefficient, false);
    APInt one = least * factor, other = greatest * factor;
    low += llvm::APIntOps::smin(one, other);
    high += llvm::APIntOps::smax(one, other);
  }
  auto [first, last] = limits(form.constant.getBitWidth(), false);
  return low.sge(first) && high.sle(last);
}

std::optional<Form> ConditionAnalysis::form(Value value, unsigned depth) {
  auto known = forms.find(value);
  if (known != forms.end())
    return known->second;
  std::optional<Form> result;
  if (depth)
    result = computeForm(value, depth - 1);
  forms[value] = result;
  return result;
}

std::optional<Form> ConditionAnalysis::computeForm(Value value,
                                                   unsigned depth) {
  unsigned width = bitWidth(getElementTypeOrSelf(value.getType()));
  auto shaped = dyn_cast<ShapedType>(value.getType());
  if (width == 0 || (shaped && !shaped.hasStaticShape()))
    return std::nullopt;
  Form result{{}, APInt::getZero(width), APInt::getZero(width)};
  if (DenseIntElementsAttr dense; matchPattern(value, m_Constant(&dense))) {
    if (dense.empty())
      return std::nullopt;
    APInt least = *dense.begin(), greatest = least;
    for (const APInt &element : dense) {
      least = llvm::APIntOps::smin(least, element);
      greatest = llvm::APIntOps::smax(greatest, element);
    }
    result.constant = least;
    result.spread = greatest - least;
    return result;
  }
  if (matchPattern(value, m_ConstantInt(&result.constant)))
    return result;
  if (!shaped) {
    result.terms.emplace_back(value, APInt(width, 1));
    return result;
  }

  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (isa<triton::SplatOp, triton::ExpandDimsOp, triton::BroadcastOp,
          triton::ReshapeOp, triton::TransOp>(op))
    return form(op->getOperand(0), depth);
  if (auto range = dyn_cast<triton::MakeRangeOp>(op)) {
    result.constant = APInt(width, range.getStart());
    result.spread = APInt(width, range.getEnd() - 1) - result.constant;
    return result;
  }
  if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op)) {
    std::optional<Form> lhs = form(op->getOperand(0), depth);
    std::optional<Form> rhs = form(op->getOperand(1), depth);
    if (!lhs || !rhs)
      return std::nullopt;
    if (isa<arith::AddIOp>(op))
      return add(std::move(*lhs), *rhs);
    if (isa<arith::SubIOp>(op)) {
      rhs = scale(std::move(*rhs), APInt::getAllOnes(width));
      return rhs ? add(std::move(*lhs), *rhs) : std::nullopt;
    }
    for (auto [constant, other] : {std::pair(&*lhs, &*rhs), {&*rhs, &*lhs}})
      if (constant->terms.empty() && constant->spread.isZero())
        return scale(std::move(*other), constant->constant);
    return std::nullopt;
  }
  if (auto extend = dyn_cast<arith::ExtSIOp>(op)) {
    std::optional<Form> narrow = form(extend.getIn(), depth);
    if (!narrow || !isExtendable(*narrow))
      return std::nullopt;
    for (const auto &[term, coefficient] : narrow->terms)
      result.terms.emplace_back(term, coefficient.sext(width));
    result.constant = narrow->constant.sext(width);
    result.spread = narrow->spread.zext(width);
    return result;
  }
  return std::nullopt;
}

std::optional<Condition> ConditionAnalysis::get(arith::CmpIOp op,
                                                StringRef &reason) {
  auto variesInLoop = [&](Value value) { return !isInvariant(value); };
  if (llvm::none_of(op->getOperands(), variesInLoop))
    return std::nullopt; // another pass may hoist it
  // What wraps in spite of them is poison, which only a branch may not depend
  // on. The first iteration, where the sequence is begun, must come to it.
  trustsFlags =
      op->getBlock() == loop.getBody() &&
      llvm::any_of(op->getUsers(), [&](Operation *user) {
        return isa<scf::IfOp>(user) && user->getBlock() == loop.getBody();
      });
  std::optional<Form> lhs = form(op.getLhs()), rhs = form(op.getRhs());
  if (!lhs || !rhs) {
    reason = "an operand is no sum of scalars, ranges and constants, or one "
             "that may wrap before it is extended";
    return std::nullopt;
  }
  auto isVariant = [&](const Form &form) {
    return llvm::any_of(form.terms,
                        [&](auto &term) { return variesInLoop(term.first); });
  };
  if (isVariant(*lhs) && isVariant(*rhs)) {
    reason = "both operands change in the loop";
    return std::nullopt;
  }
  Condition result;
  result.op = op;
  result.predicate = op.getPredicate();
  result.swapped = isVariant(*rhs);
  if (result.swapped) {
    std::swap(lhs, rhs);
    result.predicate = triton_ext::swapOperands(result.predicate);
  }
  result.lhs = std::move(*lhs);
  result.rhs = std::move(*rhs);

  unsigned width = result.lhs.constant.getBitWidth();
  APInt slope = APInt::getZero(wideBits);
  Sequence last;
  for (const auto &[value, coefficient] : result.lhs.terms) {
    last = sequence(value);
    if (!last.affine) {
      reason = "it is no affine function of the induction variable, or one "
               "that may wrap before it is extended";
      return std::nullopt;
    }
    // Of one bit, 1 is -1, too.
    slope += last.slope * wide(coefficient, coefficient.isOne());
  }
  result.increasing = slope.isStrictlyPositive();
  result.slope = slope.abs().trunc(width);
  if (result.slope.isZero()) {
    reason = "it does not change with the induction variable";
    return std::nullopt;
  }
  if (result.isEquality() &&
      !(result.lhs.spread.isZero() && result.rhs.spread.isZero())) {
    reason = "equality of tensors";
    return std::nullopt;
  }
  result.isUnsigned = result.isEquality()
                          ? !last.views[false].exact && last.views[true].exact
                          : result.predicate == CmpIPredicate::ult ||
                                result.predicate == CmpIPredicate::ule ||
                                result.predicate == CmpIPredicate::ugt ||
                                result.predicate == CmpIPredicate::uge;
  result.exact = result.lhs.terms.size() == 1 &&
                 result.lhs.terms.front().second.isOne() &&
                 bitWidth(result.lhs.terms.front().first.getType()) == width &&
                 result.lhs.constant.isZero() && !result.hasTail() &&
                 last.views[result.isUnsigned].exact &&
                 slope.abs().getActiveBits() <= width;
  return result;
}
