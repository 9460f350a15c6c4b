// SPDX-License-Identifier: Apache-2.0
//
// One elementwise operation on lanes.

#ifndef TRITON_EXT_CPU_ELEMENTWISE_H
#define TRITON_EXT_CPU_ELEMENTWISE_H

#include "Context.h"
#include "FloatConversion.h"
#include "LaneArithmetic.h"
#include "MathFunctions.h"

namespace mlir::triton_ext::cpu {

class Elementwise {
public:
  Elementwise(LoweringContext &context, LaneArithmetic &arithmetic,
              FloatConversion &conversion, MathFunctions &functions)
      : context(context), b(context.b), arithmetic(arithmetic),
        conversion(conversion), functions(functions) {}

  /// Returns the result of `op` for `operands`. Address arithmetic keeps the
  /// form base + pattern.
  Lanes apply(Operation *op, ArrayRef<Lanes> operands);
  /// Returns a constant that is a number, or a tensor of equal numbers.
  Lanes constant(arith::ConstantOp op);

private:
  // Address arithmetic. These return empty Lanes if the result is not known to
  // be a pattern.
  Lanes pattern(Operation *op, ArrayRef<Lanes> operands);
  Lanes patternOf(Operation *op, ArrayRef<Lanes> operands);
  Lanes productPattern(Operation *op, ArrayRef<Lanes> operands);
  Lanes remainderPattern(Operation *op, ArrayRef<Lanes> operands);
  Lanes addressPattern(triton::AddPtrOp op, ArrayRef<Lanes> operands);

  // Scalars or vectors (Compute.cpp)
  Value compute(Operation *op, ValueRange operands, Type result);
  Value computeWide(Operation *op, ValueRange operands, Type result);
  Value divide(Operation *op, Value lhs, Value rhs);
  Value divideBy(Value lanes, Value divisor);
  Value shift(Operation *op, ValueRange operands, Type result);

  LoweringContext &context;
  LaneBuilder &b;
  LaneArithmetic &arithmetic;
  FloatConversion &conversion;
  MathFunctions &functions;
};

} // namespace mlir::triton_ext::cpu

#endif // TRITON_EXT_CPU_ELEMENTWISE_H
