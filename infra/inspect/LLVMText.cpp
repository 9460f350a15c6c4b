// SPDX-License-Identifier: Apache-2.0
//
// Whether a text is LLVM IR that Triton's next stage can take. Triton ends the
// process over one that does not parse, so it is asked here first.

#include "llvm/ADT/Twine.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/Support/SourceMgr.h"

#include <cstring>

/// Returns what is wrong with `text`, or null if nothing is. The message is
/// valid until this thread asks again.
extern "C" __attribute__((visibility("default"))) const char *
tritonExtCheckLLVMIR(const char *text, size_t size) {
  static thread_local std::string problem;
  problem.clear();
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> module =
      llvm::parseIR({{text, size}, "<result>"}, diagnostic, context);
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
