// SPDX-License-Identifier: Apache-2.0
//
// Lowers the regions of one kernel to tt. Layout.h describes the blocks of the
// buffer that they write to.

#include "Regions.h"
#include "Layout.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

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
    int64_t needed = region.getPerWarp() ? clock.warps() : 1;
    once += needed;
    most = std::max(most, needed);
  }
  return llvm::any_of(regions, isInLoop) ? kTurnsOfBlock * most : once;
}

Regions::Regions(Emitter &emitter, Clock &clock)
    : e(emitter), clock(clock), b(emitter.b), n(clock.numThreads()),
      records(recordsOfBlock(emitter.regions, clock)),
      hasLoops(llvm::any_of(emitter.regions, isInLoop)) {}

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

/// Takes a block of the buffer with room for `needed` records.
Regions::State Regions::takeBlock(Value mask, int64_t needed, bool isHome) {
  int64_t head = isHome ? kHomeHead : kBlockHead;
  Value at = e.addTo(e.at(e.constant(kCursor)),
                     e.constant(head + kRegionWords * records), mask);
  at = arith::SelectOp::create(b, mask, at, e.constant(0));
  Value room = arith::SubIOp::create(b, e.capacity, at);
  room = arith::SubIOp::create(b, room, e.constant(head));
  room = arith::MaxSIOp::create(b, room, e.constant(0));
  room = arith::DivUIOp::create(b, room, e.constant(kRegionWords));
  room = arith::MinSIOp::create(b, room, e.constant(records));
  at = arith::TruncIOp::create(b, b.getI32Type(), at);
  room = arith::TruncIOp::create(b, b.getI32Type(), room);
  Value hasRoom = both(mask, compare(Predicate::sge, room, i32(needed)));
  store(at, 0, e.constant(e.key | (isHome ? kHomeTag : kBlockTag)), hasRoom);
  if (isHome) {
    store(at, 1, e.programXY, hasRoom);
    store(at, 2, e.programZ, hasRoom);
    store(at, kHomeUnit, clock.read(b, Counter::Unit, false), hasRoom);
    store(at, kHomeStart, clock.read(b, Counter::Cycles, false), hasRoom);
    store(at, kHomeStart + 1, clock.read(b, Counter::Global, false), hasRoom);
    home = at;
    hasHome = hasRoom;
  } else {
    store(at, 1, widen(home), hasRoom);
  }
  return {arith::AddIOp::create(b, at, i32(head)),
          arith::SelectOp::create(b, hasRoom, room, i32(-1))};
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
    State block = takeBlock(e.isThere, needed, /*isHome=*/false);
    scf::YieldOp::create(b, ValueRange{block.next, block.left});
    b.setInsertionPointAfter(taken);
    inner = {taken.getResult(0), taken.getResult(1)};
  }
  Value isLost = compare(Predicate::slt, inner.left, i32(needed));
  e.addTo(e.siteWord(site, kLost), e.constant(needed), both(e.isThere, isLost));
  scf::YieldOp::create(b, ValueRange{inner.next, inner.left});
  return {seldom.getResult(0), seldom.getResult(1)};
}

