// SPDX-License-Identifier: Apache-2.0
//
// Which features a processor must have to run the code for a CPU of LLVM.

#include "../runtime/Features.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

/// Whether LLVM uses the feature of its own accord, in any code, and the
/// runtime cannot ask for it: APX and AVX10, whose CPUs have no runtime here.
static bool isUnknownToTheRuntime(StringRef feature) {
  static const StringSet<> apx = {"egpr", "ppx", "push2pop2", "ndd",
                                  "ccmp", "nf",  "cf",        "zu"};
  return apx.contains(feature) || feature.starts_with("avx10.");
}

/// Sets `required` to the features, by their numbers in `features`, that the
/// CPU `name` with the list `list` has. Returns 0, or 1 with the reason in
/// `message`. Needs triton_ext_cpu_initialize.
extern "C" __attribute__((visibility("default"))) int
triton_ext_cpu_requirements(const char *name, const char *list,
                            uint64_t *required, char *message, size_t size) {
  std::string problem;
  Triple triple("x86_64-unknown-linux-gnu");
  const Target *target = TargetRegistry::lookupTarget(triple, problem);
  std::unique_ptr<MCSubtargetInfo> subtarget(
      target ? target->createMCSubtargetInfo(triple, name, list) : nullptr);
  *required = 0;
  if (!subtarget) {
    snprintf(message, size, "LLVM has no target for x86-64 %s",
             problem.c_str());
    return 1;
  }
  for (const SubtargetFeatureKV &feature :
       subtarget->getAllProcessorFeatures()) {
    StringRef key(feature.key());
    if (!subtarget->getFeatureBits().test(feature.Value))
      continue;
    if (isUnknownToTheRuntime(key)) {
      snprintf(message, size, "%s", feature.key());
      return 1;
    }
    for (int i = 0; i < triton_ext::cpu::featureCount; ++i)
      if (key == triton_ext::cpu::features[i].name)
        *required |= uint64_t(1) << i;
  }
  return 0;
}
