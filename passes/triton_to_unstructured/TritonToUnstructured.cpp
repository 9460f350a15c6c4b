// SPDX-License-Identifier: Apache-2.0
//
// Turns accesses of tensors with one base pointer into gathers, scatters and
// atomics of tts. Leaves all others untouched, and the arithmetic on pointers
// in place.

#include "analysis/Dimensions.h"
#include "analysis/IntegerFacts.h"
#include "analysis/PointerTracker.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "triton_ext/Splat.h"
#include "tts/Tts.h"

namespace mlir::triton_ext::triton_to_unstructured {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_TRITONTOUNSTRUCTUREDPASS
#include "TritonToUnstructured.h.inc"
} // namespace mlir::triton_ext::triton_to_unstructured

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::analysis;
namespace tt = mlir::triton;

namespace {
struct TritonToUnstructuredPass
    : triton_to_unstructured::impl::TritonToUnstructuredPassBase<
          TritonToUnstructuredPass> {
  using TritonToUnstructuredPassBase::TritonToUnstructuredPassBase;

  void runOnOperation() override;
};

/// The places of the elements of an access.
struct Places {
  Value base, offset;
};
} // namespace

static unsigned bitsOf(Value offsets) {
  return getElementTypeOrSelf(offsets.getType()).getIntOrFloatBitWidth();
}

/// Returns 32 if the sum of the offsets is known to have at most 32 bits, as a
/// signed number, otherwise 64.
static unsigned bitsOfSum(ArrayRef<Value> offsets) {
  if (offsets.size() == 1)
    return bitsOf(offsets.front()) <= 32 ? 32 : 64;
  IntegerFacts facts;
  APInt low(128, 0), high(128, 0);
  for (Value each : offsets) {
    ConstantIntRanges range = facts.range(each);
    low += range.smin().sext(128);
    high += range.smax().sext(128);
  }
  return low.isSignedIntN(32) && high.isSignedIntN(32) ? 32 : 64;
}

/// Returns the places that `pointers` point to; nullopt if they do not have one
/// base, or if their number is not known.
static std::optional<Places> locate(Value pointers, OpBuilder &builder,
                                    Location loc) {
  ArrayRef<int64_t> shape = shapeOf(pointers);
  if (shape.empty() || ShapedType::isDynamicShape(shape))
    return std::nullopt;
  IndexMath math{builder, loc};
  std::optional<PointerSum> sum = trackPointerSum(pointers, math);
  if (!sum)
    return std::nullopt;
  auto tooWide = [](Value offsets) { return bitsOf(offsets) > 64; };
  if (llvm::any_of(sum->addends, tooWide))
    return std::nullopt;
  unsigned bits = bitsOfSum(sum->addends);
  auto type =
      RankedTensorType::get(shapeOf(pointers), builder.getIntegerType(bits));
  Places places{sum->base, {}};
  for (Value offset : sum->addends) {
    if (bitsOf(offset) < bits)
      offset = arith::ExtSIOp::create(builder, loc, type, offset);
    else if (bitsOf(offset) > bits)
      offset = arith::TruncIOp::create(builder, loc, type, offset);
    places.offset = places.offset ? arith::AddIOp::create(builder, loc,
                                                          places.offset, offset)
                                  : offset;
  }
  if (!places.offset)
    places.offset =
        arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  return places;
}

static void convert(tt::LoadOp op, OpBuilder &builder) {
  // A default that is not a splat has no form in tts.
  if (op.getIsVolatile() || (op.getOther() && !isSplat(op.getOther())))
    return;
  auto places = locate(op.getPtr(), builder, op.getLoc());
  if (!places)
    return;
  Value other;
  if (op.getOther())
    other = getSplat(op.getOther(), builder);
  op.replaceAllUsesWith(
      tts::GatherOp::create(builder, op.getLoc(), op.getType(), places->base,
                            places->offset, op.getMask(), other)
          .getResult());
  op.erase();
}

static void convert(tt::StoreOp op, OpBuilder &builder) {
  auto places = locate(op.getPtr(), builder, op.getLoc());
  if (!places)
    return;
  tts::ScatterOp::create(builder, op.getLoc(), places->base, places->offset,
                         op.getValue(), op.getMask());
  op.erase();
}

static void convert(tt::AtomicRMWOp op, OpBuilder &builder) {
  auto places = locate(op.getPtr(), builder, op.getLoc());
  if (!places)
    return;
  op.replaceAllUsesWith(
      tts::AtomicRMWOp::create(
          builder, op.getLoc(), op.getType(), op.getAtomicRmwOp(), places->base,
          op.getVal(), places->offset, op.getMask(),
          /*mask_dims=*/ValueRange(),
          /*static_mask_dims=*/ArrayRef<int64_t>(), op.getSem(), op.getScope())
          .getResult());
  op.erase();
}

static void convert(tt::AtomicCASOp op, OpBuilder &builder) {
  auto places = locate(op.getPtr(), builder, op.getLoc());
  if (!places)
    return;
  op.replaceAllUsesWith(
      tts::AtomicCASOp::create(builder, op.getLoc(), op.getType(), places->base,
                               op.getCmp(), op.getVal(), places->offset,
                               op.getSem(), op.getScope())
          .getResult());
  op.erase();
}

void TritonToUnstructuredPass::runOnOperation() {
  getOperation().walk([&](Operation *op) {
    OpBuilder builder(op);
    if (auto load = dyn_cast<tt::LoadOp>(op))
      convert(load, builder);
    else if (auto store = dyn_cast<tt::StoreOp>(op))
      convert(store, builder);
    else if (auto atomic = dyn_cast<tt::AtomicRMWOp>(op))
      convert(atomic, builder);
    else if (auto exchange = dyn_cast<tt::AtomicCASOp>(op))
      convert(exchange, builder);
  });
}
