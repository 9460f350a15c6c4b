// SPDX-License-Identifier: Apache-2.0
//
// For passes that insert probes: only the kernel has the pointer to the buffer
// that probes write to, so functions have to be part of it.

#ifndef TRITON_EXT_PROBE_INLINING_H
#define TRITON_EXT_PROBE_INLINING_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton_ext::probe {

/// Inlines functions that are marked noinline. `run` is runPipeline of the
/// pass. Triton has inlined the other functions at the start of its stage.
inline LogicalResult
inlineFunctions(ModuleOp module,
                llvm::function_ref<LogicalResult(OpPassManager &)> run) {
  bool isMarked = false;
  for (auto function : module.getOps<triton::FuncOp>())
    isMarked |= bool(function->removeAttr("noinline"));
  if (!isMarked)
    return success();
  OpPassManager manager(ModuleOp::getOperationName());
  // By default the inliner would simplify every function.
  manager.addPass(createInlinerPass({}, [](OpPassManager &) {}));
  manager.addPass(createSymbolDCEPass());
  return run(manager);
}

/// Prepares a module for a pass that inserts probes: inlines its functions.
/// Returns false for a module that no session has marked, which the pass leaves
/// as it is; emits an error if a session has lowered its probes already.
inline FailureOr<bool>
prepareForProbes(ModuleOp module,
                 llvm::function_ref<LogicalResult(OpPassManager &)> run) {
  if (module->hasAttr("probe.lowered"))
    return module.emitError(
        "expected a session of probes around the pipeline with this pass, "
        "found "
        "one inside of it, which has lowered its probes before this pass runs");
  if (!module->hasAttr("probe.kept"))
    return false;
  if (failed(inlineFunctions(module, run)))
    return failure();
  return true;
}

} // namespace mlir::triton_ext::probe

#endif // TRITON_EXT_PROBE_INLINING_H
