// SPDX-License-Identifier: Apache-2.0
//
// Makes pointers of tts from tensors of pointers: strided ones that may wrap
// around, or else those with arbitrary offsets along one dimension.

#include "StructuredAccess.h"

#include "analysis/RowTracker.h"
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

  /// Returns the offsets of pointers that do not cross a modulus, because these
  /// strides hold along the whole of each dimension.
  Offsets unwrap(const Offsets &offsets, ArrayRef<int64_t> known);
  Value makeStrided(const Pointers &tracked, Value pointers);
  std::optional<Structured> makeGather(Value pointers, Value mask);
};
} // namespace

Offsets Maker::unwrap(const Offsets &offsets, ArrayRef<int64_t> known) {
  Offsets result{offsets.offset};
  for (int64_t stride : known)
    result.strides.push_back(math.number(stride));
  // The first element wraps around like all others.
  for (const WrappedOffset &term : offsets.wrapped)
    result.offset =
        math.add(result.offset, math.rem(term.offset, term.modulus));
  return result;
}

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
  auto made = tts::MakeTptrOp::create(builder, loc, base, shape, strides,
                                      offsets, extents);
  // What is known of the same pointers, such as their divisibility.
  if (auto sum = pointers.getDefiningOp<tt::AddPtrOp>())
    made->setDiscardableAttrs(sum->getDiscardableAttrDictionary());
  return made;
}

/// Makes pointers with any offsets or any mask along one dimension.
std::optional<Structured> Maker::makeGather(Value pointers, Value mask) {
  // The mask of the pointers replaces the bound along their dimension.
  auto accept = [&](const Box &box, std::optional<unsigned> dim) {
    return beginsAtZero(box) &&
           (!dim || isConstantIntValue(box.high[*dim], shape[*dim]));
  };
  std::optional<Rows> rows = trackRows(pointers, mask, math, accept);
  if (!rows)
    return std::nullopt;
  unsigned dim = rows->dim;
  Structured result;
  result.hasOwnMask = bool(rows->mask);
  if (!isWhole(rows->box, shape)) {
    result.maskDims = rows->box.high;
    if (rows->mask)
      result.maskDims[dim] = math.number(0);
  }
  const Offsets &strided = rows->pointers.offsets;
  SmallVector<OpFoldResult> offsets = zeros();
  offsets[dim == 0 ? 1 : 0] = strided.offset;
  if (isStore && overlaps(strided.strides, shape))
    return std::nullopt;
  Value indices = rows->offsets;
  if (!indices)
    indices = tt::MakeRangeOp::create(
        builder, loc, RankedTensorType::get(shape[dim], builder.getI32Type()),
        0, shape[dim]);
  result.ptr = tts::MakeGatherScatterTptrOp::create(
      builder, loc, baseOf(rows->pointers.base), indices, rows->mask, dim,
      shape, strided.strides, offsets);
  return result;
}

std::optional<Structured> triton_to_structured::structureAccess(
    Value pointers, Value mask, bool isStore, Forms forms,
    const std::optional<SmallVector<int64_t>> &strides, OpBuilder &builder,
    Location loc) {
  auto type = dyn_cast<RankedTensorType>(pointers.getType());
  // The offset belongs to a dimension, and a scalar has none.
  if (!type || type.getRank() == 0)
    return std::nullopt;
  Maker maker{type, isStore, forms, builder, loc};
  maker.math.clampsEnds = forms.clampsBounds;
  std::optional<Pointers> tracked = trackPointers(pointers, maker.math);
  if (tracked && tracked->offsets.wrapsAround() && strides)
    tracked->offsets = maker.unwrap(tracked->offsets, *strides);
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
