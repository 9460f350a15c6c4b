// SPDX-License-Identifier: Apache-2.0
//
// A pool of threads that lives as long as the process. One launch at a time
// uses the pool. Meanwhile, a launch from another thread runs in that thread
// alone, so that there are never more threads than asked for. A forked process
// starts with a new pool. If no more threads can be made, a launch runs on the
// existing ones.

#include "Job.h"
#include "ThreadMemory.h"
#include "Ticker.h"
#include "Watch.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <pthread.h>
#include <string>
#include <system_error>
#include <thread>

using namespace triton_ext::cpu;

namespace {
/// How long a launch waits before it asks again whether to go on: about 20 ms,
/// in cycles of the time stamp counter (1 to 5 cycles are a nanosecond).
constexpr uint64_t patience = uint64_t(1) << 26;

/// How long one call of a kernel should take: about 30 us, in the same cycles.
constexpr uint64_t briefly = uint64_t(1) << 16;

/// How long a thread looks for the next launch before it sleeps: 0.2 to 0.5 ms,
/// in the same cycles. A host that checks launches or prepares tensors needs
/// less between two of them, and waking 15 threads takes as long.
constexpr uint64_t lookout = uint64_t(1) << 20;

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

namespace {
/// Runs programs of the job until none is left or the job has ended.
void work(Job &job, bool isLauncher) {
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

class Pool {
public:
  /// Runs the job on up to `threads` threads, including the calling one.
  /// Returns how many threads there were.
  int run(Job &job, int threads);

private:
  bool start();
  void loop(int index);

  static constexpr int bitsOfCount = 20;
  static constexpr uint64_t maskOfCount = (uint64_t(1) << bitsOfCount) - 1;

  std::mutex mutex;
  std::condition_variable wake, done;
  /// The number of the last launch, and in the low bits how many helpers it
  /// has. A helper of the launch may read `current` without the mutex: the
  /// launch does not end before each of its helpers has decremented `active`.
  std::atomic<uint64_t> state{0};
  std::atomic<int> active{0}, sleeping{0};
  /// Whether a launch uses the pool. This is not a mutex, because the same
  /// thread may launch again from a Python signal handler.
  std::atomic<bool> isTaken{false};
  Job *current = nullptr;
  int workers = 0;
  /// After a thread could not be made, the pool does not try again before this
  /// time.
  std::chrono::steady_clock::time_point notBefore{};
};

/// Null until the first launch, and in a forked child.
std::atomic<Pool *> pool{nullptr};

Pool &thePool() {
  if (Pool *there = pool.load(std::memory_order_acquire))
    return *there;
  static std::once_flag once;
  std::call_once(once, [] {
    prepareProcess();
    // A forked child has none of the pool's threads, so it abandons the pool.
    pthread_atfork(nullptr, nullptr, [] { pool = nullptr; });
  });
  auto made = std::make_unique<Pool>();
  Pool *none = nullptr;
  if (pool.compare_exchange_strong(none, made.get()))
    return *made.release();
  return *none;
}

int Pool::run(Job &job, int threads) {
  if (threads <= 1 || isTaken.exchange(true, std::memory_order_acquire)) {
    work(job, /*isLauncher=*/true);
    return threads;
  }
  int helpers = threads - 1;
  {
    std::lock_guard lock(mutex);
    if (workers < helpers) {
      Reserve reserve;
      while (reserve.isThere() && workers < helpers && start())
        ;
    }
    helpers = std::min(helpers, workers);
    current = &job;
    active.store(helpers, std::memory_order_relaxed);
    uint64_t number =
        (state.load(std::memory_order_relaxed) >> bitsOfCount) + 1;
    state.store(number << bitsOfCount | uint64_t(helpers),
                std::memory_order_release);
  }
  if (sleeping.load())
    wake.notify_all();
  work(job, /*isLauncher=*/true);
  // No work is left for helpers that have not started yet. Wait for all of
  // them, because they use `job`.
  Running now(job, /*isLauncher=*/true, nullptr);
  for (int spins = 0; active.load(std::memory_order_acquire) > 0; ++spins) {
    if (spins < 4000) {
      _mm_pause();
      continue;
    }
    {
      std::unique_lock lock(mutex);
      auto haveGone = [&] { return active.load() == 0; };
      if (!job.launch.ask)
        done.wait(lock, haveGone);
      else if (!done.wait_for(lock, std::chrono::milliseconds(20), haveGone))
        now.asked = 0; // it has waited for 20 ms, so `ask` must ask again
      else
        break;
    }
    ask(now, __rdtsc());
    if (pool != this) { // this is a child: a function that `ask` called forked
      job.fail([] { return "the process has forked during the launch"; });
      return threads;
    }
  }
  isTaken.store(false, std::memory_order_release);
  return helpers + 1;
}

/// Makes one more thread. Returns whether it could.
bool Pool::start() {
  using std::chrono::steady_clock;
  if (notBefore != steady_clock::time_point() &&
      steady_clock::now() < notBefore)
    return false;
  try {
    std::thread([this, index = workers] { loop(index); }).detach();
    ++workers;
    return true;
  } catch (
      const std::system_error &) { // a limit of the process, or of the user
  } catch (const std::bad_alloc &) {
  }
  notBefore = steady_clock::now() + std::chrono::seconds(1);
  return false;
}

void Pool::loop(int index) {
  Kept mine; // a thread of the pool never ends
  Kept::set(mine);
  uint64_t seen = 0;
  for (;;) {
    // The next launch often follows at once, so spin before sleeping. A thread
    // that spins takes no mutex, because all threads would wait for each other.
    // It lets others run soon, because there may be fewer processors.
    uint64_t since = __rdtsc();
    for (int spins = 0; state.load(std::memory_order_acquire) == seen &&
                        __rdtsc() - since < lookout;
         ++spins) {
      if (spins < 2000)
        _mm_pause();
      else
        std::this_thread::yield();
    }
    if (state.load(std::memory_order_acquire) == seen) {
      std::unique_lock lock(mutex);
      ++sleeping;
      wake.wait(lock, [&] { return state.load() != seen; });
      --sleeping;
    }
    seen = state.load(std::memory_order_acquire);
    if (index >= int(seen & maskOfCount))
      continue;
    work(*current, /*isLauncher=*/false);
    if (active.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      std::lock_guard lock(mutex);
      done.notify_all();
    }
  }
}

} // namespace

Result triton_ext::cpu::run(const Launch &launch) {
  Result result;
  Job job;
  job.launch = launch;
  job.total = int64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2];
  if (job.total <= 0)
    return result;
  int threads = launch.threads > 0 ? launch.threads : processors();
  result.wantedThreads = int(std::min<int64_t>(threads, job.total));
  threads = std::min(result.wantedThreads, mostThreads());
  // Chunks are small enough to balance programs of unequal length, and large
  // enough that ten million programs cost little.
  job.chunk = std::max<int64_t>(1, job.total / (int64_t(threads) * 32));
  Pool &pool = thePool();
  Watch watch(job);
  bool isCovered = beginFaults();
  result.threads = pool.run(job, threads);
  if (isCovered)
    endFaults();
  result.wasStopped = job.wasStopped;
  result.failure = std::move(job.failure);
  result.faultPlace = job.faultPlace;
  return result;
}
