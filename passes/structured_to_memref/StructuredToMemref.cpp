// SPDX-License-Identifier: Apache-2.0
//
// Turns loads and stores of tts into copies from and to views of memory. Leaves
// every other operation untouched, and pointers without a use in place.

#include "aux/Aux.h"
#include "convert_triton_to_linalg/Rows.h"
#include "convert_triton_to_linalg/Runs.h"
#include "linalg_ext/LinalgExt.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "tts/Tts.h"

namespace mlir::triton_ext::structured_to_memref {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_STRUCTUREDTOMEMREFPASS
#include "StructuredToMemref.h.inc"
} // namespace mlir::triton_ext::structured_to_memref

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::convert_triton_to_linalg;
namespace tt = mlir::triton;

namespace {
struct StructuredToMemrefPass
    : structured_to_memref::impl::StructuredToMemrefPassBase<
          StructuredToMemrefPass> {
  using StructuredToMemrefPassBase::StructuredToMemrefPassBase;

  void runOnOperation() override;
};

/// The memory that an access of tts reads or writes.
struct Target {
  Pointers pointers;
  Box box;
  /// The rows, if one dimension has any offsets or any mask.
  std::optional<analysis::Rows> rows = {};
};
} // namespace

/// Returns the sum of the offsets.
static OpFoldResult sum(ArrayRef<OpFoldResult> offsets, IndexMath &math) {
  OpFoldResult result = math.number(0);
  for (OpFoldResult offset : offsets)
    result = math.add(result, offset);
  return result;
}

static Pointers pointersOf(tts::MakeTptrOp op, IndexMath &math) {
  Pointers result{op.getBase(), {math.number(0), op.getMixedStrides()}};
  SmallVector<OpFoldResult> offsets = op.getMixedOffsets();
  // A shape with an order is the extent of a larger tensor.
  if (op.wrapsAround()) {
    for (auto [dim, extent] : llvm::enumerate(op.getMixedShape())) {
      if (isConstantIntValue(extent, 0))
        continue;
      OpFoldResult &stride = result.offsets.strides[dim];
      result.offsets.wrapped.push_back(
          {unsigned(dim), offsets[dim], stride, extent});
      stride = offsets[dim] = math.number(0);
    }
  }
  result.offsets.offset = sum(offsets, math);
  return result;
}

/// Returns what is accessed through these pointers; nullopt if it is not known
/// where they come from.
static std::optional<Target> getTarget(Access &access, Value ptr,
                                       ArrayRef<OpFoldResult> maskDims) {
  IndexMath &math = access.math;
  Target target{{}, analysis::wholeOf(access.shape, math)};
  auto gather = ptr.getDefiningOp<tts::MakeGatherScatterTptrOp>();
  if (auto strided = ptr.getDefiningOp<tts::MakeTptrOp>())
    target.pointers = pointersOf(strided, math);
  else if (!gather)
    return std::nullopt;
  bool hasMask = gather && gather.getGatherScatterMask();
  size_t rank = access.shape.size();
  for (size_t dim = 0; dim < std::min(rank, maskDims.size()); ++dim) {
    // There, the mask of the pointers decides.
    if (hasMask && dim == gather.getGatherScatterDim())
      continue;
    OpFoldResult size = math.number(access.shape[dim]);
    OpFoldResult &low = target.box.low[dim];
    if (maskDims.size() > rank)
      low = math.min(math.max(maskDims[rank + dim], math.number(0)), size);
    OpFoldResult end = math.min(maskDims[dim], size);
    target.box.high[dim] = math.max(end, low);
  }
  if (gather)
    target.rows = {
        {gather.getBase(),
         {sum(gather.getMixedOffsets(), math), gather.getMixedStrides()}},
        unsigned(gather.getGatherScatterDim()),
        gather.getGatherScatterOffset(),
        gather.getGatherScatterMask(),
        target.box};
  return target;
}

/// Returns a tensor whose elements are all `scalar`, or null if that is null.
static Value splat(Access &access, Value scalar) {
  if (!scalar)
    return {};
  return tt::SplatOp::create(access.builder, access.loc,
                             access.tensorOf(access.shape, access.element),
                             scalar);
}

static void setCacheMode(Access &access, std::optional<Attribute> policy) {
  if (auto known =
          dyn_cast_or_null<tt::CachePolicyAttr>(policy.value_or(Attribute())))
    access.cacheMode = access.cacheModeOf(known);
}

static void convert(tts::LoadOp op, OpBuilder &builder) {
  Access access(builder, op.getLoc(), op.getType());
  setCacheMode(access, op.getCachePolicy());
  auto target = getTarget(access, op.getPtr(), op.getMixedMaskDims());
  if (!target)
    return;
  Value other = splat(access, op.getOther());
  Value result = target->rows
                     ? loadRows(access, *target->rows, other)
                     : loadBox(access, target->pointers, target->box, other);
  op.replaceAllUsesWith(result);
  op.erase();
}

static void convert(tts::StoreOp op, OpBuilder &builder) {
  Access access(builder, op.getLoc(), op.getValue().getType());
  setCacheMode(access, op.getCachePolicy());
  auto target = getTarget(access, op.getPtr(), op.getMixedMaskDims());
  if (!target)
    return;
  if (target->rows)
    storeRows(access, *target->rows, op.getValue());
  else
    storeBox(access, target->pointers, target->box, op.getValue());
  op.erase();
}

void StructuredToMemrefPass::runOnOperation() {
  SmallVector<Operation *> accesses;
  getOperation().walk([&](Operation *op) {
    if (isa<tts::LoadOp, tts::StoreOp>(op))
      accesses.push_back(op);
  });
  for (Operation *op : accesses) {
    OpBuilder builder(op);
    if (auto load = dyn_cast<tts::LoadOp>(op))
      convert(load, builder);
    else
      convert(cast<tts::StoreOp>(op), builder);
  }
}
