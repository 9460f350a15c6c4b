// SPDX-License-Identifier: Apache-2.0
//
// Makes vector stores of results non-temporal. Stores through pointers that the
// function also loads through, stores of fewer bytes than an option says, and
// functions that signal to other threads are left untouched.

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include "StreamStores.h.inc"

using namespace llvm;

namespace {
struct StreamStoresPass
    : mlir::triton_ext::stream_stores::impl::StreamStoresPassBase<
          StreamStoresPass> {
  using Base::Base;

  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses);
};

/// A store of a vector, with a mask or without (`mask` is null).
struct VectorStore {
  Instruction *instruction;
  Value *value, *pointer, *mask;
  Align align;
};
} // namespace

/// Returns whether `call` calls the intrinsic with this name. Compares names,
/// because LLVM's headers and libtriton may number it differently.
static bool isIntrinsic(const IntrinsicInst &call, StringRef prefix) {
  return call.getCalledFunction()->getName().starts_with(prefix);
}

static std::optional<VectorStore> getVectorStore(Instruction &instruction) {
  if (auto *store = dyn_cast<StoreInst>(&instruction)) {
    if (store->isSimple() && !store->hasMetadata(LLVMContext::MD_nontemporal) &&
        isa<FixedVectorType>(store->getValueOperand()->getType()))
      return VectorStore{store, store->getValueOperand(),
                         store->getPointerOperand(), nullptr,
                         store->getAlign()};
  } else if (auto *call = dyn_cast<IntrinsicInst>(&instruction);
             call && isIntrinsic(*call, "llvm.masked.store.") &&
             isa<FixedVectorType>(call->getArgOperand(0)->getType())) {
    return VectorStore{call, call->getArgOperand(0), call->getArgOperand(1),
                       call->getArgOperand(2),
                       call->getParamAlign(1).valueOrOne()};
  }
  return std::nullopt;
}

/// Returns whether `instruction` may tell another thread that earlier stores
/// are done. A non-temporal store must not be delayed beyond it.
static bool maySignal(const Instruction &instruction) {
  if (auto *store = dyn_cast<StoreInst>(&instruction))
    return store->isAtomic();
  if (isa<AtomicRMWInst, AtomicCmpXchgInst, FenceInst>(instruction))
    return true;
  auto *call = dyn_cast<CallBase>(&instruction);
  return call && !isa<IntrinsicInst>(call) && call->mayWriteToMemory();
}

/// Adds to `bases` the values that `pointer` may be computed from. Returns
/// false if one of them is not a kernel's pointer: an argument of the function,
/// or loaded from the CPU backend's array of arguments.
static bool collectBases(const Value *pointer, LoopInfo &loops,
                         SmallPtrSetImpl<const Value *> &bases) {
  SmallVector<const Value *> objects;
  getUnderlyingObjects(pointer, objects, &loops, /*MaxLookup=*/0);
  bases.insert(objects.begin(), objects.end());
  return all_of(objects, [](const Value *object) {
    return object->getType()->isPointerTy() &&
           isa<Argument, LoadInst, AllocaInst, GlobalVariable>(object);
  });
}

static Value *allTrue(Value *mask, IRBuilder<> &builder) {
  unsigned lanes = cast<FixedVectorType>(mask->getType())->getNumElements();
  Value *bits = builder.CreateBitCast(mask, builder.getIntNTy(lanes));
  return builder.CreateICmpEQ(bits, Constant::getAllOnesValue(bits->getType()));
}

