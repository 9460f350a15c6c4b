// SPDX-License-Identifier: Apache-2.0
//
// Reports each operation that a conversion cannot take, with the reason, before
// the conversion changes anything.

#ifndef TRITON_EXT_REFUSE_H
#define TRITON_EXT_REFUSE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"

namespace mlir::triton_ext {

/// The attribute of a module that asks for the reasons of the next refusal in
/// the attribute `refusedName`, instead of errors.
inline constexpr StringLiteral quietName = "triton_ext.quiet";
/// The attribute with the reasons why a conversion has refused a module, one
/// line each: "file:line:column: 'name' ...".
inline constexpr StringLiteral refusedName = "triton_ext.refused";

/// The decision about a module.
enum class Verdict {
  Convert,
  Leave, // unchanged, and succeed; `refusedName` has the reasons
  Fail,
};

/// Calls `check`, which emits an error for each operation that cannot be
/// converted. If a pass fails, libtriton prints the module and asks for a bug
/// report, although the kernel uses an unsupported feature. So if `module` has
/// the attribute `quietName`, which is removed, the errors become the text of
/// `refusedName` instead.
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

/// Emits an error, "'name' `cannot`: reason", at each operation in `root` for
/// which `whyNot` returns a reason. Fails if there is one.
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
