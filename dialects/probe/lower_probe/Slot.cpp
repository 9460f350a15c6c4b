// SPDX-License-Identifier: Apache-2.0
//
// The launch slot: the words that describe the arguments of a launch, and the
// way from there to the session's buffer.

#include "Clock.h"
#include "Emitter.h"
#include "Layout.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::triton_ext::lower_probe;
using namespace mlir::triton_ext::probe;
namespace tt = mlir::triton;

/// Finds the buffer that the slot names. Without a slot, it finds none.
void Emitter::followSlot() {
  base = tt::IntToPtrOp::create(b, shared.getType(), loadSlot(kSlotBuffer));
  isThere = hasSlot;
}

/// Returns the number of the first word of a slot that counts for a site.
int64_t Emitter::countersOf(unsigned site) {
  return kSlotHead + kArgumentWords * kernel.getNumArguments() +
         kSlotCounters * int64_t(site);
}

LogicalResult Emitter::checkLaunchWords() {
  int64_t size = kSlotHead + kArgumentWords * kernel.getNumArguments();
  for (LaunchWordOp op : sites.launchWords) {
    if (op.getWord() >= size)
      return op.emitOpError()
             << "expected a word below " << size << ", the size of the slot of "
             << kernel.getNumArguments() << " arguments, got " << op.getWord();
  }
  return success();
}

/// Replaces each launch word by a load where it stands.
void Emitter::readLaunchWords() {
  for (LaunchWordOp op : sites.launchWords) {
    b.setInsertionPoint(op);
    b.setLoc(op.getLoc());
    op.replaceAllUsesWith(
        loadSlot(op.getWord(), op.getOffset(), op.getOtherwise().value_or(0)));
  }
}

/// Returns whether a check has a note, in a kernel with a slot. The pass that
/// wrote the note has put it where programs come only if something is wrong.
bool Emitter::isLate(Operation *op) const {
  return sites.hasSlot && hasNote(op) &&
         isa<CheckOp, FailuresOp, OutsideOp, ShadowOp>(op);
}

/// Counts the lanes of a check that have failed, and records the first one.
///
/// The counters are in the slot, so the prologue has no part in the check, and
/// a program that does not come here keeps no registers for it.
///
/// A store for each lane would cost more than it tells: TritonGPUCoalesce takes
/// the slices of each operation on a tensor of pointers through the whole
/// kernel, which made a matrix product with six of these checks compile for 1.1
/// seconds longer.
///
/// With `next`, the check of the next site, the code is a loop of two
/// iterations; of none without a slot, which also keeps LLVM from unrolling it.
void Emitter::emitLate(unsigned site, CheckOp check, CheckOp next) {
  OpBuilder::InsertionGuard guard(b);
  int64_t n = numLanesOf(check);
  Value condition = check.getCondition(), number = constant(0);
  if (next) {
    Type i32 = b.getI32Type();
    auto turn = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(b, b.getIntegerAttr(i32, value));
    };
    Value end = arith::SelectOp::create(b, hasSlot, turn(2), turn(0));
    auto loop = scf::ForOp::create(b, turn(0), end, turn(1));
    b.setInsertionPointToStart(loop.getBody());
    Value isNext = arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                         loop.getInductionVar(), turn(0));
    condition = arith::SelectOp::create(b, isNext, next.getCondition(),
                                        check.getCondition());
    number = arith::ExtUIOp::create(b, b.getI64Type(), loop.getInductionVar());
  }
  Value hasFailed =
      arith::XOrIOp::create(b, flat(condition, n), splat(truth(true), n));
  if (Value mask = check.getMask())
    hasFailed = arith::AndIOp::create(b, hasFailed, flat(mask, n));
  Value count = constant(1), lane = constant(0xFFFFFFFF);
  SmallVector<Value> values(check.getValues());
  if (n) {
    auto narrow = RankedTensorType::get({n}, b.getI32Type());
    auto turned = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
    };
    Value place = tt::MakeRangeOp::create(b, narrow, 0, n);
    Value rest = arith::SubIOp::create(b, splat(turned(n), n), place);
    rest = arith::SelectOp::create(b, hasFailed, rest, splat(turned(0), n));
    Value most = reduce(rest, tt::RMWOp::UMAX);
    Value first = arith::SubIOp::create(b, turned(n), most);
    count = numberOf(hasFailed);
    hasFailed =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ne, most, turned(0));
    lane = arith::ExtUIOp::create(b, b.getI64Type(), first);
    Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, place,
                                          splat(first, n));
    for (Value &value : values)
      if (isa<RankedTensorType>(value.getType()))
        value = reduce(arith::SelectOp::create(b, isFirst, bits(value, n),
                                               splat(constant(0), n)),
                       tt::RMWOp::UMAX);
  }
  recordFailure(site, number, hasFailed, count, lane, values);
}

