// SPDX-License-Identifier: Apache-2.0
//
// Runs MLIR's inliner without the canonicalization that it does by default. The
// dialects of calls and functions decide what may be inlined.

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "triton_ext/FuncInliner.h"

#define DEBUG_TYPE "triton-ext-inline-calls"

namespace mlir::triton_ext::inline_calls {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_INLINECALLSPASS
#include "InlineCalls.h.inc"
} // namespace mlir::triton_ext::inline_calls

using namespace mlir;

namespace {
struct InlineCallsPass
    : mlir::triton_ext::inline_calls::impl::InlineCallsPassBase<
          InlineCallsPass> {
  using InlineCallsPassBase::InlineCallsPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    InlineCallsPassBase::getDependentDialects(registry);
    triton_ext::registerFuncInliner(registry);
  }

  void runOnOperation() override {
    OpPassManager pm(ModuleOp::getOperationName());
    pm.addPass(createInlinerPass(/*opPipelines=*/{}, [](OpPassManager &) {}));
    if (failed(runPipeline(pm, getOperation())))
      signalPassFailure();
  }
};
} // namespace
