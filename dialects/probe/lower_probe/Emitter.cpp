// SPDX-License-Identifier: Apache-2.0
//
// Lowers the probes of one kernel to tt. Layout.h describes the buffer that
// they write to.

#include "Emitter.h"
#include "Layout.h"
#include "Regions.h"

using namespace mlir;
using namespace mlir::triton_ext::lower_probe;
using namespace mlir::triton_ext::probe;
namespace tt = mlir::triton;

LogicalResult Emitter::run() {
  if (clock.isKnown())
    numThreads = clock.numThreads();
  if ((!sites.clocks.empty() || !sites.regions.empty()) && !clock.isKnown()) {
    Operation *op =
        sites.clocks.empty() ? sites.regions.front() : sites.clocks.front();
    return op->emitOpError() << "expected a module with the attribute '"
                             << kTarget << "' that names a known target";
  }
  for (ClockOp op : sites.clocks) {
    b.setInsertionPoint(op);
    b.setLoc(op.getLoc());
    op.replaceAllUsesWith(clock.read(b, Counter::Cycles, /*isTensor=*/false));
  }
  if (sites.ops.empty() && sites.launchWords.empty() && sites.raises.empty())
    return success();
  b.setInsertionPointToStart(&kernel.getBody().front());
  b.setLoc(kernel.getLoc());
  Regions regions(*this, clock);
  Operation *first = firstProbe();
  if (!sites.regions.empty())
    regions.readStart(first);
  if (first)
    b.setInsertionPoint(first);
  if (failed(checkLaunchWords()))
    return failure();
  if (!emitInPtx()) {
    emitPrologue();
    if (!sites.regions.empty() && failed(regions.run(first)))
      return failure();
    readLaunchWords();
    for (RaiseOp op : sites.raises)
      emitRaise(op);
  }
  for (unsigned site = 0; site < sites.ops.size(); ++site) {
    Operation *op = sites.ops[site];
    if (isa<RegionBeginOp>(op))
      continue;
    if (auto failures = dyn_cast<FailuresOp>(op)) {
      b.setInsertionPoint(op);
      b.setLoc(op->getLoc());
      if (failed(emitFailures(site, failures)))
        return failure();
      site += failures.getMessages().size() - 1;
      continue;
    }
    if (isa<OutsideOp, ShadowOp>(op)) {
      b.setInsertionPoint(op);
      b.setLoc(op->getLoc());
      auto outside = dyn_cast<OutsideOp>(op);
      if (failed(outside ? emitOutside(site, outside)
                         : emitShadow(site, cast<ShadowOp>(op))))
        return failure();
      continue;
    }
    if (CheckOp next = partnerOf(site)) {
      b.setInsertionPoint(next); // behind the conditions of both
      b.setLoc(op->getLoc());
      auto check = cast<CheckOp>(op);
      if (!callRuntime(site, check))
        emitLate(site, check, next);
      ++site;
      continue;
    }
    b.setInsertionPoint(op);
    b.setLoc(op->getLoc());
    emit(site, op);
  }
  return success();
}

/// Returns the operation of the kernel's body that is the first one with a
/// probe, or null if the body has several blocks. What the probes share is
/// emitted before it, so that its values are not kept in registers until then.
Operation *Emitter::firstProbe() {
  Region &body = kernel.getBody();
  if (!body.hasOneBlock())
    return nullptr;
  SmallVector<Operation *> probes(sites.ops);
  llvm::append_range(probes, sites.launchWords);
  llvm::append_range(probes, sites.raises);
  Operation *first = nullptr;
  for (Operation *op : probes) {
    Operation *own = body.findAncestorOpInRegion(*op);
    if (!first || own->isBeforeInBlock(first))
      first = own;
  }
  return first;
}

void Emitter::emit(unsigned site, Operation *op) {
  if (auto histogram = dyn_cast<HistogramOp>(op))
    return emitHistogram(site, histogram);
  if (auto minmax = dyn_cast<MinMaxOp>(op))
    return emitMinMax(site, minmax);
  if (auto stats = dyn_cast<StatsOp>(op))
    return emitStats(site, stats);
  if (auto count = dyn_cast<CountOp>(op)) {
    Lanes lanes = lanesOf(op, count.getMask(), false, {});
    addTo(siteWord(site, kCount), lanes.count, isThere);
    return;
  }
  if (auto record = dyn_cast<RecordOp>(op)) {
    emitRecords(site, lanesOf(op, record.getMask(), false, {}),
                record.getValues());
    return;
  }
  auto check = cast<CheckOp>(op);
  if (isLate(op))
    emitLate(site, check, /*next=*/{});
  else
    emitCheck(site, check);
}

Value Emitter::constant(int64_t value) {
  return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
}

Value Emitter::truth(bool value) {
  return arith::ConstantOp::create(b, b.getBoolAttr(value));
}

/// Returns the address of a word of the buffer.
Value Emitter::at(Value words) {
  return tt::AddPtrOp::create(b, base.getType(), base, words);
}

/// Loads a word of the header, which is one only where `isThere` is on. Without
/// a slot, the base is an allocation of this size in any case: the load needs
/// no mask, and so does not wait for the magic number.
Value Emitter::loadHeader(int64_t word) {
  Value place = at(constant(word));
  if (!sites.hasSlot)
    return tt::LoadOp::create(b, place);
  return tt::LoadOp::create(b, place, isThere, constant(0));
}

/// Adds atomically where the mask is on, and returns the old value, which is
/// undefined where it is off.
Value Emitter::addTo(Value pointer, Value amount, Value mask) {
  return update(tt::RMWOp::ADD, pointer, amount, mask);
}

/// As addTo, for any atomic operation.
Value Emitter::update(tt::RMWOp kind, Value pointer, Value value, Value mask) {
  return tt::AtomicRMWOp::create(b, value.getType(), kind, pointer, value, mask,
                                 tt::MemSemantic::RELAXED,
                                 tt::MemSyncScope::GPU);
}

/// Repeats a scalar for each lane; leaves it a scalar if there are no lanes.
Value Emitter::splat(Value value, int64_t numLanes) {
  if (!numLanes)
    return value;
  return tt::SplatOp::create(
      b, RankedTensorType::get({numLanes}, value.getType()), value);
}

/// Returns `value` with one axis, in row-major order; repeats a scalar.
Value Emitter::flat(Value value, int64_t numLanes) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  if (!tensor)
    return splat(value, numLanes);
  if (tensor.getRank() == 1)
    return value;
  auto type = RankedTensorType::get({numLanes}, tensor.getElementType());
  return tt::ReshapeOp::create(b, type, value, /*allow_reorder=*/false);
}

/// Combines the lanes of a tensor with one axis; returns a scalar as it is.
Value Emitter::reduce(Value values, tt::RMWOp kind) {
  auto tensor = dyn_cast<RankedTensorType>(values.getType());
  if (!tensor)
    return values;
  auto op = tt::ReduceOp::create(b, ValueRange{values}, /*axis=*/0);
  OpBuilder::InsertionGuard guard(b);
  Location loc = b.getLoc();
  Type type = tensor.getElementType();
  Block *body = b.createBlock(&op.getCombineOp(), {}, {type, type}, {loc, loc});
  Value left = body->getArgument(0), right = body->getArgument(1), both;
  if (kind == tt::RMWOp::UMAX)
    both = arith::MaxUIOp::create(b, left, right);
  else if (kind == tt::RMWOp::FADD)
    both = arith::AddFOp::create(b, left, right);
  else
    both = arith::AddIOp::create(b, left, right);
  tt::ReduceReturnOp::create(b, both);
  return op->getResult(0);
}
