// SPDX-License-Identifier: Apache-2.0
//
// Runs a textual pipeline of LLVM passes on a module.

#ifndef TRITON_EXT_LLVM_RUN_H
#define TRITON_EXT_LLVM_RUN_H

#include <cstddef>
#include <memory>
#include <string>

namespace llvm {
class Module;
class PassBuilder;
class TargetMachine;
struct PassPluginLibraryInfo;
} // namespace llvm

/// The entry point of a library with LLVM passes, llvmGetPassPluginInfo.
using TritonExtLLVMEntry = llvm::PassPluginLibraryInfo (*)();

/// How to run passes. python/triton_ext/pipeline/llvm_library.py has the same
/// structure.
struct TritonExtLLVMSetting {
  /// LLVM's name and features of the processor. An empty name means that there
  /// is no target machine, as in Triton's own optimisation for NVIDIA.
  const char *processor;
  const char *features;
  int fuses; // a * b + c may be rounded once
  int vectorizesStraightLineCode;
  int combinesVectors;
  /// A pipeline for each extension point of the optimiser, as lines
  /// `point:pipeline`.
  const char *points;
  const TritonExtLLVMEntry *entries;
  size_t numEntries;
};

namespace mlir::triton_ext {

/// The result of one run.
struct LLVMOutcome {
  /// Why it failed; empty if it has not.
  std::string problem;
  /// The remarks, one a line.
  std::string remarks;
  /// Whether a pass has crashed, so that the module may be damaged.
  bool crashed = false;
};

/// Runs `pipeline` and verifies the module. A crash of a pass, or a failure
/// that would end the process, sets `problem`.
LLVMOutcome runLLVMPipeline(llvm::Module &module, const char *pipeline,
                            const TritonExtLLVMSetting &setting);

/// Returns the target machine of the setting for the triple of `module`, or
/// null if the setting has none. Sets `problem` if LLVM does not know the
/// target.
std::unique_ptr<llvm::TargetMachine>
makeMachine(llvm::Module &module, const TritonExtLLVMSetting &setting,
            std::string &problem);

} // namespace mlir::triton_ext

#endif // TRITON_EXT_LLVM_RUN_H
