// SPDX-License-Identifier: Apache-2.0
//
// Resources are compared by address, as MLIR does. The operations are those of
// other libraries, libtriton's and the dialect's.

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "tank/Tank.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton_ext::name_resources {
#define GEN_PASS_DEF_NAMERESOURCESPASS
#include "NameResources.h.inc"

namespace {
StringRef nameOf(SideEffects::Resource *resource) {
  if (resource == SideEffects::DefaultResource::get())
    return "default";
  if (resource == SideEffects::AutomaticAllocationScopeResource::get())
    return "stack";
  if (resource == triton::GlobalMemory::get())
    return "global";
  if (resource == tank::WaterResource::get())
    return "water";
  if (resource == tank::LampResource::get())
    return "lamp";
  return "unknown";
}

struct NameResourcesPass : impl::NameResourcesPassBase<NameResourcesPass> {
  using NameResourcesPassBase::NameResourcesPassBase;

  void runOnOperation() override {
    getOperation()->walk([](MemoryEffectOpInterface op) {
      SmallVector<MemoryEffects::EffectInstance> effects;
      op.getEffects(effects);
      for (const MemoryEffects::EffectInstance &effect : effects)
        op->emitRemark() << (effect.getEffect() == MemoryEffects::Read::get()
                                 ? "reads "
                             : effect.getEffect() == MemoryEffects::Write::get()
                                 ? "writes "
                                 : "other ")
                         << nameOf(effect.getResource());
    });
  }
};
} // namespace
} // namespace mlir::triton_ext::name_resources
