// SPDX-License-Identifier: Apache-2.0
//
// Reports what a compilation was doing when the process died by a fatal signal
// or a call of exit(). MLIR catches the crashes of most passes, which then
// become exceptions. It does not catch crashes in its worker threads, in LLVM,
// and in code that Python calls. LLVM's fatal errors raise a signal or call
// exit().
//
// The handler calls only functions that POSIX lists as async-signal-safe: it
// writes text that was made before.
//
// A process whose parent waits for it writes its place to a file instead,
// before every pass. So the parent knows the place even if no handler runs:
// after SIGKILL and after _exit.

#include "Crash.h"

#include "triton_ext/FatalSignals.h"
#include "triton_ext/SignalSafe.h"
#include "llvm/Support/CrashRecoveryContext.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <sys/syscall.h>
#include <unistd.h>

using llvm::StringRef;
using namespace mlir;
using signal_safe::say;
using signal_safe::writeAll;

namespace {

/// Text of a bounded length; longer text is cut off.
template <size_t size> struct Text {
  char data[size];
  std::atomic<size_t> length{0};

  void set(StringRef text) {
    length = 0; // a crash during the copy finds no text, rather than a mixture
    size_t taken = std::min(text.size(), size);
    memcpy(data, text.data(), taken);
    length = taken;
  }
  StringRef get() const { return {data, length}; }
};

/// One running compilation.
struct Slot {
  std::atomic<bool> used{false};
  std::atomic<uint64_t> order{0}; // a compilation may start another one
  std::atomic<pid_t> thread{0};   // the thread that Python runs on
  std::atomic<pid_t> worker{0};   // the thread that MLIR runs the pass on
  Text<6144> what;
  Text<2048> pass;
  Text<6144> command;
  Text<512> file;
  std::atomic<const char *> ir{nullptr};
  std::atomic<size_t> irSize{0};
};

} // namespace

static Slot slots[64];
static std::atomic<uint64_t> begun{0};
static std::atomic<bool> reported{false};
/// The command that runs this process again in a way that turns a crash into an
/// exception.
static Text<6144> isolated;
/// The file descriptor to which this process writes its place for its parent;
/// -1 if there is none.
static std::atomic<int> published{-1};

static pid_t thisThread() { return static_cast<pid_t>(syscall(SYS_gettid)); }

//===----------------------------------------------------------------------===//
// While the process dies
//===----------------------------------------------------------------------===//

/// Writes the module as it was before the pass of `slot` to the file of `slot`.
static bool writeModule(const Slot &slot) {
  const char *ir = slot.ir;
  StringRef path = slot.file.get();
  char name[sizeof(slot.file.data) + 1];
  if (!ir || path.empty())
    return false;
  memcpy(name, path.data(), path.size());
  name[path.size()] = 0;
  int file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                  S_IRUSR | S_IWUSR);
  if (file < 0)
    return false;
  bool written = writeAll(file, {ir, slot.irSize});
  return close(file) == 0 && written;
}

static void report(const Slot &slot, StringRef cause, bool isOurs) {
  say("\ntriton-ext: ");
  say(cause);
  say(isOurs ? "" : " in a thread that may be another's; a compilation was");
  StringRef pass = slot.pass.get();
  say(pass.empty() ? " outside of any pass" : " in ");
  say(pass);
  say(", ");
  say(slot.what.get());
  say("\n");
  StringRef command = slot.command.get();
  if (command.empty() || !writeModule(slot)) {
    say("triton-ext: to get an exception instead, with the command that runs "
        "the pass again if MLIR has run it: ");
    say(isolated.get());
    say("\n");
    return;
  }
  say("triton-ext: to run it again: ");
  auto [before, after] = command.split(triton_ext::filePlaceholder);
  say(before);
  say(slot.file.get());
  say(after);
  say("\n");
}

/// Returns the last compilation that began on this thread. If there is none and
/// `willDo` is set, returns the last one that began on any thread.
static const Slot *find(bool willDo, bool &isOurs) {
  pid_t thread = thisThread();
  const Slot *found = nullptr;
  isOurs = false;
  for (const Slot &slot : slots) {
    if (!slot.used)
      continue;
    bool here = slot.thread == thread || slot.worker == thread;
    if (!(here || (willDo && !isOurs)))
      continue;
    if (!found || (here && !isOurs) || found->order < slot.order)
      found = &slot;
    isOurs |= here;
  }
  return found;
}

