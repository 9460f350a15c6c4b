// SPDX-License-Identifier: Apache-2.0
//
// Operations that make NaN or Inf of finite numbers. What is computed of these
// afterwards is not reported again, nor are lanes without an effect.

#include "Arith.h"
#include "Bits.h"
#include "Effect.h"

#include "analysis/Dimensions.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::sanitizer;
namespace tt = mlir::triton;

/// Whether values of the type can be compared: Triton cannot compare floats of
/// 8 bits.
static bool isComparable(Type type) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  return element && element.getWidth() >= 16;
}

/// Whether integers of this many bits may exceed the greatest float.
static bool mayExceed(Type integer, Type type) {
  auto element = cast<FloatType>(getElementTypeOrSelf(type));
  return int(getElementTypeOrSelf(integer).getIntOrFloatBitWidth()) >
         llvm::APFloat::semanticsMaxExponent(element.getFloatSemantics());
}

/// Whether `op` can have NaN or Inf as a result of finite numbers.
static bool canOverflow(Operation *op) {
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op))
    return mayExceed(op->getOperand(0).getType(), op->getResult(0).getType());
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
             arith::RemFOp, arith::TruncFOp, math::ExpOp, math::Exp2Op,
             math::ExpM1Op, math::LogOp, math::Log2Op, math::Log10Op,
             math::Log1pOp, math::SqrtOp, math::RsqrtOp, math::PowFOp,
             math::FmaOp, math::TanOp, tt::PreciseSqrtOp, tt::PreciseDivFOp,
             tt::ApproxDivFOp, tt::FpToFpOp, tt::ExternElementwiseOp, tt::DotOp,
             tt::ReduceOp, tt::ScanOp>(op);
}

Value sanitizer::floatConstantOf(ImplicitLocOpBuilder &b, Type type,
                                 const llvm::APFloat &value) {
  auto number = FloatAttr::get(getElementTypeOrSelf(type), value);
  if (auto shaped = dyn_cast<ShapedType>(type))
    return arith::ConstantOp::create(
        b, SplatElementsAttr::get(shaped, Attribute(number)));
  return arith::ConstantOp::create(b, number);
}

/// Returns where the value is NaN or Inf, or where it is not.
static Value whereFinite(ImplicitLocOpBuilder &b, Value value, bool isFinite) {
  Type type = value.getType();
  auto element = cast<FloatType>(getElementTypeOrSelf(type));
  Value infinity = floatConstantOf(
      b, type, llvm::APFloat::getInf(element.getFloatSemantics()));
  return arith::CmpFOp::create(
      b, isFinite ? arith::CmpFPredicate::OLT : arith::CmpFPredicate::UGE,
      math::AbsFOp::create(b, value), infinity);
}

/// Returns for each element of the result whether the operand has a NaN or Inf
/// among the elements that it is computed of.
static Value spreadToResult(ImplicitLocOpBuilder &b, Operation *op,
                            unsigned operand, Value bits,
                            ArrayRef<int64_t> shape) {
  if (auto reduction = dyn_cast<tt::ReduceOp>(op)) {
    bits = anyAlong(b, bits, reduction.getAxis());
    if (!shape.empty() && isa<RankedTensorType>(bits.getType())) {
      SmallVector<int64_t> kept(analysis::shapeOf(bits));
      kept.erase(kept.begin() + reduction.getAxis());
      bits = reshaped(b, bits, kept);
    }
  } else if (auto scan = dyn_cast<tt::ScanOp>(op)) {
    bits = anyBefore(b, bits, scan.getAxis(), scan.getReverse());
  } else if (isa<tt::DotOp>(op) && operand < 2) {
    bits = anyAlong(b, bits, shape.size() - 1 - operand);
  }
  return broadcastTo(b, bits, shape);
}

/// Whether a reduction or a scan only chooses among its elements, as a maximum
/// does.
static bool onlyChooses(Operation *op) {
  if (!isa<tt::ReduceOp, tt::ScanOp>(op))
    return false;
  return !op->getRegion(0)
              .walk([](Operation *inner) {
                return canOverflow(inner) ? WalkResult::interrupt()
                                          : WalkResult::advance();
              })
              .wasInterrupted();
}

/// Returns the product that a sum may be fused with, to one operation with one
/// rounding. It may be only as long as nothing else uses the product, not even
/// a check: with it the kernel would have other results.
static Operation *fusedProduct(Value value) {
  auto product = value.getDefiningOp<arith::MulFOp>();
  return product && value.hasOneUse() &&
                 isa<arith::AddFOp, arith::SubFOp>(*value.user_begin())
             ? product
             : nullptr;
}

/// Returns the operands of `op`, and those of products that it may be fused
/// with in their place.
static SmallVector<Value> operandsOf(Operation *op) {
  SmallVector<Value> operands;
  for (Value value : op->getOperands())
    if (Operation *product = fusedProduct(value))
      operands.append(product->operand_begin(), product->operand_end());
    else
      operands.push_back(value);
  return operands;
}

static void checkResult(Checker &checker, FloatCopy &copies, Operation *op,
                        OpResult result) {
  ArrayRef<int64_t> shape = analysis::shapeOf(result);
  SmallVector<Value> operands = operandsOf(op);
  SmallVector<std::pair<unsigned, Value>> unsure;
  for (auto [i, value] : llvm::enumerate(operands)) {
    if (!isComparable(value.getType()))
      continue;
    llvm::APFloat constant(0.0);
    if (!matchPattern(value, m_ConstantFloat(&constant)))
      unsure.push_back({i, value});
    else if (!constant.isFinite())
      return;
  }
  Effect effect = Effect::of(result, {});
  if (effect.isNone)
    return checker.say(op, "arith", Verdict::Proved, "no lane has an effect");
  checker.say(op, "arith", Verdict::Checked, "");
  ImplicitLocOpBuilder b = checker.after(effect.known);
  b.setLoc(op->getLoc());
  Value bad = whereFinite(b, copies.of(result), false);
  if (Value lanes = effect.materialize(b, shape))
    bad = arith::AndIOp::create(b, bad, lanes);
  // The operands are looked at only if there is something to report.
  auto branch = scf::IfOp::create(b, anyOf(b, bad), /*withElseRegion=*/false);
  b.setInsertionPoint(branch.thenYield());
  for (auto [i, value] : unsure) {
    Value bits = spreadToResult(b, op, i,
                                whereFinite(b, copies.of(value), false), shape);
    bad = arith::AndIOp::create(b, bad, notOf(b, bits));
  }
  reportWhere(checker, b, bad, "arith", op, [&](Finding &finding) {
    finding.note["fault"] = "NaN or Inf from finite numbers";
    finding.note["operation"] = op->getName().getStringRef();
    addOperands(checker, finding, op, operands, copies);
    finding.values.push_back({"result", copies.of(result)});
  });
}

void sanitizer::checkFloat(Checker &checker, FloatCopy &copies, Operation *op) {
  if (!canOverflow(op) || onlyChooses(op) ||
      (op->getNumResults() == 1 && fusedProduct(op->getResult(0))))
    return;
  for (OpResult result : op->getResults())
    if (isComparable(result.getType()))
      checkResult(checker, copies, op, result);
}
