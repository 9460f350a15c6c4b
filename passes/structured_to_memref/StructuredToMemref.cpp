// SPDX-License-Identifier: Apache-2.0
//
// Turns loads and stores of tts into copies from and to views of memory. Leaves
// every other operation untouched, and pointers without a use in place.

#include "aux/Aux.h"
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
  /// Makes the offsets and the mask along one dimension; null if all are
  /// strided.
  tts::MakeGatherScatterTptrOp gather = {};
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
  if (auto strided = ptr.getDefiningOp<tts::MakeTptrOp>()) {
    target.pointers = pointersOf(strided, math);
  } else if (auto gather = ptr.getDefiningOp<tts::MakeGatherScatterTptrOp>()) {
    target.pointers = {
        gather.getBase(),
        {sum(gather.getMixedOffsets(), math), gather.getMixedStrides()}};
    target.gather = gather;
  } else {
    return std::nullopt;
  }
  bool hasMask = target.gather && target.gather.getGatherScatterMask();
  for (auto [dim, bound] : llvm::enumerate(maskDims)) {
    // There, the mask of the pointers decides.
    if (hasMask && dim == target.gather.getGatherScatterDim())
      continue;
    target.box.high[dim] = math.max(
        math.min(bound, math.number(access.shape[dim])), math.number(0));
  }
  return target;
}

/// Calls `body` for each run of the elements at one index of the dimension with
/// any offsets. `state` and the result are as in forEachRun().
static Value forEachIndex(Access &access, const Target &target, Value state,
                          function_ref<Value(const Run &, Value)> body) {
  OpBuilder &builder = access.builder;
  Location loc = access.loc;
  IndexMath &math = access.math;
  tts::MakeGatherScatterTptrOp gather = target.gather;
  unsigned dim = gather.getGatherScatterDim();
  SmallVector<Value> carried;
  if (state)
    carried.push_back(state);
  Value low = math.toValue(math.number(0)), one = math.toValue(math.number(1));
  auto loop = scf::ForOp::create(
      builder, loc, low, math.toValue(target.box.high[dim]), one, carried);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value at = loop.getInductionVar();
  Value current = state ? Value(loop.getRegionIterArg(0)) : Value();
  auto visit = [&]() -> Value {
    Value offset = arith::IndexCastOp::create(
        builder, loc, builder.getIndexType(),
        tensor::ExtractOp::create(builder, loc, gather.getGatherScatterOffset(),
                                  at));
    OpFoldResult stride = target.pointers.offsets.strides[dim];
    Run run{target.pointers, target.box, target.box};
    run.pointers.offsets.offset =
        math.add(target.pointers.offsets.offset, math.mul(offset, stride));
    run.memory.low[dim] = math.number(0);
    run.memory.high[dim] = math.number(1);
    run.elements.low[dim] = at;
    run.elements.high[dim] = math.add(at, math.number(1));
    return body(run, current);
  };
  SmallVector<Value> yielded;
  if (Value mask = gather.getGatherScatterMask()) {
    Value isKept = tensor::ExtractOp::create(builder, loc, mask, at);
    TypeRange types = ValueRange(carried).getTypes();
    auto branch = scf::IfOp::create(builder, loc, types, isKept,
                                    /*withElse=*/bool(state));
    OpBuilder::InsertionGuard inner(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    Value next = visit();
    if (state) {
      scf::YieldOp::create(builder, loc, next);
      builder.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(builder, loc, current);
      yielded.push_back(branch.getResult(0));
    }
  } else if (Value next = visit()) {
    yielded.push_back(next);
  }
  if (!state)
    return {};
  builder.setInsertionPointToEnd(loop.getBody());
  scf::YieldOp::create(builder, loc, yielded);
  return loop.getResult(0);
}

/// Returns a tensor whose elements are all `scalar`, or null if that is null.
static Value splat(Access &access, Value scalar) {
  if (!scalar)
    return {};
  return tt::SplatOp::create(access.builder, access.loc,
                             access.tensorOf(access.shape, access.element),
                             scalar);
}

static void convert(tts::LoadOp op, OpBuilder &builder) {
  Access access(builder, op.getLoc(), op.getType());
  auto target = getTarget(access, op.getPtr(), op.getMixedMaskDims());
  if (!target)
    return;
  Value other = splat(access, op.getOther());
  Value result;
  if (target->gather) {
    bool hasMask = bool(target->gather.getGatherScatterMask());
    Box box = target->box;
    // The mask may leave elements out, so the box must not look whole.
    if (hasMask)
      box.high[0] = access.math.number(0);
    result = forEachIndex(
        access, *target, getAround(access, box, other),
        [&](const Run &run, Value into) { return loadRun(access, run, into); });
  } else {
    result = loadBox(access, target->pointers, target->box, other);
  }
  op.replaceAllUsesWith(result);
  op.erase();
}

static void convert(tts::StoreOp op, OpBuilder &builder) {
  Access access(builder, op.getLoc(), op.getValue().getType());
  auto target = getTarget(access, op.getPtr(), op.getMixedMaskDims());
  if (!target)
    return;
  if (target->gather)
    forEachIndex(access, *target, Value(), [&](const Run &run, Value) {
      storeRun(access, run, op.getValue());
      return Value();
    });
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
