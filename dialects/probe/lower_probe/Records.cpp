// SPDX-License-Identifier: Apache-2.0
//
// Lowers `probe.record` and `probe.check`.

#include "Emitter.h"
#include "Layout.h"

using namespace mlir;
using namespace mlir::triton_ext::lower_probe;
using namespace mlir::triton_ext::probe;
namespace tt = mlir::triton;

/// Returns the bits of a number or pointer in i64, with one axis.
Value Emitter::bits(Value value, int64_t numLanes) {
  auto like = [&](Type from, Type element) -> Type {
    auto tensor = dyn_cast<RankedTensorType>(from);
    return tensor ? Type(tensor.clone(element)) : element;
  };
  Type type = value.getType(), element = getElementTypeOrSelf(type);
  Type i64 = b.getI64Type();
  if (isa<tt::PointerType>(element)) {
    value = tt::PtrToIntOp::create(b, like(type, i64), value);
  } else {
    unsigned width = element.getIntOrFloatBitWidth();
    if (isa<FloatType>(element))
      value =
          tt::BitcastOp::create(b, like(type, b.getIntegerType(width)), value);
    if (width < 64)
      value = arith::ExtUIOp::create(b, like(type, i64), value);
  }
  return flat(value, numLanes);
}

/// Returns the lanes whose `mask` is on, or off if `isNegated`, and where
/// `also` is on; either may be null.
Emitter::Lanes Emitter::lanesOf(Operation *op, Value mask, bool isNegated,
                                Value also) {
  Lanes lanes;
  int64_t n = lanes.numLanes = numLanesOf(op);
  Type i64 = b.getI64Type();
  if (!mask && !also) {
    lanes.mask = splat(truth(true), n);
    lanes.count = constant(n ? n : 1);
  } else {
    if (mask)
      lanes.mask = flat(mask, n);
    if (isNegated)
      lanes.mask = arith::XOrIOp::create(b, lanes.mask, splat(truth(true), n));
    if (also && mask)
      lanes.mask = arith::AndIOp::create(b, lanes.mask, flat(also, n));
    else if (also)
      lanes.mask = flat(also, n);
  }
  if (!n) {
    if (!lanes.count)
      lanes.count = arith::ExtUIOp::create(b, i64, lanes.mask);
    return lanes;
  }
  auto wide = RankedTensorType::get({n}, i64);
  auto narrow = RankedTensorType::get({n}, b.getI32Type());
  if (lanes.count) {
    lanes.rank = arith::ExtUIOp::create(
        b, wide, tt::MakeRangeOp::create(b, narrow, 0, n));
    return lanes;
  }
  Value ones = arith::ExtUIOp::create(b, narrow, lanes.mask);
  lanes.count = arith::ExtUIOp::create(b, i64, reduce(ones, tt::RMWOp::ADD));
  if (isa<CountOp>(op))
    return lanes;
  auto scan = tt::ScanOp::create(b, ValueRange{ones}, /*axis=*/0,
                                 /*reverse=*/false);
  {
    OpBuilder::InsertionGuard guard(b);
    Location loc = b.getLoc();
    Type i32 = b.getI32Type();
    Block *body =
        b.createBlock(&scan.getCombineOp(), {}, {i32, i32}, {loc, loc});
    Value sum =
        arith::AddIOp::create(b, body->getArgument(0), body->getArgument(1));
    tt::ScanReturnOp::create(b, sum);
  }
  Value before = arith::SubIOp::create(b, scan->getResult(0), ones);
  lanes.rank = arith::ExtUIOp::create(b, wide, before);
  return lanes;
}

