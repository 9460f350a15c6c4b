// SPDX-License-Identifier: Apache-2.0
//
// Fills an inspection while a pass manager runs.

#ifndef TRITON_EXT_INSPECT_RECORDER_H
#define TRITON_EXT_INSPECT_RECORDER_H

#include "Inspection.h"
#include "Summary.h"

#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"

#include <chrono>

namespace mlir::triton_ext {

/// Adds the runs of one pass manager to an inspection. Its callbacks are
/// serialised by MLIR.
class Recorder : public PassInstrumentation {
public:
  Recorder(PassManager &pm, const std::shared_ptr<Inspection> &inspection,
           int64_t manager)
      : pm(pm), inspection(inspection), manager(manager),
        added(llvm::make_pointer_range(pm)), slot(inspection->slot),
        marks(std::exchange(inspection->marks, {})) {}
  ~Recorder() override;

  void runBeforePass(Pass *pass, Operation *op) override;
  void runAfterPass(Pass *pass, Operation *op) override {
    finish(pass, op, /*failed=*/false);
  }
  void runAfterPassFailed(Pass *pass, Operation *op) override {
    finish(pass, op, /*failed=*/true);
  }

private:
  void beginRun(Inspection &inspection, Operation *op);
  void endRun();
  void finish(Pass *pass, Operation *op, bool failed);
  void expectCrash(Inspection &inspection, const Event &begun, Operation *op);
  void record(Diagnostic &diagnostic);

  PassManager &pm;
  std::weak_ptr<Inspection> inspection;
  const int64_t manager;
  /// The passes as they were added. When a run starts, MLIR merges nested
  /// pipelines that are adjacent.
  SmallVector<const Pass *> added;
  const int slot;
  const std::vector<Mark> marks;

  /// Expires when the diagnostic handler is erased, or with its context.
  std::weak_ptr<MLIRContext> listening;
  DiagnosticEngine::HandlerID handler = 0;
  remark::detail::RemarkEngine *remarkEngine = nullptr;

  const Pass *running = nullptr; // next: its event, start, and module before
  size_t event = 0;
  std::chrono::steady_clock::time_point start;
  Summary module;
};

} // namespace mlir::triton_ext

#endif // TRITON_EXT_INSPECT_RECORDER_H
