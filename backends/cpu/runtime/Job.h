// SPDX-License-Identifier: Apache-2.0
//
// A launch in progress, and what each of its threads is doing.

#ifndef TRITON_EXT_CPU_JOB_H
#define TRITON_EXT_CPU_JOB_H

#include "Runtime.h"

#include <atomic>
#include <csetjmp>
#include <immintrin.h>
#include <mutex>
#include <new>

namespace triton_ext::cpu {

/// One launch in progress. Its threads take its programs in chunks.
struct Job {
  Launch launch;
  int64_t total = 0, chunk = 1;
  std::atomic<int64_t> next{0};
  /// Whether the launch is ending: no more programs may begin.
  std::atomic<bool> hasEnded{false};
  bool wasStopped = false;
  std::mutex mutex;
  std::string failure;

  /// Ends the launch. Only the first failure is reported.
  template <typename MakeText> void fail(MakeText text) noexcept {
    std::lock_guard lock(mutex);
    if (hasEnded)
      return;
    try {
      failure = text();
    } catch (const std::bad_alloc &) {
      failure = "out of memory"; // short enough to need no allocation
    }
    hasEnded = true;
  }
};

class Ticker;

/// The state of one thread that runs programs of a launch.
struct Running {
  Running(Job &job, bool isLauncher, Running *outer)
      : job(job), isLauncher(isLauncher), outer(outer) {}

  Job &job;
  /// Whether this is the launching thread; only that thread may call `ask`.
  bool isLauncher;
  /// The launch that this one interrupts, or null: a Python signal handler may
  /// run during a launch and launch a kernel itself.
  Running *outer;
  /// The programs that run now.
  int64_t begin = 0, end = 0;
  /// When this thread last asked whether to go on, in time stamp counter ticks.
  uint64_t asked = __rdtsc();
  /// Makes kernel calls of several programs return early; null while each call
  /// runs one program.
  Ticker *ticker = nullptr;
  jmp_buf target;
};

/// The state of this thread; null outside of a launch. It is in static
/// thread-local storage where a signal handler reads it, which must not
/// allocate; the libraries compiled ahead of time have no such handler.
#ifndef TRITON_EXT_CPU_DYNAMIC_TLS
__attribute__((tls_model("initial-exec")))
#endif
extern constinit thread_local Running *running;

/// Asks whether the launch should go on, unless it has asked a short time ago,
/// and ends the launch if not. `now` is the time stamp counter.
void ask(Running &mine, uint64_t now);

/// Called before the first launch of the process: makes faults in kernels name
/// the kernel, unless the library is one that is compiled ahead of time.
void prepareProcess();

/// Returns the number of processors that this process may use.
int processors();

} // namespace triton_ext::cpu

#endif // TRITON_EXT_CPU_JOB_H
