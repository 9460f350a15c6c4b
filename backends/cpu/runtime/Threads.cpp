// SPDX-License-Identifier: Apache-2.0
//
// A pool of threads that lives as long as the process. One launch at a time has
// it; a launch from another thread meanwhile runs in that thread alone, so that
// there are never more threads than asked for. A fork starts without threads.
// Where threads cannot be made, a launch runs on those that there are.

#include "Runtime.h"

#include "triton_ext/FatalSignals.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <immintrin.h>
#include <memory>
#include <mutex>
#include <new>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <system_error>
#include <thread>
#include <vector>

using namespace triton_ext::cpu;
using fatal_signals::say;

/// What kernels look at after each program; see Kernel.
extern "C" __attribute__((visibility("default"))) std::atomic<uint32_t>
    triton_ext_cpu_tick;
std::atomic<uint32_t> triton_ext_cpu_tick{0};

namespace {
/// Cycles of the time stamp counter, which counts 1 to 5 of them in a
/// nanosecond: about 20 ms between two looks at whether to stop, and about
/// 30 us for what one call of a kernel should take.
constexpr uint64_t patience = uint64_t(1) << 26, briefly = uint64_t(1) << 16;

/// Programs of one call: what is left of them must be an int32_t.
constexpr int64_t mostPrograms = int64_t(1) << 30;

/// One launch in progress; threads take chunks of its programs.
struct Job {
  Launch launch;
  int64_t total = 0, chunk = 1;
  std::atomic<int64_t> next{0};
  /// Whether no more programs are to begin.
  std::atomic<bool> hasEnded{false};
  bool wasStopped = false;
  std::mutex mutex;
  std::string failure;

