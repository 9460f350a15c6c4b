// SPDX-License-Identifier: Apache-2.0
//
// Makes pointers of tts from tensors of pointers: strided ones that may wrap
// around, or else those with arbitrary offsets along one dimension.

#include "StructuredAccess.h"

#include "analysis/LineTracker.h"
#include "analysis/MaskTracker.h"
#include "analysis/PointerTracker.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "tts/Tts.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::analysis;
using namespace mlir::triton_ext::triton_to_structured;
namespace tt = mlir::triton;

/// Whether all elements along some dimension have one address, as far as the
/// strides are known.
static bool overlaps(ArrayRef<OpFoldResult> strides, ArrayRef<int64_t> shape) {
  return llvm::any_of(llvm::zip(strides, shape), [](auto dim) {
    auto [stride, size] = dim;
    return size != 1 && isZero(stride);
  });
}

static bool beginsAtZero(const Box &box) {
  return llvm::all_of(box.low, isZero);
}

namespace {
/// Makes the pointers of one access.
struct Maker {
  RankedTensorType type;
  bool isStore;
  Forms forms;
  OpBuilder &builder;
  Location loc;
  IndexMath math{builder, loc};
  ArrayRef<int64_t> shape = type.getShape();

  SmallVector<OpFoldResult> zeros() {
    return SmallVector<OpFoldResult>(shape.size(), math.number(0));
  }

  /// Returns the base as a pointer to what the access reads or writes.
  Value baseOf(Value base) {
    if (base.getType() == type.getElementType())
      return base;
    return tt::BitcastOp::create(builder, loc, type.getElementType(), base);
  }

  Value makeStrided(const Pointers &tracked, Value pointers);
  std::optional<Structured> makeGather(Value pointers, Value mask);
  std::optional<Line> addLines(ArrayRef<Value> tensors);
  OpFoldResult takeFactor(Line &line);
  Value restrict(ArrayRef<Value> masks, unsigned dim);
};
} // namespace

/// Makes strided pointers; null if a dimension has several terms of which one
/// wraps around. `tracked` describes `pointers`.
Value Maker::makeStrided(const Pointers &tracked, Value pointers) {
  SmallVector<OpFoldResult> strides(tracked.offsets.strides);
  SmallVector<OpFoldResult> offsets = zeros(), extents = zeros();
  SmallVector<bool> wraps(shape.size(), false);
  for (const WrappedOffset &term : tracked.offsets.wrapped) {
    if (!forms.wrapAround || wraps[term.dim] || !isZero(strides[term.dim]))
      return {};
    wraps[term.dim] = true;
    strides[term.dim] = term.stride;
    offsets[term.dim] = term.offset;
    // A number is not negative here. The sign of a divisor has no effect.
    std::optional<int64_t> number = getConstantIntValue(term.modulus);
    extents[term.dim] =
        number && *number < 0 ? math.number(-*number) : term.modulus;
  }
  if (isStore && overlaps(strides, shape))
    return {};
  Value base = baseOf(tracked.base);
  // The common offset does not wrap around.
  const auto *place = llvm::find(wraps, false);
  if (place != wraps.end()) {
    offsets[place - wraps.begin()] = tracked.offsets.offset;
  } else if (!isZero(tracked.offsets.offset)) {
    // Offsets of pointers are integers, so track them as such.
    IndexMath wide{builder, loc};
    wide.type = builder.getI64Type();
    Offsets again = trackPointers(pointers, wide)->offsets;
    base = tt::AddPtrOp::create(builder, loc, base.getType(), base,
                                wide.toValue(again.offset));
  }
  return tts::MakeTptrOp::create(builder, loc, base, shape, strides, offsets,
                                 extents);
}

/// Returns the sum of tensors of offsets, which depends on the index along one
/// dimension; nullopt if it depends on several. A single tensor of 32 bits
/// stays as it is, otherwise the sum is an i64.
std::optional<Line> Maker::addLines(ArrayRef<Value> tensors) {
  std::optional<Line> sum;
  for (Value tensor : tensors) {
    auto line = trackLine(tensor, math);
    if (!line || !line->dim || (sum && sum->dim != line->dim))
      return std::nullopt;
    auto lineType = cast<RankedTensorType>(line->value.getType());
    unsigned bits = lineType.getElementTypeBitWidth();
    Type i64 = builder.getI64Type();
    if (bits < 32 || (bits == 32 && tensors.size() > 1))
      line->value = arith::ExtSIOp::create(builder, loc, lineType.clone(i64),
                                           line->value);
    if (sum)
      line->value =
          arith::AddIOp::create(builder, loc, sum->value, line->value);
    sum = line;
  }
  return sum;
}

