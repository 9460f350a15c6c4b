// SPDX-License-Identifier: Apache-2.0
//
// Aligns the innermost loops of a kernel's machine code to 32 bytes, where
// LLVM's own choice for x86-64 is 16. LLVM reads the alignment from the
// metadata of a loop, so it is set when LLVM has optimised the module: then
// loops no longer change. Nothing but the metadata changes.
//
// Triton's Python object for the module cannot be read here. As in infra/llvm,
// the translation itself says where the module is: MLIR calls a dialect for
// each of its attributes, and passes it the module.

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Target/LLVMIR/LLVMTranslationInterface.h"
#include "mlir/Target/LLVMIR/ModuleTranslation.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

namespace {
struct TranslationDialect;
} // namespace

namespace mlir::triton_ext::cpu {
#define GEN_PASS_DEF_WATCHTRANSLATIONPASS
#include "Passes.h.inc"
} // namespace mlir::triton_ext::cpu

using namespace mlir;

static constexpr unsigned kAlignment = 32;

/// The module that this thread has translated last.
static thread_local llvm::Module *translated = nullptr;

namespace {
struct TranslationInterface : LLVMTranslationDialectInterface {
  using LLVMTranslationDialectInterface::LLVMTranslationDialectInterface;

  LogicalResult
  amendOperation(Operation *op, ArrayRef<llvm::Instruction *>, NamedAttribute,
                 LLVM::ModuleTranslation &translation) const override {
    if (isa<ModuleOp>(op))
      translated = translation.getLLVMModule();
    return success();
  }
};

/// Has the attributes of the backend's modules, which begin with its name.
struct TranslationDialect : Dialect {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TranslationDialect)

  explicit TranslationDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context,
                TypeID::get<TranslationDialect>()) {
    addInterfaces<TranslationInterface>();
  }
  static StringRef getDialectNamespace() { return "triton_ext_cpu"; }
};

struct WatchTranslationPass
    : mlir::triton_ext::cpu::impl::WatchTranslationPassBase<
          WatchTranslationPass> {
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<TranslationDialect>();
  }
  void runOnOperation() override {
    translated = nullptr;
    getOperation()->setAttr("triton_ext_cpu.watched",
                            UnitAttr::get(&getContext()));
  }
};
} // namespace

/// Sets the alignment of the innermost loops in `function`.
static void alignLoops(llvm::Function &function) {
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  for (llvm::Loop *loop : loops.getLoopsInPreorder())
    if (loop->isInnermost())
      llvm::addStringMetadataToLoop(loop, "llvm.loop.align", kAlignment);
}

/// Sets the alignment of the innermost loops in the module that this thread has
/// translated since the pass watch_translation has run. Returns 0, or 1 if it
/// has translated none.
extern "C" __attribute__((visibility("default"))) int
triton_ext_cpu_align_loops() {
  llvm::Module *module = std::exchange(translated, nullptr);
  if (!module)
    return 1;
  for (llvm::Function &function : *module)
    if (!function.isDeclaration())
      alignLoops(function);
  return 0;
}
