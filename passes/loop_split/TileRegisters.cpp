// SPDX-License-Identifier: Apache-2.0
//
// The liveness of tensors in the body of a loop, in program order.

#include "TileRegisters.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton_ext;

/// The bits of a register of a GPU.
static constexpr int64_t registerBits = 32;

/// Returns whether only matrix products read `value`.
static bool isOnlyMultiplied(Value value) {
  return llvm::all_of(value.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<triton::TransOp>(user))
      return isOnlyMultiplied(user->getResult(0));
    return isa<triton::DotOpInterface>(user) &&
           use.getOperandNumber() < 2; // not the accumulator
  });
}

/// Returns the bits of `value` that lie in registers.
static int64_t bitsOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.getElementType().isIntOrFloat())
    return 0;
  Operation *op = value.getDefiningOp();
  // Triton makes these where they are used.
  if (isa_and_nonnull<triton::SplatOp, triton::BroadcastOp,
                      triton::ExpandDimsOp, triton::MakeRangeOp,
                      arith::ConstantOp>(op))
    return 0;
  if (isa_and_nonnull<triton::LoadOp, triton::DescriptorLoadOp>(op) &&
      isOnlyMultiplied(value))
    return 0;
  return type.getNumElements() * type.getElementTypeBitWidth();
}

int64_t mlir::triton_ext::loop_split::tileRegisters(scf::ForOp loop,
                                                    int64_t threads) {
  Block *body = loop.getBody();
  auto diesAt = [&](Value value, Operation *op) {
    return llvm::all_of(value.getUsers(), [&](Operation *user) {
      Operation *here = body->findAncestorOpInBlock(*user);
      return !here || here == op || here->isBeforeInBlock(op);
    });
  };
  int64_t live = 0;
  for (Value carried : loop.getRegionIterArgs())
    if (!carried.use_empty())
      live += bitsOf(carried);
  int64_t peak = live;
  for (Operation &op : *body) {
    llvm::SmallPtrSet<void *, 8> used;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (operand.getParentBlock() == body &&
            used.insert(operand.getAsOpaquePointer()).second &&
            diesAt(operand, &op))
          live -= bitsOf(operand);
    });
    for (Value result : op.getResults())
      if (!result.use_empty())
        live += bitsOf(result);
    peak = std::max(peak, live);
  }
  return peak / registerBits / threads;
}
