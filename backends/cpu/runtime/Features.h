// SPDX-License-Identifier: Apache-2.0
//
// The features of x86-64 CPUs that code for one of them may use, and where the
// processor reports each. The compiler of libraries maps LLVM's features to
// bits; the runtime of these libraries compares them with the processor.

#ifndef TRITON_EXT_CPU_FEATURES_H
#define TRITON_EXT_CPU_FEATURES_H

#include <cpuid.h>
#include <cstdint>
#include <string_view>
#include <sys/syscall.h>
#include <unistd.h>

namespace triton_ext::cpu {

enum class Register : uint8_t { A, B, C, D };

/// A feature, and the bit of the instruction CPUID that reports it. Its place
/// in `features` is its number.
struct Feature {
  /// As LLVM spells it.
  const char *name;
  uint32_t leaf, subleaf;
  Register result;
  uint8_t bit;
  /// The registers that the operating system must save for it, as bits of XCR0.
  uint32_t state;
};

constexpr uint32_t ymm = 0x6, zmm = 0xe6, tiles = 0x60000;
constexpr uint32_t extended = 0x80000001;

constexpr Feature features[] = {
    {"sse3", 1, 0, Register::C, 0, 0},
    {"pclmul", 1, 0, Register::C, 1, 0},
    {"ssse3", 1, 0, Register::C, 9, 0},
    {"fma", 1, 0, Register::C, 12, ymm},
    {"cx16", 1, 0, Register::C, 13, 0},
    {"sse4.1", 1, 0, Register::C, 19, 0},
    {"sse4.2", 1, 0, Register::C, 20, 0},
    {"crc32", 1, 0, Register::C, 20, 0},
    {"movbe", 1, 0, Register::C, 22, 0},
    {"popcnt", 1, 0, Register::C, 23, 0},
    {"aes", 1, 0, Register::C, 25, 0},
    {"avx", 1, 0, Register::C, 28, ymm},
    {"f16c", 1, 0, Register::C, 29, ymm},
    {"bmi", 7, 0, Register::B, 3, 0},
    {"avx2", 7, 0, Register::B, 5, ymm},
    {"bmi2", 7, 0, Register::B, 8, 0},
    {"avx512f", 7, 0, Register::B, 16, zmm},
    {"avx512dq", 7, 0, Register::B, 17, zmm},
    {"adx", 7, 0, Register::B, 19, 0},
    {"avx512ifma", 7, 0, Register::B, 21, zmm},
    {"avx512cd", 7, 0, Register::B, 28, zmm},
    {"sha", 7, 0, Register::B, 29, 0},
    {"avx512bw", 7, 0, Register::B, 30, zmm},
    {"avx512vl", 7, 0, Register::B, 31, zmm},
    {"avx512vbmi", 7, 0, Register::C, 1, zmm},
    {"avx512vbmi2", 7, 0, Register::C, 6, zmm},
    {"gfni", 7, 0, Register::C, 8, 0},
    {"vaes", 7, 0, Register::C, 9, ymm},
    {"vpclmulqdq", 7, 0, Register::C, 10, ymm},
    {"avx512vnni", 7, 0, Register::C, 11, zmm},
    {"avx512bitalg", 7, 0, Register::C, 12, zmm},
    {"avx512vpopcntdq", 7, 0, Register::C, 14, zmm},
    {"avx512vp2intersect", 7, 0, Register::D, 8, zmm},
    {"amx-bf16", 7, 0, Register::D, 22, tiles},
    {"avx512fp16", 7, 0, Register::D, 23, zmm},
    {"amx-tile", 7, 0, Register::D, 24, tiles},
    {"amx-int8", 7, 0, Register::D, 25, tiles},
    {"avxvnni", 7, 1, Register::A, 4, ymm},
    {"avx512bf16", 7, 1, Register::A, 5, zmm},
    {"amx-fp16", 7, 1, Register::A, 21, tiles},
    {"avxifma", 7, 1, Register::A, 23, ymm},
    {"avxvnniint8", 7, 1, Register::D, 4, ymm},
    {"avxneconvert", 7, 1, Register::D, 5, ymm},
    {"amx-complex", 7, 1, Register::D, 8, tiles},
    {"avxvnniint16", 7, 1, Register::D, 10, ymm},
    {"sahf", extended, 0, Register::C, 0, 0},
    {"lzcnt", extended, 0, Register::C, 5, 0},
    {"sse4a", extended, 0, Register::C, 6, 0},
    {"xop", extended, 0, Register::C, 11, ymm},
    {"fma4", extended, 0, Register::C, 16, ymm},
    {"tbm", extended, 0, Register::C, 21, 0},
};
constexpr int featureCount = sizeof features / sizeof *features;
static_assert(featureCount <= 64, "they are bits of a uint64_t");

/// Asks Linux for the tiles of AMX, for all threads of the process, and returns
/// whether the process may use them. Without this request, the first
/// instruction on a tile ends the process.
inline bool requestTiles() {
  constexpr int requestPermission = 0x1023; // ARCH_REQ_XCOMP_PERM
  constexpr int tileData = 18;              // XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, requestPermission, tileData) == 0;
}

/// Returns the registers that the operating system saves, as bits of XCR0.
inline uint64_t savedState() {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 27 & 1)) // OSXSAVE
    return 0;
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t(high) << 32 | low;
}

/// Returns whether this processor has a feature, and the operating system saves
/// its registers: `state` is what `savedState` returns.
inline bool has(const Feature &feature, uint64_t state) {
  unsigned results[4];
  if (!__get_cpuid_count(feature.leaf, feature.subleaf, &results[0],
                         &results[1], &results[2], &results[3]))
    return false;
  if (!(results[int(feature.result)] >> feature.bit & 1) ||
      (feature.state & ~state))
    return false;
  return feature.state != tiles || requestTiles();
}

/// Returns whether this processor has the feature that LLVM calls `name`.
inline bool has(std::string_view name) {
  for (const Feature &feature : features)
    if (name == feature.name)
      return has(feature, savedState());
  return false;
}

} // namespace triton_ext::cpu

#endif // TRITON_EXT_CPU_FEATURES_H
