// SPDX-License-Identifier: Apache-2.0
//
// The dialect `aux` and its operations, for passes that use them.

#ifndef TRITON_EXT_AUX_H
#define TRITON_EXT_AUX_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include "Aux.h.inc"

namespace mlir::triton_ext::aux {

/// How a value is printed: `%-8.3lf` in a format of C's printf.
struct Conversion {
  size_t begin = 0, end = 0;
  /// Where the length (`l`) begins: behind flags, width and precision.
  size_t length = 0;
  /// What is printed: `f`.
  char letter = 0;
};

/// Whether a value is to be printed somewhere in the format of a print: %% is
/// a percent sign.
bool hasConversion(StringRef format);

/// The one conversion in a format that has one and that verifies.
Conversion getConversion(StringRef format);

} // namespace mlir::triton_ext::aux

#endif // TRITON_EXT_AUX_H
