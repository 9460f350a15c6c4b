// SPDX-License-Identifier: Apache-2.0
//
// The order in which the programs of a product run. Kernels number the tiles of
// the result row by row: `pid // columns`, `pid % columns`. Then each program
// reads other columns of the right matrix, which come from memory or the last
// level of the cache, again for each row of tiles. So programs get their
// numbers in another order: by groups of rows, and column by column within a
// group. A column that has been read then serves all rows of the group.
// Programs may run in any order.

#include "ProgramOrder.h"

#include "Operations.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

bool mlir::triton_ext::cpu::showsOrder(triton::FuncOp function) {
  bool isOrdered = mayWait(function);
  function.walk([&](Operation *op) {
    isOrdered |= isa<triton::PrintOp, triton::AssertOp, triton::AtomicRMWOp,
                     triton::AtomicCASOp>(op);
  });
  return isOrdered;
}

/// Returns the last product that is in a loop. Returns null if no product is in
/// a loop, or if the kernel may observe the order of programs.
static triton::DotOp productOf(triton::FuncOp function) {
  triton::DotOp found;
  function.walk([&](triton::DotOp dot) {
    if (dot->getParentOfType<scf::ForOp>())
      found = dot;
  });
  return showsOrder(function) ? triton::DotOp() : found;
}

static bool isDivision(Operation *op) {
  return isa<arith::DivSIOp, arith::RemSIOp, arith::DivUIOp, arith::RemUIOp>(
      op);
}

/// Returns d if the kernel computes both `id / d` and `id % d`, and no quotient
/// or remainder by another number; else null. A kernel that divides the
/// quotient or the remainder again orders its programs itself: null, too.
static Value divisorOf(Value id) {
  Value divisor;
  bool hasQuotient = false, hasRemainder = false;
  for (OpOperand &use : id.getUses()) {
    Operation *user = use.getOwner();
    if (!isDivision(user))
      continue;
    if (use.getOperandNumber() != 0 ||
        llvm::any_of(user->getUsers(), isDivision) ||
        (divisor && divisor != user->getOperand(1)))
      return {};
    divisor = user->getOperand(1);
    bool isQuotient = isa<arith::DivSIOp, arith::DivUIOp>(user);
    hasQuotient |= isQuotient;
    hasRemainder |= !isQuotient;
  }
  return hasQuotient && hasRemainder ? divisor : Value();
}

ProgramOrder::ProgramOrder(triton::FuncOp function) {
  triton::DotOp dot = productOf(function);
  triton::GetProgramIdOp only;
  bool isOne = true;
  function.walk([&](triton::GetProgramIdOp op) {
    isOne &= !only;
    only = op;
  });
  if (!dot || !only || !isOne || only.getAxisAsInt() != 0)
    return;
  Value divisor = divisorOf(only);
  auto type = cast<RankedTensorType>(dot.getA().getType());
  int64_t tileRows = type.getShape()[type.getRank() - 2];
  if (!divisor)
    return;
  // The number is read behind the divisor, so that it may depend on it.
  if (Operation *op = divisor.getDefiningOp()) {
    if (op->getBlock() != only->getBlock())
      return;
    for (Operation *user : only->getUsers()) {
      Operation *top = op->getBlock()->findAncestorOpInBlock(*user);
      if (!top || top == op || top->isBeforeInBlock(op))
        return;
    }
    if (only->isBeforeInBlock(op))
      only->moveAfter(op);
  }
  id = only;
  columns = divisor;
  Type element = type.getElementType();
  bool isSlow = (element.isF16() || element.isF32()) &&
                dot.getA().getDefiningOp<triton::LoadOp>();
  int64_t matrixRows = isSlow ? rowsOfSlowProducts : rowsOfGroup;
  rows = std::max(leastRows, matrixRows / tileRows);
}

Value ProgramOrder::reordered(LaneBuilder &b, Value number, Value count,
                              Value columns) const {
  // With C columns and groups of R rows, the number n is in the group n / (R *
  // C). There, it stands for the row n % R and the column n % (R * C) / R. This
  // is a bijection if R * C divides the count. R is `rows`, or the largest
  // power of two that divides the rows of tiles if that is less; if it is 1, or
  // if C does not divide the count, the order is as it was.
  Type i32 = b.getI32Type();
  Value zero = b.constant(i32, 0), one = b.constant(i32, 1);
  Value isSmall = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, columns,
                                        b.constant(i32, INT32_MAX / rows));
  Value isPositive = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt,
                                           columns, b.constant(i32, 0));
  Value isGood = arith::AndIOp::create(b, isSmall, isPositive);
  columns = arith::SelectOp::create(b, isGood, columns, one);
  Value tiles = arith::DivUIOp::create(b, count, columns);
  Value lowestBit =
      arith::AndIOp::create(b, tiles, arith::SubIOp::create(b, zero, tiles));
  Value rowCount = arith::MaxUIOp::create(
      b, one, arith::MinUIOp::create(b, lowestBit, b.constant(i32, rows)));
  Value size = arith::MulIOp::create(b, columns, rowCount);
  Value rest = arith::RemUIOp::create(b, count, size);
  isGood = arith::AndIOp::create(
      b, isGood,
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rest, zero));
  Value inGroup = arith::RemUIOp::create(b, number, size);
  Value first = arith::SubIOp::create(b, number, inGroup);
  Value row = arith::RemUIOp::create(b, inGroup, rowCount);
  Value column = arith::DivUIOp::create(b, inGroup, rowCount);
  Value other = arith::AddIOp::create(
      b, first,
      arith::AddIOp::create(b, arith::MulIOp::create(b, row, columns), column));
  return arith::SelectOp::create(b, isGood, other, number);
}
