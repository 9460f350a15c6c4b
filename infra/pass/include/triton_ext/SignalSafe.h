// SPDX-License-Identifier: Apache-2.0
//
// Output from a signal handler, with functions that POSIX lists as
// async-signal-safe. Does not use LLVM.

#ifndef TRITON_EXT_SIGNALSAFE_H
#define TRITON_EXT_SIGNALSAFE_H

#include <cerrno>
#include <string_view>
#include <unistd.h>

namespace signal_safe {

/// Writes `text` to the file descriptor `file`; returns whether all of it was
/// written.
inline bool writeAll(int file, std::string_view text) {
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
inline void say(std::string_view text) { (void)writeAll(STDERR_FILENO, text); }

} // namespace signal_safe

#endif // TRITON_EXT_SIGNALSAFE_H
