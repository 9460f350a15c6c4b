// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic of floats. Numbers of 16 bits are computed as f32, then rounded to
// 16 bits. For a sum, a product or a quotient of two, this is the same as
// rounding once.

#include "Emitter.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton_ext::convert_ptx_to_arith;

using I = IntPredicate;

/// Returns what libdevice calls the mode.
static StringRef suffix(StringRef mode) {
  return mode == "rm" ? "rd" : mode == "rp" ? "ru" : mode;
}

/// Returns x + y, x - y or x * y. With a rounding mode, also with rn, it is not
/// fused with another operation.
Value Emitter::binary(StringRef name, const PtxType &type, Value x, Value y,
                      StringRef mode) {
  if (!mode.empty() && type.bits >= 32)
    return external(("__nv_" + Twine(type.bits == 32 ? "f" : "d") + name + "_" +
                     suffix(mode))
                        .str(),
                    {x, y}, x.getType());
  if (name == "add")
    return arith::AddFOp::create(b, x, y);
  if (name == "sub")
    return arith::SubFOp::create(b, x, y);
  return arith::MulFOp::create(b, x, y);
}

/// Returns x * y + z, rounded once.
Value Emitter::fused(const PtxType &type, ArrayRef<Value> x, StringRef mode) {
  if (type.bits >= 32 && mode != "rn")
    return external(
        ((type.bits == 32 ? "__nv_fmaf_" : "__nv_fma_") + suffix(mode)).str(),
        x, x[0].getType());
  if (type.bits >= 32)
    return math::FmaOp::create(b, x[0], x[1], x[2]);
  // The product is exact in f64. The sum is rounded to odd, so that rounding it
  // again to 16 bits is right: its last bit tells that it is not exact.
  SmallVector<Value> d;
  Type f64 = like(b.getF64Type());
  for (Value each : x)
    d.push_back(arith::ExtFOp::create(b, f64, each));
  Value product = arith::MulFOp::create(b, d[0], d[1]);
  Value sum = arith::AddFOp::create(b, product, d[2]);
  Value part = arith::SubFOp::create(b, sum, product);
  Value error = arith::AddFOp::create(
      b, arith::SubFOp::create(b, product, arith::SubFOp::create(b, sum, part)),
      arith::SubFOp::create(b, d[2], part));
  Value bits = asInteger(sum);
  Value isEven = is(I::eq, band(bits, 1), 0);
  Value zero = number(f64, 0);
  Value inexact = is(FloatPredicate::ONE, error, zero);
  Value isFarther = is(I::eq, is(FloatPredicate::OGT, error, zero),
                       is(FloatPredicate::OGT, sum, zero));
  Value odd =
      select(isFarther, add(bits, constant(64, 1)), sub(bits, constant(64, 1)));
  bits = select(band(inexact, isEven), odd, bits);
  return arith::TruncFOp::create(b, floating(type),
                                 b.createOrFold<arith::BitcastOp>(f64, bits));
}

/// add, sub, mul, fma and mad.
void Emitter::floatArithmetic() {
  if (at->types.size() != 1)
    return (void)refuse("expected one type");
  if (!type().isFloat())
    return (void)refuse("the type " + type().name + " is not supported here");
  StringRef mode = takeOne({"rn", "rz", "rm", "rp"});
  bool isFtz = take("ftz"), isSat = take("sat"), isRelu = take("relu");
  bool isFused = at->opcode == "fma" || at->opcode == "mad";
  if (isFused && mode.empty())
    return (void)refuse("the instruction has no rounding");
  if (type().bits == 16 && mode != "rn" && !mode.empty())
    return (void)refuse("'." + mode + "' is not supported for 16 bits");
  perLane(isFused ? 3 : 2, [&](ArrayRef<Value> bits) {
    SmallVector<Value> x;
    for (Value each : bits) {
      x.push_back(asFloat(each, type()));
      if (!isFused)
        x.back() = wide(x.back());
      if (isFtz)
        x.back() = flushed(x.back(), type());
    }
    Value result = isFused ? fused(type(), x, mode)
                           : binary(at->opcode, type(), x[0], x[1], mode);
    result = narrow(result, floating(type()));
    if (isFtz)
      result = flushed(result, type());
    if (isSat)
      result = saturated(result);
    if (isRelu)
      result = rectified(result);
    return asInteger(result);
  });
}

