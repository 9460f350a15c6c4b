// SPDX-License-Identifier: Apache-2.0
//
// What looks at shadows share, and the look for `uninit`: compares some lanes
// of an access with the bits of the shadow, and sets those of what it writes.

#include "Bits.h"
#include "Bounds.h"
#include "Shadow.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "probe/Probe.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::sanitizer;
namespace tt = mlir::triton;
using P = arith::CmpIPredicate;
using Kind = MemoryAccess::Kind;

Value mlir::triton_ext::sanitizer::numberLike(int64_t value, Type like,
                                              ImplicitLocOpBuilder &b) {
  Type element = getElementTypeOrSelf(like);
  auto attribute = b.getIntegerAttr(
      element, APInt(element.getIntOrFloatBitWidth(), value, /*isSigned=*/true,
                     /*implicitTrunc=*/true));
  if (auto tensor = dyn_cast<RankedTensorType>(like))
    return arith::ConstantOp::create(b,
                                     DenseElementsAttr::get(tensor, attribute));
  return arith::ConstantOp::create(b, attribute);
}

Type mlir::triton_ext::sanitizer::withElement(Type type, Type element) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? Type(tensor.clone(element)) : element;
}

Value mlir::triton_ext::sanitizer::negated(Value value,
                                           ImplicitLocOpBuilder &b) {
  return arith::XOrIOp::create(b, value, numberLike(1, value.getType(), b));
}

Offsets mlir::triton_ext::sanitizer::offsetsOf(Value address, int64_t bytes,
                                               Value mask,
                                               const ShadowWords &words,
                                               ImplicitLocOpBuilder &b) {
  Type type = address.getType();
  Value start = inLanes(words.start, type, b);
  Offsets found;
  found.offset = arith::SubIOp::create(b, address, start);
  Value isBehind = arith::CmpIOp::create(b, P::sge, address, start);
  Value isBefore = arith::CmpIOp::create(
      b, P::sle, address, lastStart(inLanes(words.end, type, b), bytes, b));
  Value rest =
      arith::AndIOp::create(b, found.offset, numberLike(bytes - 1, type, b));
  Value isAligned =
      arith::CmpIOp::create(b, P::eq, rest, numberLike(0, type, b));
  found.isOn = isBehind;
  for (Value condition : {isBefore, isAligned, mask})
    if (condition)
      found.isOn = arith::AndIOp::create(b, found.isOn, condition);
  return found;
}

Value mlir::triton_ext::sanitizer::shadowAt(const ShadowWords &words,
                                            Value byte, Type word,
                                            ImplicitLocOpBuilder &b) {
  Value base = inLanes(words.shadow, byte.getType(), b);
  Value address = arith::AddIOp::create(b, base, byte);
  return tt::IntToPtrOp::create(
      b, withElement(byte.getType(), tt::PointerType::get(word)), address);
}

/// Adds to a note what the host has to know of each look.
void ShadowChecker::addTo(llvm::json::Object &note,
                          const ShadowAccess &one) const {
  note["address"] = true;
  note["argument"] = int64_t(one.argument);
  checker.addTo(note, one.check(), one.access.op);
}

