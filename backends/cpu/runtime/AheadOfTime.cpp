// SPDX-License-Identifier: Apache-2.0
//
// What a library of kernels that are compiled ahead of time has in addition:
// the functions that its exported functions call. They choose the code for this
// processor, check the arguments, run the kernel, and explain error codes. Such
// a library installs no signal handlers.

#include "Features.h"
#include "Job.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <new>

using namespace triton_ext::cpu;

namespace {
// The next three are constants that the compiler writes (_exports.py).

struct Argument {
  const char *name;
  /// 'h' and 'e': a float that the kernel takes as fp16 or bf16; else 0.
  uint32_t kind;
  /// The value must be a multiple of this.
  uint32_t divisor;
};

struct Variant {
  Kernel kernel;
  /// The features that the processor must have, see Features.h.
  uint64_t features;
  uint64_t scratchSize;
  uint64_t together;
};

struct Description {
  const char *name;
  const Argument *arguments;
  uint64_t argumentCount;
  /// The variant with most features first.
  const Variant *variants;
  uint64_t variantCount;
  /// The names of the CPUs that the variants are for.
  const char *cpus;
  /// The variant for this processor; null before the first call.
  std::atomic<const Variant *> *chosen;
};

/// The codes of the header.
enum Code : int32_t {
  Success,
  BadGrid,
  BadThreads,
  Misaligned,
  UnsupportedCpu,
  OutOfMemory,
  Failed,
};

struct Message {
  const Description *kernel = nullptr;
  int32_t code = Success;
  char text[1024];
};
/// The last error of this thread.
thread_local Message last;

[[gnu::format(printf, 3, 4)]] int32_t fail(const Description &kernel, Code code,
                                           const char *format, ...) {
  last.kernel = &kernel;
  last.code = code;
  va_list values;
  va_start(values, format);
  vsnprintf(last.text, sizeof last.text, format, values);
  va_end(values);
  return code;
}

const Variant *choose(const Description &kernel) {
  if (const Variant *known = kernel.chosen->load(std::memory_order_acquire))
    return known;
  uint64_t state = savedState();
  for (uint64_t v = 0; v < kernel.variantCount; ++v) {
    const Variant &variant = kernel.variants[v];
    bool fits = true;
    for (int i = 0; i < featureCount && fits; ++i)
      fits = !(variant.features >> i & 1) || has(features[i], state);
    if (!fits)
      continue;
    kernel.chosen->store(&variant, std::memory_order_release);
    return &variant;
  }
  return nullptr;
}

float asFloat(uint64_t slot) {
  uint32_t bits = uint32_t(slot);
  float value;
  memcpy(&value, &bits, 4);
  return value;
}
} // namespace

void triton_ext::cpu::prepareProcess() {}
bool triton_ext::cpu::beginFaults() { return false; }
void triton_ext::cpu::endFaults() {}

/// Runs the programs of a grid on `threads` threads; 0 means as many as there
/// are processors. `slots` are the arguments, which this function may change.
/// Returns a code.
extern "C" int32_t triton_ext_cpu_run(const Description *kernel, int32_t x,
                                      int32_t y, int32_t z, int32_t threads,
                                      uint64_t *slots) {
  const Description &k = *kernel;
  if (x < 0 || y < 0 || z < 0)
    return fail(k, BadGrid, "%s: a grid of %d x %d x %d programs", k.name, x, y,
                z);
  // As in a launch from Python: the number of the next program must not
  // overflow when threads add to it.
  if (x && y && z && int64_t(x) * y > (int64_t(1) << 62) / z)
    return fail(k, BadGrid,
                "%s: a grid of %d x %d x %d programs: expected at most 2^62 in "
                "all",
                k.name, x, y, z);
  if (threads < 0)
    return fail(k, BadThreads,
                "%s: %d threads: expected a number of threads, or 0 for one "
                "for each processor",
                k.name, threads);
  const Variant *variant = choose(k);
  if (!variant)
    return fail(k, UnsupportedCpu,
                "%s is compiled for %s, and this processor is none of these "
                "(fix: triton-ext compile-cpu --arch x86-64)",
                k.name, k.cpus);
  for (uint64_t i = 0; i < k.argumentCount; ++i) {
    const Argument &argument = k.arguments[i];
    uint64_t &slot = slots[i];
    if (argument.divisor > 1 && slot % argument.divisor)
      return fail(k, Misaligned,
                  "%s: the argument '%s' is 0x%llx, and the kernel is compiled "
                  "for multiples of %u (fix: without :%u in the signature)",
                  k.name, argument.name, static_cast<unsigned long long>(slot),
                  argument.divisor, argument.divisor);
    if (argument.kind == 'h')
      slot = floatToHalf(asFloat(slot));
    else if (argument.kind == 'e')
      slot = floatToBfloat16(uint32_t(slot));
  }
  Launch launch{};
  launch.kernel = variant->kernel;
  launch.args = slots;
  launch.grid[0] = x;
  launch.grid[1] = y;
  launch.grid[2] = z;
  launch.scratchSize = variant->scratchSize;
  launch.together = int64_t(variant->together);
  launch.threads = threads;
  launch.name = k.name;
  // No exception may reach the caller, which may be written in any language.
  try {
    Result result = run(launch);
    if (result.failure.empty())
      return Success;
    Code code =
        result.failure.starts_with("out of memory") ? OutOfMemory : Failed;
    return fail(k, code, "%s: %s", k.name, result.failure.c_str());
  } catch (const std::bad_alloc &) {
    return fail(k, OutOfMemory, "%s: out of memory", k.name);
  } catch (const std::exception &error) {
    return fail(k, Failed, "%s: %s", k.name, error.what());
  }
}

/// Returns the message for `code`. It has details if the last error of this
/// thread has this code and comes from this kernel. The text holds until the
/// next error of this thread.
extern "C" const char *triton_ext_cpu_message(const Description *kernel,
                                              int32_t code) {
  if (code && last.code == code && last.kernel == kernel)
    return last.text;
  switch (code) {
  case Success:
    return "success";
  case BadGrid:
    return "the grid has a negative size, or more than 2^62 programs";
  case BadThreads:
    return "the number of threads is negative";
  case Misaligned:
    return "an argument is not a multiple of what the kernel is compiled for";
  case UnsupportedCpu:
    return "the library has no code for this processor";
  case OutOfMemory:
    return "out of memory";
  case Failed:
    return "a program has failed";
  default:
    return "not a code of this library";
  }
}

// Programs that are linked by a C compiler get the next two from its start-up
// files and from libc_nonshared.a, which a machine without a compiler lacks.
// The library does not export them.
extern "C" {
void *__dso_handle = &__dso_handle;

int __register_atfork(void (*prepare)(), void (*parent)(), void (*child)(),
                      void *library);

int pthread_atfork(void (*prepare)(), void (*parent)(),
                   void (*child)()) noexcept {
  return __register_atfork(prepare, parent, child, &__dso_handle);
}
}
