// SPDX-License-Identifier: Apache-2.0
//
// Simplifies loops with patterns that are chosen one by one. The other
// canonicalizations are not for this pass: it changes only what depends on the
// comparisons that it replaces. One of them, which removes operands and results
// of branches that nothing needs, also visits values in the order of their
// addresses, so that one module would come out in different ways.

#include "Simplify.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

using namespace mlir;

template <typename... Ops>
static void addCanonicalizations(RewritePatternSet &patterns) {
  (Ops::getCanonicalizationPatterns(patterns, patterns.getContext()), ...);
}

FrozenRewritePatternSet
mlir::triton_ext::loop_split::getSimplifications(MLIRContext *context) {
  RewritePatternSet patterns(context);
  // `scf.if` on a constant: the branch that is taken replaces it.
  populateRegionBranchOpInterfaceInliningPattern(patterns,
                                                 scf::IfOp::getOperationName());
  // Logic on the way from the comparison to the work. Most of it, such as
  // `andi` with true and `select` on a constant, is in the folders.
  addCanonicalizations<arith::AndIOp, arith::OrIOp, arith::XOrIOp,
                       arith::SelectOp>(patterns);
  // The same on the way of a tensor, in which other dimensions are added.
  addCanonicalizations<triton::ExpandDimsOp, triton::BroadcastOp,
                       triton::ReshapeOp>(patterns);
  // Accesses without a mask, or that do nothing.
  addCanonicalizations<triton::LoadOp, triton::StoreOp>(patterns);
  return std::move(patterns);
}

void mlir::triton_ext::loop_split::simplify(
    scf::ForOp loop, const FrozenRewritePatternSet &patterns,
    RewriterBase &rewriter) {
  SmallVector<Operation *> ops;
  loop.getRegion().walk([&](Operation *op) { ops.push_back(op); });
  GreedyRewriteConfig config;
  config.setScope(&loop.getRegion());
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  config.setListener(
      dyn_cast_if_present<RewriterBase::Listener>(rewriter.getListener()));
  // It does not converge only where a pattern undoes what another one does;
  // the loop is valid then, too.
  (void)applyOpPatternsGreedily(ops, patterns, config);
}
