// SPDX-License-Identifier: Apache-2.0
//
// Turns ttx.cumsum into linalg_ext.scan. Everything else is left untouched.

#include "linalg_ext/LinalgExt.h"
#include "ttx/Ttx.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

namespace mlir::triton_ext::lower_ttx {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_LOWERTTXPASS
#include "LowerTtx.h.inc"
} // namespace mlir::triton_ext::lower_ttx

using namespace mlir;
using namespace mlir::triton_ext;

static void lower(ttx::CumSumOp op, IRRewriter &rewriter) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  auto scan = linalg_ext::ScanOp::create(
      rewriter, loc, op.getResultTypes(), op.getInputs(), op.getOutputs(),
      int64_t(op.getAxis()), op.getReverse());
  Type type = cast<ShapedType>(op.getInput().getType()).getElementType();
  Block *body =
      rewriter.createBlock(&scan.getBody(), {}, {type, type}, {loc, loc});
  Value before = body->getArgument(0), element = body->getArgument(1);
  Value sum =
      isa<FloatType>(type)
          ? arith::AddFOp::create(rewriter, loc, before, element).getResult()
          : arith::AddIOp::create(rewriter, loc, before, element).getResult();
  linalg_ext::YieldOp::create(rewriter, loc, sum);
  rewriter.replaceOp(op, scan.getResults());
}

namespace {
struct LowerTtxPass
    : mlir::triton_ext::lower_ttx::impl::LowerTtxPassBase<LowerTtxPass> {
  using LowerTtxPassBase::LowerTtxPassBase;

  void runOnOperation() override {
    SmallVector<ttx::CumSumOp> sums;
    getOperation().walk([&](ttx::CumSumOp op) { sums.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (ttx::CumSumOp op : sums)
      lower(op, rewriter);
  }
};
} // namespace
