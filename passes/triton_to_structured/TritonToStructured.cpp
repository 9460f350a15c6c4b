// SPDX-License-Identifier: Apache-2.0
//
// Turns accesses of tensors whose pointers and mask are tracked into operations
// of tts. Leaves all others untouched, and the arithmetic on pointers in place.

#include "analysis/MaskTracker.h"
#include "analysis/PointerTracker.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "triton_ext/Splat.h"
#include "tts/Tts.h"

namespace mlir::triton_ext::triton_to_structured {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_TRITONTOSTRUCTUREDPASS
#include "TritonToStructured.h.inc"
} // namespace mlir::triton_ext::triton_to_structured

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::analysis;
namespace tt = mlir::triton;

namespace {
struct TritonToStructuredPass
    : triton_to_structured::impl::TritonToStructuredPassBase<
          TritonToStructuredPass> {
  using TritonToStructuredPassBase::TritonToStructuredPassBase;

  void runOnOperation() override;
};

/// The pointers and the mask of an access, as operations of tts take them.
struct Structured {
  Value ptr;
  /// Empty if there is no mask.
  SmallVector<OpFoldResult> maskDims;
};
} // namespace

/// Whether all elements along some dimension have one address, as far as the
/// strides are known.
static bool overlaps(const Pointers &pointers, ArrayRef<int64_t> shape) {
  return llvm::any_of(llvm::zip(pointers.offsets.strides, shape), [](auto dim) {
    auto [stride, size] = dim;
    return size != 1 && isConstantIntValue(stride, 0);
  });
}

/// Makes the pointers of an access and the bounds of its mask; nullopt if
/// either is not structured. The operations that it made before giving up have
/// no use.
static std::optional<Structured> track(Value pointers, Value mask, bool isStore,
                                       OpBuilder &builder, Location loc) {
  auto type = dyn_cast<RankedTensorType>(pointers.getType());
  if (!type)
    return std::nullopt;
  ArrayRef<int64_t> shape = type.getShape();
  IndexMath math{builder, loc};
  std::optional<Pointers> tracked = trackPointers(pointers, math);
  if (!tracked || (isStore && overlaps(*tracked, shape)))
    return std::nullopt;
  Structured result;
  if (mask) {
    std::optional<Box> box = trackMask(mask, math);
    auto isZero = [](OpFoldResult low) { return isConstantIntValue(low, 0); };
    if (!box || !llvm::all_of(box->low, isZero))
      return std::nullopt;
    if (!isWhole(*box, shape))
      result.maskDims = box->high;
  }
  Value base = tracked->base;
  if (base.getType() != type.getElementType())
    base = tt::BitcastOp::create(builder, loc, type.getElementType(), base);
  SmallVector<OpFoldResult> zeros(shape.size(), math.number(0));
  SmallVector<OpFoldResult> offsets(zeros);
  // Without dimensions there is no place for the offset.
  if (offsets.empty())
    return std::nullopt;
  offsets[0] = tracked->offsets.offset;
  result.ptr = tts::MakeTptrOp::create(builder, loc, base, shape,
                                       tracked->offsets.strides, offsets,
                                       /*shape=*/zeros);
  return result;
}

static void structure(tt::LoadOp op, OpBuilder &builder) {
  // A default that is not a splat has no form in tts.
  if (op.getIsVolatile() || (op.getOther() && !isSplat(op.getOther())))
    return;
  auto access =
      track(op.getPtr(), op.getMask(), /*isStore=*/false, builder, op.getLoc());
  if (!access)
    return;
  Value other;
  if (op.getOther() && !access->maskDims.empty())
    other = getSplat(op.getOther(), builder);
  op.replaceAllUsesWith(tts::LoadOp::create(builder, op.getLoc(), access->ptr,
                                            access->maskDims, other)
                            .getResult());
  op.erase();
}

static void structure(tt::StoreOp op, OpBuilder &builder) {
  auto access =
      track(op.getPtr(), op.getMask(), /*isStore=*/true, builder, op.getLoc());
  if (!access)
    return;
  tts::StoreOp::create(builder, op.getLoc(), access->ptr, op.getValue(),
                       access->maskDims);
  op.erase();
}

static void structure(tt::AtomicRMWOp op, OpBuilder &builder) {
  auto access =
      track(op.getPtr(), op.getMask(), /*isStore=*/false, builder, op.getLoc());
  if (!access)
    return;
  SmallVector<int64_t> numbers;
  SmallVector<Value> values;
  dispatchIndexOpFoldResults(access->maskDims, values, numbers);
  op.replaceAllUsesWith(
      tts::AtomicRMWOp::create(builder, op.getLoc(), op.getType(),
                               op.getAtomicRmwOp(), access->ptr, op.getVal(),
                               /*offset=*/Value(), /*mask=*/Value(), values,
                               numbers, op.getSem(), op.getScope())
          .getResult());
  op.erase();
}

static void structure(tt::AtomicCASOp op, OpBuilder &builder) {
  auto access =
      track(op.getPtr(), Value(), /*isStore=*/false, builder, op.getLoc());
  if (!access)
    return;
  op.replaceAllUsesWith(
      tts::AtomicCASOp::create(builder, op.getLoc(), op.getType(), access->ptr,
                               op.getCmp(), op.getVal(), /*offset=*/Value(),
                               op.getSem(), op.getScope())
          .getResult());
  op.erase();
}

void TritonToStructuredPass::runOnOperation() {
  getOperation().walk([&](Operation *op) {
    OpBuilder builder(op);
    if (auto load = dyn_cast<tt::LoadOp>(op))
      structure(load, builder);
    else if (auto store = dyn_cast<tt::StoreOp>(op))
      structure(store, builder);
    else if (auto atomic = dyn_cast<tt::AtomicRMWOp>(op); atomic && atomics)
      structure(atomic, builder);
    else if (auto exchange = dyn_cast<tt::AtomicCASOp>(op); exchange && atomics)
      structure(exchange, builder);
  });
}
