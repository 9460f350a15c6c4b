// SPDX-License-Identifier: Apache-2.0
//
// Checks whether a text is LLVM IR that Triton's next stage can take. Triton
// would end the process if it does not parse.

#include "llvm/ADT/Twine.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ModuleSummaryIndex.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <sys/mman.h>

/// Parses `text`. LLVM's parsers that take a text also upgrade its debug
/// information, and end the process if the module does not verify. The parser
/// without this upgrade takes the name of a file, so the text is written to a
/// file in memory.
static std::unique_ptr<llvm::Module> parse(llvm::StringRef text,
                                           llvm::SMDiagnostic &diagnostic,
                                           llvm::LLVMContext &context) {
  int descriptor = memfd_create("llvm-ir", MFD_CLOEXEC);
  if (descriptor < 0) {
    diagnostic = {"", llvm::SourceMgr::DK_Error, "no memory to read it from"};
    return nullptr;
  }
  llvm::raw_fd_ostream file(descriptor, /*shouldClose=*/true);
  file << text;
  file.flush();
  std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  if (file.has_error()) {
    diagnostic = {"", llvm::SourceMgr::DK_Error, file.error().message()};
    file.clear_error();
    return nullptr;
  }
  return llvm::parseAssemblyFileWithIndexNoUpgradeDebugInfo(
             path, diagnostic, context, /*Slots=*/nullptr,
             [](llvm::StringRef, llvm::StringRef) { return std::nullopt; })
      .Mod;
}

/// Returns why `text` is not LLVM IR that defines a function, or null if it is.
/// The message is valid until this thread calls the function again.
extern "C" __attribute__((visibility("default"))) const char *
tritonExtCheckLLVMIR(const char *text, size_t size) {
  static thread_local std::string problem;
  problem.clear();
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> module =
      parse({text, size}, diagnostic, context);
  llvm::raw_string_ostream os(problem);
  if (!module)
    os << "line " << diagnostic.getLineNo() << ": " << diagnostic.getMessage();
  else if (llvm::verifyModule(*module, &os))
    problem = llvm::StringRef(problem).rtrim().str();
  else if (llvm::all_of(*module, [](const llvm::Function &function) {
             return function.isDeclaration();
           }))
    os << "it defines no function";
  return problem.empty() ? nullptr : problem.c_str();
}
