// SPDX-License-Identifier: Apache-2.0
//
// A pool of threads that lives as long as the process. One launch at a time has
// it; a launch from another thread meanwhile runs in that thread alone, so that
// there are never more threads than asked for. A fork starts without threads.

#include "Runtime.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <immintrin.h>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <thread>
#include <vector>

using namespace triton_ext::cpu;

namespace {
/// One launch in progress; threads take chunks of its programs.
struct Job {
  Launch launch;
  int64_t total = 0, chunk = 1;
  std::atomic<int64_t> next{0};
  std::atomic<bool> hasFailed{false};
  std::mutex mutex;
  std::string failure;
};

/// Memory that a thread keeps for the kernels that it runs.
class Arena {
public:
  ~Arena() { release(); }
  void *get(size_t size) {
    if (size > capacity) {
      release();
      capacity = (size + 0x1fffff) & ~size_t(0x1fffff);
      memory = mmap(nullptr, capacity, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (memory == MAP_FAILED) {
        memory = nullptr;
        capacity = 0;
      }
#ifdef MADV_HUGEPAGE
      else
        madvise(memory, capacity, MADV_HUGEPAGE);
#endif
    }
    return memory;
  }

private:
  void release() {
    if (memory)
      munmap(memory, capacity);
    memory = nullptr;
    capacity = 0;
  }
  void *memory = nullptr;
  size_t capacity = 0;
};

thread_local Arena arena;
thread_local jmp_buf *assertTarget = nullptr;
thread_local Job *currentJob = nullptr;

void work(Job &job) {
  void *scratch = nullptr;
  if (job.launch.scratchSize) {
    scratch = arena.get(job.launch.scratchSize);
    if (!scratch) {
      std::lock_guard lock(job.mutex);
      job.failure = "out of memory: the kernel needs " +
                    std::to_string(job.launch.scratchSize) +
                    " bytes of scratch memory";
      job.hasFailed = true;
      return;
    }
  }
  jmp_buf here;
  jmp_buf *outer = assertTarget;
  Job *outerJob = currentJob;
  assertTarget = &here;
  currentJob = &job;
  // A failed assertion comes back here; compiled code has nothing to clean up.
  if (_setjmp(here) == 0) {
    while (!job.hasFailed.load(std::memory_order_relaxed)) {
      int64_t begin = job.next.fetch_add(job.chunk, std::memory_order_relaxed);
      if (begin >= job.total)
        break;
      int64_t end = std::min(begin + job.chunk, job.total);
      job.launch.kernel(job.launch.args, begin, end, job.launch.grid, scratch);
    }
  }
  assertTarget = outer;
  currentJob = outerJob;
}

class Pool {
public:
  /// Runs the job on up to `threads` threads, this one among them.
  void run(Job &job, int threads) {
    std::unique_lock owner(ownership, std::try_to_lock);
    if (threads <= 1 || job.total <= 1 || !owner) {
      work(job);
      return;
    }
    int helpers = std::min<int64_t>(threads, job.total) - 1;
    {
      std::lock_guard lock(mutex);
      while (int(workers) < helpers)
        start();
      current = &job;
      wanted = helpers;
      active.store(helpers, std::memory_order_relaxed);
      generation.fetch_add(1, std::memory_order_release);
    }
    if (sleeping.load())
      wake.notify_all();
    work(job);
    // Helpers that have not come yet find no work; wait until all have gone.
    for (int spins = 0; active.load(std::memory_order_acquire) > 0; ++spins) {
      if (spins < 4000) {
        _mm_pause();
        continue;
      }
      std::unique_lock lock(mutex);
      done.wait(lock, [&] { return active.load() == 0; });
    }
  }

private:
  void start() {
    int index = workers++;
    std::thread([this, index] { loop(index); }).detach();
  }

  void loop(int index) {
    uint64_t seen = 0;
    for (;;) {
      // A next launch often follows at once.
      for (int spins = 0;
           spins < 2000 && generation.load(std::memory_order_acquire) == seen;
           ++spins)
        _mm_pause();
      Job *job;
      {
        std::unique_lock lock(mutex);
        ++sleeping;
        wake.wait(lock, [&] { return generation.load() != seen; });
        --sleeping;
        seen = generation.load();
        job = index < wanted ? current : nullptr;
      }
      if (!job)
        continue;
      work(*job);
      if (active.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        std::lock_guard lock(mutex);
        done.notify_all();
      }
    }
  }

  std::mutex ownership, mutex;
  std::condition_variable wake, done;
  std::atomic<uint64_t> generation{0};
  std::atomic<int> active{0}, sleeping{0};
  Job *current = nullptr;
  int wanted = 0;
  size_t workers = 0;
};

Pool *pool = nullptr;
std::once_flag poolOnce;

Pool &thePool() {
  std::call_once(poolOnce, [] {
    pool = new Pool;
    // The child has none of the threads; the parent's pool is left behind.
    pthread_atfork(nullptr, nullptr, [] { pool = new Pool; });
  });
  return *pool;
}

int processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}
} // namespace

std::string triton_ext::cpu::run(const Launch &launch) {
  Job job;
  job.launch = launch;
  job.total = int64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2];
  if (job.total <= 0)
    return "";
  int threads = launch.threads > 0 ? launch.threads : processors();
  // Small enough chunks to even out programs of unequal length, large enough
  // for ten million of them.
  job.chunk = std::max<int64_t>(1, job.total / (int64_t(threads) * 32));
  thePool().run(job, threads);
  return job.failure;
}

TRITON_EXT_CPU_API void triton_ext_cpu_assert_failed(const char *message,
                                                     const char *where,
                                                     int32_t x, int32_t y,
                                                     int32_t z) {
  Job *job = currentJob;
  if (!job || !assertTarget) {
    fprintf(stderr, "%s: device assertion failed: %s\n", where, message);
    abort();
  }
  {
    std::lock_guard lock(job->mutex);
    if (!job->hasFailed) {
      std::string text = *where ? std::string(where) + ": " : "";
      job->failure = text + "device assertion failed in program (" +
                     std::to_string(x) + ", " + std::to_string(y) + ", " +
                     std::to_string(z) + "): " + message;
      job->hasFailed = true;
    }
  }
  longjmp(*assertTarget, 1);
}

/// Nanoseconds of a clock that never goes back.
TRITON_EXT_CPU_API int64_t triton_ext_cpu_clock() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Waits until the `bytes` at `address` are `expected`, or until `budget`
/// nanoseconds have passed since `start`; says which. Looks at least once.
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
    // Who was to write may have failed, or wait for this processor.
    if (currentJob && assertTarget &&
        currentJob->hasFailed.load(std::memory_order_relaxed))
      longjmp(*assertTarget, 1);
    if (spins < 100)
      _mm_pause();
    else
      sched_yield();
  }
}

/// One element as Triton's code for GPUs prints it: "f" fp, "b" bf16, "i"
/// signed, "u" unsigned, "p" pointer; "x" behind it for hexadecimal.
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

/// Prints one operand of a tl.device_print, a line for each element, as
/// Triton's code for GPUs does. `operand` is -1 if it is the only one, -2 if
/// there is none but the prefix.
TRITON_EXT_CPU_API void
triton_ext_cpu_print(const char *prefix, int32_t operand, int32_t x, int32_t y,
                     int32_t z, const char *kind, int32_t bytes,
                     const char *data, int64_t shapeText) {
  static std::mutex mutex;
  std::vector<int64_t> shape;
  std::vector<int> widths; // of the largest index, as far as 10 takes one
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
}
