// SPDX-License-Identifier: Apache-2.0
//
// Appends VERSION to the name of every public function, so that a test can see
// which build of this library made a kernel.

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/Pass.h"

#define VERSION "_v1"

namespace mlir::triton_ext::stamp {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_STAMPPASS
#include "Stamp.h.inc"
} // namespace mlir::triton_ext::stamp

namespace {
struct StampPass : mlir::triton_ext::stamp::impl::StampPassBase<StampPass> {
  using StampPassBase::StampPassBase;

  void runOnOperation() override {
    for (mlir::Operation &op : getOperation().getOps())
      if (auto symbol = dyn_cast<mlir::SymbolOpInterface>(op))
        if (symbol.isPublic())
          symbol.setName((symbol.getName() + VERSION).str());
  }
};
} // namespace
