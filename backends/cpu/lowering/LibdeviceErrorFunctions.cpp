// SPDX-License-Identifier: Apache-2.0
//
// The error function's relatives for f32, as vector code in f64: its inverses,
// the normal distribution, and the scaled complement. Each polynomial
// interpolates at the Chebyshev points of its range, where it has a relative
// error below 3e-11, which is 0.0003 ulp of f32.

#include "Libdevice.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

using P = arith::CmpFPredicate;

/// The polynomial in w / 4.5 - 1 that is erfinv(x) / x, for w = -log(1 - x^2)
/// from 0 to 9. The highest power comes first.
static constexpr double inverseCentral[] = {
    0x1.0098577ad77f0p-18,  -0x1.a3b46bf673e84p-17, -0x1.234824545a9c4p-18,
    0x1.262fc0ab3a058p-14,  -0x1.8ee2ae4fb3a42p-14, -0x1.19c8b14407c9ep-14,
    0x1.a2f3692d5a326p-12,  -0x1.2d22690e98e77p-11, -0x1.2e21df2b8582ap-15,
    0x1.ebc1a64a001eep-10,  -0x1.fde5bd14d55acp-9,  0x1.354a459031614p-9,
    0x1.e71d4278d1118p-8,   -0x1.93635a5c91517p-6,  0x1.154f74113fe9ep-5,
    -0x1.4a3d52c5a10eap-12, -0x1.318be6a2b26f6p-3,  0x1.fd43f399e08cep-1,
    0x1.f89c263100a0fp+0,
};

/// The polynomial in (s - 2) / (s + 2), scaled to [-1, 1], that is erfinv(x) /
/// (x s), for s = sqrt(w) from 3 to 10.6.
static constexpr double inverseTail[] = {
    0x1.155250c755eb4p-19,  -0x1.85d2c7736ef96p-19, -0x1.049c4bcc6ead6p-17,
    0x1.0994521350dc0p-16,  0x1.56581f82b3ab6p-19,  -0x1.b5a6ae2446f76p-16,
    0x1.a3eeb253545c3p-16,  -0x1.940f3e859442fp-17, 0x1.6c2794e4a1a6dp-18,
    -0x1.4a5eab7c27340p-18, 0x1.b4d34fe3541c2p-17,  -0x1.282fe59a1d053p-14,
    0x1.fd5cf14347184p-13,  -0x1.cc175bab0681ep-12, -0x1.1c7c956152e4ep-8,
    0x1.7f0eb32953105p-6,   0x1.f1443dbda4379p-1,
};

/// The same for (1 + 2 z) exp(z^2) erfc(z), z >= 0, in (z - 3) / (z + 3).
static constexpr double scaledComplement[] = {
    -0x1.00519710e767fp-25, -0x1.2c7a6ba830584p-22, 0x1.884f4090f6bd1p-23,
    0x1.837b915d3a08cp-19,  -0x1.2f55a1a8f4ea8p-21, -0x1.473c1ad19841ep-16,
    0x1.4575145074cb6p-18,  0x1.0592e86290375p-13,  -0x1.b8ea8456c6acap-14,
    -0x1.98c84315e6e81p-11, 0x1.ef1b4ebc42e17p-10,  0x1.4b8739c34f65cp-9,
    -0x1.8574c2f4f4016p-6,  0x1.17ca298950722p-4,   -0x1.e88b803e31fe4p-4,
    0x1.0983669dfd901p-3,   -0x1.85a15c58892fap-5,  -0x1.15c084bb7dbcap-3,
    0x1.40c522d7e4987p+0,
};

Value LibdeviceEmitter::polynomial(Value x, ArrayRef<double> coefficients) {
  Value sum = number(coefficients.front());
  for (double c : coefficients.drop_front())
    sum = b.intrinsic("llvm.fma", x.getType(), {sum, x, number(c)});
  return sum;
}

/// Returns erfinv(x). `complement` is 1 - x^2, which is more exact than x where
/// x is near 1 or -1.
Value LibdeviceEmitter::inverseOfError(Value x, Value complement) {
  constexpr double border = 9, center = 0.44126984126984127,
                   scale = 4.1447368421052631;
  Value w = negative(math.call(nullptr, "log", {complement}));
  Value central =
      polynomial(fsub(fmul(w, number(2 / border)), number(1)), inverseCentral);
  Value s = b.intrinsic("llvm.sqrt", w.getType(), {w});
  Value t = fdiv(fsub(s, number(2)), fadd(s, number(2)));
  Value tail = fmul(
      polynomial(fmul(fsub(t, number(center)), number(scale)), inverseTail), s);
  Value value = fmul(x, select(is(P::OLT, w, number(border)), central, tail));
  Value infinite =
      b.intrinsic("llvm.copysign", x.getType(), {number(INFINITY), x});
  return select(is(P::OEQ, complement, number(0)), infinite, value);
}

/// Returns exp(z^2) erfc(z) for z >= 0.
Value LibdeviceEmitter::scaledComplementOf(Value z) {
  // For an infinity, the quotient below would be NaN.
  z = select(is(P::OGT, z, number(0x1p200)), number(0x1p200), z);
  Value t = fdiv(fsub(z, number(3)), fadd(z, number(3)));
  Value sum = fadd(fmul(z, number(2)), number(1));
  return fdiv(polynomial(t, scaledComplement), sum);
}

Value LibdeviceEmitter::ofErrorFunction(StringRef name) {
  if (!getElementTypeOrSelf(result).isF32() || !isa<VectorType>(result) ||
      !math.hasVectorsOfDouble())
    return {};
  Value one = number(1);
  if (name == "erfinvf") {
    Value x = wide(0);
    return narrow(inverseOfError(x, fmul(fsub(one, x), fadd(one, x))));
  }
  if (name == "erfcinvf" || name == "normcdfinvf") {
    // erfcinv(c) is erfinv(1 - c), whose square is (1 - c)^2 = 1 - c (2 - c).
    bool isNormal = name == "normcdfinvf";
    Value c = isNormal ? fmul(wide(0), number(2)) : wide(0);
    Value x = isNormal ? fsub(c, one) : fsub(one, c);
    Value value = inverseOfError(x, fmul(c, fsub(number(2), c)));
    return narrow(isNormal ? fmul(value, number(1.4142135623730951)) : value);
  }
  if (name != "normcdff" && name != "erfcxf")
    return {};
  // The square of a number of f32 is exact in f64.
  Value x = wide(0), square = fmul(x, x), magnitude = absolute(x);
  Value isNegative = is(P::OLT, x, number(0));
  if (name == "erfcxf") {
    Value right = scaledComplementOf(magnitude);
    Value left =
        fsub(fmul(math.call(nullptr, "exp", {square}), number(2)), right);
    return narrow(select(isNegative, left, right));
  }
  Value density = math.call(nullptr, "exp", {fmul(square, number(-0.5))});
  Value z = fmul(magnitude, number(0.7071067811865476));
  Value tail = fmul(fmul(density, scaledComplementOf(z)), number(0.5));
  return narrow(select(isNegative, tail, fsub(one, tail)));
}
