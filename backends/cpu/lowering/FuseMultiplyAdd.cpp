// SPDX-License-Identifier: Apache-2.0
//
// Decides which products and sums are rounded once. LLVM's code generator could
// decide it, too, but looks at one basic block at a time, after vectorization:
// whether it fuses then depends on code that does not compute the numbers, such
// as a branch of a check, and a kernel would give other bits with a check than
// without.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

namespace mlir::triton_ext::cpu {
#define GEN_PASS_DECL_FUSEMULTIPLYADDPASS
#define GEN_PASS_DEF_FUSEMULTIPLYADDPASS
#include "Passes.h.inc"
} // namespace mlir::triton_ext::cpu

using namespace mlir;

/// Returns whether the sum must be rounded by itself, as a function like
/// __fadd_rn promises.
static bool isFenced(Operation *sum) {
  return llvm::any_of(sum->getUsers(), [](Operation *user) {
    auto call = dyn_cast<LLVM::CallIntrinsicOp>(user);
    return call && call.getIntrin() == "llvm.arithmetic.fence";
  });
}

namespace {
struct FuseMultiplyAddPass
    : mlir::triton_ext::cpu::impl::FuseMultiplyAddPassBase<
          FuseMultiplyAddPass> {
  using FuseMultiplyAddPassBase::FuseMultiplyAddPassBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation().walk([&](Operation *op) {
      if (isa<arith::AddFOp, arith::SubFOp>(op))
        fuse(op, rewriter);
    });
  }

private:
  /// Returns the multiplication that defines `value`; null if there is none, or
  /// if other uses of it keep it in lowered code.
  arith::MulFOp productOf(Value value) {
    auto product = value.getDefiningOp<arith::MulFOp>();
    return product && (!isLowered || product->hasOneUse()) ? product
                                                           : arith::MulFOp();
  }

  Value fma(Value x, Value y, Value z, OpBuilder &b, Location loc) {
    if (isLowered)
      return LLVM::FMAOp::create(b, loc, x, y, z);
    return math::FmaOp::create(b, loc, x, y, z);
  }

  void fuse(Operation *op, IRRewriter &rewriter) {
    Type element = getElementTypeOrSelf(op->getResult(0).getType());
    if (!(element.isF32() || element.isF64()) || isFenced(op))
      return;
    bool isDifference = isa<arith::SubFOp>(op);
    Value left = op->getOperand(0), right = op->getOperand(1);
    rewriter.setInsertionPoint(op);
    auto negated = [&](Value value) -> Value {
      if (!isDifference)
        return value;
      return arith::NegFOp::create(rewriter, op->getLoc(), value);
    };
    arith::MulFOp product = productOf(left);
    Value fused;
    if (product) { // x * y - z
      fused = fma(product.getLhs(), product.getRhs(), negated(right), rewriter,
                  op->getLoc());
    } else if ((product = productOf(right))) { // z - x * y
      fused = fma(negated(product.getLhs()), product.getRhs(), left, rewriter,
                  op->getLoc());
    } else {
      return;
    }
    rewriter.replaceOp(op, fused);
    if (product->use_empty())
      rewriter.eraseOp(product);
  }
};
} // namespace
