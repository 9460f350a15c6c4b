// SPDX-License-Identifier: Apache-2.0
//
// The flag of a launch slot as assembly of NVIDIA: one operation reads the
// launch words, another one computes the conditions and counts. Each pass of
// Triton and of LLVM takes time for each operation, and of a kernel with few
// operations, conditions of some dozens took most of the time to compile.

#include "Clock.h"
#include "Emitter.h"
#include "Layout.h"
#include "Ptx.h"

#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::triton_ext::lower_probe;
using namespace mlir::triton_ext::probe;
namespace tt = mlir::triton;

/// Returns whether every probe of the kernel can be assembly that finds the
/// slot by itself, or what other GPUs have in its place.
bool Emitter::isPtx() {
  bool isOutsideOnly = clock.isGpu() && sites.launchWords.empty() &&
                       sites.raises.empty() && !sites.ops.empty();
  return (clock.hasPtx() || isOutsideOnly) && kernel.getBody().hasOneBlock() &&
         sites.regions.empty() && sites.clocks.empty() &&
         llvm::all_of(sites.ops,
                      [&](Operation *op) {
                        auto outside = dyn_cast<OutsideOp>(op);
                        return outside && isInThreads(outside);
                      }) &&
         llvm::none_of(sites.launchWords, [&](LaunchWordOp op) {
           return op.getOffset() || op->getParentOp() != kernel;
         });
}

/// Splits operations of the kernel's body where there is a loop between them,
/// so that no result stays in a register throughout a loop.
template <typename Op>
static SmallVector<SmallVector<Op>> betweenLoops(ArrayRef<Op> ops) {
  SmallVector<Op> inOrder(ops);
  llvm::sort(inOrder, [](Op one, Op other) {
    return one->isBeforeInBlock(other.getOperation());
  });
  SmallVector<SmallVector<Op>> groups;
  for (Op op : inOrder) {
    bool isBehindLoop = groups.empty();
    for (Operation *at = isBehindLoop ? op.getOperation()
                                      : groups.back().back()->getNextNode();
         at != op; at = at->getNextNode())
      isBehindLoop |= isa<LoopLikeOpInterface>(at);
    if (isBehindLoop)
      groups.emplace_back();
    groups.back().push_back(op);
  }
  return groups;
}

/// Reads launch words where the first one stands. `slot` is the address of the
/// slot, or null if this has to find it. Returns the address, an i64 that is 0
/// without a slot.
Value Emitter::readInPtx(ArrayRef<LaunchWordOp> words, Value slot) {
  Ptx ptx(b, words.size() + !slot);
  std::string address = "$0";
  if (slot) {
    address = ptx.operand(slot);
    ptx.line("setp.ne.s64 p, " + address + ", 0;");
  } else {
    ptx.findSlot(ptx.operand(own), address);
    ptx.line("@!p mov.b64 $0, 0;");
  }
  unsigned number = !slot;
  for (LaunchWordOp op : words) {
    std::string to = "$" + std::to_string(number++);
    ptx.line("mov.b64 " + to + ", " + Twine(op.getOtherwise().value_or(0)) +
             ";");
    ptx.line("@p ld.global.b64 " + to + ", [" + address + "+" +
             Twine(8 * int64_t(op.getWord())) + "];");
  }
  SmallVector<Value> found =
      ptx.build(SmallVector<Type>(words.size() + !slot, b.getI64Type()));
  number = !slot;
  for (LaunchWordOp op : words)
    op.replaceAllUsesWith(found[number++]);
  return slot ? slot : found.front();
}

/// Counts in the slot how often each condition is true, in one thread.
void Emitter::raiseInPtx(ArrayRef<RaiseOp> raises, Value slot) {
  b.setInsertionPoint(raises.back());
  Ptx ptx(b, 1);
  std::string address = ptx.operand(slot);
  ptx.line("mov.b32 $0, 0;");
  ptx.line("mov.u32 l, %tid.x;");
  ptx.line("setp.eq.u32 p, l, 0;");
  ptx.line("setp.ne.and.s64 p, " + address + ", 0, p;");
  ptx.line("mov.b64 k, 1;");
  for (RaiseOp op : raises) {
    ptx.line("and.pred q, p, " + ptx.of(op.getCondition()) + ";");
    ptx.line("@q red.relaxed.gpu.global.add.u64 [" + address + "+" +
             Twine(8 * flagWord()) + "], k;");
  }
  ptx.build({b.getI32Type()});
}

/// Reads the launch words and raises the flag. Returns whether it could, which
/// is so if nothing else needs what the prologue computes.
bool Emitter::emitInPtx() {
  if (!isPtx())
    return false;
  auto bytes = tt::PointerType::get(b.getI8Type());
  own = tt::gpu::GlobalScratchAllocOp::create(b, b.getLoc(), bytes, kSlotStride,
                                              kSlotStride, b.getUnitAttr());
  SmallVector<RaiseOp> ofBody, others;
  for (RaiseOp op : sites.raises)
    (op->getParentOp() == kernel ? ofBody : others).push_back(op);
  raiseBehindLoops(ofBody);
  SmallVector<LaunchWordOp> used(sites.launchWords);
  llvm::erase_if(used, [](LaunchWordOp op) { return op.use_empty(); });
  Value &slot = slotInPtx;
  auto groups = betweenLoops<LaunchWordOp>(used);
  bool isFirst = !groups.empty() && groups.front().front() == firstProbe();
  if (!isFirst && !(ofBody.empty() && others.empty() && groups.empty())) {
    if (Operation *first = firstProbe())
      b.setInsertionPoint(first);
    slot = readInPtx({}, {});
  }
  for (ArrayRef<LaunchWordOp> words : groups) {
    b.setInsertionPoint(words.front());
    slot = readInPtx(words, slot);
  }
  for (ArrayRef<RaiseOp> raises : betweenLoops<RaiseOp>(ofBody))
    raiseInPtx(raises, slot);
  for (RaiseOp op : others)
    raiseInPtx(op, slot);
  return true;
}
