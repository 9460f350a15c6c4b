// SPDX-License-Identifier: Apache-2.0
//
// The dialect `ptr`, for dialects and passes that use it.

#ifndef TRITON_EXT_PTR_H
#define TRITON_EXT_PTR_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::triton_ext::ptr {
/// The bits of an address.
inline constexpr unsigned kBits = 64;

class PtrType; // which attributes use before it is declared
} // namespace mlir::triton_ext::ptr

#include "Ptr.h.inc"

#endif // TRITON_EXT_PTR_H
