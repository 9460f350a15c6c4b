// SPDX-License-Identifier: Apache-2.0
//
// Turns gathers and scatters of tts into accesses of memory by index. Leaves
// every other operation untouched.

#include "aux/Aux.h"
#include "convert_triton_to_linalg/Indexed.h"
#include "linalg_ext/LinalgExt.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "tts/Tts.h"

namespace mlir::triton_ext::unstructured_to_memref {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_UNSTRUCTUREDTOMEMREFPASS
#include "UnstructuredToMemref.h.inc"
} // namespace mlir::triton_ext::unstructured_to_memref

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::convert_triton_to_linalg;
namespace tt = mlir::triton;

/// Returns whether the pass converts accesses of this type.
static bool isConverted(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return !tensor || (tensor.getRank() > 0 && tensor.hasStaticShape());
}

/// Returns the memory from the pointer `base` on, and the offsets as indices.
static MemoryAndIndices locate(Access &access, Value base, Value offset) {
  Type i64 = access.tensorOf(access.shape, access.builder.getI64Type());
  if (offset.getType() != i64)
    offset = arith::ExtSIOp::create(access.builder, access.loc, i64, offset);
  return access.memoryAndIndices(access.address(base), offset);
}

static Pointers pointerTo(Access &access, Value base, Value offset) {
  Value index = arith::IndexCastOp::create(
      access.builder, access.loc, access.builder.getIndexType(), offset);
  return {base, {index, {}}};
}

static void convert(tts::GatherOp op, OpBuilder &builder) {
  Access access(builder, op.getLoc(), op.getType());
  Value other = op.getOther(), result;
  if (access.shape.empty()) {
    result = loadElement(access, pointerTo(access, op.getPtr(), op.getOffset()),
                         op.getMask(), other);
  } else {
    if (other)
      other = tt::SplatOp::create(builder, op.getLoc(), op.getType(), other);
    result = loadIndexed(access, locate(access, op.getPtr(), op.getOffset()),
                         op.getMask(), other);
  }
  op.replaceAllUsesWith(result);
  op.erase();
}

static void convert(tts::ScatterOp op, OpBuilder &builder) {
  Access access(builder, op.getLoc(), op.getValue().getType());
  if (access.shape.empty())
    storeElement(access, pointerTo(access, op.getPtr(), op.getOffset()),
                 op.getMask(), op.getValue());
  else
    storeIndexed(access, locate(access, op.getPtr(), op.getOffset()),
                 op.getMask(), op.getValue());
  op.erase();
}

namespace {
struct UnstructuredToMemrefPass
    : unstructured_to_memref::impl::UnstructuredToMemrefPassBase<
          UnstructuredToMemrefPass> {
  using UnstructuredToMemrefPassBase::UnstructuredToMemrefPassBase;

  void runOnOperation() override {
    SmallVector<Operation *> accesses;
    getOperation().walk([&](Operation *op) {
      if (auto gather = dyn_cast<tts::GatherOp>(op)) {
        if (isConverted(gather.getType()))
          accesses.push_back(op);
      } else if (auto scatter = dyn_cast<tts::ScatterOp>(op)) {
        if (isConverted(scatter.getValue().getType()))
          accesses.push_back(op);
      }
    });
    for (Operation *op : accesses) {
      OpBuilder builder(op);
      if (auto gather = dyn_cast<tts::GatherOp>(op))
        convert(gather, builder);
      else
        convert(cast<tts::ScatterOp>(op), builder);
    }
  }
};
} // namespace
