// SPDX-License-Identifier: Apache-2.0
//
// Runs code of LLVM that may crash or end the process. The handlers of signals
// and of fatal errors belong to the process, so every library of ours installs
// them here, and they stay as long as one thread needs them.

#include "triton_ext/Recovery.h"

#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <mutex>

using namespace llvm;

/// Receives the text of a fatal error on this thread; null outside of `work`.
static thread_local std::string *reasonOfThread = nullptr;

static void onFatalError(void *, const char *reason, bool) {
  if (reasonOfThread) {
    *reasonOfThread = reason;
    abort(); // the CrashRecoveryContext catches it
  }
  errs() << "LLVM ERROR: " << reason << "\n"; // and LLVM ends the process
}

namespace {
/// Keeps the handlers installed while an object of this class exists.
class Handlers {
public:
  Handlers() {
    std::lock_guard lock(mutex());
    if (++count() == 1) {
      CrashRecoveryContext::Enable();
      install_fatal_error_handler(onFatalError);
    }
  }
  ~Handlers() {
    std::lock_guard lock(mutex());
    if (--count() == 0) {
      remove_fatal_error_handler();
      CrashRecoveryContext::Disable();
    }
  }

private:
  static std::mutex &mutex() {
    static auto *mutex = new std::mutex;
    return *mutex;
  }
  static int &count() {
    static int count = 0;
    return count;
  }
};
} // namespace

bool mlir::triton_ext::runRecovering(function_ref<void()> work,
                                     std::string &reason) {
  Handlers handlers;
  std::string *outer = std::exchange(reasonOfThread, &reason);
  bool finished = CrashRecoveryContext().RunSafely(work);
  reasonOfThread = outer;
  return finished;
}
