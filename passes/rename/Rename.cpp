// SPDX-License-Identifier: Apache-2.0
//
// Renames one function of a module together with all uses of its symbol. The
// module may be at any stage; a module without that function is left untouched.

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringExtras.h"

#define DEBUG_TYPE "triton-ext-rename"

namespace mlir::triton_ext::rename {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_RENAMEPASS
#include "Rename.h.inc"
} // namespace mlir::triton_ext::rename

using namespace mlir;

/// Whether a kernel can have this name in every backend's assembly: Triton
/// finds the entry point in PTX by this form.
static bool isKernelName(StringRef name) {
  return !name.empty() && !llvm::isDigit(name.front()) &&
         llvm::all_of(name,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

namespace {
struct RenamePass : mlir::triton_ext::rename::impl::RenamePassBase<RenamePass> {
  using RenamePassBase::RenamePassBase;

  void runOnOperation() override;
};
} // namespace

void RenamePass::runOnOperation() {
  SymbolTable symbols(getOperation());
  auto function = symbols.lookup<FunctionOpInterface>(oldName);
  if (!function || oldName == newName)
    return;
  if (!isKernelName(newName)) {
    function.emitError() << "cannot be renamed to '" << newName
                         << "': expected letters, digits and '_'";
    return signalPassFailure();
  }
  if (Operation *other = symbols.lookup(newName)) {
    InFlightDiagnostic diagnostic = function.emitError();
    diagnostic << "cannot be renamed to '" << newName << "': the name is taken";
    diagnostic.attachNote(other->getLoc()) << "it is the name of this";
    return signalPassFailure();
  }
  if (failed(symbols.rename(function, newName))) {
    function.emitError() << "cannot be renamed to '" << newName
                         << "': it is used in a region that hides its uses";
    return signalPassFailure();
  }
}
