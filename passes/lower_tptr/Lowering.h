// SPDX-License-Identifier: Apache-2.0
//
// What an operation of `ptr` or `tptr` becomes. Its pointers are i64 behind a
// cast, which goes when their type does.

#ifndef TRITON_EXT_LOWER_TPTR_LOWERING_H
#define TRITON_EXT_LOWER_TPTR_LOWERING_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"

namespace mlir::triton_ext::lower_tptr {

/// Replaces an operation of `ptr` or `tptr`. Fails, with a diagnostic, if it
/// has no lowering. Leaves operations of other dialects untouched.
LogicalResult lower(Operation *op);

/// Extends or cuts integers or indices.
Value resize(OpBuilder &builder, Location loc, Value value, Type element,
             bool isSigned);

/// Returns `type` with other elements, or `element` if it has none.
Type withElement(Type type, Type element);

/// Casts a value to a type that it will have.
Value asType(OpBuilder &builder, Location loc, Value value, Type type);

/// Returns the addresses of pointers.
Value addressOf(OpBuilder &builder, Value pointers);

/// Loads a value from an address, and stores one. Fails if an access that is
/// volatile or atomic has a type that LLVM cannot access so.
LogicalResult lowerAccess(Operation *op);

/// Makes a memref of an address, or an address of a memref.
LogicalResult lowerCast(Operation *op);

} // namespace mlir::triton_ext::lower_tptr

#endif // TRITON_EXT_LOWER_TPTR_LOWERING_H
