// SPDX-License-Identifier: Apache-2.0
//
// The launch slot: the words that describe the arguments of a launch, and the
// way from there to the session's buffer.

#include "Emitter.h"
#include "Layout.h"

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

/// Replaces each launch word by a load where it stands.
LogicalResult Emitter::readLaunchWords() {
  int64_t size = kSlotHead + kArgumentWords * kernel.getNumArguments();
  for (LaunchWordOp op : sites.launchWords) {
    if (op.getWord() >= size)
      return op.emitOpError()
             << "expected a word below " << size << ", the size of the slot of "
             << kernel.getNumArguments() << " arguments, got " << op.getWord();
    b.setInsertionPoint(op);
    b.setLoc(op.getLoc());
    op.replaceAllUsesWith(
        loadSlot(op.getWord(), op.getOffset(), op.getOtherwise().value_or(0)));
  }
  return success();
}

/// Returns whether a check is one with a note in a kernel with a slot: of a
/// pass that has put it where the program comes only if something is wrong.
bool Emitter::isLate(Operation *op) const {
  return !sites.launchWords.empty() && hasNote(op) &&
         isa<CheckOp, FailuresOp>(op);
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
/// With `next`, the site behind it, the code runs twice, and not at all without
/// a slot, which also keeps LLVM from unrolling it.
void Emitter::emitLate(unsigned site, CheckOp check, CheckOp next) {
  int64_t n = numLanesOf(check);
  Value condition = check.getCondition(), kind;
  if (next) {
    Type i32 = b.getI32Type();
    auto number = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(b, b.getIntegerAttr(i32, value));
    };
    Value end = arith::SelectOp::create(b, hasSlot, number(2), number(0));
    auto loop = scf::ForOp::create(b, number(0), end, number(1));
    b.setInsertionPointToStart(loop.getBody());
    Value isNext = arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                         loop.getInductionVar(), number(0));
    condition = arith::SelectOp::create(b, isNext, next.getCondition(),
                                        check.getCondition());
    kind = arith::ExtUIOp::create(b, b.getI64Type(), loop.getInductionVar());
  }
  Value hasFailed =
      arith::XOrIOp::create(b, flat(condition, n), splat(truth(true), n));
  if (Value mask = check.getMask())
    hasFailed = arith::AndIOp::create(b, hasFailed, flat(mask, n));
  Value any = hasFailed, count = constant(1), lane = constant(0xFFFFFFFF);
  SmallVector<Value> values(check.getValues());
  if (n) {
    auto narrow = RankedTensorType::get({n}, b.getI32Type());
    auto number = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
    };
    Value place = tt::MakeRangeOp::create(b, narrow, 0, n);
    Value rest = arith::SubIOp::create(b, splat(number(n), n), place);
    rest = arith::SelectOp::create(b, hasFailed, rest, splat(number(0), n));
    Value most = reduce(rest, tt::RMWOp::UMAX);
    Value first = arith::SubIOp::create(b, number(n), most);
    any = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, most, number(0));
    count = numberOf(hasFailed);
    lane = arith::ExtUIOp::create(b, b.getI64Type(), first);
    Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, place,
                                          splat(first, n));
    for (Value &value : values)
      if (isa<RankedTensorType>(value.getType()))
        value = reduce(arith::SelectOp::create(b, isFirst, bits(value, n),
                                               splat(constant(0), n)),
                       tt::RMWOp::UMAX);
  }
  any = arith::AndIOp::create(b, any, hasSlot);
  int64_t counters = kSlotHead + kArgumentWords * kernel.getNumArguments() +
                     kSlotCounters * site;
  auto counter = [&](int64_t word) {
    Value place = slotWord(counters + word);
    if (!kind)
      return place;
    Value offset = arith::MulIOp::create(b, kind, constant(kSlotCounters));
    return Value(tt::AddPtrOp::create(b, place.getType(), place, offset));
  };
  auto pick = [&](Value mask, Value value) {
    return Value(arith::SelectOp::create(b, mask, value, constant(0)));
  };
  addTo(counter(kCount), count, any);
  Value run = pick(any, addTo(counter(kRuns), constant(1), any));
  Value isWanted = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, run,
                                         constant(kMostRuns));
  isWanted = arith::AndIOp::create(b, isWanted, any);

  Value size = constant(kRecordHead + values.size());
  Value buffer =
      tt::IntToPtrOp::create(b, shared.getType(), loadSlot(kSlotBuffer));
  Value cursor =
      tt::AddPtrOp::create(b, shared.getType(), buffer, constant(kCursor));
  Value start = pick(isWanted, addTo(cursor, size, isWanted));
  Value fits = arith::CmpIOp::create(b, arith::CmpIPredicate::sle,
                                     arith::AddIOp::create(b, start, size),
                                     loadSlot(kSlotCapacity));
  Value isLost = arith::XOrIOp::create(b, fits, truth(true));
  addTo(counter(kLost), constant(1),
        arith::AndIOp::create(b, isLost, isWanted));
  Value area =
      tt::AddPtrOp::create(b, shared.getType(), buffer, loadSlot(kSlotPool));
  Value tag = constant(sites.key | (site + 1));
  if (kind)
    tag = arith::AddIOp::create(b, tag, kind);
  writeRecords(tag, lane, values, area, start,
               arith::AndIOp::create(b, fits, isWanted));
}

/// Counts the failures of one of the checks that `op` stands for, and writes
/// the record of its first lane unless there are many of them.
LogicalResult Emitter::emitFailures(unsigned site, FailuresOp op) {
  if (sites.launchWords.empty())
    return op->emitOpError()
           << "expected a launch word in the kernel, by which "
              "it has a slot";
  Value hasFailed = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt,
                                          op.getCount(), constant(0));
  hasFailed = arith::AndIOp::create(b, hasFailed, hasSlot);
  auto branch = scf::IfOp::create(b, hasFailed, /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
  Type i64 = b.getI64Type(), pointer = shared.getType();
  Value number = arith::ExtUIOp::create(b, i64, op.getSite()),
        always = truth(true);
  Value counters =
      slotWord(kSlotHead + kArgumentWords * kernel.getNumArguments() +
               kSlotCounters * int64_t(site));
  counters = tt::AddPtrOp::create(
      b, pointer, counters,
      arith::MulIOp::create(b, number, constant(kSlotCounters)));
  addTo(counters, op.getCount(), always);
  Value run = addTo(tt::AddPtrOp::create(b, pointer, counters, constant(kRuns)),
                    constant(1), always);
  Value isWanted = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, run,
                                         constant(kMostRuns));
  Value size = constant(kRecordHead + op.getValues().size());
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
  Value tag =
      arith::AddIOp::create(b, constant(sites.key | (site + 1)), number);
  writeRecords(tag, arith::ExtUIOp::create(b, i64, op.getLane()),
               op.getValues(), area, start, fits);
  return success();
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
  if (offset)
    place = tt::AddPtrOp::create(b, place.getType(), place, offset);
  return tt::LoadOp::create(b, place, hasSlot, constant(otherwise));
}
