// SPDX-License-Identifier: Apache-2.0

#include "analysis/AxisInfo.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton_ext::note_alignment {
#define GEN_PASS_DEF_NOTEALIGNMENTPASS
#include "NoteAlignment.h.inc"

namespace {
struct NoteAlignmentPass : impl::NoteAlignmentPassBase<NoteAlignmentPass> {
  using NoteAlignmentPassBase::NoteAlignmentPassBase;

  void runOnOperation() override {
    analysis::AxisInfos infos(getOperation());
    getOperation()->walk([&](triton::LoadOp load) {
      load.emitRemark() << "divisible by "
                        << infos.get(load.getPtr()).divisibilityOfAll();
    });
  }
};
} // namespace
} // namespace mlir::triton_ext::note_alignment
