// SPDX-License-Identifier: Apache-2.0
//
// Mathematical functions of scalars and vectors: those of the math dialect and
// of libdevice.

#ifndef TRITON_EXT_CPU_MATHFUNCTIONS_H
#define TRITON_EXT_CPU_MATHFUNCTIONS_H

#include "Context.h"

namespace mlir::triton_ext::cpu {

class MathFunctions {
public:
  explicit MathFunctions(LoweringContext &context)
      : context(context), b(context.b) {}

  /// Emits the function that the math dialect calls `name`, e.g. "exp".
  Value call(Operation *op, StringRef name, ValueRange operands);
  /// Emits a function of libdevice.
  Value callExternal(triton::ExternElementwiseOp op, ValueRange operands);
  /// Calls a function of the C library for each lane.
  Value callScalar(StringRef symbol, ValueRange operands, Type result);

  /// Returns whether functions of f64 such as exp and log are vector code.
  bool hasVectorsOfDouble() const { return context.target.hasFma; }

private:
  // Each returns null if there is no vector code for the function.
  Value exact(StringRef name, Type type, ValueRange operands);
  Value ofSingle(StringRef name, ValueRange operands);
  Value ofDouble(StringRef name, Value x);

  /// Emits a function of libdevice that is a few instructions (Libdevice.cpp).
  Value simpleExternal(StringRef name, ValueRange operands, Type result);

  Value sineOfSingle(Value x, bool isCosine);
  Value powerOfSingle(Value x, Value y);

  LoweringContext &context;
  LaneBuilder &b;
};

} // namespace mlir::triton_ext::cpu

#endif // TRITON_EXT_CPU_MATHFUNCTIONS_H
