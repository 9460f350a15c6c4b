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
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/Pass.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "triton_ext/Splat.h"
#include "tts/Tts.h"

#define DEBUG_TYPE "triton-ext-triton-to-unstructured"

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

  LogicalResult initialize(MLIRContext *context) override;
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

/// Returns whether the sum of the offsets is known to have at most 32 bits, as
/// a signed number.
static bool fitIn32Bits(ArrayRef<Value> offsets) {
  IntegerFacts facts;
  APInt low(128, 0), high(128, 0);
  for (Value each : offsets) {
    ConstantIntRanges range = facts.range(each);
    low += range.smin().sext(128);
    high += range.smax().sext(128);
  }
  return low.isSignedIntN(32) && high.isSignedIntN(32);
}

/// Returns the bits of the sum of the offsets: `asked`, or those that the facts
/// choose if it is 0. Returns nullopt if the sum may not fit.
static std::optional<unsigned> bitsOfSum(ArrayRef<Value> offsets,
                                         unsigned asked) {
  if (asked == 64)
    return 64;
  // One offset of 64 bits stays as it is; another type would cost a cast.
  bool isWide = offsets.size() == 1 && bitsOf(offsets.front()) > 32;
  if (asked == 0 && isWide)
    return 64;
  if (fitIn32Bits(offsets))
    return 32;
  if (asked == 0)
    return 64;
  return std::nullopt;
}

/// Returns the places that `pointers` point to; nullopt if they do not have one
/// base, if their number is not known, or if their offset may not fit in
/// `asked` bits.
static std::optional<Places> locate(Value pointers, unsigned asked,
                                    OpBuilder &builder, Location loc) {
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
  std::optional<unsigned> bits = bitsOfSum(sum->addends, asked);
  if (!bits) {
    remark::missed(loc, remark::RemarkOpts::name("offset").category(DEBUG_TYPE))
        << remark::reason("stays: its offset may not fit in {0} bits", asked);
    return std::nullopt;
  }
  auto type =
      RankedTensorType::get(shapeOf(pointers), builder.getIntegerType(*bits));
  Places places{sum->base, {}};
  for (Value offset : sum->addends) {
    if (bitsOf(offset) < *bits)
      offset = arith::ExtSIOp::create(builder, loc, type, offset);
    else if (bitsOf(offset) > *bits)
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

static void convert(tt::LoadOp op, unsigned asked, OpBuilder &builder) {
  // A default that is not a splat has no form in tts.
  if (op.getIsVolatile() || (op.getOther() && !isSplat(op.getOther())))
    return;
  auto places = locate(op.getPtr(), asked, builder, op.getLoc());
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

static void convert(tt::StoreOp op, unsigned asked, OpBuilder &builder) {
  auto places = locate(op.getPtr(), asked, builder, op.getLoc());
  if (!places)
    return;
  tts::ScatterOp::create(builder, op.getLoc(), places->base, places->offset,
                         op.getValue(), op.getMask());
  op.erase();
}

static void convert(tt::AtomicRMWOp op, unsigned asked, OpBuilder &builder) {
  auto places = locate(op.getPtr(), asked, builder, op.getLoc());
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

static void convert(tt::AtomicCASOp op, unsigned asked, OpBuilder &builder) {
  auto places = locate(op.getPtr(), asked, builder, op.getLoc());
  if (!places)
    return;
  op.replaceAllUsesWith(
      tts::AtomicCASOp::create(builder, op.getLoc(), op.getType(), places->base,
                               op.getCmp(), op.getVal(), places->offset,
                               op.getSem(), op.getScope())
          .getResult());
  op.erase();
}

LogicalResult TritonToUnstructuredPass::initialize(MLIRContext *context) {
  if (llvm::is_contained({0u, 32u, 64u}, offsetBitWidth.getValue()))
    return success();
  return emitError(UnknownLoc::get(context))
         << "expected offset-bit-width=0, 32 or 64, got "
         << offsetBitWidth.getValue();
}

void TritonToUnstructuredPass::runOnOperation() {
  getOperation().walk([&](Operation *op) {
    OpBuilder builder(op);
    if (auto load = dyn_cast<tt::LoadOp>(op))
      convert(load, offsetBitWidth, builder);
    else if (auto store = dyn_cast<tt::StoreOp>(op))
      convert(store, offsetBitWidth, builder);
    else if (auto atomic = dyn_cast<tt::AtomicRMWOp>(op))
      convert(atomic, offsetBitWidth, builder);
    else if (auto exchange = dyn_cast<tt::AtomicCASOp>(op))
      convert(exchange, offsetBitWidth, builder);
  });
}
