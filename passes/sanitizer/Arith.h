// SPDX-License-Identifier: Apache-2.0
//
// The two halves of the check of arithmetic: integers and floats.

#ifndef TRITON_EXT_SANITIZER_ARITH_H
#define TRITON_EXT_SANITIZER_ARITH_H

#include "FloatCopy.h"

#include "llvm/ADT/APFloat.h"

namespace mlir::triton_ext::sanitizer {

/// Checks whether `op` makes NaN or Inf of finite numbers.
void checkFloat(Checker &checker, FloatCopy &copies, Operation *op);

/// Adds the numbers of an operation to a finding, with their names.
void addOperands(Checker &checker, Finding &finding, Operation *reader,
                 ArrayRef<Value> operands, FloatCopy &copies);

/// Returns a number in each element of the type, a float or a tensor.
Value floatConstantOf(ImplicitLocOpBuilder &b, Type type,
                      const llvm::APFloat &value);

} // namespace mlir::triton_ext::sanitizer

#endif // TRITON_EXT_SANITIZER_ARITH_H
