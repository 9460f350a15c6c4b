// SPDX-License-Identifier: Apache-2.0
//
// Counts the iterations of loops. Those of an scf.for are known before it
// begins, so its body, which Triton may pipeline, stays as it is. Measures the
// time of loops and of matrix products.

#include "Observer.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::instrument;

void instrument::observeIterations(scf::ForOp loop) {
  Observer observer(loop);
  ImplicitLocOpBuilder &b = observer.b;
  Type i64 = b.getI64Type();
  bool isUnsigned = loop.getUnsignedCmp();
  auto widened = [&](Value value) -> Value {
    if (value.getType().isIndex())
      return arith::IndexCastOp::create(b, i64, value);
    if (value.getType() == i64)
      return value;
    if (isUnsigned)
      return arith::ExtUIOp::create(b, i64, value);
    return arith::ExtSIOp::create(b, i64, value);
  };
  Value from = widened(loop.getLowerBound());
  Value to = widened(loop.getUpperBound());
  Value step = widened(loop.getStep());
  // The difference, read as unsigned, is right for every pair of bounds in
  // order, even if it is not less than 2^63.
  Value one = arith::ConstantOp::create(b, b.getI64IntegerAttr(1));
  Value zero = arith::ConstantOp::create(b, b.getI64IntegerAttr(0));
  // A loop that does not begin may have the step 0, by which one cannot divide.
  step = arith::MaxUIOp::create(b, step, one);
  Value distance = arith::SubIOp::create(b, to, from);
  Value before = arith::SubIOp::create(b, distance, one);
  Value trips =
      arith::AddIOp::create(b, arith::DivUIOp::create(b, before, step), one);
  auto less =
      isUnsigned ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  Value begins = arith::CmpIOp::create(b, less, from, to);
  trips = arith::SelectOp::create(b, begins, trips, zero);
  observer.mark(probe::StatsOp::create(b, "iterations", trips, Value()),
                "loops");
}

void instrument::observeIterations(scf::WhileOp loop) {
  Observer observer(loop);
  observer.count("loops");
  observer.b.setInsertionPointToStart(loop.getAfterBody());
  observer.count("iterations");
}

void instrument::observeTime(Operation *first, Operation *end, StringRef name,
                             Location loc) {
  Observer observer(first, loc);
  ImplicitLocOpBuilder &b = observer.b;
  auto begin = probe::RegionBeginOp::create(b, b.getI64Type(), name,
                                            /*per_warp=*/false);
  observer.mark(begin, "time");
  b.setInsertionPoint(end);
  probe::RegionEndOp::create(b, begin);
}
