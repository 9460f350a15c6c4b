// SPDX-License-Identifier: Apache-2.0
//
// Gives the functions and loops of a kernel attributes and metadata that
// LLVM's optimiser and code generator read. Instructions are left untouched.

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"

#include "HintLlvm.h.inc"

using namespace llvm;

namespace {
struct HintLlvmPass
    : mlir::triton_ext::hint_llvm::impl::HintLlvmPassBase<HintLlvmPass> {
  using Base::Base;

  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses);

private:
  /// Returns whether the options are valid; reports those that are not.
  bool checkOptions(Function &function) const;
};
} // namespace

/// Returns whether the metadata of a loop has an entry that begins with `name`.
static bool hasMetadata(const Loop &loop, StringRef name) {
  MDNode *id = loop.getLoopID();
  return id && any_of(drop_begin(id->operands()), [&](const MDOperand &entry) {
           auto *node = dyn_cast<MDNode>(entry);
           auto *text = node && node->getNumOperands() > 0
                            ? dyn_cast<MDString>(node->getOperand(0))
                            : nullptr;
           return text && text->getString().starts_with(name);
         });
}

/// Adds an entry to the metadata of a loop: a name, and a value unless null.
static void addMetadata(Loop &loop, StringRef name, Constant *value) {
  LLVMContext &context = loop.getHeader()->getContext();
  SmallVector<Metadata *> entry = {MDString::get(context, name)};
  if (value)
    entry.push_back(ConstantAsMetadata::get(value));
  SmallVector<Metadata *> all = {nullptr}; // the first refers to the node
  if (MDNode *id = loop.getLoopID())
    append_range(all, drop_begin(id->operands()));
  all.push_back(MDNode::get(context, entry));
  MDNode *id = MDNode::getDistinct(context, all);
  id->replaceOperandWith(0, id);
  loop.setLoopID(id);
}

/// Returns whether `function` takes, returns or passes vectors to code outside
/// of the kernel. Intrinsics do not count, because LLVM splits their vectors.
static bool exchangesVectors(const Function &function) {
  auto has = [](Type *type) { return type->isVectorTy(); };
  if (has(function.getReturnType()) ||
      any_of(function.args(),
             [&](const Argument &a) { return has(a.getType()); }))
    return true;
  return any_of(instructions(function), [&](const Instruction &instruction) {
    auto *call = dyn_cast<CallBase>(&instruction);
    return call && !isa<IntrinsicInst>(call) &&
           (has(call->getType()) || any_of(call->args(), [&](const Use &use) {
              return has(use->getType());
            }));
  });
}

bool HintLlvmPass::checkOptions(Function &function) const {
  LLVMContext &context = function.getContext();
  if (unroll < 0 || unroll > 1024) {
    context.emitError("hint_llvm: expected unroll from 0 to 1024, got " +
                      Twine(unroll));
    return false;
  }
  if (!is_contained({0, 128, 256, 512}, vectorWidth)) {
    context.emitError("hint_llvm: expected a vector-width of 0, 128, 256 or "
                      "512, got " +
                      Twine(vectorWidth));
    return false;
  }
  return true;
}

PreservedAnalyses HintLlvmPass::run(Function &function,
                                    FunctionAnalysisManager &analyses) {
  if (!checkOptions(function))
    return PreservedAnalyses::all();
  if (small && !function.hasFnAttribute(Attribute::OptimizeNone))
    function.addFnAttr(Attribute::OptimizeForSize);
  if (vectorWidth != 0 &&
      Triple(function.getParent()->getTargetTriple()).isX86() &&
      !exchangesVectors(function)) {
    // Without the second attribute, the code generator keeps wider vectors.
    std::string bits = std::to_string(vectorWidth);
    function.addFnAttr("prefer-vector-width", bits);
    function.addFnAttr("min-legal-vector-width", bits);
  }
  for (Loop *loop :
       analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder()) {
    Type *i32 = Type::getInt32Ty(function.getContext());
    if (unroll != 0 && loop->isInnermost() &&
        !hasMetadata(*loop, "llvm.loop.unroll"))
      addMetadata(*loop,
                  unroll == 1 ? "llvm.loop.unroll.disable"
                              : "llvm.loop.unroll.count",
                  unroll == 1 ? nullptr : ConstantInt::get(i32, unroll));
    if (!vectorize && !hasMetadata(*loop, "llvm.loop.vectorize"))
      addMetadata(*loop, "llvm.loop.vectorize.disable", nullptr);
  }
  return PreservedAnalyses::none();
}
