// SPDX-License-Identifier: Apache-2.0
//
// Lowers the regions of one kernel to tt. Layout.h describes the blocks of the
// buffer that they write to.

#include "Regions.h"
#include "Layout.h"

using namespace mlir;
using namespace mlir::triton_ext::lower_probe;
using namespace mlir::triton_ext::probe;
namespace tt = mlir::triton;
using Predicate = arith::CmpIPredicate;

/// Returns whether `op` is in a loop of its function. A branch between blocks
/// of a function may be one.
static bool isInLoop(Operation *op) {
  if (op->getParentOfType<LoopLikeOpInterface>())
    return true;
  return !op->getParentOfType<tt::FuncOp>().getBody().hasOneBlock();
}

int64_t Regions::recordsOfBlock(ArrayRef<RegionBeginOp> regions,
                                const Clock &clock) {
  int64_t once = 0, most = 0;
  for (RegionBeginOp region : regions) {
    int64_t needed = recordsOf(region, clock);
    once += needed;
    most = std::max(most, needed);
  }
  return llvm::any_of(regions, isInLoop) ? kTurnsOfBlock * most : once;
}

Regions::Regions(Emitter &emitter, Clock &clock)
    : e(emitter), clock(clock), b(emitter.b), n(clock.numThreads()),
      records(emitter.sites.recordsOfBlock),
      hasLoops(llvm::any_of(emitter.sites.regions, isInLoop)) {}

Value Regions::i32(int32_t value) {
  return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
}

Value Regions::widen(Value value) {
  return arith::ExtUIOp::create(b, b.getI64Type(), value);
}

Value Regions::both(Value left, Value right) {
  return arith::AndIOp::create(b, left, right);
}

Value Regions::compare(Predicate predicate, Value left, Value right) {
  return arith::CmpIOp::create(b, predicate, left, right);
}

/// Returns the address of a word behind `place`, an offset in the area of
/// records.
Value Regions::addressOf(Value place, int64_t word) {
  Value offset = arith::AddIOp::create(b, e.records, widen(place));
  return e.at(arith::AddIOp::create(b, offset, e.constant(word)));
}

void Regions::store(Value place, int64_t word, Value content, Value mask) {
  tt::StoreOp::create(b, addressOf(place, word), content, mask);
}

/// Returns whether a CPU spends no time on the operations from `from` to the
/// one before `to`, in one block: they are scalar arithmetic, and tensors that
/// are computed where they are used.
static bool takeNoTime(Block::iterator from, Block::iterator to) {
  return llvm::all_of(llvm::make_range(from, to), [](Operation &op) {
    if (isa<tt::SplatOp, tt::MakeRangeOp, tt::ExpandDimsOp, tt::BroadcastOp,
            tt::AddPtrOp, tt::BitcastOp, tt::GetProgramIdOp,
            tt::GetNumProgramsOp>(op))
      return true;
    return isa<arith::ArithDialect>(op.getDialect()) &&
           llvm::none_of(op.getOperandTypes(), llvm::IsaPred<ShapedType>);
  });
}

void Regions::readStart(Operation *first) {
  // A reading of the clock takes 10 to 20 ns. So on a CPU, if a program starts
  // with a region, both have one start.
  if (!n && isa_and_nonnull<RegionBeginOp>(first) &&
      !first->getResult(0).use_empty() &&
      takeNoTime(first->getBlock()->begin(), first->getIterator()))
    return;
  start = clock.read(b, Counter::Cycles, false);
  globalStart = clock.read(b, Counter::Global, false);
}

