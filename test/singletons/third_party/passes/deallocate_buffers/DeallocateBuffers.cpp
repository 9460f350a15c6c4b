// SPDX-License-Identifier: Apache-2.0
//
// MLIR's passes are not in libtriton: they are in the library of MLIR's
// dialects.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace mlir::triton_ext::deallocate_buffers {
#define GEN_PASS_DEF_DEALLOCATEBUFFERSPASS
#include "DeallocateBuffers.h.inc"

namespace {
struct DeallocateBuffersPass
    : impl::DeallocateBuffersPassBase<DeallocateBuffersPass> {
  using DeallocateBuffersPassBase::DeallocateBuffersPassBase;

  void runOnOperation() override {
    OpPassManager pipeline(ModuleOp::getOperationName());
    pipeline.addPass(
        bufferization::createOwnershipBasedBufferDeallocationPass());
    pipeline.addPass(createCanonicalizerPass());
    pipeline.addPass(bufferization::createLowerDeallocationsPass());
    pipeline.addPass(createCSEPass());
    pipeline.addPass(createCanonicalizerPass());
    if (failed(runPipeline(pipeline, getOperation())))
      signalPassFailure();
  }
};
} // namespace
} // namespace mlir::triton_ext::deallocate_buffers