  /// Ends the launch; the first failure is the one that is told.
  template <typename MakeText> void fail(MakeText text) noexcept {
    std::lock_guard lock(mutex);
    if (hasEnded)
      return;
    try {
      failure = text();
    } catch (const std::bad_alloc &) {
      failure = "out of memory"; // short enough to need none
    }
    hasEnded = true;
  }
};

/// Memory that a thread keeps for the kernels that it runs.
class Arena {
public:
  Arena() = default;
  Arena(const Arena &) = delete;
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

/// Address space that threads must leave to everybody else, where it is
/// limited.
class Reserve {
public:
  Reserve() {
    rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
      return;
    isLimited = true;
    memory = mmap(nullptr, size, PROT_NONE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  Reserve(const Reserve &) = delete;
  ~Reserve() {
    if (memory != MAP_FAILED)
      munmap(memory, size);
  }
  bool isThere() const { return !isLimited || memory != MAP_FAILED; }
  /// Whether the address space of the process is limited.
  bool matters() const { return isLimited; }

private:
  static constexpr size_t size = size_t(64) << 20;
  bool isLimited = false;
  void *memory = MAP_FAILED;
};

/// A thread that has kernels return every 20 ms, for as long as one is called
/// with several programs: the first may be short and the next ones long.
class Ticker {
public:
  /// Begins to tick, if it can; the result is to be told `leave`.
  static Ticker *enter();
  void leave() { users.fetch_sub(1); }

private:
  void loop();

  std::mutex mutex;
  std::condition_variable wake;
  std::atomic<int> users{0};
  std::atomic<bool> sleeps{false};
};

/// Null until there is one; a forked child has none.
std::atomic<Ticker *> ticker{nullptr};

Ticker *Ticker::enter() {
  Ticker *there = ticker.load(std::memory_order_acquire);
  if (!there) {
    static std::mutex making;
    static std::chrono::steady_clock::time_point notBefore{};
    std::unique_lock lock(making, std::try_to_lock);
    auto now = std::chrono::steady_clock::now();
    if (!lock || now < notBefore)
      return nullptr;
    there = ticker.load(std::memory_order_acquire);
    if (!there) {
      static std::once_flag once;
      std::call_once(once, [] {
        pthread_atfork(nullptr, nullptr, [] { ticker = nullptr; });
      });
      try {
        // The threads of the launch may have left just what they need for their
        // data when they begin, so no more is taken.
        if (Reserve().matters())
          throw std::bad_alloc();
        auto made = std::make_unique<Ticker>();
        std::thread([made = made.get()] { made->loop(); }).detach();
        there = made.release(); // its thread never ends
        ticker.store(there, std::memory_order_release);
      } catch (
          const std::system_error &) { // a limit of the process, or of the user
        notBefore = now + std::chrono::seconds(1);
        return nullptr;
      } catch (const std::bad_alloc &) {
        notBefore = now + std::chrono::seconds(1);
        return nullptr;
      }
    }
  }
  there->users.fetch_add(1);
  if (there->sleeps.load()) {
    std::lock_guard lock(there->mutex);
    there->wake.notify_one();
  }
  return there;
}

void Ticker::loop() {
  int idle = 0;
  for (;;) {
    std::unique_lock lock(mutex);
    if (idle == 50) { // a second
      sleeps = true;
      wake.wait(lock, [&] { return users.load() > 0; });
      sleeps = false;
      idle = 0;
    }
    // Nobody wakes it now.
    wake.wait_for(lock, std::chrono::milliseconds(20), [] { return false; });
    idle = users.load() > 0 ? 0 : idle + 1;
    if (!idle)
      triton_ext_cpu_tick.fetch_add(1, std::memory_order_relaxed);
  }
}

/// What a thread is doing for a launch.
struct Running {
  Running(Job &job, bool isLauncher, Running *outer)
      : job(job), isLauncher(isLauncher), outer(outer) {}

  Job &job;
  /// Whether it is the thread that launches, which alone may ask.
  bool isLauncher;
  /// What it does further out: a signal handler of Python's may launch, too.
  Running *outer;
  /// The programs that run now.
  int64_t begin = 0, end = 0;
  /// When it was last asked whether to go on.
  uint64_t asked = __rdtsc();
  /// Who has its calls return, if these run several programs.
  Ticker *ticker = nullptr;
  jmp_buf target;
};
/// In static memory of the thread, since a signal handler reads it.
__attribute__((tls_model("initial-exec"))) thread_local Running *running =
    nullptr;

/// Looks from time to time whether the launch is to go on, and ends it if not.
void ask(Running &mine, uint64_t now) {
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

//===----------------------------------------------------------------------===//
// Crashes
//===----------------------------------------------------------------------===//

struct Line {
  char data[512];
  size_t length = 0;

  void add(std::string_view text) {
    size_t taken = std::min(text.size(), sizeof data - length);
    memcpy(data + length, text.data(), taken);
    length += taken;
  }
  void add(uint64_t number, int base = 10) {
    char digits[24];
    auto end = std::to_chars(digits, digits + sizeof digits, number, base).ptr;
    add({digits, size_t(end - digits)});
  }
  void addProgram(int64_t index, const int32_t *grid) {
    add("(");
    add(index % grid[0]);
    add(", ");
    add(index / grid[0] % grid[1]);
    add(", ");
    add(index / grid[0] / grid[1]);
    add(")");
  }
};

/// Runs in a signal handler.
void reportCrash(const siginfo_t &info, std::string_view name) {
  static std::atomic<bool> reported{false};
  const Running *mine = running;
  if (!mine || reported.exchange(true))
    return;
  const Launch &launch = mine->job.launch;
  Line line;
  line.add("\ntriton-ext: ");
  line.add(name);
  line.add(" in the kernel ");
  line.add(launch.name);
  line.add(mine->end - mine->begin == 1 ? ", program " : ", a program from ");
  line.addProgram(mine->begin, launch.grid);
  if (mine->end - mine->begin != 1) {
    line.add(" to ");
    line.addProgram(mine->end - 1, launch.grid);
  }
  line.add("\n");
  bool isAccess = (info.si_signo == SIGSEGV || info.si_signo == SIGBUS) &&
                  info.si_code > 0 && info.si_code != SI_KERNEL;
  if (isAccess) {
    line.add("triton-ext: it loaded from or stored to 0x");
    line.add(reinterpret_cast<uint64_t>(info.si_addr), 16);
    line.add(info.si_signo == SIGSEGV && info.si_code == SEGV_ACCERR
                 ? ", which is protected, as read-only memory is"
                 : ", where no memory is");
    line.add(" (fix: compare masks and offsets with the sizes of the "
             "tensors)\n");
  }
  say({line.data, line.length});
}

/// A stack for signal handlers, for as long as this thread lives; a thread that
/// has one keeps it.
class SignalStack {
public:
  SignalStack() {
    stack_t now;
    if (sigaltstack(nullptr, &now) != 0 || !(now.ss_flags & SS_DISABLE))
      return;
    // The kernel puts all vector registers and tiles there.
    size = std::max<size_t>(sysconf(_SC_SIGSTKSZ), size_t(64) << 10);
    memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    stack_t ours = {};
    ours.ss_sp = memory;
    ours.ss_size = size;
    if (memory != MAP_FAILED && sigaltstack(&ours, nullptr) == 0)
      return;
    if (memory != MAP_FAILED)
      munmap(memory, size);
    memory = MAP_FAILED;
  }
  SignalStack(const SignalStack &) = delete;
  ~SignalStack() {
    if (memory == MAP_FAILED)
      return;
    stack_t now;
    // Another one may lie on top by now.
    if (sigaltstack(nullptr, &now) == 0 && now.ss_sp == memory) {
      stack_t none = {};
      none.ss_flags = SS_DISABLE;
      sigaltstack(&none, nullptr);
    }
    munmap(memory, size);
  }

private:
  void *memory = MAP_FAILED;
  size_t size = 0;
};

/// What a thread keeps from launch to launch.
struct Kept {
  Arena arena;
  SignalStack stack;

  /// This thread's; null where there is no memory for it.
  static Kept *get();
};
/// No object with a destructor: where there is no memory to register that, the
/// C library ends the process.
thread_local Kept *kept = nullptr;

Kept *Kept::get() {
  if (kept)
    return kept;
  static pthread_key_t key;
  static const bool hasKey = pthread_key_create(&key, [](void *value) {
                               kept = nullptr;
                               delete static_cast<Kept *>(value);
                             }) == 0;
  std::unique_ptr<Kept> made(new (std::nothrow) Kept);
  if (made && hasKey && pthread_setspecific(key, made.get()) == 0)
    kept = made.release();
  return kept;
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

/// Runs programs of the job until none is left.
void work(Job &job, bool isLauncher) {
  // What is further out still needs its scratch memory.
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
  // A failed assertion comes back here; compiled code has nothing to clean up.
  if (_setjmp(now.target) == 0) {
    const Launch &launch = job.launch;
    int64_t step = 1; // programs of one call: a launch ends between two calls
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
        int64_t done = last - begin;
        done -= launch.kernel(launch.args, begin, last, launch.grid, scratch);
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
  /// Runs the job on up to `threads` threads, this one among them. Returns how
  /// many there were.
  int run(Job &job, int threads);

private:
  bool start();
  void loop(int index);

  std::mutex mutex;
  std::condition_variable wake, done;
  std::atomic<uint64_t> generation{0};
  std::atomic<int> active{0}, sleeping{0};
  /// Whether a launch has the threads. No mutex: the thread that has them may
  /// come back, from a signal handler of Python's.
  std::atomic<bool> isTaken{false};
  Job *current = nullptr;
  int wanted = 0;
  int workers = 0;
  /// Until when no more threads are tried to be made, after one could not be.
  std::chrono::steady_clock::time_point notBefore{};
};

/// Null until there is one.
std::atomic<Pool *> pool{nullptr};

Pool &thePool() {
  if (Pool *there = pool.load(std::memory_order_acquire))
    return *there;
  static std::once_flag once;
  std::call_once(once, [] {
    fatal_signals::reportFatalSignals(reportCrash);
    // The child has none of the threads; the parent's pool is left behind.
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
    wanted = helpers;
    active.store(helpers, std::memory_order_relaxed);
    generation.fetch_add(1, std::memory_order_release);
  }
  if (sleeping.load())
    wake.notify_all();
  work(job, /*isLauncher=*/true);
  // Helpers that have not come yet find no work; wait until all have gone.
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
        now.asked = 0; // to be asked again: it has waited
      else
        break;
    }
    ask(now, __rdtsc());
    if (pool != this) { // what `ask` called has forked, and this is the child
      job.fail([] { return "the process has forked during the launch"; });
      return threads;
    }
  }
  isTaken.store(false, std::memory_order_release);
  return helpers + 1;
}

/// Makes one more thread; says whether it could.
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
  kept = &mine;
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
    work(*job, /*isLauncher=*/false);
    if (active.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      std::lock_guard lock(mutex);
      done.notify_all();
    }
  }
}

int processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}
} // namespace

int triton_ext::cpu::mostThreads() {
  // Stacks and mappings are the whole process's: 30,000 threads can be made on
  // a large machine, and leave nothing for anybody else.
  static const int most = std::max(1024, 4 * processors());
  return most;
}

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
  // Small enough chunks to even out programs of unequal length, large enough
  // for ten million of them.
  job.chunk = std::max<int64_t>(1, job.total / (int64_t(threads) * 32));
  result.threads = thePool().run(job, threads);
  result.wasStopped = job.wasStopped;
  result.failure = std::move(job.failure);
  return result;
}

TRITON_EXT_CPU_API void triton_ext_cpu_assert_failed(const char *message,
                                                     const char *where,
                                                     int32_t x, int32_t y,
                                                     int32_t z) {
  if (!running) {
    fprintf(stderr, "%s: device assertion failed: %s\n", where, message);
    abort();
  }
  running->job.fail([&] {
    std::string text = *where ? std::string(where) + ": " : "";
    return text + "device assertion failed in program (" + std::to_string(x) +
           ", " + std::to_string(y) + ", " + std::to_string(z) +
           "): " + message;
  });
  longjmp(running->target, 1);
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
    if (running) {
      ask(*running, __rdtsc());
      if (running->job.hasEnded.load(std::memory_order_relaxed))
        longjmp(running->target, 1);
    }
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
/// Triton's code for GPUs does. `operand` is -1 if there is one operand, and -2
/// if there is only a prefix.
TRITON_EXT_CPU_API void
triton_ext_cpu_print(const char *prefix, int32_t operand, int32_t x, int32_t y,
                     int32_t z, const char *kind, int32_t bytes,
                     const char *data, int64_t shapeText) try {
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
} catch (const std::bad_alloc &) {
  // Compiled code cannot be unwound.
  if (running)
    running->job.fail([] { return "out of memory in tl.device_print"; });
}
