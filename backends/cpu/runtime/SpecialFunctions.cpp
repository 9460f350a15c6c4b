// SPDX-License-Identifier: Apache-2.0
//
// Functions of libdevice that the C library lacks. They are computed in long
// double, whose 64 bits of precision and 15 bits of exponent leave room for
// the errors and for squares, and are rounded to f64 at the end.

#include <algorithm>
#include <cmath>
#include <limits>

using real = long double;

namespace {
constexpr real pi = 3.14159265358979323846264338327950288L;
constexpr real twoOverRootPi = 1.12837916709551257389615890312154517L;
constexpr real infinity = std::numeric_limits<real>::infinity();
constexpr real undefined = std::numeric_limits<real>::quiet_NaN();

/// Returns e^(x^2), whose relative error is not multiplied by x^2.
real exponentialOfSquare(real x) {
  real square = x * x, rest = std::fma(x, x, -square);
  return std::exp(square) * (1 + rest);
}

/// Returns e^(x^2) erfc(x). From 5 on it is a continued fraction, of which
/// 20 terms are enough.
real scaledComplement(real x) {
  if (x < -27)
    return infinity;
  if (x < 5)
    return exponentialOfSquare(x) * std::erfc(x);
  real sum = x;
  for (int k = 20; k >= 1; --k)
    sum = x + real(k) / 2 / sum;
  return twoOverRootPi / 2 / sum;
}

/// Returns the y >= 0 with erf(y) = x and erfc(y) = complement, for the sum 1
/// of x and complement. The smaller one of the two determines y. The first
/// estimate (Winitzki's) is right to 0.4 %, and each step of Halley's method,
/// which solves for the logarithm far out, triples the digits.
real inverseOfErf(real x, real complement) {
  if (x == 0 || complement == 0)
    return x == 0 ? x : infinity;
  constexpr real a = 0.147L;
  real logarithm = std::log(complement * (1 + x));
  real sum = 2 / (pi * a) + logarithm / 2;
  real y = x < 0.1L ? x / twoOverRootPi
                    : std::sqrt(std::sqrt(sum * sum - logarithm / a) - sum);
  for (int i = 0; i < 12; ++i) {
    real density = twoOverRootPi * std::exp(-y * y), step;
    if (x < 0.5L) {
      step = (std::erf(y) - x) / density;
      step /= 1 + y * step;
    } else {
      real value = std::erfc(y);
      step = -std::log(value / complement) * value / density;
    }
    y -= step;
    if (std::fabs(step) <= y * 0x1p-62L)
      break;
  }
  return y;
}

/// Returns the modified Bessel function of order 0 or 1 for x >= 0: its power
/// series up to 30, and its asymptotic series above. All terms are positive,
/// but for the first ones of the latter.
real modifiedBessel(int order, real x) {
  if (!(x < 1e4L))
    return x * infinity; // beyond f64; NaN for NaN
  real term = 1, sum = 1;
  if (x <= 30) {
    for (int k = 1; term > sum * 0x1p-70L; ++k)
      sum += term *= x * x / 4 / (real(k) * (k + order));
    return order ? sum * x / 2 : sum;
  }
  for (int k = 1; k < 60 && std::fabs(term) > 0x1p-70L; ++k)
    sum += term *= ((2 * k - 1) * (2 * k - 1) - 4 * order) / (8 * k * x);
  return std::exp(x) / std::sqrt(2 * pi * x) * sum;
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

#define TRITON_EXT_FUNCTION                                                    \
  extern "C" __attribute__((visibility("default"))) double

TRITON_EXT_FUNCTION triton_ext_cpu_erfcx(double x) {
  return scaledComplement(x);
}
TRITON_EXT_FUNCTION triton_ext_cpu_normcdf(double x) {
  return std::erfc(-x * std::sqrt(0.5L)) / 2;
}
TRITON_EXT_FUNCTION triton_ext_cpu_erfinv(double x) {
  if (!(std::fabs(x) <= 1))
    return undefined;
  real magnitude = std::fabs(x);
  return std::copysign(inverseOfErf(magnitude, 1 - magnitude), real(x));
}
TRITON_EXT_FUNCTION triton_ext_cpu_erfcinv(double x) {
  if (!(x >= 0 && x <= 2))
    return undefined;
  real complement = std::min(real(x), 2 - real(x)), rest = 1 - complement;
  return std::copysign(inverseOfErf(rest, complement), x > 1 ? -1.0L : 1.0L);
}
TRITON_EXT_FUNCTION triton_ext_cpu_normcdfinv(double x) {
  if (!(x >= 0 && x <= 1))
    return undefined;
  real complement = 2 * std::min(real(x), 1 - real(x)), rest = 1 - complement;
  real value = inverseOfErf(rest, complement) * std::sqrt(2.0L);
  return std::copysign(value, x < 0.5 ? -1.0L : 1.0L);
}
TRITON_EXT_FUNCTION triton_ext_cpu_cyl_bessel_i0(double x) {
  return modifiedBessel(0, std::fabs(x));
}
TRITON_EXT_FUNCTION triton_ext_cpu_cyl_bessel_i1(double x) {
  return std::copysign(modifiedBessel(1, std::fabs(x)), real(x));
}
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
