// SPDX-License-Identifier: Apache-2.0
//
// What several verifiers of the dialect `tts` check.

#ifndef TRITON_EXT_TTS_CHECKS_H
#define TRITON_EXT_TTS_CHECKS_H

#include "Tts.h"

namespace mlir::triton_ext::tts {

/// Checks that `numbers` has `count` entries, as many of them dynamic as there
/// are values.
inline LogicalResult checkList(Operation *op, StringRef what,
                               ArrayRef<int64_t> numbers, OperandRange values,
                               size_t count) {
  if (numbers.size() != count)
    return op->emitOpError()
           << "expected " << count << " " << what << ", got " << numbers.size();
  size_t dynamic = llvm::count_if(numbers, ShapedType::isDynamic);
  if (dynamic != values.size())
    return op->emitOpError()
           << "expected a value for each of the " << dynamic << " dynamic "
           << what << ", got " << values.size();
  return success();
}

/// Checks that a value has the type that the pointers ask for.
inline LogicalResult checkType(Operation *op, StringRef what, Type found,
                               Type expected) {
  if (found == expected)
    return success();
  return op->emitOpError() << "expected " << what << " of type " << expected
                           << ", got " << found;
}

/// Returns the type of what is at these offsets from `ptr`.
inline Type valueTypeAt(Value ptr, Value offset) {
  Type element = triton::getPointeeType(ptr.getType());
  auto type = dyn_cast<RankedTensorType>(offset.getType());
  return type ? type.clone(element) : element;
}

inline LogicalResult checkMaskDims(Operation *op, Value ptr,
                                   ArrayRef<int64_t> numbers,
                                   OperandRange values) {
  size_t rank = cast<RankedTensorType>(ptr.getType()).getRank();
  size_t count = numbers.empty() ? 0 : rank;
  // The bounds from below follow those from above.
  if (numbers.size() == 2 * rank)
    count = 2 * rank;
  if (failed(checkList(op, "mask_dims", numbers, values, count)))
    return failure();
  for (int64_t number : numbers)
    if (!ShapedType::isDynamic(number) && number < 0)
      return op->emitOpError()
             << "expected mask_dims of at least 0, got " << number;
  auto gather = ptr.getDefiningOp<MakeGatherScatterTptrOp>();
  if (!gather || !gather.getGatherScatterMask() || numbers.empty())
    return success();
  uint32_t dim = gather.getGatherScatterDim();
  // The pointer's own verifier comes later if it is in a graph region.
  for (size_t place = dim; dim < rank && place < numbers.size(); place += rank)
    if (numbers[place] != 0)
      return op->emitOpError() << "expected mask_dims to be 0 in dimension "
                               << dim << ", where the pointers have a mask";
  return success();
}

} // namespace mlir::triton_ext::tts

#endif // TRITON_EXT_TTS_CHECKS_H
