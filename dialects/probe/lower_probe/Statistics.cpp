// SPDX-License-Identifier: Apache-2.0
//
// Lowers `probe.minmax` and `probe.stats`.

#include "Emitter.h"
#include "Layout.h"

using namespace mlir;
using namespace mlir::triton_ext::lower_probe;
using namespace mlir::triton_ext::probe;
namespace tt = mlir::triton;

/// Returns how many lanes of the mask are on, in i64.
Value Emitter::numberOf(Value mask) {
  Type type = b.getI32Type();
  if (auto tensor = dyn_cast<RankedTensorType>(mask.getType()))
    type = tensor.clone(type);
  Value ones = arith::ExtUIOp::create(b, type, mask);
  return arith::ExtUIOp::create(b, b.getI64Type(),
                                reduce(ones, tt::RMWOp::ADD));
}

/// Returns numbers in f64; i1 is 0 or 1.
Value Emitter::inF64(Value value, bool isUnsigned) {
  Type element = getElementTypeOrSelf(value.getType()), f64 = b.getF64Type();
  if (auto tensor = dyn_cast<RankedTensorType>(value.getType()))
    f64 = tensor.clone(f64);
  if (element.isF64())
    return value;
  if (isa<FloatType>(element))
    return arith::ExtFOp::create(b, f64, value);
  if (isUnsigned || element.isInteger(1))
    return arith::UIToFPOp::create(b, f64, value);
  return arith::SIToFPOp::create(b, f64, value);
}

void Emitter::emitMinMax(unsigned site, MinMaxOp op) {
  int64_t n = numLanesOf(op);
  Value value = flat(op.getValue(), n);
  Value isOn = op.getMask() ? flat(op.getMask(), n) : splat(truth(true), n);
  Type element = getElementTypeOrSelf(value.getType());
  auto like = [&](Type type) -> Type {
    return n ? Type(RankedTensorType::get({n}, type)) : type;
  };
  Type i64 = like(b.getI64Type());
  Value sign = splat(constant(INT64_MIN), n), key;
  if (isa<FloatType>(element)) {
    value = inF64(value, false);
    Value isNaN =
        arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, value, value);
    Value isNumber = arith::XOrIOp::create(b, isNaN, splat(truth(true), n));
    Value number = numberOf(arith::AndIOp::create(b, isOn, isNaN));
    addTo(siteWord(site, kNaN), number, isThere);
    isOn = arith::AndIOp::create(b, isOn, isNumber);
    // Negative numbers are in reverse order: all of their bits are inverted. Of
    // the others, only the sign bit is inverted.
    Value bits = tt::BitcastOp::create(b, i64, value);
    Value all = arith::ShRSIOp::create(b, bits, splat(constant(63), n));
    key = arith::XOrIOp::create(b, bits, arith::OrIOp::create(b, all, sign));
  } else {
    bool isUnsigned = op.getIsUnsigned();
    if (element.isInteger(64))
      key = value;
    else if (isUnsigned || element.isInteger(1))
      key = arith::ExtUIOp::create(b, i64, value);
    else
      key = arith::ExtSIOp::create(b, i64, value);
    if (!isUnsigned)
      key = arith::XOrIOp::create(b, key, sign);
  }
  Value zero = splat(constant(0), n);
  Value inverted = arith::XOrIOp::create(b, key, splat(constant(-1), n));
  addTo(siteWord(site, kCount), numberOf(isOn), isThere);
  for (auto [word, keys] : {std::pair(kMax, key), {kInvertedMin, inverted}}) {
    Value chosen = arith::SelectOp::create(b, isOn, keys, zero);
    update(tt::RMWOp::UMAX, siteWord(site, word),
           reduce(chosen, tt::RMWOp::UMAX), isThere);
  }
}

void Emitter::emitStats(unsigned site, StatsOp op) {
  int64_t n = numLanesOf(op);
  Value value = flat(op.getValue(), n);
  Value isOn = op.getMask() ? flat(op.getMask(), n) : splat(truth(true), n);
  Type element = getElementTypeOrSelf(value.getType());
  value = inF64(value, op.getIsUnsigned());
  Value zero =
      splat(arith::ConstantOp::create(b, b.getF64FloatAttr(0)).getResult(), n);
  if (isa<FloatType>(element)) {
    // The difference is a NaN for infinities and NaNs.
    Value isFinite =
        arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ,
                              arith::SubFOp::create(b, value, value), zero);
    Value isNumber =
        arith::CmpFOp::create(b, arith::CmpFPredicate::ORD, value, value);
    Value on = splat(truth(true), n);
    Value isNaN =
        arith::AndIOp::create(b, isOn, arith::XOrIOp::create(b, isNumber, on));
    Value isInf = arith::AndIOp::create(b, isNumber,
                                        arith::XOrIOp::create(b, isFinite, on));
    isInf = arith::AndIOp::create(b, isOn, isInf);
    addTo(siteWord(site, kNaN), numberOf(isNaN), isThere);
    addTo(siteWord(site, kInf), numberOf(isInf), isThere);
    isOn = arith::AndIOp::create(b, isOn, isFinite);
  }
  addTo(siteWord(site, kCount), numberOf(isOn), isThere);
  value = arith::SelectOp::create(b, isOn, value, zero);
  Value square = arith::MulFOp::create(b, value, value);
  auto type = tt::PointerType::get(b.getF64Type());
  for (auto [word, terms] : {std::pair(kSum, value), {kSquares, square}})
    update(tt::RMWOp::FADD,
           tt::BitcastOp::create(b, type, siteWord(site, word)),
           reduce(terms, tt::RMWOp::FADD), isThere);
}
