// SPDX-License-Identifier: Apache-2.0
//
// Records the NaNs that operations make. Operations that only pass values on,
// such as a reshape, are left out: their NaNs have been seen before.

#include "Access.h"
#include "Observer.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::instrument;
namespace tt = mlir::triton;

/// Whether `op` can have a NaN as a result although no operand is one, or reads
/// it from memory.
static bool canMakeNaN(Operation *op) {
  if (op->hasTrait<OpTrait::ConstantLike>() ||
      isa<RegionBranchOpInterface, tt::CallOp>(op))
    return false;
  return !isa<arith::SelectOp, arith::NegFOp, arith::ExtFOp, arith::SIToFPOp,
              arith::UIToFPOp, math::AbsFOp, tt::SplatOp, tt::UnsplatOp,
              tt::ExpandDimsOp, tt::ReshapeOp, tt::BroadcastOp, tt::CatOp,
              tt::JoinOp, tt::SplitOp, tt::TransOp, tt::GatherOp>(op);
}

void instrument::observeNaNs(Operation *op) {
  if (!canMakeNaN(op))
    return;
  for (Value result : op->getResults()) {
    auto element = dyn_cast<FloatType>(getElementTypeOrSelf(result.getType()));
    // Triton has no comparison of floats of 8 bits.
    if (!element || element.getWidth() < 16)
      continue;
    Observer observer(op);
    ImplicitLocOpBuilder &b = observer.b;
    b.setInsertionPointAfter(op);
    Value isNumber =
        arith::CmpFOp::create(b, arith::CmpFPredicate::ORD, result, result);
    // Lanes that a load has not read have no value.
    Value mask;
    if (std::optional<Access> access = accessOf(op))
      mask = access->mask;
    std::string name = ("NaN from " + op->getName().getStringRef()).str();
    observer.mark(probe::CheckOp::create(b, isNumber, name, ValueRange{result},
                                         mask, /*are_unsigned=*/nullptr),
                  "nans");
  }
}
