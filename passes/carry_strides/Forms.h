// SPDX-License-Identifier: Apache-2.0
//
// The numbers that stand for a carried tensor, in one of two forms.

#ifndef TRITON_EXT_CARRY_STRIDES_FORMS_H
#define TRITON_EXT_CARRY_STRIDES_FORMS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::triton_ext::carry_strides {

/// How numbers stand for a tensor. A strided tensor has the numbers of
/// StridedNumbers.h. A shifted tensor is the sum of one scalar and of tensors
/// that do not change: x + k + i % m is shifted by the scalar x + k, and has
/// the rest i % m. The scalar is its only number.
struct Form {
  RankedTensorType type;
  bool isShifted = false;
  /// The tensors of integers that are added to the scalar of a shifted tensor.
  SmallVector<Value> rest = {};
};

SmallVector<Type> numberTypes(const Form &form);
inline unsigned countNumbers(const Form &form) {
  return numberTypes(form).size();
}

/// Finds the rest of a shifted tensor: its addends that are no splats. Returns
/// false if there is none, or if one is computed inside of `region`.
bool findRest(Value tensor, Form &form, Region *region, OpBuilder &b);

/// Returns the numbers of a tensor in this form; nullopt if it is not known to
/// have it. They are made at the builder's insertion point.
std::optional<SmallVector<Value>> findNumbers(Value tensor, const Form &form,
                                              OpBuilder &b);

/// Returns the tensor of these numbers.
Value rebuild(const Form &form, ValueRange numbers, OpBuilder &b, Location loc);

} // namespace mlir::triton_ext::carry_strides

#endif // TRITON_EXT_CARRY_STRIDES_FORMS_H
