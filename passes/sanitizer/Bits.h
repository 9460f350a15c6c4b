// SPDX-License-Identifier: Apache-2.0
//
// Tensors of i1: constants, changes of shape, reductions along dimensions.
// A tensor may be compact, with one element along each dimension along which it
// does not vary, or a scalar if it varies along none.

#ifndef TRITON_EXT_SANITIZER_BITS_H
#define TRITON_EXT_SANITIZER_BITS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton_ext::sanitizer {

/// Dimensions, one bit for each.
using Dims = uint32_t;

/// Returns the dimensions of more than one element.
Dims allDims(ArrayRef<int64_t> shape);
/// Returns the type of a compact tensor that varies along `dims`: i1 if
/// `dims` is empty.
Type compactType(MLIRContext *context, ArrayRef<int64_t> shape, Dims dims);

/// Returns a number in each element of the type, an integer or a tensor.
Value constantOf(ImplicitLocOpBuilder &b, Type type, int64_t value);
Value notOf(ImplicitLocOpBuilder &b, Value bits);
/// Whether `bits` were negated from `others`.
bool isNotOf(Value bits, Value others);

/// Returns the value with another shape of as many elements.
Value reshaped(ImplicitLocOpBuilder &b, Value value, ArrayRef<int64_t> shape);
/// Repeats `value`, a scalar or a tensor with one element along some
/// dimensions, until it has `shape`.
Value broadcastTo(ImplicitLocOpBuilder &b, Value value,
                  ArrayRef<int64_t> shape);
/// Makes compact bits vary along `dims`, which include theirs.
Value widened(ImplicitLocOpBuilder &b, Value bits, ArrayRef<int64_t> shape,
              Dims dims);

/// Gives a reduction or a scan of one tensor the region that combines two
/// elements with `Op`.
template <typename Op>
void combineWith(ImplicitLocOpBuilder &b, Operation *op) {
  OpBuilder::InsertionGuard guard(b);
  Type type = getElementTypeOrSelf(op->getOperand(0));
  Block *body = b.createBlock(&op->getRegion(0), {}, {type, type},
                              {b.getLoc(), b.getLoc()});
  Value both = Op::create(b, body->getArgument(0), body->getArgument(1));
  if (isa<triton::ReduceOp>(op))
    triton::ReduceReturnOp::create(b, both);
  else
    triton::ScanReturnOp::create(b, both);
}

/// Combines the elements of a tensor along the dimension with `Op`.
template <typename Op>
Value reduce(ImplicitLocOpBuilder &b, Value value, unsigned axis = 0) {
  auto op = triton::ReduceOp::create(b, ValueRange{value}, axis);
  combineWith<Op>(b, op);
  return op->getResult(0);
}

/// Returns whether any element along the dimension is true. The result is
/// compact.
Value anyAlong(ImplicitLocOpBuilder &b, Value bits, unsigned axis);
/// Returns whether any element is true, as i1.
Value anyOf(ImplicitLocOpBuilder &b, Value bits);
/// Returns for each element whether one before it along the dimension is true,
/// or itself.
Value anyBefore(ImplicitLocOpBuilder &b, Value bits, unsigned axis,
                bool isReverse);

} // namespace mlir::triton_ext::sanitizer

#endif // TRITON_EXT_SANITIZER_BITS_H
