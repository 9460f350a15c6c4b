// SPDX-License-Identifier: Apache-2.0
//
// Chooses the scalars that are added to a tensor, in place of the sums.

#include "Sums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton_ext::ptr_strength_reduction;
namespace tt = mlir::triton;

namespace {
/// A tensor and what is added to all of its elements.
struct Sum {
  explicit Sum(Value value);

  /// Returns the sum of the addends, a scalar, at the insertion point.
  Value total(OpBuilder &builder, Location loc) const;

  Value base;
  SmallVector<Value> addends;
};
} // namespace

Sum::Sum(Value value) : base(value) {
  while (true) {
    Value rest, addend;
    if (auto add = base.getDefiningOp<tt::AddPtrOp>()) {
      rest = add.getPtr();
      addend = add.getOffset();
    } else if (auto add = base.getDefiningOp<arith::AddIOp>()) {
      bool left = isUniform(add.getLhs());
      rest = left ? add.getRhs() : add.getLhs();
      addend = left ? add.getLhs() : add.getRhs();
    }
    // A splat is the sum of nothing.
    if (!rest || !isUniform(addend) || isUniform(base))
      return;
    addends.push_back(addend);
    base = rest;
  }
}

Value Sum::total(OpBuilder &builder, Location loc) const {
  Type type = offsetTypeOf(base.getType());
  Value sum;
  for (Value addend : addends) {
    Value scalar = extend(getScalar(addend, builder), type, builder);
    sum = sum ? arith::AddIOp::create(builder, loc, sum, scalar).getResult()
              : scalar;
  }
  if (!sum)
    sum = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  return sum;
}

/// Returns the two sums if they are sums of one tensor. If the values are those
/// of two arms, the tensor is defined in front of the branch, because both arms
/// can use it.
static std::optional<std::pair<Sum, Sum>> getSums(Value yes, Value no) {
  auto type = dyn_cast<RankedTensorType>(yes.getType());
  if (!type ||
      !(isPointer(type) || type.getElementType().isSignlessInteger()) ||
      type.getElementType().isInteger(1))
    return std::nullopt;
  std::pair<Sum, Sum> sums{Sum(yes), Sum(no)};
  if (sums.first.base != sums.second.base)
    return std::nullopt;
  return sums;
}

static void chooseScalar(arith::SelectOp op, IRRewriter &rewriter) {
  if (isa<RankedTensorType>(op.getCondition().getType()))
    return;
  auto sums = getSums(op.getTrueValue(), op.getFalseValue());
  if (!sums)
    return;
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  Value offset = arith::SelectOp::create(rewriter, loc, op.getCondition(),
                                         sums->first.total(rewriter, loc),
                                         sums->second.total(rewriter, loc));
  rewriter.replaceOp(op, addOffset(rewriter, loc, sums->first.base, offset));
}

/// Returns whether the addends are known in front of `branch`.
static bool isKnownBefore(const Sum &sum, Operation *branch) {
  return llvm::all_of(sum.addends, [&](Value addend) {
    auto splat = addend.getDefiningOp<tt::SplatOp>();
    Value scalar = splat ? splat.getSrc() : addend;
    return matchPattern(addend, m_Constant()) ||
           (!isa<RankedTensorType>(scalar.getType()) &&
            !branch->isAncestor(scalar.getParentBlock()->getParentOp()));
  });
}

static void chooseScalars(scf::IfOp op, IRRewriter &rewriter) {
  if (op.getNumResults() == 0)
    return;
  Location loc = op.getLoc();
  scf::YieldOp yes = op.thenYield(), no = op.elseYield();
  SmallVector<Value> bases(op.getNumResults());
  for (unsigned i = 0; i < op.getNumResults(); ++i) {
    auto sums = getSums(yes.getOperand(i), no.getOperand(i));
    if (!sums)
      continue;
    if (isKnownBefore(sums->first, op) && isKnownBefore(sums->second, op)) {
      // A select, unlike a branch, can be computed anew where it is needed.
      rewriter.setInsertionPoint(op);
      Value offset = arith::SelectOp::create(rewriter, loc, op.getCondition(),
                                             sums->first.total(rewriter, loc),
                                             sums->second.total(rewriter, loc));
      rewriter.replaceAllUsesWith(
          op.getResult(i), addOffset(rewriter, loc, sums->first.base, offset));
      continue;
    }
    bases[i] = sums->first.base;
    for (auto [yield, sum] :
         {std::pair(yes, &sums->first), std::pair(no, &sums->second)}) {
      rewriter.setInsertionPoint(yield);
      Value offset = sum->total(rewriter, loc);
      rewriter.modifyOpInPlace(yield, [&] { yield->setOperand(i, offset); });
    }
  }
  if (llvm::none_of(bases, [](Value base) { return bool(base); }))
    return;
  rewriter.setInsertionPoint(op);
  auto now = scf::IfOp::create(rewriter, loc, yes.getOperandTypes(),
                               op.getCondition(), /*withElseRegion=*/true);
  now->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  now.getThenRegion().takeBody(op.getThenRegion());
  now.getElseRegion().takeBody(op.getElseRegion());
  SmallVector<Value> results(now.getResults());
  for (auto [result, base] : llvm::zip(results, bases))
    if (base)
      result = addOffset(rewriter, loc, base, result);
  rewriter.replaceOp(op, results);
}

void mlir::triton_ext::ptr_strength_reduction::chooseScalars(
    Operation *top, IRRewriter &rewriter) {
  SmallVector<Operation *> choices;
  // Inner ones first: the outer ones then choose between sums.
  top->walk([&](Operation *op) {
    if (isa<arith::SelectOp, scf::IfOp>(op))
      choices.push_back(op);
  });
  for (Operation *op : choices) {
    if (auto select = dyn_cast<arith::SelectOp>(op))
      chooseScalar(select, rewriter);
    else
      ::chooseScalars(cast<scf::IfOp>(op), rewriter);
  }
}
