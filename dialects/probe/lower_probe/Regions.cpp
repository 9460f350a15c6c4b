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

int64_t Regions::recordsOfBlock(ArrayRef<RegionBeginOp> regions) {
  bool hasLoops = llvm::any_of(
      regions, [](RegionBeginOp region) { return isInLoop(region); });
  return hasLoops ? kRecordsOfLoops : regions.size();
}

Regions::Regions(Emitter &emitter, Clock &clock)
    : e(emitter), clock(clock), b(emitter.b), n(clock.numThreads()),
      records(recordsOfBlock(emitter.regions)),
      hasLoops(llvm::any_of(emitter.regions, isInLoop)) {}

Value Regions::i32(int32_t value) {
  return each(arith::ConstantOp::create(b, b.getI32IntegerAttr(value)));
}

Value Regions::widen(Value value) {
  Type type = b.getI64Type();
  return arith::ExtUIOp::create(
      b, n ? Type(RankedTensorType::get({n}, type)) : type, value);
}

Value Regions::add(Value left, Value right) {
  return arith::AddIOp::create(b, left, right);
}

Value Regions::both(Value left, Value right) {
  return arith::AndIOp::create(b, left, right);
}

Value Regions::compare(Predicate predicate, Value left, Value right) {
  return arith::CmpIOp::create(b, predicate, left, right);
}

/// Stores to a word behind `place`, an offset in the area of records.
void Regions::store(Value place, int64_t word, Value content, Value mask) {
  Value first = each(e.at(e.records));
  Value offset = widen(place);
  if (word)
    offset = add(offset, i64(word));
  Value pointer = tt::AddPtrOp::create(b, first.getType(), first, offset);
  tt::StoreOp::create(b, pointer, content, mask);
}

/// Takes a block of the buffer for each thread that `mask` chooses.
Regions::State Regions::takeBlock(State state, Value mask, bool isHome) {
  int64_t head = isHome ? kHomeHead : kBlockHead;
  Value zero = i64(0);
  Value cursor = each(e.at(e.constant(kCursor)));
  Value at = e.addTo(cursor, i64(head + kRegionWords * records), mask);
  at = arith::SelectOp::create(b, mask, at, zero);
  Value room = arith::SubIOp::create(b, each(e.capacity), add(at, i64(head)));
  room = arith::DivSIOp::create(b, arith::MaxSIOp::create(b, room, zero),
                                i64(kRegionWords));
  room = arith::MinSIOp::create(b, room, i64(records));
  Type narrow = b.getI32Type();
  if (n)
    narrow = RankedTensorType::get({n}, narrow);
  at = arith::TruncIOp::create(b, narrow, at);
  room = arith::TruncIOp::create(b, narrow, room);
  Value hasRoom = both(mask, compare(Predicate::sgt, room, i32(0)));
  store(at, 0, i64(e.key | (isHome ? kHomeTag : kBlockTag)), hasRoom);
  if (isHome) {
    store(at, 1, each(e.programXY), hasRoom);
    Value high = arith::ShLIOp::create(b, warp, i64(32));
    store(at, 2, arith::OrIOp::create(b, high, each(e.programZ)), hasRoom);
    store(at, kHomeUnit, clock.read(b, Counter::Unit, n), hasRoom);
    store(at, kHomeStart, clock.read(b, Counter::Cycles, n), hasRoom);
    store(at, kHomeStart + 1, clock.read(b, Counter::Global, n), hasRoom);
    home = at;
    hasHome = hasRoom;
  } else {
    store(at, 1, widen(home), hasRoom);
  }
  Value left = arith::SelectOp::create(b, hasRoom, room, i32(-1));
  return {arith::SelectOp::create(b, mask, add(at, i32(head)), state.next),
          arith::SelectOp::create(b, mask, left, state.left)};
}

/// Finds out which threads record, and takes their first blocks.
Regions::State Regions::start() {
  if (n) {
    auto type = RankedTensorType::get({n}, b.getI32Type());
    Value thread = tt::MakeRangeOp::create(b, type, 0, n);
    isFirst = compare(Predicate::eq, thread, i32(0));
    Value size = i32(clock.threadsOfWarp());
    isOfWarp =
        compare(Predicate::eq, arith::RemUIOp::create(b, thread, size), i32(0));
    warp = widen(arith::DivUIOp::create(b, thread, size));
  } else {
    isFirst = isOfWarp = e.truth(true);
    warp = e.constant(0);
  }
  Value isThere = each(e.isThere);
  isFirst = both(isFirst, isThere);
  isOfWarp = both(isOfWarp, isThere);
  bool areWarps = llvm::any_of(
      e.regions, [](RegionBeginOp region) { return region.getPerWarp(); });
  isUsed = areWarps ? isOfWarp : isFirst;
  return takeBlock({i32(0), i32(-1)}, isUsed, /*isHome=*/true);
}

/// Records the region that ends at `op`, or counts the record as lost.
Regions::State Regions::end(RegionEndOp op, State state) {
  auto begin = op.getHandle().getDefiningOp<RegionBeginOp>();
  unsigned site = e.siteOf(begin);
  Value mask = begin.getPerWarp() ? isOfWarp : isFirst;
  Value from = begins.lookup(begin), now = clock.read(b, Counter::Cycles, n);
  if (hasLoops) {
    Value isEmpty = compare(Predicate::eq, state.left, i32(0));
    state = takeBlock(state, both(mask, isEmpty), /*isHome=*/false);
  }
  Value fits = both(mask, compare(Predicate::sgt, state.left, i32(0)));
  Value isLost = both(mask, compare(Predicate::slt, state.left, i32(0)));
  // The site is in the high bits of the duration.
  Value cycles = arith::SubIOp::create(b, now, from);
  cycles = both(cycles, i64((int64_t(1) << kCycleBits) - 1));
  cycles =
      arith::OrIOp::create(b, cycles, i64(int64_t(site + 1) << kCycleBits));
  store(state.next, 0, from, fits);
  store(state.next, 1, cycles, fits);
  e.addTo(each(e.siteWord(site, kLost)), i64(1), isLost);
  Value zero = i32(0);
  Value by = arith::SelectOp::create(b, fits, i32(kRegionWords), zero);
  Value one = arith::SelectOp::create(b, fits, i32(1), zero);
  return {add(state.next, by), arith::SubIOp::create(b, state.left, one)};
}

/// Writes when the program has ended.
void Regions::finish() {
  Value mask = both(isUsed, hasHome);
  store(home, kHomeEnd, clock.read(b, Counter::Cycles, n), mask);
  store(home, kHomeEnd + 1, clock.read(b, Counter::Global, n), mask);
}

Regions::State Regions::addArguments(Block &block) {
  Type type = b.getI32Type();
  if (n)
    type = RankedTensorType::get({n}, type);
  Value next = block.addArgument(type, b.getLoc());
  return {next, block.addArgument(type, b.getLoc())};
}

LogicalResult Regions::run() {
  State state = start();
  for (RegionBeginOp begin : e.regions) {
    b.setInsertionPoint(begin);
    b.setLoc(begin.getLoc());
    if (!begin.getHandle().use_empty())
      begins[begin] = clock.read(b, Counter::Cycles, n);
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
