// SPDX-License-Identifier: Apache-2.0
//
// Emits, beside each operation that passes taint on, operations that compute
// the taint of its result.

#include "Taint.h"
#include "Flow.h"

#include "analysis/Dimensions.h"

#include "triton/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::sanitizer;
namespace tt = mlir::triton;

/// Returns the dimensions along which bits vary.
static Dims dimsOfBits(Value bits) { return allDims(analysis::shapeOf(bits)); }

static Dims dimsOfView(const View &view) {
  Dims dims = 0;
  for (int d : view.dims)
    if (d >= 0)
      dims |= 1u << d;
  return dims;
}

/// Returns the dimensions of the result that correspond to the given dimensions
/// of the operand. `isWhole` becomes true if each of these has one, else false.
static Dims mapped(ArrayRef<int> through, Dims dims, bool &isWhole) {
  Dims result = 0, seen = 0;
  for (auto [d, from] : llvm::enumerate(through))
    if (from >= 0 && (dims >> from & 1)) {
      result |= 1u << d;
      seen |= 1u << from;
    }
  isWhole = seen == dims;
  return result;
}

Taint::Taint(OpResult source, Conditions conditions, DenseSet<Value> values)
    : source(source), conditions(std::move(conditions)),
      values(std::move(values)) {
  spread();
}

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

/// Computes for each value the dimensions along which its taint varies.
void Taint::spread() {
  bool hasChanged = true;
  auto add = [&](ArrayRef<Value> all, Dims more) {
    for (Value value : all) {
      Dims &known = dims[value];
      hasChanged |= (known | more) != known;
      known |= more;
    }
  };
  auto at = [&](Value value) {
    return values.contains(value) ? dims.lookup(value) : 0;
  };
  while (hasChanged) {
    hasChanged = false;
    for (Value value : values) {
      auto result = dyn_cast<OpResult>(value);
      auto argument = dyn_cast<BlockArgument>(value);
      scf::ForOp loop;
      unsigned index = 0;
      if (argument) {
        loop = cast<scf::ForOp>(argument.getOwner()->getParentOp());
        index = argument.getArgNumber() - loop.getNumInductionVars();
      } else if ((loop = dyn_cast<scf::ForOp>(result.getOwner()))) {
        index = result.getResultNumber();
      }
      if (loop) {
        Value inside = loop.getRegionIterArg(index);
        Value after = loop.getResult(index);
        add({inside, after}, dims.lookup(inside) | dims.lookup(after) |
                                 at(loop.getInitArgs()[index]) |
                                 at(loop.getYieldedValues()[index]));
      } else if (auto branch = dyn_cast<scf::IfOp>(result.getOwner())) {
        unsigned i = result.getResultNumber();
        add({value}, at(branch.thenYield().getOperand(i)) |
                         at(branch.elseYield().getOperand(i)));
      } else {
        add({value}, dimsOf(result));
      }
    }
  }
}

Dims Taint::dimsOfGate(Value mask) const {
  Dims result = dimsOfView(stripped(View::of(mask)));
  return values.contains(mask) ? result | dims.lookup(mask) : result;
}

Dims Taint::dimsOf(OpResult result) {
  Dims found = 0;
  if (result == source)
    for (const Condition &one : conditions)
      found |= dimsOfView(one.bit);
  Dims all = allDims(analysis::shapeOf(result));
  for (OpOperand &use : result.getOwner()->getOpOperands()) {
    if (!values.contains(use.get()))
      continue;
    auto through = dimsThrough(use, result);
    if (!through)
      continue;
    Dims from = dims.lookup(use.get());
    bool isWhole;
    Dims same = mapped(*through, from, isWhole);
    Operation *op = result.getOwner();
    if (isa<tt::ScanOp>(op))
      same = from;
    else if ((isa<tt::ReshapeOp, tt::GatherOp>(op) && !isWhole) ||
             (isa<tt::JoinOp, tt::SplitOp>(op) && from))
      same = all;
    found |= same;
    if (auto gate = gateOf(use))
      found |= dimsOfGate(gate->mask);
  }
  return found & all;
}

//===----------------------------------------------------------------------===//
// Taint of operations
//===----------------------------------------------------------------------===//

Value Taint::of(Value value) {
  if (!values.contains(value))
    return {};
  if (Value found = known.lookup(value))
    return found;
  Value found = compute(cast<OpResult>(value));
  return known[value] = found;
}

/// Returns the taint of all elements, true or false.
Value Taint::fullOf(ImplicitLocOpBuilder &b, Value value) {
  ArrayRef<int64_t> shape = analysis::shapeOf(value);
  Value taint = of(value);
  if (!taint)
    taint = constantOf(b, b.getI1Type(), 0);
  return broadcastTo(b, taint, shape);
}

