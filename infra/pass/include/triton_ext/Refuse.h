// SPDX-License-Identifier: Apache-2.0
//
// Says of each operation that a conversion cannot take why not, before the
// conversion changes anything.

#ifndef TRITON_EXT_REFUSE_H
#define TRITON_EXT_REFUSE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"

namespace mlir::triton_ext {

/// A mark on a module: its next refusal is to be text in `refusedName`.
inline constexpr StringLiteral quietName = "triton_ext.quiet";
/// Why a conversion has left a module as it was: one line for each reason,
/// "file:line:column: 'name' ...".
inline constexpr StringLiteral refusedName = "triton_ext.refused";

/// What a conversion is to do with a module.
enum class Verdict {
  Convert,
  Leave, // and succeed: the module says why
  Fail,
};

/// Asks `check`, which emits an error for each thing that cannot be converted.
/// A pass that fails makes libtriton print the module and ask for a report, but
/// the kernel asks for what there is not. So where `module` has `quietName`,
/// which is taken off, errors become the text of `refusedName`.
inline Verdict judge(ModuleOp module, function_ref<LogicalResult()> check) {
  if (!module->removeAttr(quietName))
    return succeeded(check()) ? Verdict::Convert : Verdict::Fail;
  std::string text;
  llvm::raw_string_ostream os(text);
  {
    ScopedDiagnosticHandler handler(
        module.getContext(), [&](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
            return failure();
          os << (text.empty() ? "" : "\n");
          if (auto file =
                  diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
            os << file.getFilename().getValue() << ':' << file.getLine() << ':'
               << file.getColumn() << ": ";
          os << diagnostic.str();
          return success();
        });
    if (succeeded(check()))
      return Verdict::Convert;
  }
  module->setAttr(refusedName, StringAttr::get(module.getContext(), text));
  return Verdict::Leave;
}

/// Emits an error at each operation in `root` that `whyNot` has a reason for:
/// "'name' `cannot`: reason". Fails if there is one.
inline LogicalResult
refuse(Operation *root, StringRef cannot,
       function_ref<std::optional<StringRef>(Operation *)> whyNot) {
  bool refused = false;
  root->walk([&](Operation *op) {
    if (std::optional<StringRef> why = whyNot(op)) {
      op->emitError() << "'" << op->getName() << "' " << cannot << ": " << *why;
      refused = true;
    }
  });
  return failure(refused);
}

} // namespace mlir::triton_ext

#endif // TRITON_EXT_REFUSE_H
