// SPDX-License-Identifier: Apache-2.0
//
// Calls a function when a fatal signal comes, and then the handler that was
// installed before. Does not use LLVM. Only one source file of a library may
// include this header, because everything here is local to that file. So two
// libraries in one process, which may be different builds, have a handler each.
//
// The handler, and every function that it calls, may use only functions that
// POSIX lists as async-signal-safe.

#ifndef TRITON_EXT_FATALSIGNALS_H
#define TRITON_EXT_FATALSIGNALS_H

#include <cerrno>
#include <csignal>
#include <mutex>
#include <string_view>

namespace fatal_signals {
namespace {

struct FatalSignal {
  int number;
  std::string_view name;
  struct sigaction previous;
};

FatalSignal fatalSignals[] = {
    {SIGABRT, "SIGABRT", {}}, {SIGBUS, "SIGBUS", {}},
    {SIGFPE, "SIGFPE", {}},   {SIGILL, "SIGILL", {}},
    {SIGSEGV, "SIGSEGV", {}}, {SIGTRAP, "SIGTRAP", {}},
    {SIGXCPU, "SIGXCPU", {}}};

/// Called with the signal, its name and the interrupted context, before the
/// previous handler. Returns whether the thread goes on with that context, so
/// that the previous handler must not be called.
using FatalReport = bool (*)(const siginfo_t &info, std::string_view name,
                             void *context);
FatalReport fatalReport = nullptr;

/// Has the handler `previous` handle a signal.
void passOn(const struct sigaction &previous, int number, siginfo_t *info,
            void *context) {
  if (previous.sa_flags & SA_SIGINFO) {
    previous.sa_sigaction(number, info, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(number);
  } else {
    sigaction(number, &previous, nullptr);
    // If the processor raised the signal, returning repeats the instruction,
    // which raises it again, with its address. Other signals need `raise`.
    if (info->si_code <= 0)
      raise(number);
  }
}

void onFatalSignal(int number, siginfo_t *info, void *context) {
  int savedErrno = errno;
  const FatalSignal *signal = fatalSignals;
  while (signal->number != number)
    ++signal;
  bool goesOn = fatalReport(*info, signal->name, context);
  errno = savedErrno;
  if (!goesOn)
    passOn(signal->previous, number, info, context);
}

/// Makes a fatal signal call `report`. Installs the handlers only once: other
/// code may since have installed handlers on top, which may call these.
void reportFatalSignals(FatalReport report) {
  static std::once_flag once;
  std::call_once(once, [report] {
    fatalReport = report;
    for (FatalSignal &signal : fatalSignals) {
      struct sigaction ours = {};
      ours.sa_sigaction = onFatalSignal;
      // The stack may have overflowed, so the handler needs another one.
      ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
      sigemptyset(&ours.sa_mask);
      // Two calls, because `previous` must be set before the new handler can
      // run and use it.
      sigaction(signal.number, nullptr, &signal.previous);
      sigaction(signal.number, &ours, nullptr);
    }
  });
}

} // namespace
} // namespace fatal_signals

#endif // TRITON_EXT_FATALSIGNALS_H
