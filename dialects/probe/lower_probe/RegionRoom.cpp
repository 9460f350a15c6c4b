// SPDX-License-Identifier: Apache-2.0
//
// Takes room for the records of all turns of a loop before it, and writes them.

#include "Layout.h"
#include "Regions.h"

using namespace mlir;
using namespace mlir::triton_ext::lower_probe;
using namespace mlir::triton_ext::probe;
namespace tt = mlir::triton;
using Predicate = arith::CmpIPredicate;

/// Returns how many turns the loop has, in i64.
Value Regions::turnsOf(scf::ForOp loop) {
  bool isUnsigned = loop.getUnsignedCmp();
  Value low = loop.getLowerBound(), high = loop.getUpperBound();
  Value hasAny =
      compare(isUnsigned ? Predicate::ult : Predicate::slt, low, high);
  auto wide = [&](Value value) -> Value {
    Type i64 = b.getI64Type();
    if (value.getType().isIndex())
      return arith::IndexCastOp::create(b, i64, value);
    if (value.getType() == i64)
      return value;
    if (isUnsigned)
      return arith::ExtUIOp::create(b, i64, value);
    return arith::ExtSIOp::create(b, i64, value);
  };
  Value last = arith::SubIOp::create(b, wide(high), wide(low));
  last = arith::SubIOp::create(b, last, e.constant(1));
  Value turns = arith::DivUIOp::create(b, last, wide(loop.getStep()));
  turns = arith::AddIOp::create(b, turns, e.constant(1));
  return arith::SelectOp::create(b, hasAny, turns, e.constant(0));
}

/// Returns how many words the records of the loop take, in i64. The numbers of
/// its records have 32 bits, so a loop with more of them gets no room.
Value Regions::wordsOf(const RegionLoop &loop, Value turns) {
  Value words = arith::MulIOp::create(
      b, turns, e.constant(kRegionWords * loop.recordsOfTurn));
  Value isInReach = compare(Predicate::ule, turns,
                            e.constant(INT32_MAX / loop.recordsOfTurn));
  return arith::SelectOp::create(b, isInReach, words, e.constant(0));
}

/// Returns the room for the records of `turns` turns, which take `words` words
/// from the offset `at` on. The buffer has `space` words from there on, or none
/// where `mask` is off. Counts the records that do not fit as lost.
Regions::Room Regions::roomOf(const RegionLoop &loop, Value turns, Value words,
                              Value at, Value space, Value mask) {
  Value limit = arith::MaxSIOp::create(b, space, e.constant(0));
  limit = arith::MinSIOp::create(b, limit, words);
  limit = arith::SelectOp::create(b, mask, limit, e.constant(0));
  limit = arith::DivUIOp::create(b, limit, e.constant(kRegionWords));
  Value ofTurn = e.constant(loop.recordsOfTurn);
  Value wanted = arith::MulIOp::create(b, turns, ofTurn);
  Value isShort = compare(Predicate::slt, limit, wanted);
  auto seldom = scf::IfOp::create(b, TypeRange{}, both(isShort, e.isThere),
                                  /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(seldom.thenBlock());
    for (auto [index, offset] : llvm::enumerate(loop.offsets)) {
      RegionEndOp end = loop.ends[index];
      auto begin = end.getHandle().getDefiningOp<RegionBeginOp>();
      int64_t needed = recordsOf(begin, clock);
      Value kept = arith::AddIOp::create(
          b, limit, e.constant(loop.recordsOfTurn - offset - needed));
      kept = arith::DivUIOp::create(b, kept, ofTurn);
      Value lost = arith::MulIOp::create(
          b, arith::SubIOp::create(b, turns, kept), e.constant(needed));
      e.addTo(e.siteWord(e.sites.numberOf(begin), kLost), lost, e.isThere);
    }
  }
  Value records = e.at(arith::AddIOp::create(b, e.records, at));
  return {&loop, records, arith::TruncIOp::create(b, b.getI32Type(), limit),
          i32(0)};
}

/// Takes room for a loop that is not the first one.
Regions::Room Regions::takeRoom(const RegionLoop &loop) {
  Value turns = turnsOf(loop.loop), words = wordsOf(loop, turns);
  Value head = e.constant(kLoopHead);
  Value isNeeded = compare(Predicate::sgt, turns, e.constant(0));
  isNeeded = both(isNeeded, hasHome);
  Value at = e.take(arith::AddIOp::create(b, words, head), isNeeded);
  Value space = arith::SubIOp::create(b, e.capacity, at);
  space = arith::SubIOp::create(b, space, head);
  Value hasHead = both(isNeeded, compare(Predicate::sge, space, e.constant(0)));
  Value place = arith::TruncIOp::create(b, b.getI32Type(), at);
  int64_t number = &loop - e.sites.loops.begin();
  store(place, 0, e.constant(e.sites.key | kLoopTag), hasHead);
  store(place, 1,
        arith::OrIOp::create(b, widen(home), e.constant(number << 32)),
        hasHead);
  store(place, 2, words, hasHead);
  return roomOf(loop, turns, words, arith::AddIOp::create(b, at, head), space,
                hasHead);
}

/// Records the region that ends at `op`, whose records begin at `offset` in
/// those of a turn. The code has no branch, and waits for nothing.
void Regions::endInRoom(RegionEndOp op, int64_t offset) {
  auto begin = op.getHandle().getDefiningOp<RegionBeginOp>();
  int64_t lanes = begin.getPerWarp() ? n : 0;
  Value now = clock.read(b, Counter::Cycles, lanes != 0);
  // The pass settle_regions moves what has this attribute.
  auto markEnd = [&](Operation *one) {
    if (n) // a GPU, whose loops Triton may pipeline
      one->setAttr(kEnd, b.getUnitAttr());
  };
  markEnd(now.getDefiningOp());
  int64_t last = offset + recordsOf(begin, clock) - 1;
  Value limit = arith::SubIOp::create(b, room->limit, i32(last));
  limit = arith::MaxSIOp::create(b, limit, i32(0));
  Value mask = compare(Predicate::ult, room->place, limit);
  auto behind = [&](Value pointer, Value words) -> Value {
    return tt::AddPtrOp::create(b, pointer.getType(), pointer, words);
  };
  // First what is the same in all turns.
  Value pointer = behind(room->records, e.constant(kRegionWords * offset));
  Value place =
      arith::MulIOp::create(b, widen(room->place), e.constant(kRegionWords));
  if (lanes) {
    mask = firstOfWarp(mask);
    Value words = e.splat(e.constant(kRegionWords), lanes);
    pointer = behind(e.splat(pointer, lanes),
                     arith::MulIOp::create(b, warpOfThread(), words));
    place = e.splat(place, lanes);
  }
  pointer = behind(pointer, place);
  markEnd(tt::StoreOp::create(b, pointer, begins.lookup(begin), mask));
  pointer = behind(pointer, e.splat(e.constant(1), lanes));
  markEnd(tt::StoreOp::create(b, pointer, now, mask));
}
