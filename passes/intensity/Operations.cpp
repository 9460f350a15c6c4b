// SPDX-License-Identifier: Apache-2.0
//
// What single operations compute.

#include "Operations.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::intensity;
namespace tt = mlir::triton;

int64_t intensity::elementsOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getNumElements() : 1;
}

std::string intensity::typeName(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << getElementTypeOrSelf(type);
  return name;
}

/// Returns the FLOPs of a product of matrices: a multiplication and an addition
/// for each element of the result and each k.
static Flops flopsOfDot(Value result, int64_t k, std::string type) {
  return {"dot", std::move(type), 2 * elementsOf(result.getType()) * k};
}

static Flops flopsOf(tt::DotOp dot) {
  std::string a = typeName(dot.getA().getType());
  std::string b = typeName(dot.getB().getType());
  std::string type = a == b ? a : a + "*" + b;
  if (a == "f32" && dot.getInputPrecision() != tt::InputPrecision::IEEE)
    type = tt::stringifyInputPrecision(dot.getInputPrecision()).str();
  return flopsOfDot(dot.getD(), dot.getA().getType().getShape().back(), type);
}

static Flops flopsOf(tt::DotScaledOp dot) {
  int64_t k = cast<RankedTensorType>(dot.getA().getType()).getShape().back();
  // Two numbers of four bits are packed into one i8, along k or along m.
  if (dot.getAElemType() == tt::ScaleDotElemType::E2M1 && dot.getLhsKPack())
    k *= 2;
  StringRef a = tt::stringifyScaleDotElemType(dot.getAElemType());
  StringRef b = tt::stringifyScaleDotElemType(dot.getBElemType());
  return flopsOfDot(dot.getD(), k, (a == b ? a : (a + "*" + b).str()).str());
}

/// The operations that compute nothing that counts: comparisons, minima and
/// maxima, signs, rounding, conversions, and changes of shape.
static bool isFree(Operation *op) {
  return isa<arith::ConstantOp, arith::CmpFOp, arith::SelectOp, arith::NegFOp,
             arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
             arith::MinNumFOp, arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp,
             arith::UIToFPOp, arith::FPToSIOp, arith::FPToUIOp,
             arith::BitcastOp, math::AbsFOp, math::CeilOp, math::FloorOp,
             math::RoundOp, math::RoundEvenOp, math::TruncOp, math::CopySignOp,
             math::IsNaNOp, math::IsInfOp, math::IsFiniteOp>(op) ||
         isa<tt::SplatOp, tt::UnsplatOp, tt::ExpandDimsOp, tt::ReshapeOp,
             tt::BroadcastOp, tt::CatOp, tt::JoinOp, tt::SplitOp, tt::TransOp,
             tt::GatherOp, tt::MakeRangeOp, tt::GetProgramIdOp,
             tt::GetNumProgramsOp, tt::AddPtrOp, tt::IntToPtrOp, tt::PtrToIntOp,
             tt::BitcastOp, tt::FpToFpOp, tt::ClampFOp, tt::MulhiUIOp,
             tt::HistogramOp, tt::MakeTensorDescOp, tt::PrintOp, tt::AssertOp,
             tt::GridDependencyWaitOp, tt::GridDependencyLaunchDependentsOp>(
             op) ||
         isa<ub::PoisonOp>(op) ||
         op->getName().getStringRef() == "llvm.intr.assume";
}

/// Whether `op` is pure and takes and makes integers only, e.g. arith.addi.
static bool isIntegerArithmetic(Operation *op) {
  auto isInteger = [](Type type) {
    return getElementTypeOrSelf(type).isIntOrIndex();
  };
  return isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
         llvm::all_of(op->getOperandTypes(), isInteger) &&
         llvm::all_of(op->getResultTypes(), isInteger);
}

static StringRef kindOf(Operation *op) {
  if (isa<arith::AddFOp, arith::SubFOp>(op))
    return "add";
  if (isa<arith::MulFOp>(op))
    return "mul";
  if (isa<math::FmaOp>(op))
    return "fma";
  if (isa<arith::DivFOp, arith::RemFOp, tt::PreciseDivFOp, tt::ApproxDivFOp>(
          op))
    return "div";
  if (isa<tt::PreciseSqrtOp, tt::ExternElementwiseOp>(op) ||
      isa<math::MathDialect>(op->getDialect()))
    return "transcendental";
  return "";
}

Computation intensity::computationOf(Operation *op) {
  if (auto dot = dyn_cast<tt::DotOp>(op))
    return {true, flopsOf(dot)};
  if (auto dot = dyn_cast<tt::DotScaledOp>(op))
    return {true, flopsOf(dot)};
  if (isFree(op) || isIntegerArithmetic(op))
    return {true, std::nullopt};
  StringRef kind = kindOf(op);
  bool isPure = isMemoryEffectFree(op);
  if (kind.empty() || op->getNumResults() != 1 || !isPure)
    return {};
  Type type = op->getResult(0).getType();
  if (!isa<FloatType>(getElementTypeOrSelf(type)))
    return {isa<tt::ExternElementwiseOp>(op), std::nullopt};
  int64_t each = kind == "fma" ? 2 : 1;
  return {true, Flops{kind.str(), typeName(type), each * elementsOf(type)}};
}
