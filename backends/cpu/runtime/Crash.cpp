// SPDX-License-Identifier: Apache-2.0
//
// The handlers of faults. If the launch cannot end with an error instead
// (Fault.h), the last words of the process are the kernel and the program.

#include "Fault.h"

#include "triton_ext/FatalSignals.h"
#include "triton_ext/SignalSafe.h"

#include <algorithm>
#include <charconv>
#include <cstring>

using namespace triton_ext::cpu;
using signal_safe::say;

namespace {
/// A line of text in fixed memory; text that does not fit is cut off.
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

/// Reports the kernel and the program of a fault. Called in a signal handler.
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
  line.add(", program ");
  line.addProgram(mine->program, launch.grid);
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

bool onFault(const siginfo_t &info, std::string_view name, void *context) {
  if (leaveKernel(info, name, context))
    return true;
  reportCrash(info, name);
  return false;
}

/// A handler that lies above the runtime's, for example Python's faulthandler
/// that was enabled after the first launch. During a launch, another handler of
/// the runtime lies above it: a fault that ends the launch is not its concern.
struct Covered {
  int number;
  std::string_view name;
  struct sigaction handler;
};
Covered coveredSignals[] = {{SIGBUS, "SIGBUS", {}}, {SIGSEGV, "SIGSEGV", {}}};

/// The time between two looks for such a handler: about 10 ms, in cycles of the
/// time stamp counter.
constexpr uint64_t looksApart = uint64_t(1) << 25;

/// The number of launches that need the handlers above all others.
int coverings = 0;
std::mutex coveringMutex;

void onCoveredFault(int number, siginfo_t *info, void *context) {
  const Covered *signal = coveredSignals;
  while (signal->number != number)
    ++signal;
  int savedErrno = errno;
  bool goesOn = leaveKernel(*info, signal->name, context);
  errno = savedErrno;
  if (!goesOn)
    fatal_signals::passOn(signal->handler, number, info, context);
}

bool isOnTop(int number, void (*handler)(int, siginfo_t *, void *)) {
  struct sigaction now = {};
  sigaction(number, nullptr, &now);
  return now.sa_flags & SA_SIGINFO && now.sa_sigaction == handler;
}
} // namespace

void triton_ext::cpu::prepareProcess() {
  fatal_signals::reportFatalSignals(onFault);
}

bool triton_ext::cpu::beginFaults() {
  // A look is a system call, which would double the time of a short launch.
  // Within 10 ms after a look, a new handler may be called before this one.
  // Handlers of SIGBUS alone are not looked for.
  static std::atomic<uint64_t> lookedAt{0};
  uint64_t now = __rdtsc();
  if (now - lookedAt.load(std::memory_order_relaxed) < looksApart)
    return false;
  if (isOnTop(SIGSEGV, fatal_signals::onFatalSignal)) {
    lookedAt.store(now, std::memory_order_relaxed);
    return false;
  }
  lookedAt.store(0, std::memory_order_relaxed);
  std::lock_guard lock(coveringMutex);
  if (coverings++)
    return true;
  for (Covered &one : coveredSignals) {
    struct sigaction ours = {};
    ours.sa_sigaction = onCoveredFault;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&ours.sa_mask);
    // Two calls, as in `reportFatalSignals`.
    sigaction(one.number, nullptr, &one.handler);
    sigaction(one.number, &ours, nullptr);
  }
  return true;
}

void triton_ext::cpu::endFaults() {
  std::lock_guard lock(coveringMutex);
  if (--coverings)
    return;
  for (const Covered &one : coveredSignals)
    if (isOnTop(one.number, onCoveredFault))
      sigaction(one.number, &one.handler, nullptr);
}
