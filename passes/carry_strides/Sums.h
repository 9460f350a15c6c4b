// SPDX-License-Identifier: Apache-2.0
//
// Tensors as sums of one scalar and of tensors of integers.

#ifndef TRITON_EXT_CARRY_STRIDES_SUMS_H
#define TRITON_EXT_CARRY_STRIDES_SUMS_H

#include "analysis/IndexMath.h"

namespace mlir::triton_ext::carry_strides {

/// A scalar plus tensors of integers. The scalar is a pointer or an integer;
/// null stands for 0.
struct Sum {
  Value scalar;
  SmallVector<Value> rest;
};

/// Returns a tensor of pointers or integers as a sum, which is made at the
/// insertion point of `math`; nullopt if it cannot be.
std::optional<Sum> trackSum(Value tensor, analysis::IndexMath &math);

/// Returns whether two rests of sums are the same tensors.
bool isSameRest(ArrayRef<Value> a, ArrayRef<Value> b);

/// Returns the arithmetic of numbers of 64 bits at the builder's insertion
/// point.
analysis::IndexMath mathAt(OpBuilder &b, Location loc);

} // namespace mlir::triton_ext::carry_strides

#endif // TRITON_EXT_CARRY_STRIDES_SUMS_H
