// SPDX-License-Identifier: Apache-2.0
//
// A tensor to which a loop adds the same amount in all elements, mostly a
// tensor of pointers, becomes the sum of the tensor before the loop and a
// scalar that the loop carries. Analyses then still see that it is contiguous
// or strided. Other carried values are left untouched.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Pass/Pass.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "triton_ext/Splat.h"

#define DEBUG_TYPE "triton-ext-scalarize-induction"

namespace mlir::triton_ext::scalarize_induction {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_SCALARIZEINDUCTIONPASS
#include "ScalarizeInduction.h.inc"
} // namespace mlir::triton_ext::scalarize_induction

using namespace mlir;

/// Returns the scalar that equals every element of `tensor`, or null. Creates
/// the operations that compute it.
static Value uniformScalar(ImplicitLocOpBuilder &b, Value tensor) {
  if (Value scalar = triton_ext::getSplat(tensor, b))
    return scalar;
  Operation *op = tensor.getDefiningOp();
  if (isa_and_present<triton::BroadcastOp, triton::ExpandDimsOp,
                      triton::ReshapeOp, triton::TransOp>(op))
    return uniformScalar(b, op->getOperand(0));
  if (isa_and_present<arith::MulIOp, arith::AddIOp, arith::SubIOp,
                      arith::ExtSIOp>(op)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(op);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      Value scalar = uniformScalar(b, operand);
      if (!scalar)
        return {};
      operands.push_back(scalar);
    }
    OperationState state(op->getLoc(), op->getName());
    state.addOperands(operands);
    state.addTypes(cast<RankedTensorType>(tensor.getType()).getElementType());
    state.addAttributes(op->getAttrs());
    return b.create(state)->getResult(0);
  }
  return {};
}

/// Returns whether `tt.splat` makes a tensor of such a scalar: it takes no
/// `index`, and no integers of more than 64 bits.
static bool canBeSplat(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return isa<triton::PointerType>(type) ||
         (integer && integer.getWidth() <= 64);
}

/// Carries a scalar for each tensor that `loop` advances uniformly.
static void scalarize(scf::ForOp loop) {
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  struct Advance {
    unsigned position;
    /// The sum that the loop will carry; until then, of zero and the step. The
    /// step may be an argument of the loop. As an operand, it is updated when
    /// the loop is replaced, which destroys the argument.
    arith::AddIOp sum;
  };
  SmallVector<Advance> advances;
  for (auto [i, argument, next] :
       llvm::enumerate(loop.getRegionIterArgs(), yield.getOperands())) {
    auto tensor = dyn_cast<RankedTensorType>(argument.getType());
    if (!tensor || !canBeSplat(tensor.getElementType()))
      continue;
    Operation *op = next.getDefiningOp();
    if (!isa_and_present<triton::AddPtrOp, arith::AddIOp>(op) ||
        op->getBlock() != loop.getBody())
      continue;
    Value by;
    if (op->getOperand(0) == argument)
      by = op->getOperand(1);
    else if (isa<arith::AddIOp>(op) && op->getOperand(1) == argument)
      by = op->getOperand(0);
    if (!by)
      continue;
    b.setInsertionPoint(op);
    Value step = uniformScalar(b, by);
    if (!step)
      continue;
    // Offsets of pointers have 64 bits, however wide the step is.
    Type type = getElementTypeOrSelf(argument.getType());
    if (isa<triton::PointerType>(type))
      type = b.getI64Type();
    b.setInsertionPoint(loop);
    Value zero = arith::ConstantOp::create(b, b.getIntegerAttr(type, 0));
    b.setInsertionPoint(yield);
    if (step.getType() != type)
      step = arith::ExtSIOp::create(b, type, step);
    advances.push_back({unsigned(i), arith::AddIOp::create(b, zero, step)});
  }
  for (const Advance &advance : advances) {
    Value argument = loop.getRegionIterArg(advance.position);
    Value init = loop.getInitArgs()[advance.position];
    auto type = cast<RankedTensorType>(argument.getType());
    bool isPointer = isa<triton::PointerType>(type.getElementType());
    arith::AddIOp next = advance.sum;
    auto extended = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
        *std::make_unique<IRRewriter>(b), next.getLhs(), true,
        [&](OpBuilder &, Location, ArrayRef<BlockArgument> added) {
          next.getLhsMutable().assign(added[0]);
          return SmallVector<Value>{next};
        }));
    loop = extended;
    yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
    auto rebuild = [&](Value sum) -> Value {
      Value splat = triton::SplatOp::create(b, type.clone(sum.getType()), sum);
      if (isPointer)
        return triton::AddPtrOp::create(b, type, init, splat);
      return arith::AddIOp::create(b, init, splat);
    };
    b.setInsertionPointToStart(loop.getBody());
    Value carried = loop.getRegionIterArg(advance.position);
    carried.replaceAllUsesWith(rebuild(loop.getRegionIterArgs().back()));
    b.setInsertionPointAfter(loop);
    loop.getResult(advance.position)
        .replaceAllUsesWith(rebuild(loop.getResults().back()));
    // Now it passes through unchanged, and the canonicalizer drops it.
    yield->setOperand(advance.position, carried);
  }
}

namespace {
struct ScalarizeInductionPass
    : mlir::triton_ext::scalarize_induction::impl::ScalarizeInductionPassBase<
          ScalarizeInductionPass> {
  using ScalarizeInductionPassBase::ScalarizeInductionPassBase;

  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      scalarize(loop);
  }
};
} // namespace
