// SPDX-License-Identifier: Apache-2.0
//
// Turns `arith.addf` into `arith.subf`, so that a test can see by the result of
// a kernel that the pass ran. `arith` is in the modules of every stage.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::triton_ext::subtract {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_SUBTRACTPASS
#include "Subtract.h.inc"
} // namespace mlir::triton_ext::subtract

using namespace mlir;

namespace {
struct SubtractPass
    : mlir::triton_ext::subtract::impl::SubtractPassBase<SubtractPass> {
  using SubtractPassBase::SubtractPassBase;

  void runOnOperation() override {
    SmallVector<arith::AddFOp> additions;
    getOperation().walk([&](arith::AddFOp op) { additions.push_back(op); });
    if (first && additions.size() > 1)
      additions.truncate(1);
    for (arith::AddFOp op : additions) {
      OpBuilder builder(op);
      op.replaceAllUsesWith(
          arith::SubFOp::create(builder, op.getLoc(), op.getLhs(), op.getRhs())
              .getResult());
      op.erase();
    }
  }
};
} // namespace