/// Takes the first block of the program. If `first` is a loop that needs room
/// for all of its turns, the block includes this room.
Regions::State Regions::takeHome(Operation *first) {
  const RegionLoop *loop = nullptr;
  for (const RegionLoop &one : e.sites.loops)
    if (one.loop == first)
      loop = &one;
  int64_t head = loop ? kHomeOfLoopHead : kHomeHead;
  Value size = e.constant(head + kRegionWords * records), turns, words;
  if (loop) {
    turns = turnsOf(loop->loop);
    words = wordsOf(*loop, turns);
  }
  Value at = e.take(loop ? Value(arith::AddIOp::create(b, size, words)) : size,
                    e.isThere);
  Value space = arith::SubIOp::create(b, e.capacity, at);
  Value behind = arith::SubIOp::create(b, space, size);
  home = arith::TruncIOp::create(b, b.getI32Type(), at);
  Value least = e.constant(head + (records ? kRegionWords : 0));
  hasHome = both(e.isThere, compare(Predicate::sge, space, least));
  store(home, 0, e.constant(e.sites.key | (loop ? kHomeOfLoopTag : kHomeTag)),
        hasHome);
  store(home, 1, e.programXY, hasHome);
  store(home, 2, e.programZ, hasHome);
  store(home, kHomeUnit, clock.read(b, Counter::Unit, false), hasHome);
  if (start)
    storeStart(start, globalStart);
  if (loop) {
    store(home, kHomeHead, e.constant(loop - e.sites.loops.begin()), hasHome);
    store(home, kHomeHead + 1, words, hasHome);
    room = roomOf(*loop, turns, words, arith::AddIOp::create(b, at, size),
                  behind, hasHome);
  }
  Value left = arith::SubIOp::create(b, space, e.constant(head));
  left = arith::MaxSIOp::create(b, left, e.constant(0));
  left = arith::DivUIOp::create(b, left, e.constant(kRegionWords));
  left = arith::MinSIOp::create(b, left, e.constant(records));
  left = arith::TruncIOp::create(b, b.getI32Type(), left);
  return {arith::AddIOp::create(b, home, i32(head)),
          arith::SelectOp::create(b, hasHome, left, i32(-1))};
}

/// Takes a further block with room for `needed` records.
Regions::State Regions::takeBlock(int64_t needed) {
  Value at = e.take(e.constant(kBlockHead + kRegionWords * records), e.isThere);
  Value left = arith::SubIOp::create(b, e.capacity, at);
  left = arith::SubIOp::create(b, left, e.constant(kBlockHead));
  left = arith::MaxSIOp::create(b, left, e.constant(0));
  left = arith::DivUIOp::create(b, left, e.constant(kRegionWords));
  left = arith::MinSIOp::create(b, left, e.constant(records));
  at = arith::TruncIOp::create(b, b.getI32Type(), at);
  left = arith::TruncIOp::create(b, b.getI32Type(), left);
  Value hasRoom = both(e.isThere, compare(Predicate::sge, left, i32(needed)));
  store(at, 0, e.constant(e.sites.key | kBlockTag), hasRoom);
  store(at, 1, widen(home), hasRoom);
  return {arith::AddIOp::create(b, at, i32(kBlockHead)),
          arith::SelectOp::create(b, hasRoom, left, i32(-1))};
}

/// Returns the numbers after a way that is seldom taken: `state` has no room
/// for `needed` records, so another block is taken, or the records are lost.
Regions::State Regions::makeRoom(unsigned site, State state, int64_t needed) {
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Type> types(2, b.getI32Type());
  auto seldom = scf::IfOp::create(
      b, types, compare(Predicate::slt, state.left, i32(needed)),
      /*withElseRegion=*/true);
  b.setInsertionPointToStart(seldom.elseBlock());
  scf::YieldOp::create(b, ValueRange{state.next, state.left});
  b.setInsertionPointToStart(seldom.thenBlock());
  State inner = state;
  if (hasLoops) {
    auto taken =
        scf::IfOp::create(b, types, compare(Predicate::sge, state.left, i32(0)),
                          /*withElseRegion=*/true);
    b.setInsertionPointToStart(taken.elseBlock());
    scf::YieldOp::create(b, ValueRange{state.next, state.left});
    b.setInsertionPointToStart(taken.thenBlock());
    State block = takeBlock(needed);
    scf::YieldOp::create(b, ValueRange{block.next, block.left});
    b.setInsertionPointAfter(taken);
    inner = {taken.getResult(0), taken.getResult(1)};
  }
  Value isLost = compare(Predicate::slt, inner.left, i32(needed));
  e.addTo(e.siteWord(site, kLost), e.constant(needed), both(e.isThere, isLost));
  scf::YieldOp::create(b, ValueRange{inner.next, inner.left});
  return {seldom.getResult(0), seldom.getResult(1)};
}

