// SPDX-License-Identifier: Apache-2.0
//
// Emits the coordinates at which a split loop changes.

#include "SplitPoints.h"

using namespace mlir;
using namespace mlir::triton_ext::cpu;

/// Returns the coordinates of an operand, seen from those of the root.
static Coords coordsOf(const Operand &operand, const Coords &root, Value zero) {
  Coords coords;
  for (int dim : operand.dims)
    coords.push_back(dim < 0 ? Lanes::uniform(zero) : root[dim]);
  return coords;
}

Value SplitPoints::scalarAt(const Operand &operand, const Coords &coords) {
  return b.toScalar(
      evaluator.eval(operand.tensor, coordsOf(operand, coords, b.zero())));
}

/// Returns the end of the comparison, in [0, size]. Sets `neverWraps` to an
/// i1: whether neither the index nor what it extends wraps around.
Value SplitPoints::endOf(const Comparison &comparison, const Coords &coords,
                         int64_t size, Value &neverWraps) {
  using Predicate = arith::CmpIPredicate;
  auto compare = [&](Predicate predicate, Value lhs, Value rhs) {
    return b.createOrFold<arith::CmpIOp>(predicate, lhs, rhs);
  };
  auto staysInType = [&](Value first) {
    auto type = cast<IntegerType>(first.getType());
    APInt most = APInt::getSignedMaxValue(type.getWidth());
    return compare(Predicate::sle, first,
                   b.constant(type, (most - (size - 1)).getSExtValue()));
  };
  Value first = scalarAt(comparison.index, coords);
  Value bound = scalarAt(comparison.bound, coords);
  neverWraps = staysInType(first);
  for (const Operand &narrow : comparison.extended)
    neverWraps = b.createOrFold<arith::AndIOp>(
        neverWraps, staysInType(scalarAt(narrow, coords)));
  // If `isEmpty` is false, bound - first is not negative, so its unsigned
  // minimum with the size is right.
  Type type = first.getType();
  bool isInclusive = comparison.isInclusive;
  Value isEmpty =
      compare(isInclusive ? Predicate::slt : Predicate::sle, bound, first);
  Value end = b.createOrFold<arith::MinUIOp>(
      b.createOrFold<arith::SubIOp>(bound, first),
      b.constant(type, isInclusive ? size - 1 : size));
  if (isInclusive)
    end = b.createOrFold<arith::AddIOp>(end, b.constant(type, 1));
  end = b.createOrFold<arith::SelectOp>(isEmpty, b.constant(type, 0), end);
  return type.isInteger(64)
             ? end
             : b.createOrFold<arith::ExtUIOp>(b.getI64Type(), end);
}

SplitPoints::Ends SplitPoints::ends(const Split &split, const Coords &coords,
                                    int64_t size, int64_t fullStep,
                                    int64_t stopStep) {
  Type i64 = b.getI64Type();
  Value whole = b.constant(i64, size), none = b.constant(i64, 0);
  Ends ends = {split.evaluated.empty() ? none : whole, whole,
               split.stops ? none : whole};
  evaluator.withScope(1, [&] {
    Coords first = coords;
    first[split.dim] = Lanes::uniform(b.zero());
    Value neverWraps;
    for (const Comparison &comparison : split.evaluated) {
      Value end = endOf(comparison, first, size, neverWraps);
      end = b.createOrFold<arith::SelectOp>(neverWraps, end, none);
      ends.full = b.createOrFold<arith::MinUIOp>(ends.full, end);
    }
    ends.full =
        b.createOrFold<arith::AndIOp>(ends.full, b.constant(i64, -fullStep));
    if (!split.stops)
      return;
    Value noneWraps = b.constant(b.getI1Type(), 1);
    for (const Comparison &comparison : split.stopping) {
      Value end = endOf(comparison, first, size, neverWraps);
      end = b.createOrFold<arith::SelectOp>(neverWraps, end, whole);
      ends.stop = b.createOrFold<arith::MaxUIOp>(ends.stop, end);
      noneWraps = b.createOrFold<arith::AndIOp>(noneWraps, neverWraps);
    }
    ends.fullStop = b.createOrFold<arith::SelectOp>(
        noneWraps,
        b.createOrFold<arith::AndIOp>(ends.stop, b.constant(i64, -fullStep)),
        none);
    ends.stop = b.createOrFold<arith::AndIOp>(
        b.createOrFold<arith::AddIOp>(ends.stop, b.constant(i64, stopStep - 1)),
        b.constant(i64, -stopStep));
  });
  return ends;
}

Value SplitPoints::firstOfRest(Value stop, int64_t size, int64_t step) {
  Value first =
      arith::MinUIOp::create(b, stop, b.constant(b.getI64Type(), size - step));
  context.facts.setLimit(first, size - step);
  context.facts.setDivisor(first, step);
  return first;
}

void SplitPoints::assume(const Split &split, const Coords &coords) {
  Lanes on = Lanes::uniform(b.constant(b.getI1Type(), 1));
  for (Comparison comparison : split.evaluated)
    evaluator.assume(comparison.op.getResult(),
                     coordsOf(comparison.index, coords, b.zero()), on);
}
