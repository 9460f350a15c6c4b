// SPDX-License-Identifier: Apache-2.0
//
// One thread for the whole process, which starts with the first launch that is
// watched. It sleeps while no such launch runs.

#include "Watch.h"

#include "ThreadMemory.h"
#include "triton_ext/SignalSafe.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <list>
#include <memory>
#include <pthread.h>
#include <system_error>
#include <thread>

using namespace triton_ext::cpu;
using Clock = std::chrono::steady_clock;

namespace {
/// The most programs that a report names as running.
constexpr size_t mostNamed = 8;

/// How often the watcher looks during the time that it waits for.
constexpr int looks = 4;

/// A program of a thread, and how many calls of the kernel it had completed.
using Progress = std::vector<std::pair<int64_t, uint64_t>>;

/// A launch, and since when nothing in it has changed.
struct Observed {
  Job &job;
  Progress progress;
  Clock::time_point since = Clock::now();
  bool isReported = false;
};

class Watcher {
public:
  void add(Job &job) {
    std::lock_guard lock(mutex);
    launches.push_back({job, {}});
    if (isIdle) // else it will look soon, and short launches need not wake it
      wake.notify_one();
  }
  void remove(Job &job) {
    std::lock_guard lock(mutex);
    launches.remove_if([&](const Observed &one) { return &one.job == &job; });
  }
  void loop();

private:
  std::mutex mutex;
  std::condition_variable wake;
  std::list<Observed> launches;
  bool isIdle = false;
};

/// Null until a launch is watched, and in a forked child.
std::atomic<Watcher *> watcher{nullptr};

/// Returns the watcher, or null if its thread cannot be made.
Watcher *theWatcher() {
  static std::mutex making;
  std::lock_guard lock(making);
  if (Watcher *there = watcher)
    return there;
  static std::once_flag once;
  std::call_once(once, [] {
    pthread_atfork(nullptr, nullptr, [] { watcher = nullptr; });
  });
  try {
    // As for the ticker: the threads of launches need this memory more.
    if (Reserve().matters())
      return nullptr;
    auto made = std::make_unique<Watcher>();
    std::thread([made = made.get()] { made->loop(); }).detach();
    return watcher = made.release(); // its thread never ends
  } catch (const std::system_error &) {
  } catch (const std::bad_alloc &) {
  }
  return nullptr;
}

std::string named(int64_t index, const int32_t *grid) {
  return "(" + std::to_string(index % grid[0]) + ", " +
         std::to_string(index / grid[0] % grid[1]) + ", " +
         std::to_string(index / grid[0] / grid[1]) + ")";
}

/// Returns where each thread of a launch is. The threads run meanwhile, so this
/// reads each number once. Requires `job.mutex`.
Progress progressOf(const Job &job) {
  Progress progress;
  for (const Running *thread : job.threads)
    progress.emplace_back(__atomic_load_n(&thread->program, __ATOMIC_RELAXED),
                          __atomic_load_n(&thread->calls, __ATOMIC_RELAXED));
  return progress;
}

/// Returns the report of a launch in which nothing has changed; empty if all
/// programs have started. Requires `job.mutex`.
std::string reportOf(const Job &job, const Progress &progress) {
  const Launch &launch = job.launch;
  int64_t next = std::min<int64_t>(job.next, job.total);
  int64_t waiting = job.total - next;
  int64_t first = waiting ? next : job.total;
  std::string programs;
  for (size_t i = 0; i < progress.size(); ++i) {
    int64_t program = progress[i].first, behind = program + 1;
    int64_t end = __atomic_load_n(&job.threads[i]->takenEnd, __ATOMIC_RELAXED);
    if (behind < end) {
      waiting += end - behind;
      first = std::min(first, behind);
    }
    if (i < mostNamed)
      programs += (i ? ", " : "") + named(program, launch.grid);
  }
  if (!waiting)
    return "";
  if (progress.size() > mostNamed)
    programs += ", ...";
  std::string seconds = std::to_string(launch.spinSeconds);
  seconds.erase(seconds.find_last_not_of('0') + 1);
  seconds.erase(seconds.find_last_not_of('.') + 1);
  std::string threads = std::to_string(progress.size());
  return std::string("\ntriton-ext: the kernel ") + launch.name +
         ": no program has ended for " + seconds + " s. " +
         (progress.size() == 1 ? "The only thread runs program "
                               : "All " + threads + " threads run programs: ") +
         programs + "; " + std::to_string(waiting) +
         " have not started, the first one is " + named(first, launch.grid) +
         "\ntriton-ext: if one waits for a program that has not started, the "
         "launch never ends (fix: wait for programs with lower numbers only, "
         "or TRITON_EXT_CPU_THREADS=" +
         std::to_string(std::min<int64_t>(job.total, mostThreads())) + ")\n";
}

void look(Observed &launch) {
  Job &job = launch.job;
  std::lock_guard lock(job.mutex);
  Progress progress = progressOf(job);
  auto now = Clock::now();
  if (progress != launch.progress || progress.empty() || job.hasEnded) {
    launch.progress = std::move(progress);
    launch.since = now;
    return;
  }
  std::chrono::duration<double> unchanged = now - launch.since;
  if (launch.isReported || unchanged.count() < job.launch.spinSeconds)
    return;
  std::string text = reportOf(job, progress);
  launch.isReported = !text.empty();
  signal_safe::say(text);
}

void Watcher::loop() {
  std::unique_lock lock(mutex);
  for (;;) {
    isIdle = true;
    wake.wait(lock, [&] { return !launches.empty(); });
    isIdle = false;
    double seconds = launches.front().job.launch.spinSeconds;
    for (Observed &one : launches) {
      try {
        look(one);
      } catch (const std::bad_alloc &) { // no report then
      }
      seconds = std::min(seconds, one.job.launch.spinSeconds);
    }
    wake.wait_for(lock, std::chrono::duration<double>(seconds / looks));
  }
}

} // namespace

Watch::Watch(Job &job) : job(job) {
  if (job.launch.spinSeconds <= 0)
    return;
  try {
    if (Watcher *there = theWatcher()) {
      there->add(job);
      isWatched = true;
    }
  } catch (const std::bad_alloc &) { // not watched then
  }
}

Watch::~Watch() {
  // A child that was forked during the launch has another watcher, or none.
  if (Watcher *there = isWatched ? watcher.load() : nullptr)
    there->remove(job);
}

Watched::Watched(Running &thread) : thread(thread) {
  Job &job = thread.job;
  if (job.launch.spinSeconds <= 0)
    return;
  std::lock_guard lock(job.mutex);
  try {
    job.threads.push_back(&thread);
    isListed = true;
  } catch (const std::bad_alloc &) { // not watched then
  }
}

Watched::~Watched() {
  if (!isListed)
    return;
  std::lock_guard lock(thread.job.mutex);
  std::erase(thread.job.threads, &thread);
}
