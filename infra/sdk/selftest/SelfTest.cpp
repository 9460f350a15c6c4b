// SPDX-License-Identifier: Apache-2.0
//
// The entry point of libTritonExtAbiSelfTest.so, which compares inline code of
// the MLIR and Triton headers with libtriton, which another compiler has built.
// Python loads the library after libtriton, in a separate process, because a
// layout that differs may crash it.

#include "Report.h"

using namespace triton_ext::selftest;

static Part *parts = nullptr;

Part::Part(Phase phase, void (*run)(Report &))
    : phase(phase), run(run), next(parts) {
  parts = this;
}

/// Runs every check and returns the number of disagreements.
extern "C" __attribute__((visibility("default"))) int
tritonExtAbiSelfTest(Callback report, void *user) {
  Report result(report, user);
  for (Phase phase : {Phase::Look, Phase::Write, Phase::Run})
    for (Part *part = parts; part; part = part->next)
      if (part->phase == phase)
        part->run(result);
  return result.getFailures();
}