/// Returns the disjunction of two values, of which one may be null.
Value Taint::join(ImplicitLocOpBuilder &b, Value a, Value c,
                  ArrayRef<int64_t> shape) {
  if (!a || !c)
    return a ? a : c;
  Dims both = dimsOfBits(a) | dimsOfBits(c);
  return arith::OrIOp::create(b, widened(b, a, shape, both),
                              widened(b, c, shape, both));
}

/// Returns the taint of the lanes in which the operand has an influence.
Value Taint::gated(ImplicitLocOpBuilder &b, OpOperand &use, Value bits,
                   ArrayRef<int64_t> shape) {
  auto gate = gateOf(use);
  if (!gate)
    return bits;
  Value open = materializeCompact(b, stripped(View::of(gate->mask)), shape);
  if (!gate->isOpen)
    open = notOf(b, open);
  open = join(b, open, of(gate->mask), shape);
  Dims both = dimsOfBits(bits) | dimsOfBits(open);
  return arith::AndIOp::create(b, widened(b, bits, shape, both),
                               widened(b, open, shape, both));
}

/// Returns the taint that the result gets from one operand.
Value Taint::fromOperand(ImplicitLocOpBuilder &b, OpOperand &use,
                         OpResult result) {
  Operation *op = use.getOwner();
  Value value = use.get(), bits = of(value);
  ArrayRef<int64_t> from = analysis::shapeOf(value),
                    to = analysis::shapeOf(result);
  Dims dims = dimsOfBits(bits);
  if (auto histogram = dyn_cast<tt::HistogramOp>(op)) {
    if (histogram.getMask() && use.getOperandNumber() == 0)
      bits = arith::AndIOp::create(b, broadcastTo(b, bits, from),
                                   histogram.getMask());
    return anyOf(b, bits);
  }
  // Positions do not matter if all elements have the same taint.
  if (!dims)
    return gated(b, use, bits, to);
  if (auto trans = dyn_cast<tt::TransOp>(op))
    return tt::TransOp::create(b, bits, trans.getOrder());
  if (isa<tt::ExpandDimsOp, tt::ReshapeOp>(op)) {
    bool isWhole;
    Dims same = mapped(*dimsThrough(use, result), dims, isWhole);
    if (!isWhole)
      return reshaped(b, broadcastTo(b, bits, from), to);
    auto type = cast<RankedTensorType>(compactType(b.getContext(), to, same));
    return reshaped(b, bits, type.getShape());
  }
  if (isa<tt::JoinOp>(op))
    return tt::JoinOp::create(b, fullOf(b, op->getOperand(0)),
                              fullOf(b, op->getOperand(1)));
  if (isa<tt::SplitOp>(op))
    return tt::SplitOp::create(b, fullOf(b, value))
        ->getResult(result.getResultNumber());
  if (auto reduction = dyn_cast<tt::ReduceOp>(op)) {
    bits = anyAlong(b, bits, reduction.getAxis());
    if (!dimsOfBits(bits))
      return bits;
    SmallVector<int64_t> shape(analysis::shapeOf(bits));
    shape.erase(shape.begin() + reduction.getAxis());
    return reshaped(b, bits, shape);
  }
  if (auto scan = dyn_cast<tt::ScanOp>(op)) {
    if (!(dims >> scan.getAxis() & 1))
      return bits;
    return anyBefore(b, bits, scan.getAxis(), scan.getReverse());
  }
  if (auto gather = dyn_cast<tt::GatherOp>(op);
      gather && use.getOperandNumber() == 0) {
    auto type = RankedTensorType::get(from, b.getI32Type());
    Value numbers = arith::ExtUIOp::create(b, type, broadcastTo(b, bits, from));
    numbers = tt::GatherOp::create(b, type.clone(to, b.getI32Type()), numbers,
                                   gather.getIndices(), gather.getAxis());
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, numbers,
                                 constantOf(b, numbers.getType(), 0));
  }
  if (auto dot = dyn_cast<tt::DotOp>(op)) {
    unsigned rank = to.size(), number = use.getOperandNumber();
    return number == 2 ? bits : anyAlong(b, bits, rank - 1 - number);
  }
  return gated(b, use, bits, to);
}

Value Taint::compute(OpResult result) {
  Operation *op = result.getOwner();
  ImplicitLocOpBuilder b(op->getLoc(), op);
  b.setInsertionPointAfter(op);
  ArrayRef<int64_t> shape = analysis::shapeOf(result);
  Value taint;
  if (result == source)
    for (const Condition &one : conditions) {
      Value bit = materializeCompact(b, one.bit, shape);
      taint = join(b, taint, one.isTrue ? notOf(b, bit) : bit, shape);
    }
  for (OpOperand &use : op->getOpOperands())
    if (values.contains(use.get()) && dimsThrough(use, result))
      taint = join(b, taint, fromOperand(b, use, result), shape);
  if (isa<RankedTensorType>(taint.getType()) && !dimsOfBits(taint))
    taint = tt::UnsplatOp::create(b, taint);
  return taint;
}
