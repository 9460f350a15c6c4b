// SPDX-License-Identifier: Apache-2.0
//
// Chooses how a function is computed: by an instruction, by vector code
// (Math32.cpp, Math64.cpp), or lane by lane by the C library.

#include "MathFunctions.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

using P = arith::CmpFPredicate;

Value MathFunctions::callScalar(StringRef symbol, ValueRange operands,
                                Type result) {
  Type element = getElementTypeOrSelf(result);
  SmallVector<Type> types;
  for (Value operand : operands)
    types.push_back(getElementTypeOrSelf(operand.getType()));
  // The C library has functions only of f32 and f64.
  Type number = b.getF32Type();
  SmallVector<Value> arguments(operands);
  Type narrow;
  if (llvm::any_of(types, [](Type t) { return t.isF16(); })) {
    narrow = b.getF16Type();
    for (auto [value, type] : llvm::zip(arguments, types))
      if (type.isF16()) {
        value = arith::ExtFOp::create(b, like(value, number), value);
        type = number;
      }
    if (element.isF16())
      element = number;
  }
  context.declareFunction(symbol, element, types);
  auto call = [&](ArrayRef<Value> values) -> Value {
    return LLVM::CallOp::create(b, TypeRange{element}, symbol, values)
        .getResult();
  };
  Value out;
  if (auto vector = dyn_cast<VectorType>(result)) {
    out =
        LLVM::PoisonOp::create(b, VectorType::get(vector.getShape(), element));
    for (int i = 0; i < vector.getDimSize(0); ++i) {
      SmallVector<Value> lane;
      for (Value argument : arguments)
        lane.push_back(b.extract(argument, i));
      out = LLVM::InsertElementOp::create(b, out, call(lane),
                                          b.constant(b.getI32Type(), i));
    }
  } else {
    out = call(arguments);
  }
  if (out.getType() != result)
    out = arith::TruncFOp::create(b, result, out);
  return out;
}

/// Emits a function that is exact, or a single instruction, for every type.
Value MathFunctions::exact(StringRef name, Type type, ValueRange operands) {
  StringRef exact = llvm::StringSwitch<StringRef>(name)
                        .Case("absf", "llvm.fabs")
                        .Case("sqrt", "llvm.sqrt")
                        .Case("floor", "llvm.floor")
                        .Case("ceil", "llvm.ceil")
                        .Case("trunc", "llvm.trunc")
                        .Case("roundeven", "llvm.roundeven")
                        .Case("rint", "llvm.rint")
                        .Case("round", "llvm.round")
                        .Case("fma", "llvm.fma")
                        .Case("copysign", "llvm.copysign")
                        .Case("ctpop", "llvm.ctpop")
                        .Default("");
  if (!exact.empty())
    return b.intrinsic(exact, type, operands);
  if (name == "absi")
    return LLVM::AbsOp::create(b, type, operands[0], false);
  if (name == "ctlz")
    return LLVM::CountLeadingZerosOp::create(b, type, operands[0], false);
  if (name == "cttz")
    return LLVM::CountTrailingZerosOp::create(b, type, operands[0], false);
  return {};
}

Value MathFunctions::call(Operation *op, StringRef name, ValueRange operands) {
  Type type = operands[0].getType(), element = getElementTypeOrSelf(type);
  if (Value value = exact(name, type, operands))
    return value;
  if (!isa<FloatType>(element))
    return context.error(op, "not supported on the CPU for integers");
  if (element.isF16()) {
    SmallVector<Value> wide;
    for (Value operand : operands)
      wide.push_back(
          arith::ExtFOp::create(b, like(operand, b.getF32Type()), operand));
    return arith::TruncFOp::create(b, type, call(op, name, wide));
  }
  if (name == "rsqrt")
    return arith::DivFOp::create(b, b.floatConstant(type, 1.0),
                                 b.intrinsic("llvm.sqrt", type, operands));
  if (element.isF32())
    if (Value value = ofSingle(name, operands))
      return value;
  if (element.isF64() && isa<VectorType>(type) && context.target.hasFma)
    if (Value value = ofDouble(name, operands[0]))
      return value;
  StringRef libm =
      llvm::StringSwitch<StringRef>(name)
          .Case("powf", "pow")
          .Case("atan2", "atan2")
          .Cases({"exp", "exp2", "expm1", "log", "log2", "log10", "log1p"},
                 name)
          .Cases({"sin", "cos", "tan", "asin", "acos", "atan"}, name)
          .Cases({"sinh", "cosh", "tanh", "asinh", "acosh", "atanh"}, name)
          .Cases({"erf", "erfc", "cbrt"}, name)
          .Default("");
  if (libm.empty())
    return context.error(op, "this function is not supported on the CPU");
  return callScalar((libm + (element.isF64() ? "" : "f")).str(), operands,
                    type);
}

