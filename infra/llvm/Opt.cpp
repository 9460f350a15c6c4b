// SPDX-License-Identifier: Apache-2.0
//
// Runs textual pipelines of LLVM passes on texts: `triton-ext-opt --llvm` and
// `tx.opt` for LLVM IR. python/triton_ext/llvm_driver.py calls it.

#include "Run.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Plugins/PassPlugin.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;
using namespace mlir::triton_ext;

#define EXPORT extern "C" __attribute__((visibility("default")))

using Receiver = void (*)(const char *text, size_t size);

static void send(Receiver receiver, StringRef text) {
  receiver(text.data(), text.size());
}

/// Initialises the LLVM targets that libtriton contains.
EXPORT void tritonExtLLVMInitialize() {
#define TRITON_EXT_TARGET(name)                                                \
  LLVMInitialize##name##TargetInfo();                                          \
  LLVMInitialize##name##Target();                                              \
  LLVMInitialize##name##TargetMC();
  static bool done = [] {
    TRITON_EXT_TARGET(AMDGPU)
    TRITON_EXT_TARGET(NVPTX)
    TRITON_EXT_TARGET(X86)
    return true;
  }();
  (void)done;
#undef TRITON_EXT_TARGET
}

/// Runs `pipeline` on the module in `text`, which diagnostics call `name`.
/// Passes the result, the remarks, and the error if there is one to the
/// receivers. Returns 0, or 1 if it failed.
EXPORT int tritonExtLLVMOpt(const char *text, size_t size, const char *name,
                            const char *pipeline,
                            const TritonExtLLVMSetting *setting,
                            Receiver onOutput, Receiver onRemarks,
                            Receiver onProblem) {
  tritonExtLLVMInitialize();
  // Leaked if a pass crashes, because destroying a damaged module may crash.
  auto context = std::make_unique<LLVMContext>();
  SMDiagnostic diagnostic;
  std::string problem;
  std::unique_ptr<Module> module =
      parseAssembly(MemoryBufferRef({text, size}, name), diagnostic, *context);
  raw_string_ostream os(problem);
  if (!module) {
    diagnostic.print(nullptr, os, /*ShowColors=*/false);
    send(onProblem, StringRef(problem).ltrim(": ").rtrim());
    return 1;
  }
  if (verifyModule(*module, &os)) {
    send(onProblem, name + (": does not verify: " + problem));
    return 1;
  }
  std::unique_ptr<TargetMachine> machine =
      makeMachine(*module, *setting, problem);
  if (machine && module->getDataLayoutStr().empty())
    module->setDataLayout(machine->createDataLayout());
  LLVMOutcome outcome = runLLVMPipeline(*module, pipeline, *setting);
  send(onRemarks, outcome.remarks);
  if (!outcome.problem.empty()) {
    send(onProblem, outcome.problem);
    if (outcome.crashed) {
      module.release();
      context.release();
    }
    return 1;
  }
  std::string result;
  raw_string_ostream output(result);
  output << *module;
  send(onOutput, result);
  return 0;
}

/// Passes LLVM's list of its passes to `receiver`.
EXPORT void tritonExtLLVMPassNames(Receiver receiver) {
  std::string names;
  raw_string_ostream os(names);
  PassBuilder().printPassNames(os);
  send(receiver, names);
}
