// SPDX-License-Identifier: Apache-2.0
//
// Copies the operations that have computed the scalars of a rare branch into
// it. To each argument of the kernel a word of the launch slot is added that is
// 0, so that no later pass finds out that the copies are the same as the
// originals, and uses those.

#include "Recompute.h"
#include "Checks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::triton_ext::sanitizer;
namespace tt = mlir::triton;

/// The launch word that is 0.
static constexpr int64_t zeroWord = 4;

namespace {
class Recomputation {
public:
  Recomputation(scf::IfOp rare, tt::FuncOp kernel)
      : rare(rare), kernel(kernel),
        b(ImplicitLocOpBuilder::atBlockBegin(rare.getLoc(), rare.thenBlock())) {
  }

  void run();

private:
  bool isAtHand(Value value) const;
  bool canCopy(Value value);
  Value copy(Value value);
  Value copyArgument(Value argument);
  Value hidden(Value value);

  scf::IfOp rare;
  tt::FuncOp kernel;
  ImplicitLocOpBuilder b;
  DenseMap<Value, bool> known;
  IRMapping copies;
  Value zero;
};
} // namespace

/// Whether using the value itself costs nothing.
bool Recomputation::isAtHand(Value value) const {
  return matchPattern(value, m_Constant()) ||
         isa_and_nonnull<tt::GetProgramIdOp, tt::GetNumProgramsOp>(
             value.getDefiningOp());
}

bool Recomputation::canCopy(Value value) {
  if (isAtHand(value))
    return true;
  Type type = value.getType();
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() == &kernel.front() &&
           (type.isInteger(32) || type.isInteger(64) ||
            isa<tt::PointerType>(type));
  auto [it, isNew] = known.try_emplace(value, false);
  if (!isNew)
    return it->second;
  Operation *op = value.getDefiningOp();
  bool can = !isa<RankedTensorType>(type) && op->getNumRegions() == 0 &&
             op->getNumResults() == 1 && isMemoryEffectFree(op) &&
             !isa<tt::ElementwiseInlineAsmOp>(op) &&
             llvm::all_of(op->getOperands(),
                          [&](Value operand) { return canCopy(operand); });
  return known[value] = can;
}

/// Returns an integer plus a word of the launch slot that is 0. No compiler can
/// merge it with the integer: ptxas looks through moves in inline assembly.
Value Recomputation::hidden(Value value) {
  if (!zero)
    zero = Checker::wordAt(b, zeroWord);
  Value sum = zero;
  if (!value.getType().isInteger(64))
    sum = arith::TruncIOp::create(b, value.getType(), zero);
  return arith::AddIOp::create(b, value, sum);
}

Value Recomputation::copyArgument(Value argument) {
  if (!isa<tt::PointerType>(argument.getType()))
    return hidden(argument);
  Value address = tt::PtrToIntOp::create(b, b.getI64Type(), argument);
  return tt::IntToPtrOp::create(b, argument.getType(), hidden(address));
}

Value Recomputation::copy(Value value) {
  if (isAtHand(value))
    return value;
  if (Value known = copies.lookupOrNull(value))
    return known;
  if (isa<BlockArgument>(value)) {
    copies.map(value, copyArgument(value));
    return copies.lookup(value);
  }
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    copies.map(operand, copy(operand));
  b.clone(*op, copies);
  return copies.lookup(value);
}

/// Whether a bit is computed in the block of the branch, behind every loop: it
/// is needed for the branch in any case.
static bool isFresh(Value value, scf::IfOp rare) {
  Operation *op = value.getDefiningOp();
  if (!value.getType().isInteger(1) || !op ||
      op->getBlock() != rare->getBlock())
    return false;
  for (; op != rare; op = op->getNextNode())
    if (isa<LoopLikeOpInterface>(op))
      return false;
  return true;
}

void Recomputation::run() {
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(rare->getRegions(), captured);
  SmallVector<OpOperand *> uses; // before there are those of the copies
  for (Value value : captured)
    if (!isAtHand(value) && !isFresh(value, rare) && canCopy(value))
      for (OpOperand &use : value.getUses())
        if (rare->isProperAncestor(use.getOwner()))
          uses.push_back(&use);
  for (OpOperand *use : uses)
    use->set(copy(use->get()));
}

void mlir::triton_ext::sanitizer::recomputeScalars(scf::IfOp rare,
                                                   tt::FuncOp kernel) {
  auto target = kernel->getParentOfType<ModuleOp>()->getAttrOfType<StringAttr>(
      "probe.target");
  if (target && target.getValue().starts_with("cuda:"))
    Recomputation(rare, kernel).run();
}
