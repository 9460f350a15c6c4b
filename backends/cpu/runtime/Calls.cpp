// SPDX-License-Identifier: Apache-2.0
//
// The functions that compiled kernels call.

#include "Job.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sched.h>
#include <string>
#include <vector>

using namespace triton_ext::cpu;

TRITON_EXT_CPU_API void triton_ext_cpu_assert_failed(const char *message,
                                                     const char *where,
                                                     int32_t x, int32_t y,
                                                     int32_t z) {
  if (!running) {
    fprintf(stderr, "%s: device assertion failed: %s\n", where, message);
    abort();
  }
  running->isInKernel = false;
  running->job.fail([&] {
    std::string text = *where ? std::string(where) + ": " : "";
    return text + "device assertion failed in program (" + std::to_string(x) +
           ", " + std::to_string(y) + ", " + std::to_string(z) +
           "): " + message;
  });
  longjmp(running->target, 1);
}

TRITON_EXT_CPU_API int64_t triton_ext_cpu_clock() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Waits until the `bytes` bytes at `address` equal `expected` and returns 1,
/// or returns 0 when `budget` nanoseconds have passed since `start`. Reads the
/// memory at least once.
TRITON_EXT_CPU_API int32_t triton_ext_cpu_poll(const void *address,
                                               uint64_t expected, int32_t bytes,
                                               int64_t start, uint64_t budget) {
  auto read = [&]() -> uint64_t {
    switch (bytes) {
    case 2:
      return __atomic_load_n(static_cast<const uint16_t *>(address),
                             __ATOMIC_ACQUIRE);
    case 4:
      return __atomic_load_n(static_cast<const uint32_t *>(address),
                             __ATOMIC_ACQUIRE);
    default:
      return __atomic_load_n(static_cast<const uint64_t *>(address),
                             __ATOMIC_ACQUIRE);
    }
  };
  for (uint64_t spins = 0;; ++spins) {
    if (read() == expected)
      return 1;
    if (uint64_t(triton_ext_cpu_clock() - start) >= budget)
      return 0;
    // The program that should write the value may have failed, or may be
    // waiting for this processor.
    if (running) {
      {
        OutsideOfKernel outside;
        ask(*running, __rdtsc());
      }
      if (running->job.hasEnded.load(std::memory_order_relaxed))
        longjmp(running->target, 1);
    }
    if (spins < 100)
      _mm_pause();
    else
      sched_yield();
  }
}

/// Returns one element as Triton's code for GPUs prints it. `kind` is "f" for
/// floats, "b" for bf16, "i" for signed and "u" for unsigned integers, "p" for
/// pointers. A suffix "x" selects hexadecimal; "x1" does so for an i1.
static std::string format(const char *kind, int bytes, const char *at) {
  char text[400]; // a double has up to 317 characters
  uint64_t bits = 0;
  memcpy(&bits, at, bytes);
  bool hex = kind[1] == 'x';
  if (kind[0] == 'p') {
    snprintf(text, sizeof text, "%p", reinterpret_cast<void *>(bits));
  } else if (kind[0] == 'f' || kind[0] == 'b') {
    double value;
    if (bytes == 8) {
      memcpy(&value, &bits, 8);
    } else if (bytes == 4) {
      float single;
      memcpy(&single, &bits, 4);
      value = single;
    } else if (kind[0] == 'b') {
      uint32_t wide = uint32_t(bits) << 16;
      float single;
      memcpy(&single, &wide, 4);
      value = single;
    } else {
      value = halfToFloat(uint16_t(bits));
    }
    snprintf(text, sizeof text, hex ? "%a" : "%f", value);
  } else if (hex) {
    int digits = kind[2] == '1' ? 1 : 2 * bytes; // i1
    snprintf(text, sizeof text, "0x%0*llx", digits,
             static_cast<unsigned long long>(bits));
  } else if (kind[0] == 'i') {
    int shift = 64 - 8 * bytes;
    snprintf(text, sizeof text, "%lld",
             static_cast<long long>(int64_t(bits << shift) >> shift));
  } else {
    snprintf(text, sizeof text, "%llu", static_cast<unsigned long long>(bits));
  }
  return text;
}

/// Prints one operand of a tl.device_print, with one line for each element, as
/// Triton's code for GPUs does. `operand` is its number; -1 if it is the only
/// operand, and -2 if there is no operand, only a prefix.
TRITON_EXT_CPU_API void
triton_ext_cpu_print(const char *prefix, int32_t operand, int32_t x, int32_t y,
                     int32_t z, const char *kind, int32_t bytes,
                     const char *data, int64_t shapeText) try {
  OutsideOfKernel outside;
  static std::mutex mutex;
  std::vector<int64_t> shape;
  // The number of digits of the largest index along each dimension, as Triton
  // counts them on GPUs: 1 for 10 elements, 2 for 11 to 100.
  std::vector<int> widths;
  const char *at = reinterpret_cast<const char *>(shapeText);
  for (char *end; *at; at = end + 1) {
    shape.push_back(strtoll(at, &end, 10));
    widths.push_back(0);
    for (int64_t rest = 1; rest < shape.back(); rest *= 10)
      ++widths.back();
  }
  int64_t total = 1;
  for (int64_t size : shape)
    total *= size;
  std::string pid = "pid (" + std::to_string(x) + ", " + std::to_string(y) +
                    ", " + std::to_string(z) + ")";
  std::string lines;
  if (operand == -2)
    lines = pid + prefix + "\n";
  for (int64_t i = 0; operand != -2 && i < total; ++i) {
    lines += pid + " idx (";
    int64_t rest = i, stride = total;
    for (size_t d = 0; d < shape.size(); ++d) {
      stride /= shape[d];
      char index[32];
      snprintf(index, sizeof index, "%s%*lld", d ? ", " : "", widths[d],
               static_cast<long long>(rest / stride));
      lines += index;
      rest %= stride;
    }
    lines += std::string(")") + prefix;
    if (operand >= 0)
      lines += "(operand " + std::to_string(operand) + ") ";
    lines += format(kind, bytes, data + i * bytes) + "\n";
  }
  std::lock_guard lock(mutex);
  fwrite(lines.data(), 1, lines.size(), stdout);
  fflush(stdout);
} catch (const std::bad_alloc &) {
  // The exception must not leave this function: compiled code cannot be
  // unwound.
  if (running)
    running->job.fail([] { return "out of memory in tl.device_print"; });
}
