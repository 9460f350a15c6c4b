// SPDX-License-Identifier: Apache-2.0
//
// The runtime of compiled kernels: threads, scratch memory, and the functions
// that kernels call. It depends neither on LLVM nor on Triton.

#ifndef TRITON_EXT_CPU_RUNTIME_H
#define TRITON_EXT_CPU_RUNTIME_H

#include <cstddef>
#include <cstdint>
#include <string>

#define TRITON_EXT_CPU_API extern "C" __attribute__((visibility("default")))

namespace triton_ext::cpu {

/// A compiled kernel: runs the programs begin..end-1 of `grid`, numbered with x
/// fastest. When `triton_ext_cpu_tick` changes, it returns after the current
/// program. Returns how many programs are left; it runs at least one.
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
  /// So many programs, from a multiple of it, should run in one thread behind
  /// each other. A power of two.
  int64_t together;
  /// At most this many threads; 0 for as many as there are processors.
  int threads;
  /// How the message of a crash names the kernel.
  const char *name;
  /// Called in the launching thread with `context`, about every 20 ms; may be
  /// null.
  Answer (*ask)(void *context);
  void *context;
  /// After this many seconds in which no program has ended and some could not
  /// start, a line on standard error says so. 0 for never.
  double spinSeconds;
};

struct Result {
  /// The message of the first device_assert that failed, or the reason why the
  /// launch could not run; empty on success.
  std::string failure;
  /// If the failure is a fault, the address of the kernel's instruction, else
  /// 0.
  uintptr_t faultPlace = 0;
  /// Whether `ask` has stopped the launch.
  bool wasStopped = false;
  /// How many threads the launch could have used, and how many there were.
  int wantedThreads = 1, threads = 1;
};

/// Returns the upper limit for the threads of a launch, however many it asks
/// for.
int mostThreads();

/// Runs all programs of a launch. Throws std::bad_alloc only before the first
/// program runs.
Result run(const Launch &launch);

float halfToFloat(uint16_t bits);
/// Rounds to the nearest, ties to even.
uint16_t floatToHalf(float value);
/// Rounds to the nearest, ties to even. Takes the bits of a float.
uint16_t floatToBfloat16(uint32_t bits);

} // namespace triton_ext::cpu

/// Returns the nanoseconds of a clock that never goes back.
TRITON_EXT_CPU_API int64_t triton_ext_cpu_clock();

#endif // TRITON_EXT_CPU_RUNTIME_H
