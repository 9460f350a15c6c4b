// SPDX-License-Identifier: Apache-2.0
//
// What scalars and tensors of pointers have in common.

#ifndef TRITON_EXT_TRITON_TO_PTR_POINTERS_H
#define TRITON_EXT_TRITON_TO_PTR_POINTERS_H

#include "mlir/Transforms/DialectConversion.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton_ext::triton_to_ptr {

/// What an access does to one element.
struct Access {
  Type type; // of the element, converted
  bool isVolatile = false;

  /// Loads from `pointer` if `mask` is null or true. Otherwise returns `other`,
  /// or 0 if that is null.
  Value load(OpBuilder &builder, Location loc, Value pointer, Value mask,
             Value other) const;

  /// Stores to `pointer` if `mask` is null or true.
  static void store(OpBuilder &builder, Location loc, Value pointer,
                    Value value, Value mask);
};

/// Returns whether the type is a tensor of Triton's pointers.
bool isTensorOfPointers(Type type);

/// Loads and stores through tensors of pointers.
Value loadAll(OpBuilder &builder, Location loc, RankedTensorType type,
              const Access &access, Value pointers, Value mask, Value other);
void storeAll(OpBuilder &builder, Location loc, Value pointers, Value values,
              Value mask);

/// Adds what converts tensors of pointers, and operations that only move their
/// elements.
void addTensors(TypeConverter &converter, RewritePatternSet &patterns,
                ConversionTarget &target);

} // namespace mlir::triton_ext::triton_to_ptr

#endif // TRITON_EXT_TRITON_TO_PTR_POINTERS_H
