// SPDX-License-Identifier: Apache-2.0
//
// Functions of libdevice that the C library lacks. Those of f64 are computed in
// long double, whose 64 bits of precision and 15 bits of exponent leave room
// for the errors and for squares, and those of f32 in double. The results are
// rounded at the end.

#include <algorithm>
#include <cmath>
#include <limits>

using real = long double;

namespace {
constexpr real pi = 3.14159265358979323846264338327950288L;
constexpr real twoOverRootPi = 1.12837916709551257389615890312154517L;
constexpr real infinity = std::numeric_limits<real>::infinity();
constexpr real undefined = std::numeric_limits<real>::quiet_NaN();

/// Returns e^(x^2). Corrects for the rounding of x^2, which would otherwise
/// give a relative error that grows with x^2.
template <typename R> R exponentialOfSquare(R x) {
  R square = x * x, rest = std::fma(x, x, -square);
  return std::exp(square) * (1 + rest);
}

/// Returns e^(x^2) erfc(x). From 5 on it is a continued fraction, of which
/// 20 terms are enough.
template <typename R> R scaledComplement(R x) {
  if (x < -27)
    return R(infinity);
  if (x < 5)
    return exponentialOfSquare(x) * std::erfc(x);
  R sum = x;
  for (int k = 20; k >= 1; --k)
    sum = x + R(k) / 2 / sum;
  return R(twoOverRootPi) / 2 / sum;
}

/// Returns the y >= 0 with erf(y) = x and erfc(y) = complement, where x +
/// complement = 1. The smaller one of the two determines y. The first estimate
/// (Winitzki's) is right to 0.4 %. A step of Halley's method triples the right
/// digits, and far out, a step of Newton's method for the logarithm doubles
/// them. So once a step is at most 2^-32 of y, the error is about 2^-64.
template <typename R> R inverseOfErf(R x, R complement) {
  if (x == 0 || complement == 0)
    return x == 0 ? x : R(infinity);
  constexpr R a = R(0.147);
  R logarithm = std::log(complement * (1 + x));
  R sum = 2 / (R(pi) * a) + logarithm / 2;
  R y = x < 0.1 ? x / R(twoOverRootPi)
                : std::sqrt(std::sqrt(sum * sum - logarithm / a) - sum);
  for (int i = 0; i < 12; ++i) {
    R density = R(twoOverRootPi) * std::exp(-y * y), step;
    if (x < 0.5) {
      step = (std::erf(y) - x) / density;
      step /= 1 + y * step;
    } else {
      R value = std::erfc(y);
      step = -std::log(value / complement) * value / density;
    }
    y -= step;
    if (std::fabs(step) <= y * 0x1p-32)
      break;
  }
  return y;
}

/// Returns the modified Bessel function of order 0 or 1 for x >= 0: its power
/// series up to 30, and its asymptotic series above. No
/// digits cancel: the terms are positive, or the second one is small.
template <typename R> R modifiedBessel(int order, R x) {
  if (!(x < 1e4))
    return x * R(infinity); // beyond f64; NaN for NaN
  R term = 1, sum = 1;
  if (x <= 30) {
    for (int k = 1; term > sum * 0x1p-70; ++k)
      sum += term *= x * x / 4 / (R(k) * (k + order));
    return order ? sum * x / 2 : sum;
  }
  for (int k = 1; k < 60 && std::fabs(term) > 0x1p-70; ++k)
    sum += term *= ((2 * k - 1) * (2 * k - 1) - 4 * order) / (8 * k * x);
  return std::exp(x) / std::sqrt(2 * R(pi) * x) * sum;
}

template <typename R> R normalDistribution(R x) {
  return std::erfc(-x * std::sqrt(R(0.5))) / 2;
}

template <typename R> R erfInverse(R x) {
  R magnitude = std::fabs(x);
  if (!(magnitude <= 1))
    return R(undefined);
  return std::copysign(inverseOfErf(magnitude, 1 - magnitude), x);
}

template <typename R> R erfcInverse(R x) {
  if (!(x >= 0 && x <= 2))
    return R(undefined);
  R complement = std::min(x, 2 - x);
  return std::copysign(inverseOfErf(1 - complement, complement), 1 - x);
}

template <typename R> R normalInverse(R x) {
  if (!(x >= 0 && x <= 1))
    return R(undefined);
  R complement = 2 * std::min(x, 1 - x);
  R value = inverseOfErf(1 - complement, complement) * std::sqrt(R(2));
  return std::copysign(value, x - R(0.5));
}

template <typename R> R modifiedBessel0(R x) {
  return modifiedBessel(0, std::fabs(x));
}

template <typename R> R modifiedBessel1(R x) {
  return std::copysign(modifiedBessel(1, std::fabs(x)), x);
}

/// Returns the root of the sum of squares. An infinite operand makes it
/// infinite, even if another one is NaN.
template <typename... Operands> real norm(Operands... operands) {
  if ((std::isinf(operands) || ...))
    return infinity;
  return std::sqrt(((real(operands) * operands) + ...));
}

/// Returns the sine of pi * (x + quarters / 2). Its quadrant and the rest of x
/// are exact.
real sineOfPi(double x, int quarters) {
  if (!std::isfinite(x))
    return undefined;
  real turn = x - 2 * std::rint(real(x) / 2), near = std::rint(2 * turn);
  real rest = pi * (turn - near / 2);
  int quadrant = int(near) + quarters;
  real value = quadrant & 1 ? std::cos(rest) : std::sin(rest);
  if (value == 0)
    return quarters ? 0 : std::copysign(real(0), real(x));
  return quadrant & 2 ? -value : value;
}
} // namespace

