// SPDX-License-Identifier: Apache-2.0
//
// Finds the bytes that an access may touch: from launch words, of the argument
// that a pointer comes from, or of the one that it points into.

#include "Extents.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Dominance.h"
#include "probe/Probe.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::sanitizer;
namespace tt = mlir::triton;
using P = arith::CmpIPredicate;

ExtentFinder::ExtentFinder(Checker &checker, StridedTracker &tracker)
    : checker(checker), tracker(tracker) {}

static Value number(int64_t value, ImplicitLocOpBuilder &b) {
  return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
}

ByteRange ExtentFinder::viewOf(unsigned argument) {
  auto [it, isNew] = knownViews.try_emplace(argument);
  if (isNew) {
    it->second = {checker.word(argument, ArgumentWord::ViewStart),
                  checker.word(argument, ArgumentWord::ViewEnd)};
  }
  return it->second;
}

ByteRange ExtentFinder::storageOf(unsigned argument) {
  auto [it, isNew] = knownStorages.try_emplace(argument);
  if (isNew) {
    it->second = {checker.word(argument, ArgumentWord::StorageStart),
                  checker.word(argument, ArgumentWord::StorageEnd)};
  }
  return it->second;
}

Value mlir::triton_ext::sanitizer::inLanes(Value scalar, Type type,
                                           ImplicitLocOpBuilder &b) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || isa<RankedTensorType>(scalar.getType()))
    return scalar;
  return tt::SplatOp::create(b, tensor.clone(scalar.getType()), scalar);
}

Value mlir::triton_ext::sanitizer::lastStart(Value end, int64_t bytes,
                                             ImplicitLocOpBuilder &b) {
  return arith::SubIOp::create(b, end,
                               inLanes(number(bytes, b), end.getType(), b));
}

Value mlir::triton_ext::sanitizer::isInside(ArrayRef<ByteRange> ranges,
                                            Value low, Value high,
                                            int64_t bytes,
                                            ImplicitLocOpBuilder &b) {
  Value result;
  for (const ByteRange &range : ranges) {
    Type type = low.getType();
    Value last = inLanes(lastStart(range.end, bytes, b), type, b);
    Value isBehind =
        arith::CmpIOp::create(b, P::sge, low, inLanes(range.start, type, b));
    Value isBefore = arith::CmpIOp::create(b, P::sle, high, last);
    Value isIn = arith::AndIOp::create(b, isBehind, isBefore);
    result = result ? Value(arith::OrIOp::create(b, result, isIn)) : isIn;
  }
  return result;
}

/// Returns the range of the tensor that each of these addresses points into,
/// i64 or a tensor of them.
ByteRange ExtentFinder::pointedInto(Value pointer) {
  if (auto found = knownTargets.find(pointer); found != knownTargets.end())
    return found->second;
  OpBuilder place = tracker.places.behind(pointer);
  ImplicitLocOpBuilder b(pointer.getLoc(), place);
  Type type = b.getI64Type();
  if (auto tensor = dyn_cast<RankedTensorType>(pointer.getType()))
    type = tensor.clone(type);
  Value address = tt::PtrToIntOp::create(b, type, pointer);
  auto all = [&](Value scalar) { return inLanes(scalar, type, b); };
  ByteRange result{all(number(INT64_MIN, b)), all(number(INT64_MAX, b))};
  for (BlockArgument argument : checker.kernel.getArguments()) {
    if (!isa<tt::PointerType>(argument.getType()))
      continue;
    // Nothing is known about raw pointers, so they may hold every address.
    ByteRange range = storageOf(argument.getArgNumber());
    Value start = all(range.start), end = all(range.end);
    Value isIn = arith::AndIOp::create(
        b, arith::CmpIOp::create(b, P::sge, address, start),
        arith::CmpIOp::create(b, P::slt, address, end));
    Value isTensor = arith::CmpIOp::create(b, P::sgt, start, all(number(0, b)));
    isIn = arith::AndIOp::create(b, isIn, isTensor);
    result.start = arith::SelectOp::create(b, isIn, start, result.start);
    result.end = arith::SelectOp::create(b, isIn, end, result.end);
  }
  knownTargets[pointer] = result;
  return result;
}

