// SPDX-License-Identifier: Apache-2.0
//
// Says something when the process dies of a signal, and leaves the rest to the
// handler that was there before. Free of LLVM. For one source file of a
// library: everything here is that file's own, so that two libraries of a
// process, which may be different builds, have a handler each.
//
// The handler, and what it calls, may only do what POSIX lists as
// async-signal-safe.

#ifndef TRITON_EXT_FATALSIGNALS_H
#define TRITON_EXT_FATALSIGNALS_H

#include <cerrno>
#include <csignal>
#include <mutex>
#include <string_view>
#include <unistd.h>

namespace fatal_signals {
namespace {

/// Whether all of `text` could be written to the file descriptor `file`.
bool writeAll(int file, std::string_view text) {
  while (!text.empty()) {
    ssize_t done = write(file, text.data(), text.size());
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0)
      return false;
    text.remove_prefix(done);
  }
  return true;
}

/// Writes to standard error.
void say(std::string_view text) { (void)writeAll(STDERR_FILENO, text); }

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

/// Is called with the signal and its name before the previous handler is.
using FatalReport = void (*)(const siginfo_t &info, std::string_view name);
FatalReport fatalReport = nullptr;

void onFatalSignal(int number, siginfo_t *info, void *context) {
  int savedErrno = errno;
  const FatalSignal *signal = fatalSignals;
  while (signal->number != number)
    ++signal;
  fatalReport(*info, signal->name);
  errno = savedErrno;
  const struct sigaction &previous = signal->previous;
  if (previous.sa_flags & SA_SIGINFO) {
    previous.sa_sigaction(number, info, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(number);
  } else {
    sigaction(number, &previous, nullptr);
    // What the processor has raised comes again by itself, with its address.
    if (info->si_code <= 0)
      raise(number);
  }
}

/// Calls `report` when a fatal signal comes, from now on. Once: others may
/// install theirs on top, and take them off again.
void reportFatalSignals(FatalReport report) {
  static std::once_flag once;
  std::call_once(once, [report] {
    fatalReport = report;
    for (FatalSignal &signal : fatalSignals) {
      struct sigaction ours = {};
      ours.sa_sigaction = onFatalSignal;
      // A stack that has overflowed holds no handler.
      ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
      sigemptyset(&ours.sa_mask);
      // Not in one step: a signal in between has to find the previous one.
      sigaction(signal.number, nullptr, &signal.previous);
      sigaction(signal.number, &ours, nullptr);
    }
  });
}

} // namespace
} // namespace fatal_signals

#endif // TRITON_EXT_FATALSIGNALS_H
