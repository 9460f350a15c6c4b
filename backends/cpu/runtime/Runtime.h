// SPDX-License-Identifier: Apache-2.0
//
// The runtime of compiled kernels: threads, scratch memory, and what a kernel
// calls. Free of LLVM and of Triton.

#ifndef TRITON_EXT_CPU_RUNTIME_H
#define TRITON_EXT_CPU_RUNTIME_H

#include <cstddef>
#include <cstdint>
#include <string>

#define TRITON_EXT_CPU_API extern "C" __attribute__((visibility("default")))

namespace triton_ext::cpu {

/// A compiled kernel: runs the programs begin..end-1 of `grid`, x fastest.
using Kernel = int32_t (*)(const uint64_t *args, int64_t begin, int64_t end,
                           const int32_t *grid, void *scratch);

struct Launch {
  Kernel kernel;
  const uint64_t *args;
  int32_t grid[3];
  size_t scratchSize;
  /// At most this many threads; 0 for as many as there are processors.
  int threads;
};

/// Runs all programs of a launch. Returns an empty string, or what the first
/// failed device_assert said.
std::string run(const Launch &launch);

float halfToFloat(uint16_t bits);
/// To the nearest, ties to even.
uint16_t floatToHalf(float value);

} // namespace triton_ext::cpu

#endif // TRITON_EXT_CPU_RUNTIME_H