Value MathFunctions::callExternal(triton::ExternElementwiseOp op,
                                  ValueRange operands) {
  StringRef symbol = op.getSymbol();
  Type result = loweredType(op.getType());
  if (!operands.empty())
    result = like(operands[0], result);
  if (!symbol.consume_front("__nv_"))
    return context.error(op, "the external function '" + op.getSymbol() +
                                 "' is not available on the CPU; those of "
                                 "triton.language.extra.libdevice are");
  Type element =
      operands.empty() ? Type() : getElementTypeOrSelf(operands[0].getType());
  if (Value value = simpleExternal(symbol, operands, result))
    return value;
  // fast_expf is expf. The suffix f stands for f32, no suffix for f64.
  symbol.consume_front("fast_");
  std::string name = symbol.str();
  bool isSingle = element && element.isF32();
  if (isSingle && StringRef(name).ends_with("f") && name != "erf")
    name.pop_back();
  if (StringRef(name).ends_with("f") && (name == "erff"))
    name = "erf";
  auto callLibm = [&](StringRef function) {
    return callScalar((function + (isSingle ? "f" : "")).str(), operands,
                      result);
  };
  StringRef builtin =
      llvm::StringSwitch<StringRef>(name)
          .Cases({"exp", "exp2", "log", "log2", "log10"}, name)
          .Cases({"sin", "cos", "tanh", "erf", "sqrt"}, name)
          .Cases({"floor", "ceil", "trunc", "fma", "rsqrt"}, name)
          .Cases({"rint", "round", "copysign"}, name)
          .Case("fabs", "absf")
          .Case("nearbyint", "rint")
          .Cases({"clz", "clzll"}, "ctlz")
          .Cases({"popc", "popcll"}, "ctpop")
          .Cases({"abs", "llabs"}, "absi")
          .Case("pow", "powf")
          .Default("");
  if (!builtin.empty()) {
    Value value = this->call(op, builtin, operands);
    if (value.getType() == result)
      return value;
    return arith::TruncIOp::create(b, result, value);
  }
  if (name == "fmax" || name == "fmin")
    return b.intrinsic(name == "fmax" ? "llvm.maxnum" : "llvm.minnum", result,
                       operands);
  if (name == "isnan" || name == "isinf" || name == "isnand" ||
      name == "isinfd") {
    Value x = operands[0];
    Value is = StringRef(name).starts_with("isnan")
                   ? Value(arith::CmpFOp::create(b, P::UNO, x, x))
                   : Value(arith::CmpFOp::create(
                         b, P::OEQ, b.intrinsic("llvm.fabs", x.getType(), {x}),
                         b.floatConstant(x.getType(), INFINITY)));
    return arith::ExtUIOp::create(b, result, is);
  }
  StringRef libm =
      llvm::StringSwitch<StringRef>(name)
          .Cases({"tan", "asin", "acos", "atan", "sinh", "cosh"}, name)
          .Cases({"asinh", "acosh", "atanh", "atan2", "hypot", "cbrt"}, name)
          .Cases({"expm1", "log1p", "exp10", "erfc", "lgamma", "tgamma"}, name)
          .Cases({"fmod", "remainder", "fdim", "nextafter", "logb"}, name)
          .Cases({"j0", "j1", "y0", "y1"}, name)
          .Default("");
  if (!libm.empty())
    return callLibm(libm);
  return context.error(op, "the libdevice function '" + op.getSymbol() +
                               "' is not supported on the CPU");
}