void Emitter::emitCheck(unsigned site, CheckOp check) {
  Lanes lanes = lanesOf(check, check.getCondition(), true, check.getMask());
  Value zero = constant(0);
  Value hasFailed =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, lanes.count, zero);
  hasFailed = arith::AndIOp::create(b, hasFailed, isThere);
  Value old = addTo(sharedWord(site, kCount), lanes.count, hasFailed);
  old = arith::SelectOp::create(b, hasFailed, old, zero);
  Value room = arith::SubIOp::create(b, constant(kMostFailures), old);
  room = arith::MaxSIOp::create(b, room, zero);
  Value isFirst;
  if (lanes.numLanes)
    isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, lanes.rank,
                                    splat(room, lanes.numLanes));
  else
    isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, room, zero);
  lanes.mask = arith::AndIOp::create(b, lanes.mask, isFirst);
  lanes.count = arith::MinSIOp::create(b, lanes.count, room);
  emitRecords(site, lanes, check.getValues());
}

/// Writes a record for each lane of `mask`, at `offset` words behind `first`.
void Emitter::writeRecords(Value tag, Value lane, ValueRange values,
                           Value first, Value offset, Value mask) {
  auto tensor = dyn_cast<RankedTensorType>(mask.getType());
  int64_t n = tensor ? tensor.getNumElements() : 0;
  lane = arith::ShLIOp::create(b, lane, splat(constant(32), n));
  SmallVector<Value> content{splat(tag, n), splat(programXY, n),
                             arith::OrIOp::create(b, lane, splat(programZ, n))};
  for (Value value : values)
    content.push_back(bits(value, n));
  Value record = tt::AddPtrOp::create(b, first.getType(), first, offset);
  for (auto [i, word] : llvm::enumerate(content)) {
    Value pointer = record;
    if (i)
      pointer = tt::AddPtrOp::create(b, record.getType(), record,
                                     splat(constant(i), n));
    tt::StoreOp::create(b, pointer, word, mask);
  }
}

/// Reserves room for the records of the active lanes with one atomic addition,
/// writes those that fit, and counts the others.
void Emitter::emitRecords(unsigned site, Lanes lanes, ValueRange values) {
  int64_t n = lanes.numLanes, words = kRecordHead + values.size();
  Value size = constant(words), zero = constant(0);
  Value isWanted =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, lanes.count, zero);
  isWanted = arith::AndIOp::create(b, isWanted, isThere);
  Value needed = arith::MulIOp::create(b, lanes.count, size);
  // The first failures of all checks are in one order, so only the pool is the
  // area that they see.
  Value start, area = records, space = capacity;
  if (isa<CheckOp>(sites.ops[site])) {
    start = takeFromPool(needed, isWanted);
    area = arith::AddIOp::create(b, records, pool);
    space = arith::SubIOp::create(b, capacity, pool);
  } else {
    start = take(needed, isWanted);
  }

  Value offset = splat(start, n);
  if (n)
    offset = arith::AddIOp::create(
        b, offset, arith::MulIOp::create(b, lanes.rank, splat(size, n)));
  Value end = arith::AddIOp::create(b, offset, splat(size, n));
  Value fits =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sle, end, splat(space, n));
  fits = arith::AndIOp::create(b, fits, lanes.mask);
  fits = arith::AndIOp::create(b, fits, splat(isWanted, n));

  Value lane = constant(0xFFFFFFFF);
  if (n)
    lane = arith::ExtUIOp::create(
        b, RankedTensorType::get({n}, b.getI64Type()),
        tt::MakeRangeOp::create(b, RankedTensorType::get({n}, b.getI32Type()),
                                0, n));
  Value first = tt::AddPtrOp::create(b, base.getType(), base, area);
  Value tag = constant(sites.key | (site + 1));
  writeRecords(tag, lane, values, splat(first, n), offset, fits);

  Value left = arith::SubIOp::create(b, space, start);
  left = arith::DivSIOp::create(b, arith::MaxSIOp::create(b, left, zero), size);
  Value lost = arith::SubIOp::create(
      b, lanes.count, arith::MinSIOp::create(b, left, lanes.count));
  Value isLost =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, lost, zero);
  addTo(siteWord(site, kLost), lost,
        arith::AndIOp::create(b, isLost, isWanted));
}
