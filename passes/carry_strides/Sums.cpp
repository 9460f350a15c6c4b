// SPDX-License-Identifier: Apache-2.0
//
// Tracks tensors backward to sums. An operation of pointers without a rule here
// ends the track.

#include "Sums.h"
#include "StridedNumbers.h"

#include "analysis/OffsetTracker.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "triton_ext/Splat.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::analysis;
using namespace mlir::triton_ext::carry_strides;
namespace tt = mlir::triton;

bool mlir::triton_ext::carry_strides::isSameRest(ArrayRef<Value> a,
                                                 ArrayRef<Value> b) {
  const DenseMap<Value, Value> known;
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [&](auto pair) {
           return isSame(std::get<0>(pair), std::get<1>(pair), known);
         });
}

/// Returns the scalar of a splat where the numbers are made; null if it is not
/// a splat or cannot be used there.
static Value reachSplat(Value tensor, IndexMath &math) {
  Value scalar = getSplat(tensor, math.builder);
  return scalar ? math.reach(scalar) : Value();
}

/// Returns the sum of a choice between two tensors of one rest.
static std::optional<Sum> trackChoice(Value tensor, IndexMath &math) {
  auto choice = getChoice(tensor, math);
  auto yes = choice ? trackSum(choice->yes, math) : std::nullopt;
  auto no = yes ? trackSum(choice->no, math) : std::nullopt;
  if (!no || yes->rest.empty() || !isSameRest(yes->rest, no->rest))
    return std::nullopt;
  OpBuilder &b = math.builder;
  auto scalarOf = [&](const Sum &sum) -> Value {
    if (sum.scalar)
      return sum.scalar;
    return arith::ConstantOp::create(
        b, math.loc, b.getZeroAttr(getElementTypeOrSelf(tensor.getType())));
  };
  Value a = scalarOf(*yes), c = scalarOf(*no);
  if (a.getType() != c.getType())
    return std::nullopt;
  if (a != c)
    a = arith::SelectOp::create(b, math.loc, choice->condition, a, c);
  return Sum{a, yes->rest};
}

/// Applies a change of shape to the rest.
static Sum reshapeSum(Operation *op, Sum sum, IndexMath &math) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  for (Value &tensor : sum.rest) {
    OperationState state(math.loc, op->getName(), tensor,
                         type.clone(getElementTypeOrSelf(tensor.getType())),
                         op->getAttrs());
    tensor = math.builder.create(state)->getResult(0);
  }
  return sum;
}

/// Returns a tensor of pointers as a scalar pointer plus tensors of offsets.
static std::optional<Sum> sumOfPointers(Value tensor, IndexMath &math) {
  Operation *op = tensor.getDefiningOp();
  if (Value scalar = reachSplat(tensor, math))
    return Sum{scalar, {}};
  if (auto add = dyn_cast<tt::AddPtrOp>(op)) {
    auto sum = trackSum(add.getPtr(), math);
    if (!sum)
      return std::nullopt;
    if (Value offset = reachSplat(add.getOffset(), math))
      sum->scalar = tt::AddPtrOp::create(
          math.builder, math.loc, sum->scalar.getType(), sum->scalar, offset);
    else if (math.canUse(add.getOffset()))
      sum->rest.push_back(add.getOffset());
    else
      return std::nullopt;
    return sum;
  }
  if (!isa<tt::ExpandDimsOp, tt::BroadcastOp, tt::TransOp, tt::ReshapeOp>(op))
    return std::nullopt;
  auto sum = trackSum(op->getOperand(0), math);
  if (!sum)
    return std::nullopt;
  return reshapeSum(op, std::move(*sum), math);
}

/// Returns a tensor of integers as a scalar plus tensors. Sums wrap around, so
/// they may be added in any order.
static std::optional<Sum> sumOfIntegers(Value tensor, IndexMath &math) {
  OpBuilder &b = math.builder;
  if (Value scalar = reachSplat(tensor, math))
    return Sum{scalar, {}};
  Operation *op = tensor.getDefiningOp();
  if (auto difference = dyn_cast<arith::SubIOp>(op)) {
    Value by = reachSplat(difference.getRhs(), math);
    auto sum = by ? trackSum(difference.getLhs(), math) : std::nullopt;
    if (!sum)
      return std::nullopt;
    if (!sum->scalar)
      sum->scalar =
          arith::ConstantOp::create(b, math.loc, b.getZeroAttr(by.getType()));
    sum->scalar = arith::SubIOp::create(b, math.loc, sum->scalar, by);
    return sum;
  }
  if (isa<arith::AddIOp>(op)) {
    auto sum = trackSum(op->getOperand(0), math);
    auto more = sum ? trackSum(op->getOperand(1), math) : std::nullopt;
    if (!more)
      return std::nullopt;
    if (sum->scalar && more->scalar)
      sum->scalar =
          arith::AddIOp::create(b, math.loc, sum->scalar, more->scalar);
    else if (more->scalar)
      sum->scalar = more->scalar;
    llvm::append_range(sum->rest, more->rest);
    return sum;
  }
  return std::nullopt;
}

std::optional<Sum> mlir::triton_ext::carry_strides::trackSum(Value tensor,
                                                             IndexMath &math) {
  bool isPointer = isa<tt::PointerType>(getElementTypeOrSelf(tensor.getType()));
  std::optional<Sum> sum;
  if (tensor.getDefiningOp() && math.spend()) {
    if (isa<arith::SelectOp, scf::IfOp>(tensor.getDefiningOp()))
      sum = trackChoice(tensor, math);
    else
      sum =
          isPointer ? sumOfPointers(tensor, math) : sumOfIntegers(tensor, math);
  }
  // Any tensor of integers is an addend.
  if (!sum && !isPointer && math.canUse(tensor))
    sum = Sum{{}, {tensor}};
  return sum;
}

IndexMath mlir::triton_ext::carry_strides::mathAt(OpBuilder &b, Location loc) {
  IndexMath math{b, loc};
  math.type = b.getI64Type();
  return math;
}
