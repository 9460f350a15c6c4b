// SPDX-License-Identifier: Apache-2.0
//
// The utility is not in libtriton: it is in the library of MLIR's dialects.

#include "mlir/Analysis/AliasAnalysis.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Pass/Pass.h"

namespace mlir::triton_ext::forward_stores {
#define GEN_PASS_DEF_FORWARDSTORESPASS
#include "ForwardStores.h.inc"

namespace {
struct ForwardStoresPass : impl::ForwardStoresPassBase<ForwardStoresPass> {
  using ForwardStoresPassBase::ForwardStoresPassBase;

  void runOnOperation() override {
    affine::affineScalarReplace(getOperation(), getAnalysis<DominanceInfo>(),
                                getAnalysis<PostDominanceInfo>(),
                                getAnalysis<AliasAnalysis>());
  }
};
} // namespace
} // namespace mlir::triton_ext::forward_stores