/// Writes for the parent process what the last compilation is doing: its pass,
/// its description, the command and the module, with zeros between them.
static void publish() {
  int file = published;
  bool isOurs;
  const Slot *slot = file < 0 ? nullptr : find(/*willDo=*/true, isOurs);
  if (file < 0 || ftruncate(file, 0) || lseek(file, 0, SEEK_SET) || !slot)
    return;
  const char *ir = slot->ir;
  StringRef zero("", 1), parts[] = {slot->pass.get(),
                                    zero,
                                    slot->what.get(),
                                    zero,
                                    slot->command.get(),
                                    zero,
                                    {ir, ir ? slot->irSize.load() : 0}};
  for (StringRef part : parts)
    (void)writeAll(file, part);
}

static bool onSignal(const siginfo_t &info, std::string_view name, void *) {
  // No report if MLIR is about to turn the signal into a failure of the pass.
  bool isCaught =
      info.si_signo != SIGXCPU && llvm::CrashRecoveryContext::GetCurrent();
  if (!isCaught && published < 0 && !reported.exchange(true)) {
    bool isOurs;
    if (const Slot *slot = find(/*willDo=*/true, isOurs))
      report(*slot, name, isOurs);
  }
  return false;
}

static void onExit() {
  bool isOurs;
  if (const Slot *slot = find(/*willDo=*/false, isOurs);
      slot && published < 0 && !reported.exchange(true))
    report(*slot, "something ended the process", isOurs);
}

/// Installs the handlers. Further calls have no effect.
static void install() {
  static std::once_flag once;
  std::call_once(once, [] { std::atexit(onExit); });
  fatal_signals::reportFatalSignals(onSignal);
}

//===----------------------------------------------------------------------===//
// While the process lives
//===----------------------------------------------------------------------===//

static bool isSlot(int slot) {
  return slot >= 0 && slot < static_cast<int>(std::size(slots));
}

void triton_ext::enterPass(int slot, StringRef pass, StringRef command,
                           StringRef ir) {
  if (!isSlot(slot))
    return;
  Slot &mine = slots[slot];
  mine.irSize = ir.size();
  mine.ir = ir.empty() ? nullptr : ir.data();
  mine.command.set(command);
  mine.pass.set(pass);
  mine.worker = thisThread();
  publish();
}

void triton_ext::leavePass(int slot) {
  if (!isSlot(slot))
    return;
  slots[slot].worker = 0;
  slots[slot].pass.set("");
  slots[slot].command.set("");
  slots[slot].ir = nullptr;
  publish();
}

#define EXPORT extern "C" __attribute__((visibility("default")))

/// Records that this thread does `what` until tritonExtCrashEnd is called. In a
/// crash, the module before the pass is written to `file`. Returns a slot, or
/// -1 if too many compilations are running.
EXPORT int tritonExtCrashBegin(const char *what, const char *file) {
  install();
  for (Slot &slot : slots) {
    bool isFree = false;
    if (!slot.used.compare_exchange_strong(isFree, true))
      continue;
    slot.thread = thisThread();
    slot.order = ++begun;
    slot.what.set(what);
    slot.file.set(file);
    triton_ext::leavePass(&slot - slots);
    reported = false;
    return &slot - slots;
  }
  return -1;
}

EXPORT void tritonExtCrashEnd(int slot) {
  if (!isSlot(slot))
    return;
  triton_ext::leavePass(slot);
  slots[slot].thread = 0;
  slots[slot].what.set("");
  slots[slot].used = false;
  publish();
}

/// Records that the compilation `slot` runs `pass`, which is not a pass of
/// MLIR. A null pointer means that the pass has ended.
EXPORT void tritonExtCrashPass(int slot, const char *pass) {
  triton_ext::leavePass(slot);
  if (pass)
    triton_ext::enterPass(slot, pass, "", "");
}

/// Sets the command that runs this process again with TRITON_EXT_ISOLATE=1.
EXPORT void tritonExtCrashIsolated(const char *command) {
  isolated.set(command);
}

/// Makes this process write its place to the file descriptor `file`, and print
/// no reports.
EXPORT void tritonExtCrashPublish(int file) { published = file; }
