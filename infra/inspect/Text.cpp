// SPDX-License-Identifier: Apache-2.0
//
// Writes modules and diagnostics for the records of an inspection.

#include "Text.h"

#include "mlir/IR/Operation.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlir::triton_ext;

std::string triton_ext::toText(function_ref<void(raw_ostream &)> write) {
  std::string text;
  llvm::raw_string_ostream os(text);
  write(os);
  return llvm::json::isUTF8(text) ? text : llvm::json::fixUTF8(text);
}

std::string triton_ext::toText(Operation *op) {
  return toText([&](raw_ostream &os) {
    op->print(os, OpPrintingFlags()
                      .enableDebugInfo(true, /*prettyForm=*/false)
                      .printNameLocAsPrefix(true));
  });
}

static StringRef toText(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return "note";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Remark:
    return "remark";
  }
}

/// Writes `file:line:column: severity: message`, and each note on a new line.
static void print(raw_ostream &os, Diagnostic &diagnostic) {
  Location loc = diagnostic.getLocation();
  if (auto file = loc->findInstanceOf<FileLineColLoc>())
    os << file.getFilename().getValue() << ':' << file.getLine() << ':'
       << file.getColumn();
  else
    os << loc;
  std::string message = diagnostic.str();
  StringRef text = message;
  // Leaves out the note that MLIR attaches, which may show a whole function.
  if (text.starts_with("see current operation"))
    text = text.take_until([](char c) { return c == '\n'; });
  os << ": " << toText(diagnostic.getSeverity()) << ": " << text;
  for (Diagnostic &note : diagnostic.getNotes()) {
    os << '\n';
    print(os, note);
  }
}

std::string triton_ext::toText(Diagnostic &diagnostic) {
  return toText([&](raw_ostream &os) { print(os, diagnostic); });
}
