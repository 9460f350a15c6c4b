// SPDX-License-Identifier: Apache-2.0
//
// The contract between the library of an LLVM pass and the programs that run
// it. Included by the header that triton_ext_add_llvm_pass() generates.

#ifndef TRITON_EXT_LLVMPASS_H
#define TRITON_EXT_LLVMPASS_H

#include "triton_ext/LLVMPassOptions.h"

#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"

namespace mlir::triton_ext {

/// The unit on which a pass runs: llvm::Module, llvm::Function or llvm::Loop.
/// The signature of its `run` determines the unit.
template <typename Pass, typename Unit, typename... Rest>
Unit unitOf(llvm::PreservedAnalyses (Pass::*)(Unit &, Rest...));
template <typename Pass, typename Unit, typename... Rest>
Unit unitOf(llvm::PreservedAnalyses (Pass::*)(Unit &, Rest...) const);

/// Registers the pass with `builder` for textual pipelines. `read` reads an
/// element of a pipeline as readLLVMPass() does, and sets the options.
template <typename Pass, typename Options>
void registerLLVMPass(llvm::PassBuilder &builder,
                      bool (*read)(llvm::StringRef, Options &, std::string &)) {
  using Unit = decltype(unitOf(&Pass::run));
  static_assert(
      std::is_same_v<Unit, llvm::Module> ||
          std::is_same_v<Unit, llvm::Function> ||
          std::is_same_v<Unit, llvm::Loop>,
      "run takes an llvm::Module, an llvm::Function or an llvm::Loop");
  auto parse = [read](llvm::StringRef text, auto &manager,
                      llvm::ArrayRef<llvm::PassBuilder::PipelineElement>) {
    Options options;
    std::string problem;
    if (!read(text, options, problem))
      return false;
    if (!problem.empty()) {
      setLLVMPassProblem(std::move(problem));
      return false;
    }
    manager.addPass(Pass(options));
    return true;
  };
  using Element = llvm::ArrayRef<llvm::PassBuilder::PipelineElement>;
  if constexpr (std::is_same_v<Unit, llvm::Module>)
    builder.registerPipelineParsingCallback(
        [parse](llvm::StringRef text, llvm::ModulePassManager &manager,
                Element inner) { return parse(text, manager, inner); });
  else if constexpr (std::is_same_v<Unit, llvm::Function>)
    builder.registerPipelineParsingCallback(
        [parse](llvm::StringRef text, llvm::FunctionPassManager &manager,
                Element inner) { return parse(text, manager, inner); });
  else
    builder.registerPipelineParsingCallback(
        [parse](llvm::StringRef text, llvm::LoopPassManager &manager,
                Element inner) { return parse(text, manager, inner); });
}

} // namespace mlir::triton_ext

#endif // TRITON_EXT_LLVMPASS_H
