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

/// Returns the pointer or descriptor from which an address is computed.
static Value baseOf(Value address) {
  while (isa_and_nonnull<tt::AddPtrOp, tt::SplatOp, tt::BroadcastOp,
                         tt::ExpandDimsOp, tt::ReshapeOp, tt::TransOp,
                         tt::BitcastOp, tt::MakeTensorDescOp>(
      address.getDefiningOp()))
    address = address.getDefiningOp()->getOperand(0);
  return address;
}

/// Returns the number of the kernel's argument from whose memory `op` reads, or
/// nullopt if it does not read, or if it is not found. A base that a loop
/// carries is the one before the loop if each turn only advances it; a turn may
/// also swap it with another one.
static std::optional<unsigned> argumentReadBy(Operation *op) {
  std::optional<Access> access = accessOf(op);
  if (!access)
    return std::nullopt;
  Value base =
      baseOf(access->descriptor ? access->descriptor : access->pointer);
  while (auto argument = dyn_cast<BlockArgument>(base)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (isa<tt::FuncOp>(parent) && argument.getOwner()->isEntryBlock())
      return argument.getArgNumber();
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop ||
        baseOf(loop.getTiedLoopYieldedValue(argument)->get()) != argument)
      return std::nullopt;
    base = baseOf(loop.getTiedLoopInit(argument)->get());
  }
  return std::nullopt;
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
    auto check = probe::CheckOp::create(b, isNumber, name, ValueRange{result},
                                        mask, /*are_unsigned=*/nullptr);
    observer.mark(check, "nans");
    if (std::optional<unsigned> argument = argumentReadBy(op))
      check->setAttr("probe.argument", b.getI64IntegerAttr(*argument));
  }
}