/// Records the region that ends at `op`, or counts the record as lost.
Regions::State Regions::end(RegionEndOp op, State state) {
  auto begin = op.getHandle().getDefiningOp<RegionBeginOp>();
  unsigned site = e.siteOf(begin);
  bool areWarps = begin.getPerWarp() && n;
  int64_t needed = areWarps ? clock.warps() : 1;
  Value from = begins.lookup(begin),
        now = clock.read(b, Counter::Cycles, areWarps);
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
    auto type = RankedTensorType::get({n}, b.getI32Type());
    Value thread = tt::MakeRangeOp::create(b, type, 0, n);
    Value size = e.splat(i32(clock.threadsOfWarp()), n);
    Value inWarp = arith::RemUIOp::create(b, thread, size);
    mask = compare(Predicate::eq, inWarp, e.splat(i32(0), n));
    mask = both(mask, e.splat(fits, n));
    Value warp =
        arith::ExtUIOp::create(b, RankedTensorType::get({n}, b.getI64Type()),
                               arith::DivUIOp::create(b, thread, size));
    Value bit = e.splat(e.constant(kCycleBits), n);
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

/// Writes when the program has ended.
void Regions::finish() {
  store(home, kHomeEnd, clock.read(b, Counter::Cycles, false), hasHome);
  store(home, kHomeEnd + 1, clock.read(b, Counter::Global, false), hasHome);
}

Regions::State Regions::addArguments(Block &block) {
  Type type = b.getI32Type();
  Value next = block.addArgument(type, b.getLoc());
  return {next, block.addArgument(type, b.getLoc())};
}

LogicalResult Regions::run() {
  State state = takeBlock(e.isThere, /*needed=*/1, /*isHome=*/true);
  for (RegionBeginOp begin : e.regions) {
    b.setInsertionPoint(begin);
    b.setLoc(begin.getLoc());
    if (!begin.getHandle().use_empty())
      begins[begin] = clock.read(b, Counter::Cycles, begin.getPerWarp());
  }
  Region &body = e.kernel.getBody();
  // Other blocks get the numbers as arguments, from each branch.
  SmallVector<State> states{state};
  for (Block &block : llvm::drop_begin(body))
    states.push_back(addArguments(block));
  for (auto [block, own] : llvm::zip(body, states)) {
    if (failed(walk(block, own)))
      return failure();
    Operation *last = block.getTerminator();
    if (auto branch = dyn_cast<BranchOpInterface>(last)) {
      for (unsigned i = 0; i < last->getNumSuccessors(); ++i)
        branch.getSuccessorOperands(i).append({own.next, own.left});
    } else if (isa<tt::ReturnOp>(last)) {
      b.setInsertionPoint(last);
      b.setLoc(last->getLoc());
      finish();
    }
  }
  return success();
}

/// Emits the regions in `block`; `state` becomes that of its end.
LogicalResult Regions::walk(Block &block, State &state) {
  for (Operation &op : llvm::make_early_inc_range(block))
    if (failed(walkOp(op, state)))
      return failure();
  return success();
}

LogicalResult Regions::walkOp(Operation &op, State &state) {
  if (auto ends = dyn_cast<RegionEndOp>(op)) {
    b.setInsertionPoint(ends);
    b.setLoc(ends.getLoc());
    state = end(ends, state);
    return success();
  }
  bool hasRegions = op.walk([](Operation *inner) {
                        return isa<RegionEndOp>(inner) ? WalkResult::interrupt()
                                                       : WalkResult::advance();
                      }).wasInterrupted();
  if (!hasRegions)
    return success();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return walkFor(loop, state);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return walkIf(branch, state);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return walkWhile(loop, state);
  return op.emitOpError()
         << "expected no probe.region_end in this operation: regions are "
            "supported in functions, scf.for, scf.if and scf.while";
}

LogicalResult Regions::walkFor(scf::ForOp op, State &state) {
  IRRewriter rewriter(b.getContext());
  rewriter.setInsertionPoint(op);
  bool hasFailed = false;
  auto yields = [&](OpBuilder &, Location,
                    ArrayRef<BlockArgument> own) -> SmallVector<Value> {
    State inner{own[0], own[1]};
    hasFailed = failed(walk(*op.getBody(), inner));
    return {inner.next, inner.left};
  };
  auto loop = op.replaceWithAdditionalYields(
      rewriter, ValueRange{state.next, state.left},
      /*replaceInitOperandUsesInLoop=*/false, yields);
  if (failed(loop) || hasFailed)
    return failure();
  ResultRange results = (*loop)->getResults().take_back(2);
  state = {results[0], results[1]};
  return success();
}

LogicalResult Regions::walkIf(scf::IfOp op, State &state) {
  b.setInsertionPoint(op);
  b.setLoc(op.getLoc());
  SmallVector<Type> types(op.getResultTypes());
  types.append(2, state.next.getType());
  auto branch = scf::IfOp::create(b, types, op.getCondition(),
                                  /*withElseRegion=*/false);
  branch->setAttrs(op->getAttrs());
  for (auto [from, to] :
       {std::pair(&op.getThenRegion(), &branch.getThenRegion()),
        {&op.getElseRegion(), &branch.getElseRegion()}}) {
    State inner = state;
    if (from->empty()) {
      OpBuilder::InsertionGuard guard(b);
      b.createBlock(to);
      scf::YieldOp::create(b, ValueRange{});
    } else {
      to->takeBody(*from);
      if (failed(walk(to->front(), inner)))
        return failure();
    }
    to->front().getTerminator()->insertOperands(
        op.getNumResults(), ValueRange{inner.next, inner.left});
  }
  ResultRange results = branch.getResults();
  op.replaceAllUsesWith(results.drop_back(2));
  op.erase();
  state = {results.take_back(2)[0], results.take_back(2)[1]};
  return success();
}

LogicalResult Regions::walkWhile(scf::WhileOp op, State &state) {
  b.setInsertionPoint(op);
  b.setLoc(op.getLoc());
  SmallVector<Value> inits(op.getInits());
  inits.append({state.next, state.left});
  SmallVector<Type> types(op.getResultTypes());
  types.append(2, state.next.getType());
  auto loop = scf::WhileOp::create(b, types, inits);
  loop->setAttrs(op->getAttrs());
  loop.getBefore().takeBody(op.getBefore());
  loop.getAfter().takeBody(op.getAfter());
  // scf.condition has one more operand than the loop has results.
  for (auto [region, first] :
       {std::pair(&loop.getBefore(), op.getNumResults() + 1),
        {&loop.getAfter(), op.getInits().size()}}) {
    State inner = addArguments(region->front());
    if (failed(walk(region->front(), inner)))
      return failure();
    region->front().getTerminator()->insertOperands(
        first, ValueRange{inner.next, inner.left});
  }
  ResultRange results = loop.getResults();
  op.replaceAllUsesWith(results.drop_back(2));
  op.erase();
  state = {results.take_back(2)[0], results.take_back(2)[1]};
  return success();
}