/// abs and neg of floats and of integers.
void Emitter::floatUnary() {
  if (at->types.size() != 1)
    return (void)refuse("expected one type");
  bool isAbs = at->opcode == "abs";
  if (type().kind == PtxType::Signed)
    return perLane(1, [&](ArrayRef<Value> x) {
      return isAbs ? select(is(I::slt, x[0], 0), negative(x[0]), x[0])
                   : negative(x[0]);
    });
  if (!type().isFloat())
    return (void)refuse("the type " + type().name + " is not supported here");
  bool isFtz = take("ftz");
  perLane(1, [&](ArrayRef<Value> x) {
    Value bits = x[0];
    if (isFtz)
      bits = asInteger(flushed(asFloat(bits, type()), type()));
    uint64_t sign = 1ull << (type().bits - 1);
    return isAbs ? band(bits, sign - 1)
                 : bxor(bits, constant(type().bits, sign));
  });
}

/// copysign d, a, b: the magnitude of b with the sign of a.
void Emitter::copySign() {
  if (at->types.size() != 1 || !type().isFloat())
    return (void)refuse("expected one type of floats");
  perLane(2, [&](ArrayRef<Value> x) {
    uint64_t sign = 1ull << (type().bits - 1);
    return bor(band(x[0], sign), band(x[1], sign - 1));
  });
}

/// div, rcp and sqrt. The approximations and div.full are correctly rounded,
/// too.
void Emitter::divide() {
  bool isDivision = at->opcode == "div";
  if (!needs(1, isDivision ? 3 : 2))
    return;
  if (type().kind != PtxType::Float || type().lanes != 1 || type().bits < 32)
    return (void)refuse("the type " + type().name + " is not supported here");
  StringRef mode = takeOne({"rn", "rz", "rm", "rp"});
  if (mode.empty() && !take("approx") && !(isDivision && take("full")))
    return (void)refuse("the instruction has no rounding");
  bool isFtz = take("ftz"), isSingle = type().bits == 32;
  perLane(isDivision ? 2 : 1, [&](ArrayRef<Value> bits) {
    SmallVector<Value> x;
    for (Value each : bits) {
      x.push_back(asFloat(each, type()));
      if (isFtz && isSingle)
        x.back() = flushed(x.back(), type());
    }
    Value result;
    if (!mode.empty()) {
      std::string name =
          ((isSingle ? "__nv_f" : "__nv_d") + at->opcode + "_" + suffix(mode))
              .str();
      result = external(name, x, x[0].getType());
    } else if (at->opcode == "sqrt") {
      result = math::SqrtOp::create(b, x[0]);
    } else {
      Value one = isDivision ? x[0] : number(x[0].getType(), 1);
      result = arith::DivFOp::create(b, one, x.back());
    }
    if (isFtz && isSingle)
      result = flushed(result, type());
    return asInteger(result);
  });
}

/// ex2, lg2, rsqrt, sin, cos and tanh, as the functions of triton.language.
void Emitter::approximate() {
  if (at->types.size() != 1)
    return (void)refuse("expected one type");
  if (!take("approx"))
    return (void)refuse("expected '.approx'");
  bool isFtz = take("ftz"), ofHalves = type().bits == 16;
  bool isKnown = type().isFloat() &&
                 (type().bits == 32 ||
                  (ofHalves && (at->opcode == "ex2" || at->opcode == "tanh")));
  if (!isKnown || (type().lanes == 2 && !ofHalves))
    return (void)refuse("the type " + type().name + " is not supported here");
  perLane(1, [&](ArrayRef<Value> bits) {
    Value x = wide(asFloat(bits[0], type()));
    if (isFtz)
      x = flushed(x, type());
    Value y;
    if (at->opcode == "ex2")
      y = math::Exp2Op::create(b, x);
    else if (at->opcode == "lg2")
      y = math::Log2Op::create(b, x);
    else if (at->opcode == "rsqrt")
      y = math::RsqrtOp::create(b, x);
    else if (at->opcode == "sin")
      y = math::SinOp::create(b, x);
    else if (at->opcode == "cos")
      y = math::CosOp::create(b, x);
    else
      y = external("__nv_tanhf", {x}, x.getType());
    if (at->opcode == "tanh") { // of -0, too
      Value sign = band(asInteger(x), 1u << 31);
      y = b.createOrFold<arith::BitcastOp>(
          y.getType(), bor(band(asInteger(y), 0x7fffffff), sign));
    }
    y = narrow(y, floating(type()));
    return asInteger(isFtz ? flushed(y, type()) : y);
  });
}
