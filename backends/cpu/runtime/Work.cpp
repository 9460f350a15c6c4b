// SPDX-License-Identifier: Apache-2.0
//
// What one thread does in a launch: it takes programs and calls the kernel for
// them, until none is left or the launch ends.

#include "Job.h"
#include "ThreadMemory.h"
#include "Ticker.h"
#include "Watch.h"

#include <algorithm>
#include <cstring>
#include <string>

using namespace triton_ext::cpu;

namespace {
/// How long a launch waits before it asks again whether to go on: about 20 ms,
/// in cycles of the time stamp counter (1 to 5 cycles are a nanosecond).
constexpr uint64_t patience = uint64_t(1) << 26;

/// How long one call of a kernel should take: about 30 us, in the same cycles.
constexpr uint64_t briefly = uint64_t(1) << 16;

/// The bytes of scratch memory that say what a kernel keeps for its next
/// programs: first, whether it keeps nothing, then how much of each operand is
/// valid (lowering/SharedPanels.h).
constexpr size_t keptBytes = 64;

/// The most programs of one call: the number of programs that are left must fit
/// an int32_t.
constexpr int64_t mostPrograms = int64_t(1) << 30;

} // namespace

constinit thread_local Running *triton_ext::cpu::running = nullptr;

TRITON_EXT_CPU_API int64_t *triton_ext_cpu_program() {
  static constinit thread_local int64_t unused = 0;
  return running ? &running->program : &unused;
}

void triton_ext::cpu::ask(Running &mine, uint64_t now) {
  Job &job = mine.job;
  if (!mine.isLauncher || !job.launch.ask || job.hasEnded ||
      now - mine.asked < patience)
    return;
  Answer answer = job.launch.ask(job.launch.context);
  mine.asked = __rdtsc();
  if (answer == Answer::GoOnAndNeverAskAgain)
    job.launch.ask = nullptr;
  if (answer != Answer::Stop)
    return;
  std::lock_guard lock(job.mutex);
  job.wasStopped = true;
  job.hasEnded = true;
}

void triton_ext::cpu::work(Job &job, bool isLauncher) {
  // A launch that this one interrupts still needs the thread's scratch memory,
  // so this one takes new memory.
  Arena another;
  Kept *keeps = Kept::get();
  Arena &mine = keeps && !running ? keeps->arena : another;
  void *scratch = nullptr;
  if (job.launch.scratchSize) {
    scratch = mine.get(job.launch.scratchSize);
    if (!scratch) {
      job.fail([&] {
        return "out of memory: the kernel needs " +
               std::to_string(job.launch.scratchSize) +
               " bytes of scratch memory";
      });
      return;
    }
    // In a chunk of one program, no later program would use what is kept.
    if (job.launch.together > 1) {
      memset(scratch, 0, keptBytes);
      *static_cast<int64_t *>(scratch) = job.chunk == 1;
    }
  }
  Running now(job, isLauncher, running);
  running = &now;
  Watched watched(now);
  // A failed assertion or a fault jumps back to here. Compiled code needs no
  // clean-up.
  if (_setjmp(now.target) == 0) {
    const Launch &launch = job.launch;
    int64_t step = 1; // programs per call; a launch can end between two calls
    uint64_t before = now.asked;
    while (!job.hasEnded.load(std::memory_order_relaxed)) {
      int64_t begin = job.next.fetch_add(job.chunk, std::memory_order_relaxed);
      if (begin >= job.total)
        break;
      int64_t end = std::min(begin + job.chunk, job.total);
      do {
        int64_t last = std::min(begin + step, end);
        now.begin = begin;
        now.end = last;
        now.takenEnd = end;
        now.program = begin;
        int64_t done = last - begin;
        now.isInKernel = true;
        done -= launch.kernel(launch.args, begin, last, launch.grid, scratch);
        now.isInKernel = false;
        now.calls = now.calls + 1;
        begin += done;
        uint64_t after = __rdtsc(), took = after - before;
        if (took < briefly) {
          step = std::min({2 * step, job.chunk, mostPrograms});
          if (step > 1 && !now.ticker)
            now.ticker = Ticker::enter();
        } else if (took > 2 * briefly) {
          step = std::max<int64_t>(1, done / int64_t(took / briefly));
        }
        before = after;
        ask(now, after);
      } while (begin < end && !job.hasEnded.load(std::memory_order_relaxed));
    }
  }
  if (now.ticker)
    now.ticker->leave();
  running = now.outer;
}