/// Replaces `store` by a non-temporal one, which needs an aligned address and
/// has no mask. What is not known about them is tested at run time.
static void stream(VectorStore store, uint64_t bytes) {
  Instruction *instruction = store.instruction;
  IRBuilder<> builder(instruction);
  Value *condition = nullptr;
  if (store.mask && !PatternMatch::match(store.mask, PatternMatch::m_AllOnes()))
    condition = allTrue(store.mask, builder);
  if (store.align.value() < bytes) {
    const DataLayout &layout = instruction->getDataLayout();
    Value *address = builder.CreatePtrToInt(
        store.pointer, layout.getIntPtrType(store.pointer->getType()));
    Value *aligned = builder.CreateIsNull(builder.CreateAnd(
        address, ConstantInt::get(address->getType(), bytes - 1)));
    condition =
        condition ? builder.CreateLogicalAnd(condition, aligned) : aligned;
  }
  if (condition) {
    // Poison may select nothing but must not decide a branch.
    condition = builder.CreateFreeze(condition);
    Instruction *then = nullptr, *otherwise = nullptr;
    SplitBlockAndInsertIfThenElse(condition, instruction, &then, &otherwise);
    instruction->moveBefore(otherwise->getIterator());
    builder.SetInsertPoint(then);
    builder.SetCurrentDebugLocation(instruction->getDebugLoc());
  }
  StoreInst *streamed =
      builder.CreateAlignedStore(store.value, store.pointer, Align(bytes));
  streamed->copyMetadata(*instruction,
                         {LLVMContext::MD_alias_scope, LLVMContext::MD_noalias,
                          LLVMContext::MD_tbaa});
  streamed->setMetadata(
      LLVMContext::MD_nontemporal,
      MDNode::get(builder.getContext(),
                  ConstantAsMetadata::get(builder.getInt32(1))));
  if (!condition)
    instruction->eraseFromParent();
}

PreservedAnalyses StreamStoresPass::run(Function &function,
                                        FunctionAnalysisManager &analyses) {
  auto &loops = analyses.getResult<LoopAnalysis>(function);
  const DataLayout &layout = function.getDataLayout();
  SmallVector<VectorStore> stores;
  SmallPtrSet<const Value *, 8> loaded;
  for (Instruction &instruction : instructions(function)) {
    if (maySignal(instruction))
      return PreservedAnalyses::all();
    if (std::optional<VectorStore> store = getVectorStore(instruction)) {
      stores.push_back(*store);
    } else if (auto *load = dyn_cast<LoadInst>(&instruction)) {
      // A load through an unknown pointer may read every result.
      if (!collectBases(load->getPointerOperand(), loops, loaded))
        return PreservedAnalyses::all();
    } else if (auto *call = dyn_cast<CallBase>(&instruction);
               call && call->mayReadFromMemory()) {
      for (const Use &argument : call->args())
        if (argument->getType()->isPtrOrPtrVectorTy() &&
            !collectBases(argument, loops, loaded))
          return PreservedAnalyses::all();
    }
  }

  // The results are read by other kernels only, so that the cache would not
  // help this one: no load uses the same pointer, and the store is not one to
  // the same place in every iteration. This is about speed. If two pointers are
  // equal at run time, the results are still right, because a thread's loads
  // see its own non-temporal stores.
  auto streams = [&](const VectorStore &store) {
    uint64_t bytes = layout.getTypeStoreSize(store.value->getType());
    if (bytes < std::max(minBytes, 16u) || bytes > 64 || !isPowerOf2_64(bytes))
      return false;
    SmallPtrSet<const Value *, 4> bases;
    Loop *loop = loops.getLoopFor(store.instruction->getParent());
    return collectBases(store.pointer, loops, bases) &&
           all_of(bases,
                  [&](const Value *base) {
                    return isa<Argument, LoadInst>(base) &&
                           !loaded.contains(base);
                  }) &&
           !(loop && loop->isLoopInvariant(store.pointer));
  };
  erase_if(stores, [&](const VectorStore &store) { return !streams(store); });
  if (stores.empty())
    return PreservedAnalyses::all();
  for (const VectorStore &store : stores)
    stream(store, layout.getTypeStoreSize(store.value->getType()));

  // Claim: without the fence, the thread that launched the kernel may read old
  // results. x86 keeps ordinary stores in order, so that a plain store tells
  // other threads that the work is done. It may delay non-temporal stores
  // beyond that store, up to the next sfence.
  if (Triple(function.getParent()->getTargetTriple()).isX86()) {
    Intrinsic::ID sfence = Intrinsic::lookupIntrinsicID("llvm.x86.sse.sfence");
    for (BasicBlock &block : function)
      if (auto *exit = dyn_cast<ReturnInst>(block.getTerminator()))
        IRBuilder<>(exit).CreateIntrinsic(sfence, {});
  }
  return PreservedAnalyses::none();
}