/// Records the lanes in which `isWrong` is true: for the first one its address,
/// and of each tensor of `words`, which the note names, an i64.
void ShadowChecker::reportIf(const ShadowAccess &one, const SomeLanes &lanes,
                             Value isWrong, llvm::json::Object note,
                             ArrayRef<Value> words, ImplicitLocOpBuilder &b) {
  auto look = scf::IfOp::create(b, anyOf(b, isWrong), /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(look.thenBlock());
  SmallVector<Value> values{addressOf(lanes.pointer, b)};
  llvm::append_range(values, words);
  Value count = arith::ConstantOp::create(b, b.getI64IntegerAttr(1));
  Value lane = arith::ConstantOp::create(b, b.getI32IntegerAttr(-1));
  if (auto type = dyn_cast<RankedTensorType>(values.front().getType())) {
    int64_t n = type.getNumElements();
    auto narrow = RankedTensorType::get({n}, b.getI32Type());
    isWrong = reshaped(b, isWrong, {n});
    Value places = lanes.number;
    if (!places)
      places = tt::MakeRangeOp::create(b, narrow, 0, n);
    count =
        reduce<arith::AddIOp>(b, arith::ExtUIOp::create(b, narrow, isWrong));
    count = arith::ExtUIOp::create(b, b.getI64Type(), count);
    lane = reduce<arith::MinUIOp>(
        b,
        arith::SelectOp::create(b, isWrong, places, numberLike(-1, narrow, b)));
    Value isFirst =
        arith::CmpIOp::create(b, P::eq, places, inLanes(lane, narrow, b));
    for (Value &value : values) {
      value = reshaped(b, value, {n});
      value = reduce<arith::OrIOp>(
          b, arith::SelectOp::create(b, isFirst, value,
                                     numberLike(0, value.getType(), b)));
    }
  }
  addTo(note, one);
  Value site = arith::ConstantOp::create(b, b.getI32IntegerAttr(0));
  values.insert(values.begin(), Checker::wordAt(b, 2));
  auto op = probe::FailuresOp::create(
      b, site, count, lane, values, b.getStrArrayAttr({one.check()}),
      b.getStrArrayAttr({StringRef(textOf(std::move(note)))}),
      b.getArrayAttr({Attribute(one.access.op->getLoc())}));
  op->setAttr("probe.rules", b.getStringAttr("sanitize"));
}

/// Returns a number of a look, `isOn` or false. Looks that differ in it only
/// can be merged, so it is a constant if accesses of the kernel differ in it.
Value ShadowChecker::flagged(Value isOn, bool flag, ImplicitLocOpBuilder &b) {
  Value known = arith::ConstantOp::create(b, b.getBoolAttr(flag));
  return arith::AndIOp::create(b, isOn, inLanes(known, isOn.getType(), b));
}

Value mlir::triton_ext::sanitizer::ownResult(Operation *op) {
  markOwn(op);
  return op->getResult(0);
}

Value mlir::triton_ext::sanitizer::atomicOr(Value pointer, Value bits,
                                            Value mask,
                                            ImplicitLocOpBuilder &b) {
  return ownResult(tt::AtomicRMWOp::create(
      b, bits.getType(), tt::RMWOp::OR, pointer, bits, mask,
      tt::MemSemantic::RELAXED, tt::MemSyncScope::GPU));
}

/// A bit of the shadow says that a byte of the storage was written. What an
/// access reads must be, and what it writes will be.
void ShadowChecker::checkInit(const ShadowAccess &one, const ShadowWords &words,
                              const SomeLanes &lanes, ImplicitLocOpBuilder &b) {
  auto [offset, isOn] = offsetsOf(addressOf(lanes.pointer, b),
                                  one.access.laneBytes, lanes.mask, words, b);
  // An aligned element of 8 bytes or less has all of its bits in one word.
  Type i32 = b.getI32Type(), wide = offset.getType(),
       narrow = withElement(wide, i32);
  Value byte = arith::ShRUIOp::create(b, offset, numberLike(5, wide, b));
  byte = arith::ShLIOp::create(b, byte, numberLike(2, wide, b));
  Value bit = arith::AndIOp::create(b, offset, numberLike(31, wide, b));
  Value bits = arith::ShLIOp::create(
      b, numberLike((int64_t(1) << one.access.laneBytes) - 1, narrow, b),
      arith::TruncIOp::create(b, narrow, bit));
  Value pointer = shadowAt(words, byte, i32, b);
  // Volatile: another thread of the program may have written the word since
  // this one has read it.
  auto load = tt::LoadOp::create(b, pointer, isOn, numberLike(0, narrow, b),
                                 /*isVolatile=*/true);
  Value written = arith::AndIOp::create(b, ownResult(load), bits);
  Value ok = arith::CmpIOp::create(b, P::eq, written, bits);
  bool isMixed = this->isMixed(one);
  if (one.reads() || isMixed) {
    Value isWrong = arith::AndIOp::create(b, negated(ok, b), isOn);
    if (isMixed)
      isWrong = flagged(isWrong, one.reads(), b);
    reportIf(one, lanes, isWrong,
             llvm::json::Object{{"values", llvm::json::Array()}}, {}, b);
  }
  if (!one.writes() && !isMixed)
    return;
  Value isMarked = arith::AndIOp::create(b, negated(ok, b), isOn);
  if (isMixed)
    isMarked = flagged(isMarked, one.writes(), b);
  atomicOr(pointer, bits, isMarked, b);
}
