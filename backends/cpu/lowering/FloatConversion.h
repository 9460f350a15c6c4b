// SPDX-License-Identifier: Apache-2.0
//
// Conversions between floating-point types.

#ifndef TRITON_EXT_CPU_FLOATCONVERSION_H
#define TRITON_EXT_CPU_FLOATCONVERSION_H

#include "Context.h"

namespace mlir::triton_ext::cpu {

class FloatConversion {
public:
  explicit FloatConversion(LoweringContext &context)
      : context(context), b(context.b) {}

  /// Converts a scalar or a vector from one type of Triton to another, rounding
  /// to the nearest or, with `rtz`, toward zero. Errors are reported at `op`.
  Value convert(Operation *op, Value value, Type from, Type to,
                bool rtz = false);

  /// Converts the bits of an 8-bit `type` to f32.
  Value fromFloat8(Value bits, Type type);

private:
  struct Float8;

  /// Returns the format of a type of 8 bits, if it is supported.
  static std::optional<Float8> float8(Type type);
  Value fromFloat8ByHalf(Value bits, const Float8 &format);
  Value toFloat8(Value value, Type type, bool rtz);

  LoweringContext &context;
  LaneBuilder &b;
};

} // namespace mlir::triton_ext::cpu

#endif // TRITON_EXT_CPU_FLOATCONVERSION_H