/// Returns the number of each thread's warp, in i64.
Value Regions::warpOfThread() {
  auto type = RankedTensorType::get({n}, b.getI32Type());
  Value warp = arith::DivUIOp::create(b, tt::MakeRangeOp::create(b, type, 0, n),
                                      e.splat(i32(clock.threadsOfWarp()), n));
  return arith::ExtUIOp::create(b, type.clone(b.getI64Type()), warp);
}

/// Returns `mask` for the first thread of each warp, and false for the others.
Value Regions::firstOfWarp(Value mask) {
  auto type = RankedTensorType::get({n}, b.getI32Type());
  Value inWarp =
      arith::RemUIOp::create(b, tt::MakeRangeOp::create(b, type, 0, n),
                             e.splat(i32(clock.threadsOfWarp()), n));
  Value isFirst = compare(Predicate::eq, inWarp, e.splat(i32(0), n));
  return both(isFirst, e.splat(mask, n));
}

/// Records the region that ends at `op`, or counts the record as lost.
Regions::State Regions::end(RegionEndOp op, State state) {
  auto begin = op.getHandle().getDefiningOp<RegionBeginOp>();
  unsigned site = e.sites.numberOf(begin);
  bool areWarps = begin.getPerWarp() && n;
  int64_t needed = areWarps ? clock.warps() : 1;
  Value from = begins.lookup(begin),
        now = clock.read(b, Counter::Cycles, areWarps);
  lastEnd = op;
  lastEndTime = now;
  state = makeRoom(site, state, needed);
  Value fits = compare(Predicate::sge, state.left, i32(needed));
  // The site is in the high bits of the duration, and below it the warp.
  int64_t lanes = areWarps ? n : 0;
  Value cycles = arith::SubIOp::create(b, now, from);
  Value low = e.constant((int64_t(1) << kCycleBits) - 1);
  cycles = both(cycles, e.splat(low, lanes));
  Value tag = e.splat(e.constant(int64_t(site + 1) << kSiteBit), lanes);
  Value pointer = addressOf(state.next, 0), mask = fits;
  if (areWarps) {
    mask = firstOfWarp(fits);
    Value warp = warpOfThread(), bit = e.splat(e.constant(kCycleBits), n);
    tag = arith::OrIOp::create(b, tag, arith::ShLIOp::create(b, warp, bit));
    pointer = e.splat(pointer, n);
    pointer = tt::AddPtrOp::create(
        b, pointer.getType(), pointer,
        arith::MulIOp::create(b, warp, e.splat(e.constant(kRegionWords), n)));
  }
  cycles = arith::OrIOp::create(b, cycles, tag);
  tt::StoreOp::create(b, pointer, from, mask);
  Value second = tt::AddPtrOp::create(b, pointer.getType(), pointer,
                                      e.splat(e.constant(1), lanes));
  tt::StoreOp::create(b, second, cycles, mask);
  // Without room, the numbers stay.
  Value used = arith::SelectOp::create(b, fits, i32(needed), i32(0));
  Value words = arith::MulIOp::create(b, used, i32(kRegionWords));
  return {arith::AddIOp::create(b, state.next, words),
          arith::SubIOp::create(b, state.left, used)};
}

/// Writes when the program has started.
void Regions::storeStart(Value cycles, Value global) {
  store(home, kHomeStart, cycles, hasHome);
  store(home, kHomeStart + 1, global, hasHome);
}

/// Writes when the program has ended, at its `exit`. On a CPU, if a program
/// ends with a region, both have one end.
void Regions::finish(Operation *exit) {
  bool isShared =
      !n && lastEnd && lastEnd->getBlock() == exit->getBlock() &&
      takeNoTime(std::next(lastEnd->getIterator()), exit->getIterator());
  Value cycles = isShared ? lastEndTime : clock.read(b, Counter::Cycles, false);
  store(home, kHomeEnd, cycles, hasHome);
  store(home, kHomeEnd + 1, clock.read(b, Counter::Global, false), hasHome);
}
