// SPDX-License-Identifier: Apache-2.0
//
// A pool of threads that lives as long as the process. One launch at a time
// uses the pool. Meanwhile, a launch from another thread runs in that thread
// alone, so that there are never more threads than asked for. A forked process
// starts with a new pool. If no more threads can be made, a launch runs on the
// existing ones.

#include "Job.h"
#include "ThreadMemory.h"
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
/// How long a thread looks for the next launch before it sleeps: 0.2 to 0.5 ms
/// in cycles of the time stamp counter. A host that checks launches or prepares
/// tensors needs less between two of them, and waking 15 threads takes as long.
constexpr uint64_t lookout = uint64_t(1) << 20;

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
  // Programs that share packed operands are in one chunk, if each thread gets
  // several chunks.
  int64_t together = std::max<int64_t>(1, launch.together);
  while (together > 1 && job.total / together / threads < 8)
    together /= 2;
  job.chunk = (job.chunk + together - 1) / together * together;
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
