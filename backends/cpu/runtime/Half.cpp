// SPDX-License-Identifier: Apache-2.0
//
// Conversions of fp16 and bf16 without their instructions. On CPUs that lack
// these instructions, compiled kernels call the conversions by the names at the
// end.

#include "Runtime.h"

#include <cstring>

using namespace triton_ext::cpu;

float triton_ext::cpu::halfToFloat(uint16_t bits) {
  uint32_t magnitude = uint32_t(bits & 0x7fff) << 13, result;
  float value;
  memcpy(&value, &magnitude, 4);
  value *= 0x1p112f;
  memcpy(&result, &value, 4);
  if ((bits & 0x7c00) == 0x7c00)
    result |= 0x7f800000;
  result |= uint32_t(bits & 0x8000) << 16;
  memcpy(&value, &result, 4);
  return value;
}

uint16_t triton_ext::cpu::floatToHalf(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return sign | 0x7e00;
  if (magnitude >= 0x47800000)
    return sign | 0x7c00;
  if (magnitude < 0x38800000) {
    float absolute;
    memcpy(&absolute, &magnitude, 4);
    float sum = absolute + 0.5f;
    uint32_t count, half;
    float point = 0.5f;
    memcpy(&count, &sum, 4);
    memcpy(&half, &point, 4);
    return sign | (count - half);
  }
  uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
  return sign | ((rounded - 0x38000000) >> 13);
}

uint16_t triton_ext::cpu::floatToBfloat16(uint32_t bits) {
  if ((bits & 0x7fffffff) > 0x7f800000)
    return bits >> 16 | 0x40;
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

extern "C" {
// LLVM emits calls of these names. libgcc defines them only since GCC 12.
__attribute__((visibility("default"))) float __extendhfsf2(_Float16 value) {
  uint16_t bits;
  memcpy(&bits, &value, 2);
  return halfToFloat(bits);
}

__attribute__((visibility("default"))) _Float16 __truncsfhf2(float value) {
  uint16_t bits = floatToHalf(value);
  _Float16 result;
  memcpy(&result, &bits, 2);
  return result;
}
}