/// Returns the pointers to which offsets were added, in the shape of `pointer`;
/// null if they cannot be found.
Value ExtentFinder::baseOf(Value pointer, OpBuilder &b) {
  Operation *op = pointer.getDefiningOp();
  if (!op)
    return {};
  if (auto add = dyn_cast<tt::AddPtrOp>(op))
    return baseOf(add.getPtr(), b);
  if (!isa<tt::ExpandDimsOp, tt::BroadcastOp, tt::TransOp>(op))
    return pointer;
  Value base = baseOf(op->getOperand(0), b);
  if (!base)
    return {};
  if (base == op->getOperand(0))
    return pointer;
  Operation *copy = b.clone(*op);
  copy->setOperand(0, base);
  return copy->getResult(0);
}

/// Returns the scalar to which offsets were added, if it is one of several
/// pointers as they came from memory, from integers or from the host: a branch
/// or a loop chooses it. Null otherwise.
Value ExtentFinder::chosenBase(Value pointer) const {
  while (Operation *op = pointer.getDefiningOp()) {
    if (!isa<tt::AddPtrOp, tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp,
             tt::ReshapeOp, tt::TransOp>(op))
      break;
    pointer = op->getOperand(0);
  }
  if (isa<RankedTensorType>(pointer.getType()))
    return {};
  Roots roots = rootsOf(pointer, checker.kernel);
  return roots.isOpen || roots.hasOffset ? Value() : pointer;
}

std::optional<Extents> ExtentFinder::find(Value pointer, Operation *op,
                                          StringRef &why) {
  Roots roots = rootsOf(pointer, checker.kernel);
  if (roots.isOpen || (roots.arguments.empty() && roots.others.empty())) {
    why = "it is not known where the pointer comes from";
    return std::nullopt;
  }
  Extents extents;
  DominanceInfo dominance(checker.kernel);
  // A pointer from a branch or from an earlier iteration is known only as the
  // value that the branch or the loop gives.
  if (!llvm::all_of(roots.others, [&](Value other) {
        return dominance.properlyDominates(other, op);
      })) {
    Value base = chosenBase(pointer);
    if (!base) {
      why = "a loop advances the pointer, or each lane has one of its own, and "
            "it comes from a branch or from another iteration";
      return std::nullopt;
    }
    extents.found.push_back(pointedInto(base));
    return extents;
  }
  llvm::append_range(extents.arguments, roots.arguments);
  if (roots.others.empty() && roots.arguments.size() == 1)
    extents.argument = roots.arguments.front();
  for (Value other : roots.others) {
    if (!isa<RankedTensorType>(other.getType())) {
      extents.found.push_back(pointedInto(other));
      continue;
    }
    OpBuilder b = tracker.places.behind(pointer);
    Value base = baseOf(pointer, b);
    if (!base || roots.others.size() + roots.arguments.size() != 1 ||
        rootsOf(base, checker.kernel).others != roots.others) {
      why = "the pointers of its lanes come from several places";
      return std::nullopt;
    }
    extents.found.push_back(pointedInto(base));
  }
  return extents;
}

SmallVector<ByteRange> ExtentFinder::views(const Extents &extents) {
  SmallVector<ByteRange> ranges(extents.found);
  for (unsigned argument : extents.arguments)
    ranges.push_back(viewOf(argument));
  return ranges;
}

SmallVector<ByteRange> ExtentFinder::rangesAt(const Extents &extents,
                                              ArgumentWord first,
                                              ArgumentWord end,
                                              ImplicitLocOpBuilder &b) {
  SmallVector<ByteRange> ranges(extents.found);
  for (unsigned argument : extents.arguments) {
    auto word = [&](ArgumentWord which) {
      return checker.wordAt(b, Checker::numberOf(argument, which));
    };
    ranges.push_back({word(first), word(end)});
  }
  return ranges;
}
