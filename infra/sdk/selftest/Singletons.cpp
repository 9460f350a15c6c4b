// SPDX-License-Identifier: Apache-2.0
//
// Objects of headers that must exist once per process: the effects of
// libtriton's operations name the same resources, by address, as the headers.
// `triton-ext doctor` compares all other addresses in every library, see
// python/triton_ext/loading/singletons.py.

#include "Dialects.h"
#include "Report.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "triton/Dialect/TritonGPU/IR/Dialect.h"
#include "triton/Dialect/TritonNvidiaGPU/IR/Dialect.h"

using namespace mlir;
using namespace triton_ext::selftest;

static constexpr const char *accesses = R"(
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @effects(%p: !tt.ptr<f32>, %m: memref<4xf32>) {
    %i = arith.constant 0 : index
    %a = memref.load %m[%i] : memref<4xf32>
    memref.store %a, %m[%i] : memref<4xf32>
    %s = memref.alloca() : memref<4xf32>
    %h = memref.alloc() : memref<4xf32>
    memref.dealloc %h : memref<4xf32>
    %b = tt.load %p : !tt.ptr<f32>
    tt.store %p, %b : !tt.ptr<f32>
    %l = ttg.local_alloc : () -> !ttg.memdesc<16xf32, #shared, #ttg.shared_memory, mutable>
    %t = ttng.tmem_alloc : () -> !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>
    tt.return
  }
})";

static void loadMemRefs(MLIRContext &context) {
  context.loadDialect<memref::MemRefDialect, triton::TritonDialect,
                      triton::gpu::TritonGPUDialect,
                      triton::nvidia_gpu::TritonNvidiaGPUDialect>();
}

static Part singletons(Phase::Look, [](Report &report) {
  Context context(loadMemRefs);
  auto module = parseSourceString<ModuleOp>(accesses, &context);
  const char *group = "singletons";
  report.check(group, "parsed", [&](std::string &) { return bool(module); });
  if (!module)
    return;

  auto check = [&](StringRef name, MemoryEffects::Effect *wantedEffect,
                   SideEffects::Resource *wanted) {
    report.check(group, name.str(), [&](std::string &detail) {
      bool found = false;
      module->walk([&](MemoryEffectOpInterface op) {
        if (op->getName().getStringRef() != name)
          return;
        SmallVector<MemoryEffects::EffectInstance> effects;
        op.getEffects(effects);
        for (const MemoryEffects::EffectInstance &effect : effects) {
          found |= effect.getEffect() == wantedEffect &&
                   effect.getResource() == wanted;
          detail = "its effect is on another '" +
                   effect.getResource()->getName().str() +
                   "' than the one here";
        }
      });
      return found;
    });
  };
  check("memref.load", MemoryEffects::Read::get(),
        SideEffects::DefaultResource::get());
  check("memref.store", MemoryEffects::Write::get(),
        SideEffects::DefaultResource::get());
  check("memref.alloc", MemoryEffects::Allocate::get(),
        SideEffects::DefaultResource::get());
  check("memref.dealloc", MemoryEffects::Free::get(),
        SideEffects::DefaultResource::get());
  check("memref.alloca", MemoryEffects::Allocate::get(),
        SideEffects::AutomaticAllocationScopeResource::get());
  check("tt.load", MemoryEffects::Read::get(), triton::GlobalMemory::get());
  check("tt.store", MemoryEffects::Write::get(), triton::GlobalMemory::get());
  check("ttg.local_alloc", MemoryEffects::Allocate::get(),
        triton::gpu::SharedMemory::get());
  check("ttng.tmem_alloc", MemoryEffects::Allocate::get(),
        triton::nvidia_gpu::TensorMemory::get());
});
