// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"
def NoteAlignmentPass : Pass<"triton-ext-note-alignment", "::mlir::ModuleOp"> {
  let summary = "A remark for each tt.load: what the analyses of triton-ext know of its addresses";
}
