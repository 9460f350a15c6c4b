// SPDX-License-Identifier: Apache-2.0
//
// The dialect `aux` and its operations, for passes that use them.

#ifndef TRITON_EXT_AUX_H
#define TRITON_EXT_AUX_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include "Aux.h.inc"

namespace mlir::triton_ext::aux {

/// A conversion specification in a format of C's printf, such as `%-8.3lf`.
struct Conversion {
  size_t begin = 0, end = 0;
  /// Position of the length modifier (`l`), after flags, width and precision.
  size_t length = 0;
  /// The conversion letter (`f`), or 0 if the format ends before it.
  char letter = 0;
};

/// Returns the type of a view with this offset and these sizes and strides.
/// Attributes become static numbers in the type; SSA values become dynamic,
/// even if they are constants.
MemRefType viewTypeOf(Type element, OpFoldResult offset,
                      ArrayRef<OpFoldResult> sizes,
                      ArrayRef<OpFoldResult> strides,
                      Attribute memorySpace = {});

/// Returns whether the format of a print has a conversion. `%%` is a percent
/// sign, not a conversion.
bool hasConversion(StringRef format);

/// Returns the only conversion of a format that has one and that verifies.
Conversion getConversion(StringRef format);

} // namespace mlir::triton_ext::aux

#endif // TRITON_EXT_AUX_H
