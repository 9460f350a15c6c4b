// SPDX-License-Identifier: Apache-2.0
//
// Turns linalg_ext.scan whose body is a sum into ttx.cumsum. Other scans are
// left untouched.

#include "linalg_ext/LinalgExt.h"
#include "ttx/Ttx.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

namespace mlir::triton_ext::convert_scan_to_ttx {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_CONVERTSCANTOTTXPASS
#include "ConvertScanToTtx.h.inc"
} // namespace mlir::triton_ext::convert_scan_to_ttx

using namespace mlir;
using namespace mlir::triton_ext;

/// Returns whether the body yields the sum of its two arguments, in any order,
/// with no flag that changes its meaning.
static bool isSum(linalg_ext::ScanOp scan) {
  if (scan.isCarried() || scan.getInputs().size() != 1)
    return false;
  Block &body = scan.getBody().front();
  Operation *sum = body.getTerminator()->getOperand(0).getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(sum) ||
      sum->getBlock() != &body)
    return false;
  if (auto add = dyn_cast<arith::AddFOp>(sum))
    if (add.getFastmath() != arith::FastMathFlags::none)
      return false;
  Value a = sum->getOperand(0), b = sum->getOperand(1);
  Value before = body.getArgument(0), element = body.getArgument(1);
  return (a == before && b == element) || (a == element && b == before);
}

namespace {
struct ConvertScanToTtxPass
    : mlir::triton_ext::convert_scan_to_ttx::impl::ConvertScanToTtxPassBase<
          ConvertScanToTtxPass> {
  using ConvertScanToTtxPassBase::ConvertScanToTtxPassBase;

  void runOnOperation() override {
    SmallVector<linalg_ext::ScanOp> sums;
    getOperation().walk([&](linalg_ext::ScanOp scan) {
      if (isSum(scan) && (reverse || !scan.getReverse()))
        sums.push_back(scan);
    });
    IRRewriter rewriter(&getContext());
    for (linalg_ext::ScanOp scan : sums) {
      rewriter.setInsertionPoint(scan);
      auto sum = ttx::CumSumOp::create(
          rewriter, scan.getLoc(), scan.getResultTypes(), scan.getInputs(),
          scan.getInits(), uint32_t(scan.getDimension()), scan.getReverse());
      rewriter.replaceOp(scan, sum.getResults());
    }
  }
};
} // namespace
