// SPDX-License-Identifier: Apache-2.0
//
// The numbers that stand for a carried tensor, in one of five forms.

#ifndef TRITON_EXT_CARRY_STRIDES_FORMS_H
#define TRITON_EXT_CARRY_STRIDES_FORMS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::triton_ext::carry_strides {

/// How numbers stand for a tensor. A strided tensor has the numbers of
/// StridedNumbers.h. A shifted tensor is the sum of one scalar and of tensors
/// that do not change: x + k + i % m is shifted by the scalar x + k, and has
/// the rest i % m. The scalar is its only number. A moved tensor of pointers is
/// a shifted one plus a tensor of offsets, which is its second number: that is
/// what x + i % m becomes if a loop adds loaded offsets to it. A wrapped tensor
/// of pointers is strided along some dimensions, and has the remainder of a
/// strided dividend along each of the others. Its numbers are in
/// WrappedNumbers.h. A gathered tensor of pointers has any offsets along one
/// dimension, and is strided along the others. Its numbers are in
/// GatheredNumbers.h.
struct Form {
  enum Kind { Strided, Shifted, Moved, Wrapped, Gathered };

  RankedTensorType type;
  Kind kind = Strided;
  /// The tensors of integers that are added to the scalar of a shifted or moved
  /// tensor.
  SmallVector<Value> rest = {};
  /// The only dimension whose index the offsets of a moved tensor depend on,
  /// which then have only this dimension; nullopt if it depends on several.
  std::optional<unsigned> along = {};
  /// Whether the tensor may be a moved one if it is not a wrapped one.
  bool canMove = false;
  /// The dimensions along which a wrapped tensor wraps around. It is empty
  /// until the tensor has this form.
  llvm::SmallBitVector wraps = {};
  /// The dimension along which a gathered tensor is not strided; nullopt if it
  /// cannot have this form.
  std::optional<unsigned> gathers = {};
};

SmallVector<Type> numberTypes(const Form &form);
inline unsigned countNumbers(const Form &form) {
  return numberTypes(form).size();
}

/// Finds the rest of a shifted or moved tensor: its addends that are not
/// splats, up to the first one that is computed inside of `region`. Returns
/// false if the tensor does not have this form. The other forms have no rest.
bool findRest(Value tensor, Form &form, Region *region, OpBuilder &b);

/// Notes the dimension along which a tensor of pointers is not strided, if it
/// has only one and none is noted yet.
void noteGathers(Form &form, Value tensor, OpBuilder &b);

/// Changes a form that `tensor` does not have to the next one that it may have,
/// and returns false if there is none. Compares the tensor with the rest of a
/// shifted form, which findRest() must have set: from this tensor, from the one
/// that the loop begins with, or from that of the first arm of a branch.
bool toNextForm(Form &form, Value tensor, OpBuilder &b);

/// Returns the numbers of a tensor in this form; nullopt if it is not known to
/// have it. They are made at the builder's insertion point.
std::optional<SmallVector<Value>> findNumbers(Value tensor, const Form &form,
                                              OpBuilder &b);

/// Returns the tensor of these numbers.
Value rebuild(const Form &form, ValueRange numbers, OpBuilder &b, Location loc);

} // namespace mlir::triton_ext::carry_strides

#endif // TRITON_EXT_CARRY_STRIDES_FORMS_H
