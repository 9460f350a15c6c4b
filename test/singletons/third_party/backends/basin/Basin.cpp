// SPDX-License-Identifier: Apache-2.0
//
// A pass that asks for effects on a resource of Triton's.

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "triton/Tools/PluginUtils.h"
#include "triton/Version.h"

using namespace mlir;

namespace {
struct CountWritesPass : PassWrapper<CountWritesPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CountWritesPass)
  StringRef getArgument() const override { return "basin-count-writes"; }

  void runOnOperation() override {
    int64_t count = 0;
    getOperation()->walk([&](MemoryEffectOpInterface op) {
      SmallVector<MemoryEffects::EffectInstance> effects;
      op.getEffects(effects);
      for (const MemoryEffects::EffectInstance &effect : effects)
        count += isa<MemoryEffects::Write>(effect.getEffect()) &&
                 isa<triton::GlobalMemory>(effect.getResource());
    });
    getOperation()->setAttr("basin.writes",
                            Builder(&getContext()).getI64IntegerAttr(count));
  }
};
} // namespace

static void addPass(PassManager *pm, const std::vector<std::string> &) {
  pm->addPass(std::make_unique<CountWritesPass>());
}
static void registerPass() { PassRegistration<CountWritesPass>(); }

extern "C" __attribute__((visibility("default"))) triton::plugin::PluginInfo *
tritonGetPluginInfo() {
  static triton::plugin::PassInfo pass = {"basin_count_writes", "1", addPass,
                                          registerPass};
  static triton::plugin::PluginInfo info = {TRITON_PLUGIN_API_VERSION,
                                            "basin",
                                            "1",
                                            &pass,
                                            1,
                                            nullptr,
                                            0,
                                            nullptr,
                                            0,
                                            TRITON_VERSION};
  return &info;
}
