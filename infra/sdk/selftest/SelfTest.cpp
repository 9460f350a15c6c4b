// SPDX-License-Identifier: Apache-2.0
//
// Entry point of libTritonExtAbiSelfTest.so, which compares what inline code in
// the MLIR and Triton headers believes with what libtriton, compiled elsewhere
// by another compiler, says. Python loads the library after libtriton, in a
// process of its own: a layout that differs may well crash.

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
