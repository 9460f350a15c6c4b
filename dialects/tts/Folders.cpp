// SPDX-License-Identifier: Apache-2.0
//
// Folders of the dialect `tts`: numbers for values that are constants.

#include "Tts.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::triton_ext::tts;

/// Replaces values that are constants by static numbers; returns whether there
/// was one. A number of less than `least` becomes `clamped`, or stays a value
/// if there is none.
static bool foldList(ArrayRef<int64_t> numbers, MutableOperandRange values,
                     function_ref<void(ArrayRef<int64_t>)> setNumbers,
                     int64_t least = std::numeric_limits<int64_t>::min() + 1,
                     std::optional<int64_t> clamped = std::nullopt) {
  SmallVector<int64_t> newNumbers(numbers);
  SmallVector<Value> kept;
  size_t next = 0;
  for (int64_t &number : newNumbers) {
    if (!ShapedType::isDynamic(number))
      continue;
    Value value = OperandRange(values)[next++];
    std::optional<int64_t> constant = getConstantIntValue(value);
    if (constant && *constant < least)
      constant = clamped;
    if (constant)
      number = *constant;
    else
      kept.push_back(value);
  }
  if (kept.size() == next)
    return false;
  values.assign(kept);
  setNumbers(newNumbers);
  return true;
}

OpFoldResult MakeTptrOp::fold(FoldAdaptor) {
  bool changed = foldList(getStaticStrides(), getStridesMutable(),
                          [&](auto numbers) { setStaticStrides(numbers); });
  changed |= foldList(getStaticOffsets(), getOffsetsMutable(),
                      [&](auto numbers) { setStaticOffsets(numbers); });
  // The verifier rejects a negative number, but accepts it as a value.
  changed |= foldList(
      getStaticShape(), getShapeMutable(),
      [&](auto numbers) { setStaticShape(numbers); }, /*least=*/0);
  return changed ? OpFoldResult(getResult()) : OpFoldResult();
}

OpFoldResult MakeGatherScatterTptrOp::fold(FoldAdaptor) {
  bool changed = foldList(getStaticStrides(), getStridesMutable(),
                          [&](auto numbers) { setStaticStrides(numbers); });
  changed |= foldList(getStaticOffsets(), getOffsetsMutable(),
                      [&](auto numbers) { setStaticOffsets(numbers); });
  return changed ? OpFoldResult(getResult()) : OpFoldResult();
}

/// A negative bound accesses nothing, as 0 does.
template <typename Op> static bool foldMaskDims(Op op) {
  return foldList(
      op.getStaticMaskDims(), op.getMaskDimsMutable(),
      [&](auto numbers) { op.setStaticMaskDims(numbers); }, /*least=*/0,
      /*clamped=*/0);
}

OpFoldResult LoadOp::fold(FoldAdaptor) {
  return foldMaskDims(*this) ? OpFoldResult(getResult()) : OpFoldResult();
}

LogicalResult StoreOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &) {
  return success(foldMaskDims(*this));
}

OpFoldResult AtomicRMWOp::fold(FoldAdaptor) {
  return foldMaskDims(*this) ? OpFoldResult(getResult()) : OpFoldResult();
}