/// Counts in the slot how often the condition is true.
void Emitter::emitRaise(RaiseOp op) {
  b.setInsertionPoint(op);
  b.setLoc(op.getLoc());
  Value mask = arith::AndIOp::create(b, op.getCondition(), hasSlot);
  addTo(slotWord(flagWord()), constant(1), mask);
}

/// Counts the failures of one of the checks that `op` stands for, and writes
/// the record of its first lane unless there are many of them.
LogicalResult Emitter::emitFailures(unsigned site, FailuresOp op) {
  if (!sites.hasSlot)
    return op->emitOpError()
           << "expected a launch word in the kernel, by which "
              "it has a slot";
  Value hasFailed = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt,
                                          op.getCount(), constant(0));
  Type i64 = b.getI64Type();
  recordFailure(site, arith::ExtUIOp::create(b, i64, op.getSite()), hasFailed,
                op.getCount(), arith::ExtUIOp::create(b, i64, op.getLane()),
                op.getValues());
  return success();
}

/// Where `hasFailed` is on, adds `count` and one run to the counters of the
/// site that is `number` behind `site`, and writes a record unless there are
/// many of them. A branch, because in it nothing needs a mask.
void Emitter::recordFailure(unsigned site, Value number, Value hasFailed,
                            Value count, Value lane, ValueRange values) {
  hasFailed = arith::AndIOp::create(b, hasFailed, hasSlot);
  auto branch = scf::IfOp::create(b, hasFailed, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Type pointer = shared.getType();
  Value always = truth(true);
  Value counters = slotWord(countersOf(site));
  bool isOne = matchPattern(number, m_Zero());
  if (!isOne)
    counters = tt::AddPtrOp::create(
        b, pointer, counters,
        arith::MulIOp::create(b, number, constant(kSlotCounters)));
  addTo(counters, count, always);
  Value run = addTo(tt::AddPtrOp::create(b, pointer, counters, constant(kRuns)),
                    constant(1), always);
  Value isWanted = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, run,
                                         constant(kMostRuns));
  Value size = constant(kRecordHead + values.size());
  Value buffer = tt::IntToPtrOp::create(b, pointer, loadSlot(kSlotBuffer));
  Value cursor = tt::AddPtrOp::create(b, pointer, buffer, constant(kCursor));
  Value start = addTo(cursor, size, isWanted);
  Value end = arith::AddIOp::create(b, start, size);
  Value fits = arith::CmpIOp::create(b, arith::CmpIPredicate::sle, end,
                                     loadSlot(kSlotCapacity));
  // A record that does not fit is not counted as lost: the host knows it by the
  // number of runs.
  fits = arith::AndIOp::create(b, fits, isWanted);
  Value area = tt::AddPtrOp::create(b, pointer, buffer, loadSlot(kSlotPool));
  Value tag = constant(sites.key | (site + 1));
  if (!isOne)
    tag = arith::AddIOp::create(b, tag, number);
  writeRecords(tag, lane, values, area, start, fits);
}

CheckOp Emitter::partnerOf(unsigned site) const {
  auto check = dyn_cast<CheckOp>(sites.ops[site]);
  auto next = site + 1 < sites.ops.size()
                  ? dyn_cast<CheckOp>(sites.ops[site + 1])
                  : CheckOp();
  if (!check || !next || !isLate(check) || !isLate(next) ||
      check->getBlock() != next->getBlock() ||
      check.getValues() != next.getValues() ||
      check.getMask() != next.getMask() ||
      check.getCondition().getType() != next.getCondition().getType())
    return {};
  for (Operation *op = check->getNextNode(); op != next; op = op->getNextNode())
    if (!isMemoryEffectFree(op) && !isa<tt::LoadOp>(op))
      return {};
  return next;
}

Value Emitter::slotWord(int64_t word) {
  return tt::AddPtrOp::create(b, shared.getType(), shared, constant(word));
}

Value Emitter::loadSlot(int64_t word, Value offset, int64_t otherwise) {
  Value place = slotWord(word);
  // Whatever the allocator returns has so many bytes. On a CPU and for AMD, a
  // scalar load with a mask is a branch.
  bool isThere = !offset && word < kSlotStride / 8;
  if (isThere && clock.isKnown() && !clock.hasPtx())
    return arith::SelectOp::create(b, hasSlot, tt::LoadOp::create(b, place),
                                   constant(otherwise));
  if (offset)
    place = tt::AddPtrOp::create(b, place.getType(), place, offset);
  return tt::LoadOp::create(b, place, hasSlot, constant(otherwise));
}