/// Divides the offsets of a line by a factor that all of them have, and returns
/// the factor.
OpFoldResult Maker::takeFactor(Line &line) {
  auto product = line.value.getDefiningOp<arith::MulIOp>();
  auto factor = product ? trackLine(product.getRhs(), math) : std::nullopt;
  if (!factor || factor->dim)
    return math.number(1);
  line.value = product.getLhs();
  return math.fromInteger(factor->value);
}

/// Returns the conjunction of masks, which are lines along `dim`; null if one
/// is not.
Value Maker::restrict(ArrayRef<Value> masks, unsigned dim) {
  Value result;
  for (Value mask : masks) {
    auto line = trackLine(mask, math);
    if (!line || (line->dim && line->dim != dim))
      return {};
    if (!line->dim)
      line->value = tt::SplatOp::create(
          builder, loc, RankedTensorType::get(shape[dim], builder.getI1Type()),
          line->value);
    result = result ? arith::AndIOp::create(builder, loc, result, line->value)
                          .getResult()
                    : line->value;
  }
  return result;
}

/// Makes pointers with any offsets or any mask along one dimension.
std::optional<Structured> Maker::makeGather(Value pointers, Value mask) {
  // Without another dimension, nothing is structured.
  auto sum = trackPointerSum(pointers, math);
  if (!sum || shape.size() < 2)
    return std::nullopt;
  Offsets strided{math.number(0), zeros()};
  SmallVector<Value> others;
  for (Value addend : sum->addends) {
    for (Value summand : getSummands(addend, math)) {
      auto offsets = trackOffsets(summand, math);
      if (offsets && !offsets->wrapsAround())
        strided = addOffsets(strided, *offsets, math);
      else
        others.push_back(summand);
    }
  }
  std::optional<Line> line = addLines(others);
  if (!others.empty() && !line)
    return std::nullopt;
  std::optional<unsigned> dim = line ? line->dim : std::nullopt;
  SplitMask parts{wholeOf(shape, math), {}};
  if (mask)
    parts = splitMask(mask, beginsAtZero, math);
  for (Value part : parts.rest) {
    auto along = trackLine(part, math);
    if (!along || (dim && along->dim && dim != along->dim))
      return std::nullopt;
    if (along->dim)
      dim = along->dim;
  }
  if (!dim || (line && !isZero(strided.strides[*dim])))
    return std::nullopt;
  Structured result;
  Value gatherMask;
  if (!parts.rest.empty()) {
    // The mask of the pointers replaces the bound along their dimension.
    auto accept = [&](const Box &box) {
      return beginsAtZero(box) &&
             isConstantIntValue(box.high[*dim], shape[*dim]);
    };
    parts = splitMask(mask, accept, math);
    gatherMask = restrict(parts.rest, *dim);
    if (!gatherMask)
      return std::nullopt;
    result.hasOwnMask = true;
  }
  if (!isWhole(parts.box, shape)) {
    result.maskDims = parts.box.high;
    if (gatherMask)
      result.maskDims[*dim] = math.number(0);
  }
  SmallVector<OpFoldResult> strides(strided.strides), offsets = zeros();
  offsets[*dim == 0 ? 1 : 0] = strided.offset;
  if (line)
    strides[*dim] = takeFactor(*line);
  if (isStore && overlaps(strides, shape))
    return std::nullopt;
  Value indices =
      line ? line->value
           : tt::MakeRangeOp::create(
                 builder, loc,
                 RankedTensorType::get(shape[*dim], builder.getI32Type()), 0,
                 shape[*dim])
                 .getResult();
  result.ptr = tts::MakeGatherScatterTptrOp::create(
      builder, loc, baseOf(sum->base), indices, gatherMask, *dim, shape,
      strides, offsets);
  return result;
}

std::optional<Structured>
triton_to_structured::structureAccess(Value pointers, Value mask, bool isStore,
                                      Forms forms, OpBuilder &builder,
                                      Location loc) {
  auto type = dyn_cast<RankedTensorType>(pointers.getType());
  // The offset belongs to a dimension, and a scalar has none.
  if (!type || type.getRank() == 0)
    return std::nullopt;
  Maker maker{type, isStore, forms, builder, loc};
  std::optional<Pointers> tracked = trackPointers(pointers, maker.math);
  std::optional<Box> box = mask && tracked
                               ? trackMask(mask, maker.math)
                               : wholeOf(type.getShape(), maker.math);
  if (tracked && box && beginsAtZero(*box)) {
    Structured result{maker.makeStrided(*tracked, pointers), {}};
    if (!isWhole(*box, type.getShape()))
      result.maskDims = box->high;
    if (result.ptr)
      return result;
  }
  bool isBox = tracked && box;
  if (!forms.gatherScatter || (isBox && !forms.lowBounds))
    return std::nullopt;
  return maker.makeGather(pointers, mask);
}