#define TRITON_EXT_EXPORTED extern "C" __attribute__((visibility("default")))
#define TRITON_EXT_FUNCTION TRITON_EXT_EXPORTED double
#define TRITON_EXT_OF_BOTH(name, function)                                     \
  TRITON_EXT_EXPORTED double triton_ext_cpu_##name(double x) {                 \
    return function(real(x));                                                  \
  }                                                                            \
  TRITON_EXT_EXPORTED float triton_ext_cpu_##name##f(float x) {                \
    return function(double(x));                                                \
  }

TRITON_EXT_OF_BOTH(erfcx, scaledComplement)
TRITON_EXT_OF_BOTH(normcdf, normalDistribution)
TRITON_EXT_OF_BOTH(erfinv, erfInverse)
TRITON_EXT_OF_BOTH(erfcinv, erfcInverse)
TRITON_EXT_OF_BOTH(normcdfinv, normalInverse)
TRITON_EXT_OF_BOTH(cyl_bessel_i0, modifiedBessel0)
TRITON_EXT_OF_BOTH(cyl_bessel_i1, modifiedBessel1)

TRITON_EXT_FUNCTION triton_ext_cpu_rcbrt(double x) {
  return 1 / std::cbrt(real(x));
}
TRITON_EXT_FUNCTION triton_ext_cpu_rhypot(double x, double y) {
  return 1 / norm(x, y);
}
TRITON_EXT_FUNCTION triton_ext_cpu_norm3d(double x, double y, double z) {
  return norm(x, y, z);
}
TRITON_EXT_FUNCTION triton_ext_cpu_rnorm3d(double x, double y, double z) {
  return 1 / norm(x, y, z);
}
TRITON_EXT_FUNCTION triton_ext_cpu_norm4d(double x, double y, double z,
                                          double w) {
  return norm(x, y, z, w);
}
TRITON_EXT_FUNCTION triton_ext_cpu_rnorm4d(double x, double y, double z,
                                           double w) {
  return 1 / norm(x, y, z, w);
}
TRITON_EXT_FUNCTION triton_ext_cpu_sinpi(double x) { return sineOfPi(x, 0); }
TRITON_EXT_FUNCTION triton_ext_cpu_cospi(double x) { return sineOfPi(x, 1); }
