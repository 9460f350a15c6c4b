// SPDX-License-Identifier: Apache-2.0
//
// Reports the kernel and the program in which a fault has happened. All of this
// code runs in a signal handler.

#include "Job.h"

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
} // namespace

void triton_ext::cpu::prepareProcess() {
  fatal_signals::reportFatalSignals(reportCrash);
}
