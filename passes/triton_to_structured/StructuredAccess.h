// SPDX-License-Identifier: Apache-2.0
//
// Describes pointers and mask of an access as operations of tts take them.

#ifndef TRITON_EXT_TRITONTOSTRUCTURED_STRUCTUREDACCESS_H
#define TRITON_EXT_TRITONTOSTRUCTURED_STRUCTUREDACCESS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace mlir::triton_ext::triton_to_structured {

/// The pointers and the mask of an access, as operations of tts take them.
struct Structured {
  Value ptr;
  /// The bound of each dimension of the mask; empty for an access without a
  /// mask.
  SmallVector<OpFoldResult> maskDims;
  /// Whether the pointers have a mask of their own.
  bool hasOwnMask = false;

  bool isMasked() const { return hasOwnMask || !maskDims.empty(); }
};

/// Which pointers may be made.
struct Forms {
  /// Those that wrap around.
  bool wrapAround;
  /// Those with arbitrary offsets along one dimension.
  bool gatherScatter;
  /// Those with a mask along one dimension that is a box with a low bound.
  bool lowBounds;
  /// Whether bounds are at least 0, also if the mask is false everywhere.
  bool clampsBounds;
};

/// Makes the pointers of an access and the bounds of its mask; nullopt if
/// either is not structured. The operations that it made before giving up have
/// no uses. `strides` are those of the pointers, in elements, if the analysis
/// of axes knows them.
std::optional<Structured>
structureAccess(Value pointers, Value mask, bool isStore, Forms forms,
                const std::optional<SmallVector<int64_t>> &strides,
                OpBuilder &builder, Location loc);

} // namespace mlir::triton_ext::triton_to_structured

#endif // TRITON_EXT_TRITONTOSTRUCTURED_STRUCTUREDACCESS_H
