// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic of f64 that rounds toward zero, down, or up. Kernels call these
// functions for libdevice's functions of the same name.

#include <cfenv>
#include <cmath>

namespace {
/// Makes the compiler believe that `x` changes here.
void touch(double &x) { asm volatile("" : "+x"(x)); }

/// Computes `operation` while the processor rounds in the direction `mode`.
/// `touch` keeps the compiler from moving the operation out of this section.
template <typename Operation, typename... Operands>
double rounded(int mode, Operation operation, Operands... operands) {
  int before = std::fegetround();
  std::fesetround(mode);
  (touch(operands), ...);
  double result = operation(operands...);
  touch(result);
  std::fesetround(before);
  return result;
}
} // namespace

#define TRITON_EXT_FUNCTION                                                    \
  extern "C" __attribute__((visibility("default"))) double
#define TRITON_EXT_DIRECTED(suffix, mode)                                      \
  TRITON_EXT_FUNCTION triton_ext_cpu_dadd_##suffix(double x, double y) {       \
    return rounded(mode, [](double x, double y) { return x + y; }, x, y);      \
  }                                                                            \
  TRITON_EXT_FUNCTION triton_ext_cpu_dsub_##suffix(double x, double y) {       \
    return rounded(mode, [](double x, double y) { return x - y; }, x, y);      \
  }                                                                            \
  TRITON_EXT_FUNCTION triton_ext_cpu_dmul_##suffix(double x, double y) {       \
    return rounded(mode, [](double x, double y) { return x * y; }, x, y);      \
  }                                                                            \
  TRITON_EXT_FUNCTION triton_ext_cpu_ddiv_##suffix(double x, double y) {       \
    return rounded(mode, [](double x, double y) { return x / y; }, x, y);      \
  }                                                                            \
  TRITON_EXT_FUNCTION triton_ext_cpu_drcp_##suffix(double x) {                 \
    return rounded(mode, [](double x) { return 1 / x; }, x);                   \
  }                                                                            \
  TRITON_EXT_FUNCTION triton_ext_cpu_dsqrt_##suffix(double x) {                \
    return rounded(mode, [](double x) { return std::sqrt(x); }, x);            \
  }                                                                            \
  TRITON_EXT_FUNCTION triton_ext_cpu_fma_##suffix(double x, double y,          \
                                                  double z) {                  \
    return rounded(                                                            \
        mode, [](double x, double y, double z) { return std::fma(x, y, z); },  \
        x, y, z);                                                              \
  }

TRITON_EXT_DIRECTED(rz, FE_TOWARDZERO)
TRITON_EXT_DIRECTED(rd, FE_DOWNWARD)
TRITON_EXT_DIRECTED(ru, FE_UPWARD)
