// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic on f32 lanes, written as expressions. Each operator emits an
// operation.

#ifndef TRITON_EXT_CPU_F32_H
#define TRITON_EXT_CPU_F32_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::triton_ext::cpu {

/// A scalar or a vector. Functions on its bits take it as i32.
struct F32 {
  ImplicitLocOpBuilder *b;
  Value v;
  bool has512Bits = false;
  F32 with(Value value) const { return {b, value, has512Bits}; }
  F32 number(double x) const {
    Attribute attribute = b->getF32FloatAttr(x);
    auto vector = dyn_cast<VectorType>(v.getType());
    if (vector && !vector.getElementType().isF32())
      vector = VectorType::get(vector.getShape(), b->getF32Type());
    if (vector)
      return with(arith::ConstantOp::create(
          *b, DenseElementsAttr::get(vector, attribute)));
    return with(arith::ConstantOp::create(*b, cast<TypedAttr>(attribute)));
  }
  F32 integer(int64_t x) const {
    auto element = b->getI32Type();
    Attribute attribute = b->getIntegerAttr(element, int32_t(x));
    if (auto vector = dyn_cast<VectorType>(v.getType()))
      return with(arith::ConstantOp::create(
          *b, DenseElementsAttr::get(
                  VectorType::get(vector.getShape(), element), attribute)));
    return with(arith::ConstantOp::create(*b, cast<TypedAttr>(attribute)));
  }
  Type like(Type element) const {
    if (auto vector = dyn_cast<VectorType>(v.getType()))
      return VectorType::get(vector.getShape(), element);
    return element;
  }
  F32 bits() const {
    return with(arith::BitcastOp::create(*b, like(b->getI32Type()), v));
  }
  F32 asFloat() const {
    return with(arith::BitcastOp::create(*b, like(b->getF32Type()), v));
  }
  F32 toInt() const {
    return with(arith::FPToSIOp::create(*b, like(b->getI32Type()), v));
  }
  F32 toFloat() const {
    return with(arith::SIToFPOp::create(*b, like(b->getF32Type()), v));
  }
  F32 round() const {
    return with(LLVM::CallIntrinsicOp::create(*b, v.getType(),
                                              b->getStringAttr("llvm.rint"),
                                              ValueRange{v})
                    .getResult(0));
  }
  F32 abs() const { return with(LLVM::FAbsOp::create(*b, v)); }
  F32 fma(F32 y, F32 z) const {
    return with(LLVM::FMAOp::create(*b, v, y.v, z.v));
  }
  F32 compare(arith::CmpFPredicate predicate, F32 y) const {
    return with(arith::CmpFOp::create(*b, predicate, v, y.v));
  }
  F32 select(F32 yes, F32 no) const {
    return with(arith::SelectOp::create(*b, v, yes.v, no.v));
  }
  /// Horner's scheme; the first coefficient is that of the highest power.
  F32 polynomial(ArrayRef<double> coefficients) const {
    F32 sum = number(coefficients.front());
    for (double c : coefficients.drop_front())
      sum = sum.fma(*this, number(c));
    return sum;
  }
};
inline F32 operator+(F32 x, F32 y) {
  return x.with(arith::AddFOp::create(*x.b, x.v, y.v));
}
inline F32 operator-(F32 x, F32 y) {
  return x.with(arith::SubFOp::create(*x.b, x.v, y.v));
}
inline F32 operator*(F32 x, F32 y) {
  return x.with(arith::MulFOp::create(*x.b, x.v, y.v));
}
inline F32 operator/(F32 x, F32 y) {
  return x.with(arith::DivFOp::create(*x.b, x.v, y.v));
}
inline F32 addInt(F32 x, F32 y) {
  return x.with(arith::AddIOp::create(*x.b, x.v, y.v));
}
inline F32 subInt(F32 x, F32 y) {
  return x.with(arith::SubIOp::create(*x.b, x.v, y.v));
}
inline F32 andInt(F32 x, F32 y) {
  return x.with(arith::AndIOp::create(*x.b, x.v, y.v));
}
inline F32 orInt(F32 x, F32 y) {
  return x.with(arith::OrIOp::create(*x.b, x.v, y.v));
}
inline F32 shl(F32 x, int n) {
  return x.with(arith::ShLIOp::create(*x.b, x.v, x.integer(n).v));
}
inline F32 sar(F32 x, int n) {
  return x.with(arith::ShRSIOp::create(*x.b, x.v, x.integer(n).v));
}

} // namespace mlir::triton_ext::cpu

#endif // TRITON_EXT_CPU_F32_H
