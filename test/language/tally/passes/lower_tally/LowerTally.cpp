// SPDX-License-Identifier: Apache-2.0
//
// Lowers the dialect `tally`.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Pass/Pass.h"
#include "tally/Tally.h"

namespace mlir::triton_ext::lower_tally {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_LOWERTALLYPASS
#include "LowerTally.h.inc"
} // namespace mlir::triton_ext::lower_tally

using namespace mlir;
using namespace mlir::triton_ext::tally;

namespace {
struct LowerTallyPass
    : mlir::triton_ext::lower_tally::impl::LowerTallyPassBase<LowerTallyPass> {
  using LowerTallyPassBase::LowerTallyPassBase;

  void runOnOperation() override;
};
} // namespace

static void lower(OrderOp op) {
  OpBuilder builder(op);
  Value lhs = op.getLhs(), rhs = op.getRhs();
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(lhs.getType()));
  Value low, high;
  if (isFloat) {
    low = arith::MinNumFOp::create(builder, op.getLoc(), lhs, rhs);
    high = arith::MaxNumFOp::create(builder, op.getLoc(), lhs, rhs);
  } else {
    low = arith::MinSIOp::create(builder, op.getLoc(), lhs, rhs);
    high = arith::MaxSIOp::create(builder, op.getLoc(), lhs, rhs);
  }
  op->replaceAllUsesWith(ValueRange{low, high});
  op->erase();
}

/// Moves what is in the region of `op` to its place.
static void lower(ScopeOp op) {
  Block &body = op.getBody().front();
  body.getTerminator()->erase();
  op->getBlock()->getOperations().splice(op->getIterator(),
                                         body.getOperations());
  op->erase();
}

void LowerTallyPass::runOnOperation() {
  SmallVector<Operation *> found;
  getOperation().walk([&](Operation *op) {
    if (op->getDialect() && op->getDialect()->getNamespace() == "tally" &&
        !isa<YieldOp>(op))
      found.push_back(op);
  });
  // Uses come after what they use.
  for (Operation *op : llvm::reverse(found)) {
    if (auto order = dyn_cast<OrderOp>(op)) {
      lower(order);
    } else if (auto scope = dyn_cast<ScopeOp>(op)) {
      lower(scope);
    } else {
      if (auto count = dyn_cast<CountOp>(op))
        count.replaceAllUsesWith(count.getX());
      op->erase();
    }
  }
}
