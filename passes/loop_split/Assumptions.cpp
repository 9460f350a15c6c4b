// SPDX-License-Identifier: Apache-2.0
//
// Replaces comparisons by constants where a loop has been split, and marks
// those that stay.

#include "Assumptions.h"

using namespace mlir;
using namespace mlir::triton_ext::loop_split;

static constexpr StringLiteral doneAttrs[] = {"triton_ext.lead_done",
                                              "triton_ext.tail_done"};

void mlir::triton_ext::loop_split::markDone(arith::CmpIOp op, Side side) {
  op->setAttr(doneAttrs[side == Side::Tail], UnitAttr::get(op.getContext()));
}

bool mlir::triton_ext::loop_split::isDone(arith::CmpIOp op, Side side) {
  return op->hasAttr(doneAttrs[side == Side::Tail]);
}

void mlir::triton_ext::loop_split::unmark(arith::CmpIOp op) {
  for (StringRef name : doneAttrs)
    op->removeAttr(name);
}

static StringRef text(bool value) { return value ? "true" : "false"; }

/// Replaces a comparison, or a tensor of them, by a constant.
static void replace(arith::CmpIOp op, bool value, RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  TypedAttr attr = rewriter.getBoolAttr(value);
  if (auto shaped = dyn_cast<ShapedType>(op.getType()))
    attr = DenseElementsAttr::get(shaped, value);
  rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, attr);
}

void mlir::triton_ext::loop_split::assumeBefore(const Condition &condition,
                                                arith::CmpIOp op, Side side,
                                                RewriterBase &rewriter) {
  if (side == Side::Lead)
    replace(op, condition.leadingValue(), rewriter);
  else
    markDone(op, side);
}

void mlir::triton_ext::loop_split::assumeAfter(const Condition &condition,
                                               arith::CmpIOp op, Side side,
                                               RewriterBase &rewriter) {
  if (side == Side::Lead && !condition.exact)
    return markDone(op, side);
  if (!condition.isEquality())
    return replace(op, !condition.leadingValue(), rewriter);
  // An equality changes twice: where both sides are equal, and right behind
  // that. In between and from there on it is the same as an inequality, at
  // which the second loop may be split again.
  using Predicate = arith::CmpIPredicate;
  bool equal = condition.predicate == Predicate::eq;
  Predicate predicate = condition.increasing == equal
                            ? (equal ? Predicate::sle : Predicate::slt)
                            : (equal ? Predicate::sge : Predicate::sgt);
  if (condition.isUnsigned)
    predicate = toUnsigned(predicate);
  rewriter.modifyOpInPlace(op, [&] {
    op.setPredicate(condition.swapped ? triton_ext::swapOperands(predicate)
                                      : predicate);
  });
}

StringRef mlir::triton_ext::loop_split::textBefore(const Condition &condition,
                                                   Side side) {
  return side == Side::Lead ? text(condition.leadingValue()) : "any";
}

StringRef mlir::triton_ext::loop_split::textAfter(const Condition &condition,
                                                  Side side) {
  if (side == Side::Lead && !condition.exact)
    return "any";
  return condition.isEquality() ? "an inequality"
                                : text(!condition.leadingValue());
}
