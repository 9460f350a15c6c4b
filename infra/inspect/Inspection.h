// SPDX-License-Identifier: Apache-2.0
//
// The record of one inspection.

#ifndef TRITON_EXT_INSPECT_INSPECTION_H
#define TRITON_EXT_INSPECT_INSPECTION_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace mlir::triton_ext {

/// How much is recorded. The same as `Level` in inspection.py.
enum class Level { Failures, Summary, IR };

/// One run of a pass that is directly in a pass manager. The same as `Event` in
/// inspection.py.
struct Event {
  int64_t manager = 0;
  int64_t index = 0;
  int64_t span = 1;
  std::string argument;
  std::string pipeline;
  int64_t ns = 0;
  int64_t opsBefore = 0;
  int64_t opsAfter = 0;
  bool changed = false;
  bool failed = true; // set to false on success, because a crash sets nothing
  std::optional<std::string> ir;
  std::vector<std::string> remarks;
  std::vector<std::string> diagnostics;
};

/// The label and the command of one pass, or of several passes that one call
/// added.
struct Mark {
  size_t end;         // the number of passes in the manager after the call
  std::string label;  // names the pass in the message of a crash
  std::string driver; // runs it again; if empty, no module is kept for it
};

/// The record of one inspection. It ends when Python closes it; recorders,
/// which are destroyed with their pass managers, hold weak references.
struct Inspection {
  explicit Inspection(Level level) : level(level) {}
  ~Inspection() {
    if (std::shared_ptr<MLIRContext> context = listening.lock())
      context->getDiagEngine().eraseHandler(handler);
  }

  const Level level;
  /// Expires with the context whose diagnostics are recorded; set at most once.
  std::weak_ptr<MLIRContext> listening;
  DiagnosticEngine::HandlerID handler = 0;
  std::mutex mutex; // guards the rest
  int64_t managers = 0;
  std::optional<std::string> sourceIR;
  std::vector<Event> events;
  std::vector<std::string> diagnostics;
  std::string json;
  int slot = -1;           // of the compilation, in Crash.cpp
  std::vector<Mark> marks; // of the manager that is attached next
  /// The module before a marked pass that failed, and the command that runs the
  /// pass on a file with this module.
  std::string before, command;
};

} // namespace mlir::triton_ext

#endif // TRITON_EXT_INSPECT_INSPECTION_H
