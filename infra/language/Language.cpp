// SPDX-License-Identifier: Apache-2.0
//
// libTritonExtLanguage.so: builds one operation of any dialect while Triton
// translates a kernel to IR. It is a Triton plugin, because Triton's binding of
// a plugin's callback converts Python's `builder` and `value` objects to C++
// objects. So this library does not depend on Python, and one build serves
// every Python version.
//
// A callback receives only values. Python passes everything else before the
// call, by tritonExtLanguageDescribe() in MLIR's text form; the description
// holds for the next operation that the same thread builds. Called from
// python/triton_ext/language/library.py.

#include "Language.h"

#include "mlir/IR/Operation.h"
#include "triton_ext/PluginInfo.h"

using namespace mlir;
using namespace mlir::triton_ext::language;

TRITON_PLUGIN_API triton::plugin::PluginInfo *tritonGetPluginInfo() {
  static triton::plugin::OpInfo ops[] = {{"triton_ext_build", build},
                                         {"triton_ext_take", take},
                                         {"triton_ext_leave", leave}};
  static triton::plugin::PluginInfo info =
      triton_ext::describePlugin("triton_ext_language", /*passes=*/{}, ops);
  return &info;
}

#define EXPORT extern "C" __attribute__((visibility("default")))

/// Describes the operation that this thread builds next, as MLIR's text.
///
/// `attributes` has names and values in turn. If `infersTypes` is set, the
/// operation infers its result types and `types` is not used. The groups say
/// how many operands belong to each parameter of the declaration, and how many
/// results to each returned value.
EXPORT void tritonExtLanguageDescribe(
    const char *operation, size_t numAttributes, const char *const *attributes,
    bool infersTypes, size_t numTypes, const char *const *types,
    size_t numOperandGroups, const int32_t *operandGroups,
    size_t numResultGroups, const int32_t *resultGroups, bool hasRegion) {
  Description &next = thisThread().description;
  next = {};
  next.operation = operation;
  for (size_t i = 0; i < numAttributes; ++i)
    next.attributes.emplace_back(attributes[2 * i], attributes[2 * i + 1]);
  next.infersTypes = infersTypes;
  next.types.assign(types, types + numTypes);
  next.operandGroups.assign(operandGroups, operandGroups + numOperandGroups);
  next.resultGroups.assign(resultGroups, resultGroups + numResultGroups);
  next.hasRegion = hasRegion;
}

/// Returns the number of results of the operation that this thread built last.
EXPORT unsigned tritonExtLanguageResults() {
  Operation *built = thisThread().built;
  return built ? built->getNumResults() : 0;
}

/// Chooses the result that `triton_ext_take` returns.
EXPORT void tritonExtLanguageChoose(unsigned index) {
  thisThread().index = index;
}

/// Returns the operation that this thread built last, for
/// tritonExtLanguageLeave.
EXPORT void *tritonExtLanguageBuilt() { return thisThread().built; }

/// Chooses the operation whose region `triton_ext_leave` ends, and the
/// terminator of that region; an empty string means no terminator.
EXPORT void tritonExtLanguageLeave(void *op, const char *terminator) {
  thisThread().chosen = static_cast<Operation *>(op);
  thisThread().terminator = terminator;
}
