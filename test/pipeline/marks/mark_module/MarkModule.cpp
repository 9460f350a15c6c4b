// SPDX-License-Identifier: Apache-2.0
//
// Counts the defined functions of a module in a named metadata node.

#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"

#include "MarkModule.h.inc"

using namespace llvm;

namespace {
struct MarkModulePass
    : mlir::triton_ext::mark_module::impl::MarkModulePassBase<MarkModulePass> {
  using Base::Base;

  PreservedAnalyses run(Module &module, ModuleAnalysisManager &) {
    LLVMContext &context = module.getContext();
    unsigned defined =
        count_if(module, [](const Function &f) { return !f.isDeclaration(); });
    auto *number = ConstantInt::get(Type::getInt32Ty(context), defined);
    module.getOrInsertNamedMetadata("mark.defined")
        ->addOperand(MDNode::get(context, ConstantAsMetadata::get(number)));
    return PreservedAnalyses::all();
  }
};
} // namespace
