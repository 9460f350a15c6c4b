// SPDX-License-Identifier: Apache-2.0

#include "AffineForm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton_ext::loop_split;

/// Returns `factor`, a signed number, times the form, or nullopt if the spread
/// leaves the type: elements that are 2^width apart would be taken to be equal.
static std::optional<AffineForm> scale(AffineForm form, const APInt &factor) {
  bool overflow = false;
  APInt spread = form.spread.umul_ov(factor.abs(), overflow);
  if (overflow)
    return std::nullopt;
  for (auto &[value, coefficient] : form.terms)
    coefficient *= factor;
  form.constant *= factor;
  // The greatest element becomes the least: those of -arange(0, 8) are -7 plus
  // a number in [0, 7].
  if (factor.isNegative())
    form.constant -= spread;
  form.spread = spread;
  return form;
}

static std::optional<AffineForm> add(AffineForm lhs, const AffineForm &rhs) {
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

/// Whether the form, computed in numbers without a width, is a signed number of
/// its type for each element in each iteration. Then its sign-extension is the
/// form with extended coefficients. It holds if the interval of the sum, added
/// up from the intervals of the terms, lies in the type.
bool AffineForms::isExtendable(const AffineForm &form) {
  if (noWrap)
    return true;
  APInt low = wide(form.constant, /*isUnsigned=*/false);
  APInt high = low + wide(form.spread, /*isUnsigned=*/true);
  for (const auto &[value, coefficient] : form.terms) {
    // Flags do not count: what is poison in a tensor need not reach a branch.
    const auto &[exact, least, greatest] =
        recurrences.get(value, /*trustsFlags=*/false).views[false];
    if (!exact)
      return false;
    APInt factor = wide(coefficient, /*isUnsigned=*/false);
    APInt one = least * factor, other = greatest * factor;
    low += llvm::APIntOps::smin(one, other);
    high += llvm::APIntOps::smax(one, other);
  }
  auto [first, last] =
      limits(form.constant.getBitWidth(), /*isUnsigned=*/false);
  return low.sge(first) && high.sle(last);
}

std::optional<AffineForm> AffineForms::get(Value value, unsigned depth) {
  auto known = forms.find(value);
  if (known != forms.end())
    return known->second;
  std::optional<AffineForm> result;
  if (depth)
    result = compute(value, depth - 1);
  forms[value] = result;
  return result;
}

std::optional<AffineForm> AffineForms::compute(Value value, unsigned depth) {
  unsigned width = bitWidth(getElementTypeOrSelf(value.getType()));
  auto shaped = dyn_cast<ShapedType>(value.getType());
  if (width == 0 || (shaped && !shaped.hasStaticShape()))
    return std::nullopt;
  AffineForm result{{}, APInt::getZero(width), APInt::getZero(width)};
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
    return get(op->getOperand(0), depth);
  if (auto range = dyn_cast<triton::MakeRangeOp>(op)) {
    result.constant = APInt(width, range.getStart());
    result.spread = APInt(width, range.getEnd() - 1) - result.constant;
    return result;
  }
  if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op)) {
    std::optional<AffineForm> lhs = get(op->getOperand(0), depth);
    std::optional<AffineForm> rhs = get(op->getOperand(1), depth);
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
    std::optional<AffineForm> narrow = get(extend.getIn(), depth);
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
