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
/// Returns how many of them are left, because `triton_ext_cpu_tick` has
/// changed; it has run at least one.
using Kernel = int32_t (*)(const uint64_t *args, int64_t begin, int64_t end,
                           const int32_t *grid, void *scratch);

/// Whether a launch goes on.
enum class Answer {
  GoOn,
  GoOnAndNeverAskAgain,
  Stop,
};

struct Launch {
  Kernel kernel;
  const uint64_t *args;
  int32_t grid[3];
  size_t scratchSize;
  /// At most this many threads; 0 for as many as there are processors.
  int threads;
  /// What a crash calls the kernel.
  const char *name;
  /// Is called in the launching thread every some 20 ms, with `context`.
  Answer (*ask)(void *context);
  void *context;
};

struct Result {
  /// What the first failed device_assert said, or why nothing could run.
  std::string failure;
  /// Whether `ask` has stopped the launch.
  bool wasStopped = false;
  /// How many threads the launch could have used, and how many there were.
  int wantedThreads = 1, threads = 1;
};

/// The most threads that a launch gets, however many it asks for.
int mostThreads();

/// Runs all programs of a launch. Throws std::bad_alloc, before anything ran.
Result run(const Launch &launch);

float halfToFloat(uint16_t bits);
/// To the nearest, ties to even.
uint16_t floatToHalf(float value);

} // namespace triton_ext::cpu

/// Nanoseconds of a clock that never goes back.
TRITON_EXT_CPU_API int64_t triton_ext_cpu_clock();

#endif // TRITON_EXT_CPU_RUNTIME_H
