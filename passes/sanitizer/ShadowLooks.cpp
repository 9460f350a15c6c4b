// SPDX-License-Identifier: Apache-2.0
//
// Emits a look at a shadow: compares some lanes of an access with the words of
// the shadow, and adds the access to them. RATIONALE.md describes the words.

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

static Type withElement(Type type, Type element) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? Type(tensor.clone(element)) : element;
}

static Value negated(Value value, ImplicitLocOpBuilder &b) {
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

/// Records the lanes in which `ok` is false.
void ShadowChecker::reportIf(const ShadowAccess &one, const SomeLanes &lanes,
                             Value isOn, Value ok, ImplicitLocOpBuilder &b) {
  Value isWrong = arith::AndIOp::create(b, negated(ok, b), isOn);
  auto look = scf::IfOp::create(b, anyOf(isWrong, b), /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(look.thenBlock());
  Value address = addressOf(lanes.pointer, b);
  Value count = arith::ConstantOp::create(b, b.getI64IntegerAttr(1));
  Value lane = arith::ConstantOp::create(b, b.getI32IntegerAttr(-1));
  if (auto type = dyn_cast<RankedTensorType>(address.getType())) {
    int64_t n = type.getNumElements();
    auto narrow = RankedTensorType::get({n}, b.getI32Type());
    isWrong = reshaped(b, isWrong, {n});
    address = reshaped(b, address, {n});
    Value places = lanes.number;
    if (!places)
      places = tt::MakeRangeOp::create(b, narrow, 0, n);
    count =
        reduce<arith::AddIOp>(arith::ExtUIOp::create(b, narrow, isWrong), b);
    count = arith::ExtUIOp::create(b, b.getI64Type(), count);
    lane = reduce<arith::MinUIOp>(
        arith::SelectOp::create(b, isWrong, places, numberLike(-1, narrow, b)),
        b);
    Value isFirst =
        arith::CmpIOp::create(b, P::eq, places, inLanes(lane, narrow, b));
    address = reduce<arith::OrIOp>(
        arith::SelectOp::create(b, isFirst, address,
                                numberLike(0, address.getType(), b)),
        b);
  }
  llvm::json::Object note{{"address", true},
                          {"argument", int64_t(one.argument)},
                          {"values", llvm::json::Array()}};
  if (one.isRace())
    if (llvm::json::Array others = othersOf(one); !others.empty())
      note["others"] = std::move(others);
  checker.addTo(note, one.check(), one.access.op);
  Value site = arith::ConstantOp::create(b, b.getI32IntegerAttr(0));
  auto op = probe::FailuresOp::create(
      b, site, count, lane, ValueRange{Checker::wordAt(b, 2), address},
      b.getStrArrayAttr({one.check()}),
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
  if (one.reads() || isMixed)
    reportIf(one, lanes, isMixed ? flagged(isOn, one.reads(), b) : isOn, ok, b);
  if (!one.writes() && !isMixed)
    return;
  Value isMarked = arith::AndIOp::create(b, negated(ok, b), isOn);
  if (isMixed)
    isMarked = flagged(isMarked, one.writes(), b);
  atomicOr(pointer, bits, isMarked, b);
}

/// Returns how many bits a number of a program has in a word of the shadow.
static unsigned bitsOf(int64_t bytes) { return bytes == 2 ? 5 : 10; }

Value mlir::triton_ext::sanitizer::programBits(int64_t bytes,
                                               ImplicitLocOpBuilder &b) {
  Value linear;
  for (int axis = 2; axis >= 0; --axis) {
    Value id = arith::ExtUIOp::create(b, b.getI64Type(),
                                      tt::GetProgramIdOp::create(b, axis));
    if (linear) {
      Value size = arith::ExtUIOp::create(
          b, b.getI64Type(), tt::GetNumProgramsOp::create(b, axis));
      id = arith::AddIOp::create(b, arith::MulIOp::create(b, linear, size), id);
    }
    linear = id;
  }
  // The lowest bits tell neighbours apart. To them comes a hash of the others
  // (Fibonacci hashing: Knuth, TAOCP 3, 6.4), because programs that race are
  // often a power of two apart: those of one tile and the next slice of K.
  unsigned bits = bitsOf(bytes);
  Type i64 = linear.getType();
  Value all = numberLike((int64_t(1) << bits) - 1, i64, b);
  Value others = arith::ShRUIOp::create(b, linear, numberLike(bits, i64, b));
  Value hash = arith::ShRUIOp::create(
      b,
      arith::MulIOp::create(b, others, numberLike(0x9E3779B97F4A7C15, i64, b)),
      numberLike(64 - bits, i64, b));
  Value number =
      arith::AndIOp::create(b, arith::AddIOp::create(b, linear, hash), all);
  Value inverted = arith::XOrIOp::create(b, number, all);
  Value both = arith::OrIOp::create(
      b, number,
      arith::ShLIOp::create(b, inverted,
                            numberLike(bits, inverted.getType(), b)));
  if (bytes == 2)
    both = arith::TruncIOp::create(b, b.getI32Type(), both);
  return both;
}

/// Returns the lines of the accesses with which one may race, through the same
/// argument. The shadow does not say which of them it was.
llvm::json::Array ShadowChecker::othersOf(const ShadowAccess &one) const {
  llvm::json::Array others;
  DenseSet<std::pair<StringRef, unsigned>> seen;
  FileLineColLoc own = positionOf(one.access.op->getLoc());
  if (own)
    seen.insert({own.getFilename(), own.getLine()});
  for (const auto &[other, from] : accesses) {
    bool isHarmless =
        (one.access.isAtomic && other.isAtomic) ||
        (one.access.kind == Kind::Load && other.kind == Kind::Load);
    FileLineColLoc at = positionOf(other.op->getLoc());
    if (isHarmless || !at || !from.arguments.contains(one.argument) ||
        !seen.insert({at.getFilename(), at.getLine()}).second)
      continue;
    others.push_back(
        llvm::json::Object{{"file", at.getFilename().strref()},
                           {"line", int64_t(at.getLine())},
                           {"access", other.kind == Kind::Load    ? "load"
                                      : other.kind == Kind::Store ? "store"
                                                                  : "atomic"}});
  }
  return others;
}

/// A word of the shadow has, for each element, the programs that have read it,
/// written it, and accessed it atomically. Of each set it has the disjunction
/// of the programs' numbers, and of the numbers with all bits inverted: if and
/// only if the set has two programs, a bit is in both.
void ShadowChecker::checkRace(const ShadowAccess &one, const ShadowWords &words,
                              const SomeLanes &lanes, Value both,
                              ImplicitLocOpBuilder &b) {
  auto [offset, isOn] = offsetsOf(addressOf(lanes.pointer, b),
                                  one.access.laneBytes, lanes.mask, words, b);
  // Two bytes of shadow for a byte of memory: 32 bits for an element of 2
  // bytes, else 64. A set takes 2 * bits.
  unsigned bits = bitsOf(one.access.laneBytes);
  Type word = both.getType();
  Type wide = offset.getType(), type = withElement(wide, word);
  both = inLanes(both, wide, b);
  bool isMixed = this->isMixed(one);
  enum Set { Read, Written, Atomic };
  Set set = one.access.isAtomic             ? Atomic
            : one.access.kind == Kind::Load ? Read
                                            : Written;
  auto shift = [&](int which) { return numberLike(which * 2 * bits, type, b); };
  Value byte = arith::ShLIOp::create(b, offset, numberLike(1, wide, b));
  Value pointer = shadowAt(words, byte, word, b);
  Value old =
      atomicOr(pointer, arith::ShLIOp::create(b, both, shift(set)), isOn, b);
  Value ok;
  for (int other : {Read, Written, Atomic}) {
    // Two reads, or two atomic accesses.
    bool isFine = other == set && set != Written;
    if (isFine && !isMixed)
      continue;
    Value found = arith::AndIOp::create(
        b, arith::ShRUIOp::create(b, old, shift(other)),
        numberLike((int64_t(1) << 2 * bits) - 1, type, b));
    Value isNone =
        arith::CmpIOp::create(b, P::eq, found, numberLike(0, type, b));
    Value isOwn = arith::CmpIOp::create(b, P::eq, found, both);
    Value fine = arith::OrIOp::create(b, isNone, isOwn);
    if (isMixed)
      fine = negated(flagged(negated(fine, b), !isFine, b), b);
    ok = ok ? Value(arith::AndIOp::create(b, ok, fine)) : fine;
  }
  reportIf(one, lanes, isOn, ok, b);
}
