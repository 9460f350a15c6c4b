// SPDX-License-Identifier: Apache-2.0
//
// Finds the llvm::Module that Triton's `llvm.to_module` makes, and runs passes
// on it. Triton's Python object for the module can be read only with the
// library that binds libtriton to Python. So this file takes the address during
// the translation: for each attribute of a dialect, MLIR calls the dialect and
// passes it the module. Python sets an attribute of the dialect below on the
// MLIR module, and translates.

#include "Run.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/LLVMTranslationInterface.h"
#include "mlir/Target/LLVMIR/ModuleTranslation.h"
#include "triton_ext/PluginInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::triton_ext;

/// The last module that this thread has translated.
static thread_local llvm::Module *captured = nullptr;

namespace {
struct CaptureInterface : LLVMTranslationDialectInterface {
  using LLVMTranslationDialectInterface::LLVMTranslationDialectInterface;

  LogicalResult
  amendOperation(Operation *op, ArrayRef<llvm::Instruction *>, NamedAttribute,
                 LLVM::ModuleTranslation &translation) const override {
    if (isa<ModuleOp>(op))
      captured = translation.getLLVMModule();
    return success();
  }
};

struct CaptureDialect : Dialect {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CaptureDialect)

  explicit CaptureDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<CaptureDialect>()) {
    addInterfaces<CaptureInterface>();
  }
  static StringRef getDialectNamespace() { return "triton_ext_llvm"; }
};
} // namespace

static void prepare(PassManager *pm, const std::vector<std::string> &) {
  pm->getContext()->getOrLoadDialect<CaptureDialect>();
  captured = nullptr;
}

TRITON_PLUGIN_API triton::plugin::PluginInfo *tritonGetPluginInfo() {
  static triton::plugin::PassInfo passes[] = {
      {"triton_ext_capture_llvm", TRITON_EXT_VERSION, prepare, [] {}}};
  static triton::plugin::PluginInfo info =
      triton_ext::describePlugin(passes[0].name, passes);
  return &info;
}

#define EXPORT extern "C" __attribute__((visibility("default")))

/// Returns the module that this thread has translated since the dialect was
/// loaded, or null. It is valid as long as Triton's Python object of it lives.
EXPORT llvm::Module *tritonExtLLVMCaptured() {
  return std::exchange(captured, nullptr);
}

using Receiver = void (*)(const char *text, size_t size);

/// Passes the text of `module` to `receiver`, as Triton's `str` prints it.
EXPORT void tritonExtLLVMPrint(llvm::Module *module, Receiver receiver) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << *module;
  receiver(text.data(), text.size());
}

/// Returns the number of instructions in `module`.
EXPORT size_t tritonExtLLVMCount(llvm::Module *module) {
  return module->getInstructionCount();
}

/// Runs `pipeline` on `module`, and passes the remarks, and the error if there
/// is one, to the receivers. Returns 0; 1 if it failed; 2 if the module may be
/// damaged, so that it must neither be used nor destroyed.
EXPORT int tritonExtLLVMRun(llvm::Module *module, const char *pipeline,
                            const TritonExtLLVMSetting *setting,
                            Receiver onProblem, Receiver onRemarks) {
  LLVMOutcome outcome = runLLVMPipeline(*module, pipeline, *setting);
  onRemarks(outcome.remarks.data(), outcome.remarks.size());
  onProblem(outcome.problem.data(), outcome.problem.size());
  return outcome.crashed ? 2 : !outcome.problem.empty();
}
