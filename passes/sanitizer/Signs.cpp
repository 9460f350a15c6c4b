// SPDX-License-Identifier: Apache-2.0
//
// Infers from the operations around integers whether they are unsigned. Both
// operands of a binary operation of Triton have the type of its result.

#include "Signs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

#include <deque>

using namespace mlir;
using namespace mlir::triton_ext::sanitizer;
namespace tt = mlir::triton;

static bool isInteger(Value value) {
  return isa<IntegerType>(getElementTypeOrSelf(value));
}

/// Returns whether `op` reads its integer operands as unsigned; nullopt if the
/// sign makes no difference to it.
static std::optional<bool> takesUnsigned(Operation *op) {
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    using P = arith::CmpIPredicate;
    P p = compare.getPredicate();
    if (p == P::eq || p == P::ne)
      return std::nullopt;
    return p == P::ult || p == P::ule || p == P::ugt || p == P::uge;
  }
  if (isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp, arith::ShRUIOp,
          arith::MaxUIOp, arith::MinUIOp, arith::UIToFPOp>(op))
    return true;
  if (isa<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp,
          arith::FloorDivSIOp, arith::ShRSIOp, arith::MaxSIOp, arith::MinSIOp,
          arith::SIToFPOp, arith::ExtSIOp>(op))
    return false;
  if (isa<arith::ExtUIOp>(op) &&
      !getElementTypeOrSelf(op->getOperand(0)).isInteger(1))
    return true;
  return std::nullopt;
}

/// Returns whether the integer that `op` makes is unsigned; nullopt if it may
/// be either.
static std::optional<bool> makesUnsigned(Operation *op) {
  if (isa<arith::FPToUIOp>(op))
    return true;
  if (isa<arith::FPToSIOp, tt::GetProgramIdOp, tt::GetNumProgramsOp>(op))
    return false;
  if (isa<arith::CmpIOp, arith::ExtSIOp, arith::ExtUIOp>(op))
    return std::nullopt; // is of another type than the operands
  return takesUnsigned(op);
}

/// Whether the integers that `op` takes and makes are of one type.
static bool keepsType(Operation *op) {
  return isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::AndIOp,
             arith::OrIOp, arith::XOrIOp, arith::ShLIOp, arith::DivUIOp,
             arith::DivSIOp, arith::RemUIOp, arith::RemSIOp, tt::SplatOp,
             tt::BroadcastOp, tt::ExpandDimsOp, tt::ReshapeOp, tt::TransOp>(op);
}

/// Returns whether the operations that make or use a value, or one of the same
/// type that it is computed with, show that it is unsigned; the nearest
/// decides.
static bool isShownUnsigned(Value value) {
  std::deque<Value> left{value};
  DenseSet<Value> seen{value};
  auto add = [&](Value one) {
    if (isInteger(one) && seen.insert(one).second)
      left.push_back(one);
  };
  for (unsigned budget = 64; budget && !left.empty(); --budget) {
    Value one = left.front();
    left.pop_front();
    Operation *definition = one.getDefiningOp();
    if (definition)
      if (std::optional<bool> found = makesUnsigned(definition))
        return *found;
    for (Operation *user : one.getUsers())
      if (std::optional<bool> found = takesUnsigned(user))
        return *found;
    if (definition && keepsType(definition))
      llvm::for_each(definition->getOperands(), add);
    for (Operation *user : one.getUsers())
      if (keepsType(user))
        add(user->getResult(0));
  }
  return false;
}

Signs::Signs(Operation *kernel) {
  auto learn = [&](Value value) {
    if (isInteger(value) && isShownUnsigned(value))
      known.insert(value);
  };
  kernel->walk([&](Operation *op) {
    if (isa<arith::ShLIOp>(op))
      llvm::for_each(op->getOperands(), learn);
    if (auto assume = dyn_cast<LLVM::AssumeOp>(op))
      if (auto compare = assume.getCond().getDefiningOp<arith::CmpIOp>())
        llvm::for_each(compare->getOperands(), learn);
    if (op->hasAttr("tt.divisibility") || op->hasAttr("tt.contiguity") ||
        op->hasAttr("tt.constancy"))
      llvm::for_each(op->getResults(), learn);
  });
}

bool Signs::isUnsigned(Value value, Operation *reader) const {
  if (!isInteger(value))
    return false;
  std::optional<bool> found = reader ? takesUnsigned(reader) : std::nullopt;
  return found ? *found : known.contains(value);
}
