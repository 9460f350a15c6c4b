// SPDX-License-Identifier: Apache-2.0
//
// The copy begins at operations that are not elementwise arithmetic, such as
// loads and reductions. Their results are not computed again: their bits are
// combined with a number that is 0, which the compiler does not know.

#include "FloatCopy.h"
#include "Bits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::sanitizer;
namespace tt = mlir::triton;

/// A word of the launch slot that nothing has, and that is 0 (`_words_of`).
static constexpr int64_t zeroWord = 7;

static bool isFloat(Value value) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(value.getType()));
  return element && element.getWidth() >= 16;
}

/// Whether the operation computes each element of floats from elements of
/// floats, or only moves them.
static bool isOfFloats(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumRegions() != 0 ||
      !isMemoryEffectFree(op) || !llvm::any_of(op->getOperands(), isFloat))
    return false;
  return isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
         isa<tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp, tt::ReshapeOp,
             tt::TransOp, tt::FpToFpOp, tt::PreciseSqrtOp, tt::PreciseDivFOp,
             tt::ApproxDivFOp, tt::ClampFOp>(op);
}

Value FloatCopy::of(Value value) {
  if (!isFloat(value) || matchPattern(value, m_Constant()))
    return value;
  if (Value known = copies.lookup(value))
    return known;
  Operation *op = value.getDefiningOp();
  Value copy;
  if (op && isOfFloats(op)) {
    IRMapping mapping;
    for (Value operand : op->getOperands())
      mapping.map(operand, of(operand));
    OpBuilder b(op->getContext());
    b.setInsertionPointAfter(op);
    copy = b.clone(*op, mapping)->getResult(0);
  } else {
    copy = hidden(value);
  }
  copies[value] = copy;
  return copy;
}

/// Returns the value's bits, combined with a 0 that is read when the kernel
/// runs.
Value FloatCopy::hidden(Value value) {
  Value zero = checker.word(zeroWord);
  ImplicitLocOpBuilder b(value.getLoc(), value.getContext());
  if (Operation *op = value.getDefiningOp())
    b.setInsertionPointAfter(op);
  else if (value.getParentBlock() == zero.getParentBlock())
    b.setInsertionPoint(checker.start);
  else
    b.setInsertionPointToStart(value.getParentBlock());
  Type type = value.getType();
  Type number =
      b.getIntegerType(getElementTypeOrSelf(type).getIntOrFloatBitWidth());
  if (number != zero.getType())
    zero = arith::TruncIOp::create(b, number, zero);
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    number = tensor.clone(number);
    zero = tt::SplatOp::create(b, number, zero);
  }
  Value bits = tt::BitcastOp::create(b, number, value);
  bits = arith::XOrIOp::create(b, bits, zero);
  return tt::BitcastOp::create(b, type, bits);
}

void mlir::triton_ext::sanitizer::keepProductsBesideSums(
    triton::FuncOp kernel) {
  auto moves = [](Operation *op) {
    return isa<arith::MulFOp, triton::ReshapeOp, triton::TransOp,
               triton::ExpandDimsOp, triton::BroadcastOp>(op) &&
           isa<FloatType>(getElementTypeOrSelf(op->getResult(0).getType())) &&
           op->hasOneUse();
  };
  kernel.walk([&](Block *block) {
    // Users first, so that a whole chain of them moves.
    for (Operation &op :
         llvm::make_early_inc_range(llvm::reverse(block->getOperations())))
      if (moves(&op) && op.user_begin()->getBlock() == block)
        op.moveBefore(*op.user_begin());
  });
}
