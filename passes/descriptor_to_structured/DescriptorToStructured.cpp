// SPDX-License-Identifier: Apache-2.0
//
// Turns accesses by tensor descriptors into operations of tts, which keep the
// block's shape. Leaves to Triton's own pass what descriptors become elsewhere:
// in functions, loops and branches, and in atomics.

#include "BlockAccess.h"

#include "analysis/DescriptorChecks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "triton/Dialect/Triton/Transforms/Passes.h"
#include "tts/Tts.h"
#include "llvm/ADT/TypeSwitch.h"

#define DEBUG_TYPE "triton-ext-descriptor-to-structured"

namespace mlir::triton_ext::descriptor_to_structured {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_DESCRIPTORTOSTRUCTUREDPASS
#include "DescriptorToStructured.h.inc"
} // namespace mlir::triton_ext::descriptor_to_structured

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::descriptor_to_structured;
namespace tt = mlir::triton;

namespace {
struct DescriptorToStructuredPass
    : descriptor_to_structured::impl::DescriptorToStructuredPassBase<
          DescriptorToStructuredPass> {
  using DescriptorToStructuredPassBase::DescriptorToStructuredPassBase;

  void runOnOperation() override;
};
} // namespace

static void structure(tt::DescriptorLoadOp op) {
  BlockAccess block(op, op.getDesc());
  auto indices = llvm::to_vector(op.getIndices());
  Value pointers = block.pointersAt(indices);
  Value value = tts::LoadOp::create(block.builder, block.loc, pointers,
                                    block.boundsOf(indices), block.zeroOrNaN(),
                                    op.getCachePolicyAttr());
  value = block.roundToTf32(value);
  op.replaceAllUsesWith(block.reshape(value, op.getType()));
  op.erase();
}

static void structure(tt::DescriptorStoreOp op) {
  BlockAccess block(op, op.getDesc());
  auto indices = llvm::to_vector(op.getIndices());
  Value pointers = block.pointersAt(indices);
  tts::StoreOp::create(block.builder, block.loc, pointers,
                       block.reshape(op.getSrc(), block.type),
                       block.boundsOf(indices));
  op.erase();
}

static void structure(tt::DescriptorGatherOp op) {
  BlockAccess block(op, op.getDesc());
  Value pointers = block.rowsAt(op.getXOffsets(), op.getYOffset());
  Value value = tts::LoadOp::create(block.builder, block.loc, pointers,
                                    block.boundsOf({Value(), op.getYOffset()}),
                                    block.zeroOrNaN());
  op.replaceAllUsesWith(block.roundToTf32(value));
  op.erase();
}

static void structure(tt::DescriptorScatterOp op) {
  BlockAccess block(op, op.getDesc());
  Value pointers = block.rowsAt(op.getXOffsets(), op.getYOffset());
  tts::StoreOp::create(block.builder, block.loc, pointers, op.getSrc(),
                       block.boundsOf({Value(), op.getYOffset()}));
  op.erase();
}

void DescriptorToStructuredPass::runOnOperation() {
  if (failed(analysis::checkDescriptors(getOperation())))
    return signalPassFailure();
  getOperation().walk([](Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case<tt::DescriptorLoadOp, tt::DescriptorStoreOp,
              tt::DescriptorGatherOp, tt::DescriptorScatterOp>(
            [](auto access) { structure(access); });
  });
  OpPassManager pm(ModuleOp::getOperationName());
  pm.addPass(tt::createTritonRewriteTensorDescriptorToPointer());
  if (failed(runPipeline(pm, getOperation())))
    signalPassFailure();
}
