// SPDX-License-Identifier: Apache-2.0
//
// Functions of libdevice that are a few instructions: conversions, bits,
// integers, and arithmetic that is rounded to the nearest. All of them are
// vector code and exact, or correctly rounded.

#include "Libdevice.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

using I = arith::CmpIPredicate;
using P = arith::CmpFPredicate;

Value LibdeviceEmitter::bits(StringRef name) {
  if (llvm::is_contained({"int_as_float", "uint_as_float", "float_as_int",
                          "float_as_uint", "longlong_as_double",
                          "double_as_longlong"},
                         name))
    return bitcast(arg(0), result);
  Type i64 = b.getI64Type();
  if (name == "double2loint" || name == "double2hiint") {
    Value all = bitcast(arg(0), typeOf(i64));
    if (name == "double2hiint")
      all = shift(all, 32, false);
    return arith::TruncIOp::create(b, result, all);
  }
  if (name == "hiloint2double") {
    Value high = extended(arg(0), i64, false);
    high = arith::ShLIOp::create(b, high, b.constant(high.getType(), 32));
    return bitcast(bor(high, extended(arg(1), i64, false)), result);
  }
  if (name == "signbitf" || name == "signbitd") {
    bool isDouble = name == "signbitd";
    Type integer = typeOf(isDouble ? i64 : Type(b.getI32Type()));
    Value sign = shift(bitcast(arg(0), integer), isDouble ? 63 : 31, false);
    return isDouble ? Value(arith::TruncIOp::create(b, result, sign)) : sign;
  }
  if (name == "finitef" || name == "isfinited") {
    Type type = arg(0).getType();
    Value is = arith::CmpFOp::create(b, P::OLT,
                                     b.intrinsic("llvm.fabs", type, {arg(0)}),
                                     b.floatConstant(type, INFINITY));
    return arith::ExtUIOp::create(b, result, is);
  }
  return {};
}

/// Returns the upper half of the product of integers of `width` bits.
Value LibdeviceEmitter::highProduct(int width, bool isSigned) {
  Type wide = b.getIntegerType(2 * width);
  Value x = extended(arg(0), wide, isSigned);
  Value y = extended(arg(1), wide, isSigned);
  Value product = arith::MulIOp::create(b, x, y);
  return arith::TruncIOp::create(b, result, shift(product, width, isSigned));
}

/// Returns the average, without the carry that x + y could lose.
Value LibdeviceEmitter::average(bool isSigned, bool roundsUp) {
  Value half = shift(bxor(arg(0), arg(1)), 1, isSigned);
  return roundsUp ? sub(bor(arg(0), arg(1)), half)
                  : add(band(arg(0), arg(1)), half);
}

Value LibdeviceEmitter::integers(StringRef name) {
  if (name == "mulhi" || name == "umulhi")
    return highProduct(32, name == "mulhi");
  if (name == "mul64hi" || name == "umul64hi")
    return highProduct(64, name == "mul64hi");
  if (name == "hadd" || name == "uhadd")
    return average(name == "hadd", false);
  if (name == "rhadd" || name == "urhadd")
    return average(name == "rhadd", true);
  if (name == "mul24" || name == "umul24") {
    auto low = [&](Value x) -> Value {
      if (name == "umul24")
        return band(x, constant(0xffffff));
      return shift(arith::ShLIOp::create(b, x, constant(8)), 8, true);
    };
    return arith::MulIOp::create(b, low(arg(0)), low(arg(1)));
  }
  if (name == "sad" || name == "usad") {
    Value isLess = arith::CmpIOp::create(b, name == "sad" ? I::slt : I::ult,
                                         arg(0), arg(1));
    Value difference = arith::SelectOp::create(b, isLess, sub(arg(1), arg(0)),
                                               sub(arg(0), arg(1)));
    return add(difference, arg(2));
  }
  if (name == "brev" || name == "brevll")
    return b.intrinsic("llvm.bitreverse", result, {arg(0)});
  if (name == "ffs" || name == "ffsll") {
    Value zeros =
        LLVM::CountTrailingZerosOp::create(b, arg(0).getType(), arg(0), false);
    Value isZero = arith::CmpIOp::create(b, I::eq, arg(0), constant(0));
    Value place = arith::SelectOp::create(b, isZero, constant(0),
                                          add(zeros, constant(1)));
    return name == "ffs" ? place
                         : Value(arith::TruncIOp::create(b, result, place));
  }
  if (name == "byte_perm") {
    // Each of the four low nibbles of the selector chooses one of eight bytes.
    Type i64 = b.getI64Type();
    Value low = extended(arg(0), i64, false),
          high = extended(arg(1), i64, false);
    Type wide = low.getType();
    high = arith::ShLIOp::create(b, high, b.constant(wide, 32));
    Value bytes = bor(low, high), selector = extended(arg(2), i64, false), all;
    for (int i = 0; i < 4; ++i) {
      Value place = band(shift(selector, 4 * i, false), b.constant(wide, 7));
      place = arith::ShLIOp::create(b, place, b.constant(wide, 3));
      Value byte =
          band(arith::ShRUIOp::create(b, bytes, place), b.constant(wide, 255));
      byte = arith::ShLIOp::create(b, byte, b.constant(wide, 8 * i));
      all = all ? bor(all, byte) : byte;
    }
    return arith::TruncIOp::create(b, result, all);
  }
  return {};
}

