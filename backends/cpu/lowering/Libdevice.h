// SPDX-License-Identifier: Apache-2.0
//
// Emits the functions of libdevice that are not functions of the math dialect.

#ifndef TRITON_EXT_CPU_LIBDEVICE_H
#define TRITON_EXT_CPU_LIBDEVICE_H

#include "MathFunctions.h"

namespace mlir::triton_ext::cpu {

/// Emits one function; `b` and `operands` are those of the call.
class LibdeviceEmitter {
public:
  LibdeviceEmitter(MathFunctions &math, LaneBuilder &b, ValueRange operands,
                   Type result)
      : math(math), b(b), operands(operands), result(result) {}

  /// Returns the result of the function `name`, without its prefix `__nv_`;
  /// null if the function is not one of these.
  Value emit(StringRef name);

private:
  Value arg(int i) const { return operands[i]; }
  Type typeOf(Type element) const { return like(operands[0], element); }
  Value bitcast(Value value, Type type) {
    return arith::BitcastOp::create(b, type, value);
  }
  Value constant(int64_t value) {
    return b.constant(operands[0].getType(), value);
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, x, y); }
  Value band(Value x, Value y) { return arith::AndIOp::create(b, x, y); }
  Value bxor(Value x, Value y) { return arith::XOrIOp::create(b, x, y); }
  Value bor(Value x, Value y) { return arith::OrIOp::create(b, x, y); }
  Value shift(Value x, int by, bool isSigned) {
    Value amount = b.constant(x.getType(), by);
    return isSigned ? Value(arith::ShRSIOp::create(b, x, amount))
                    : Value(arith::ShRUIOp::create(b, x, amount));
  }
  Value extended(Value x, Type element, bool isSigned) {
    Type type = typeOf(element);
    return isSigned ? Value(arith::ExtSIOp::create(b, type, x))
                    : Value(arith::ExtUIOp::create(b, type, x));
  }
  Value fadd(Value x, Value y) { return arith::AddFOp::create(b, x, y); }
  Value fsub(Value x, Value y) { return arith::SubFOp::create(b, x, y); }
  Value fmul(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
  Value fdiv(Value x, Value y) { return arith::DivFOp::create(b, x, y); }
  Value negative(Value x) { return arith::NegFOp::create(b, x); }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(b, condition, yes, no);
  }
  Value number(double value) {
    return b.floatConstant(typeOf(b.getF64Type()), value);
  }
  Value is(arith::CmpFPredicate predicate, Value x, Value y) {
    return arith::CmpFOp::create(b, predicate, x, y);
  }
  /// Returns an operand of f32 as f64.
  Value wide(int i) {
    return arith::ExtFOp::create(b, typeOf(b.getF64Type()), arg(i));
  }
  Value narrow(Value x) { return arith::TruncFOp::create(b, result, x); }
  Value absolute(Value x) { return b.intrinsic("llvm.fabs", x.getType(), {x}); }
  /// Keeps LLVM from fusing a product or a sum into an fma, which CUDA's
  /// functions with the suffix _rn promise.
  Value fenced(Value x) {
    return b.intrinsic("llvm.arithmetic.fence", x.getType(), {x});
  }

  Value bits(StringRef name);
  Value integers(StringRef name);
  Value rounded(StringRef name);
  Value toInteger(StringRef name);
  // LibdeviceRounding.cpp
  Value fromInteger(StringRef name);
  Value directed(StringRef name);
  Value toSingle(Value x, StringRef mode);
  Value step(Value nearest, Value isAbove, Value isBelow, StringRef mode);
  std::pair<Value, Value> sumInTwo(Value x, Value y);
  Value roundToOdd(std::pair<Value, Value> sum);
  // LibdeviceFloats.cpp
  Value powersOfTwo(StringRef name);
  Value ofSingle(StringRef name);
  Value special(StringRef name);
  Value norm(bool isReciprocal);
  Value sineOfPi(bool isCosine);
  Value reciprocalCubeRoot();
  // LibdeviceErrorFunctions.cpp
  Value ofErrorFunction(StringRef name);
  Value inverseOfError(Value x, Value complement);
  Value scaledComplementOf(Value z);
  Value polynomial(Value x, ArrayRef<double> coefficients);
  Value highProduct(int width, bool isSigned);
  Value average(bool isSigned, bool roundsUp);

  MathFunctions &math;
  LaneBuilder &b;
  ValueRange operands;
  Type result;
};

} // namespace mlir::triton_ext::cpu

#endif // TRITON_EXT_CPU_LIBDEVICE_H
