// SPDX-License-Identifier: Apache-2.0

#include "Costs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

OperationKind mlir::triton_ext::cpu::kindOf(Operation *op) {
  DenseElementsAttr dense;
  if (matchPattern(op, m_Constant(&dense)) && !dense.isSplat())
    return OperationKind::Rearrangement;
  if (isa<triton::SplatOp, triton::BroadcastOp, triton::ExpandDimsOp,
          triton::TransOp, triton::MakeRangeOp, arith::ConstantOp,
          UnrealizedConversionCastOp>(op))
    return OperationKind::Free;
  if (isa<triton::LoadOp>(op))
    return OperationKind::Load;
  if (isa<triton::ReshapeOp, triton::JoinOp, triton::CatOp, triton::SplitOp>(
          op))
    return OperationKind::Rearrangement;
  if (isa<math::AbsFOp, math::FmaOp, math::FloorOp, math::CeilOp>(op))
    return OperationKind::Arithmetic;
  if (isa<triton::ExternElementwiseOp, arith::RemFOp>(op) ||
      isa_and_nonnull<math::MathDialect>(op->getDialect()))
    return OperationKind::Function;
  if (isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp,
          arith::RemUIOp, triton::PreciseDivFOp, triton::PreciseSqrtOp>(op))
    return OperationKind::Division;
  if (isa<triton::FpToFpOp, triton::GatherOp>(op))
    return OperationKind::Conversion;
  return OperationKind::Arithmetic;
}

Cost mlir::triton_ext::cpu::costOf(OperationKind kind) {
  switch (kind) {
  case OperationKind::Free:
    return 0;
  case OperationKind::Arithmetic:
    return 1;
  case OperationKind::Rearrangement:
    return 2; // a shift and a mask
  case OperationKind::Load:
    return 4; // the latency of a hit in the first-level cache
  case OperationKind::Conversion:
    return 5; // shifts, a mask, a select
  case OperationKind::Division:
    return 8; // a vector division starts every 8 cycles or so
  case OperationKind::Function:
    return 16; // as for exp: argument reduction and polynomial
  }
  llvm_unreachable("no such kind");
}