/// Arithmetic that is rounded to the nearest.
Value LibdeviceEmitter::rounded(StringRef name) {
  if (name == "saturatef") {
    Value zero = b.floatConstant(result, 0), one = b.floatConstant(result, 1);
    Value isAbove = arith::CmpFOp::create(b, P::OGT, arg(0), zero);
    Value low = arith::SelectOp::create(b, isAbove, arg(0), zero); // NaN is 0
    return b.intrinsic("llvm.minnum", result, {low, one});
  }
  if (name == "fast_fdividef")
    return arith::DivFOp::create(b, arg(0), arg(1));
  if (!name.consume_back("_rn"))
    return {};
  if (name == "fadd" || name == "dadd")
    return fenced(arith::AddFOp::create(b, arg(0), arg(1)));
  if (name == "fsub" || name == "dsub")
    return fenced(arith::SubFOp::create(b, arg(0), arg(1)));
  if (name == "fmul" || name == "dmul")
    return fenced(arith::MulFOp::create(b, arg(0), arg(1)));
  if (name == "fdiv" || name == "ddiv")
    return arith::DivFOp::create(b, arg(0), arg(1));
  if (name == "frcp" || name == "drcp")
    return arith::DivFOp::create(b, b.floatConstant(result, 1), arg(0));
  if (name == "fsqrt" || name == "dsqrt")
    return b.intrinsic("llvm.sqrt", result, {arg(0)});
  if (name == "fmaf" || name == "fma")
    return b.intrinsic("llvm.fma", result, operands);
  return {};
}

/// Conversions of floats. The name ends in the rounding: nearest, zero, down,
/// up. Too large a float becomes the nearest integer, and NaN becomes 0.
Value LibdeviceEmitter::toInteger(StringRef name) {
  if (name == "llrintf" || name == "llrint")
    name = "float2ll_rn";
  Value x = arg(0);
  Type type = x.getType();
  if (name == "llroundf" || name == "llround") {
    x = b.intrinsic("llvm.round", type, {x});
    return b.intrinsic("llvm.fptosi.sat", result, {x});
  }
  if (!name.consume_front("float2") && !name.consume_front("double2"))
    return {};
  auto [kind, mode] = name.split('_');
  if (!llvm::is_contained({"int", "uint", "ll", "ull"}, kind))
    return {};
  StringRef rounding = llvm::StringSwitch<StringRef>(mode)
                           .Case("rn", "llvm.roundeven")
                           .Case("rz", "llvm.trunc")
                           .Case("rd", "llvm.floor")
                           .Default("llvm.ceil");
  return b.intrinsic(kind.starts_with("u") ? "llvm.fptoui.sat"
                                           : "llvm.fptosi.sat",
                     result, {b.intrinsic(rounding, type, {x})});
}

Value LibdeviceEmitter::emit(StringRef name) {
  using E = LibdeviceEmitter;
  for (auto part : {&E::bits, &E::integers, &E::rounded, &E::toInteger,
                    &E::fromInteger, &E::directed, &E::powersOfTwo,
                    &E::ofSingle, &E::ofErrorFunction, &E::special})
    if (Value value = (this->*part)(name))
      return value;
  return {};
}

Value MathFunctions::simpleExternal(StringRef name, ValueRange operands,
                                    Type result) {
  if (operands.empty())
    return {};
  return LibdeviceEmitter(*this, b, operands, result).emit(name);
}
