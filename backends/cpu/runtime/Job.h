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
#include <vector>

namespace triton_ext::cpu {

struct Running;

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
  uintptr_t faultPlace = 0;
  /// The threads that run programs, if the launch is watched (Watch.h).
  std::vector<Running *> threads;

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
  /// The programs of this call of the kernel, and the end of those that this
  /// thread has taken.
  int64_t begin = 0, end = 0, takenEnd = 0;
  /// The program that runs now; the kernel stores it.
  int64_t program = 0;
  /// The number of calls of the kernel that have returned.
  uint64_t calls = 0;
  /// Whether the thread is in the kernel, or in a function that it calls and
  /// that holds no lock. A fault there can end the launch.
  volatile bool isInKernel = false;
  /// Whether a fault of this thread may have been raised again (Fault.cpp).
  volatile bool isRaised = false;
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

/// Runs programs of the job until none is left or the job has ended.
void work(Job &job, bool isLauncher);

/// The code of a kernel calls a function that may hold locks.
class OutsideOfKernel {
public:
  OutsideOfKernel() {
    if (running)
      running->isInKernel = false;
  }
  ~OutsideOfKernel() {
    if (running)
      running->isInKernel = true;
  }
};

/// Called before the first launch of the process: makes faults in kernels end
/// the launch, or name the kernel, unless the library is one that is compiled
/// ahead of time.
void prepareProcess();

/// Called before each launch: if another handler of faults lies above the
/// runtime's, puts the runtime's on top until `endFaults`, and returns true.
bool beginFaults();
void endFaults();

/// Returns the number of processors that this process may use.
int processors();

} // namespace triton_ext::cpu

#endif // TRITON_EXT_CPU_JOB_H
