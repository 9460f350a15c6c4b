// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic on the bits of floating-point numbers, scalars or tensors.

#ifndef TRITON_EXT_LOWERLINALGEXT_BITS_H
#define TRITON_EXT_LOWERLINALGEXT_BITS_H

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

namespace mlir::triton_ext::lower_linalg_ext {

/// Integers and f32 of the shape of a cast's operand.
struct Bits {
  OpBuilder &builder;
  Location loc;
  Type shape;

  Type of(Type element) const {
    if (auto shaped = dyn_cast<ShapedType>(shape))
      return shaped.clone(element);
    return element;
  }
  Value constant(TypedAttr value) const {
    if (auto shaped = dyn_cast<ShapedType>(of(value.getType())))
      return arith::ConstantOp::create(builder, loc,
                                       DenseElementsAttr::get(shaped, value));
    return arith::ConstantOp::create(builder, loc, value);
  }
  Value integer(int64_t value, unsigned width = 32) const {
    return constant(
        builder.getIntegerAttr(builder.getIntegerType(width), value));
  }
  Value f32(int exponent) const {
    return constant(builder.getF32FloatAttr(std::ldexp(1.0f, exponent)));
  }
  Value cast(Value value, Type element) const {
    return arith::BitcastOp::create(builder, loc, of(element), value);
  }
  template <typename Op> Value binary(Value lhs, Value rhs) const {
    return Op::create(builder, loc, lhs, rhs);
  }
  /// Converts the number to another format, with rounding if that is narrower.
  Value extend(Value value, Type element) const {
    return arith::ExtFOp::create(builder, loc, of(element), value);
  }
  Value truncate(Value value, Type element) const {
    return arith::TruncFOp::create(builder, loc, of(element), value);
  }
  Value select(arith::CmpIPredicate predicate, Value lhs, Value rhs, Value yes,
               Value no) const {
    Value is = arith::CmpIOp::create(builder, loc, predicate, lhs, rhs);
    return arith::SelectOp::create(builder, loc, is, yes, no);
  }
  Value select(arith::CmpFPredicate predicate, Value lhs, Value rhs, Value yes,
               Value no) const {
    Value is = arith::CmpFOp::create(builder, loc, predicate, lhs, rhs);
    return arith::SelectOp::create(builder, loc, is, yes, no);
  }
};

} // namespace mlir::triton_ext::lower_linalg_ext

#endif // TRITON_EXT_LOWERLINALGEXT_BITS_H
