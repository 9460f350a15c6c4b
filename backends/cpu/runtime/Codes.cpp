// SPDX-License-Identifier: Apache-2.0
//
// The codes of programs and locks in words of the shadow for races: the bits of
// a number, as words that all have equally many bits that are set.

#include "Codes.h"

#include <algorithm>
#include <array>

using namespace triton_ext::cpu;

/// Returns the bytes of which four bits are set, in order of size: as many as 6
/// bits have values.
static constexpr std::array<uint8_t, 64> balancedBytes() {
  std::array<uint8_t, 64> bytes = {};
  size_t count = 0;
  for (unsigned byte = 0; count < bytes.size(); ++byte)
    if (__builtin_popcount(byte) == 4)
      bytes[count++] = uint8_t(byte);
  return bytes;
}

uint64_t triton_ext::cpu::codeOf(uint64_t number, int bits, int salt) {
  static constexpr std::array<uint8_t, 64> bytes = balancedBytes();
  constexpr int mostBitsOfNumber = 16;
  const int width = std::min(bits / 8 * 6 + bits % 8 / 2, mostBitsOfNumber);
  uint64_t hash =
      ((number >> width) * 0x9E3779B97F4A7C15) >> (64 - width - width * salt);
  uint64_t left = (number + hash) & ((uint64_t(1) << width) - 1), code = 0;
  int place = 0;
  for (; place + 8 <= bits; place += 8) {
    code |= uint64_t(bytes[left & 63]) << place;
    left >>= 6;
  }
  // Each bit and its complement.
  const int pairs = (bits - place) / 2;
  const uint64_t all = (uint64_t(1) << pairs) - 1;
  return code | (left & all) << place | (~left & all) << (place + pairs);
}
