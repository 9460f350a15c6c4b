// SPDX-License-Identifier: Apache-2.0
//
// The interface between the parts of the ABI self-test: how to report a check,
// and how to become part of the test. It does not use MLIR, so that the entry
// point compiles fast.

#ifndef TRITON_EXT_SELFTEST_REPORT_H
#define TRITON_EXT_SELFTEST_REPORT_H

#include <string>

namespace triton_ext::selftest {

/// Receives every check twice: first with `ok` = -1, before the check calls
/// libtriton, then with 1 (agrees; if there is a detail, only because the SDK
/// guards it) or 0 (disagrees). If the process crashes, the last check that was
/// received has crashed.
using Callback = void (*)(const char *group, const char *check, int ok,
                          const char *detail, void *user);

class Report {
public:
  Report(Callback callback, void *user) : callback(callback), user(user) {}

  /// Announces `check`, runs `body`, and reports whether it returned true;
  /// `body` may explain its answer in the string that it is given.
  template <typename Body>
  void check(const char *group, const std::string &check, Body &&body) {
    begin(group, check);
    std::string detail;
    bool ok = body(detail);
    end(group, check, ok, ok ? "" : detail);
  }

  /// Checks that `body` returns `want`, a number or a string.
  template <typename Body, typename T>
  void equal(const char *group, const std::string &check, const T &want,
             Body &&body) {
    this->check(group, check, [&](std::string &detail) {
      auto found = body();
      if (found == want)
        return true;
      detail = "found " + toString(found) + ", wanted " + toString(want);
      return false;
    });
  }

  /// Reports a disagreement that the SDK guards.
  void guarded(const char *group, const std::string &check,
               const std::string &detail) {
    begin(group, check);
    end(group, check, true, detail);
  }

  int getFailures() const { return failures; }

private:
  static std::string toString(const std::string &text) { return text; }
  static std::string toString(long value) { return std::to_string(value); }

  void begin(const char *group, const std::string &check) {
    callback(group, check.c_str(), -1, "", user);
  }
  void end(const char *group, const std::string &check, bool ok,
           const std::string &detail) {
    failures += !ok;
    callback(group, check.c_str(), ok, detail.c_str(), user);
  }

  Callback callback;
  void *user;
  int failures = 0;
};

/// The order of the parts: those that only read come before those that write,
/// so that a wrong layout is reported before it can crash.
enum class Phase { Look, Write, Run };

/// One part of the self-test. Defining a global `Part` adds it: a library built
/// from some of the sources tests what those sources contain.
struct Part {
  Part(Phase phase, void (*run)(Report &));

  Phase phase;
  void (*run)(Report &);
  Part *next;
};

} // namespace triton_ext::selftest

#endif // TRITON_EXT_SELFTEST_REPORT_H
