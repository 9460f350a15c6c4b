// SPDX-License-Identifier: Apache-2.0
//
// The look for races: adds the program to the word of each element, and
// compares what the word was before. RATIONALE.md describes the words.

#include "Bits.h"
#include "Bounds.h"
#include "Shadow.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::sanitizer;
namespace tt = mlir::triton;
using P = arith::CmpIPredicate;
using Kind = MemoryAccess::Kind;

/// The bits of a number that tell programs apart are enough for any grid.
static constexpr unsigned mostBits = 16;

/// The bits of the shadow's address that say which hash a launch has: it is a
/// multiple of 8.
static constexpr int64_t saltBits = 7;

RaceSet mlir::triton_ext::sanitizer::raceSetOf(const ShadowAccess &one) {
  Kind kind = one.access.isAtomic ? Kind::Atomic : one.access.kind;
  return {kind, one.lock.has_value(), one.signals};
}

std::string mlir::triton_ext::sanitizer::nameOf(const RaceSet &set) {
  StringRef kind = set.kind == Kind::Load    ? "load"
                   : set.kind == Kind::Store ? "store"
                                             : "atomic";
  return Twine(set.signals.isBeforeSignal ? "signalled " : "")
      .concat(set.signals.isBehindWait ? "waiting " : "")
      .concat(set.isLocked ? "locked " : "")
      .concat(kind)
      .str();
}

bool mlir::triton_ext::sanitizer::areRaced(const RaceSet &one,
                                           const RaceSet &other) {
  return (one.kind != other.kind || one.kind == Kind::Store) &&
         !mayBeOrdered(one.signals, other.signals);
}

/// Returns the word of an element of so many bytes. It has only the sets that
/// the kernel needs, so that a number has more bits.
RaceWord ShadowChecker::raceWord(int64_t bytes) const {
  RaceWord word{{}, false, 0};
  bool hasSignals = llvm::any_of(shadowed, [](const ShadowAccess &one) {
    return !(one.signals == SignalPlace());
  });
  if (!hasSignals)
    word.sets = {{Kind::Load, false}, {Kind::Store, false}};
  for (const ShadowAccess &one : shadowed) {
    if (!one.isRace() || one.access.laneBytes != bytes)
      continue;
    word.hasLocks |= one.lock.has_value();
    if (!llvm::is_contained(word.sets, raceSetOf(one)))
      word.sets.push_back(raceSetOf(one));
  }
  // Two bytes of shadow for each byte, and at most 64 bits.
  unsigned size = std::min<int64_t>(16 * bytes, 64);
  unsigned numbers = 2 * (word.sets.size() + word.hasLocks);
  word.bits = std::min(size / numbers, mostBits);
  return word;
}

static Value linearProgram(ImplicitLocOpBuilder &b) {
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
  return linear;
}

/// Returns a number of so many bits, and behind it its inverted bits. The
/// lowest bits tell neighbours apart. To them comes a hash of the others
/// (Fibonacci hashing: Knuth, TAOCP 3, 6.4), because programs that race are
/// often a power of two apart: those of one tile and the next slice of K. The
/// salt chooses the bits of the product, so that numbers that are equal in one
/// launch differ in the next.
static Value numberOf(Value linear, unsigned bits, Value salt, Type type,
                      ImplicitLocOpBuilder &b) {
  Type i64 = linear.getType();
  auto like = [&](int64_t value) { return numberLike(value, i64, b); };
  Value all = like((int64_t(1) << bits) - 1);
  Value product =
      arith::MulIOp::create(b, arith::ShRUIOp::create(b, linear, like(bits)),
                            like(0x9E3779B97F4A7C15));
  Value place = arith::SubIOp::create(
      b, like(64 - bits), arith::MulIOp::create(b, salt, like(bits)));
  Value hash = arith::ShRUIOp::create(b, product, place);
  Value number =
      arith::AndIOp::create(b, arith::AddIOp::create(b, linear, hash), all);
  Value inverted = arith::XOrIOp::create(b, number, all);
  Value both = arith::OrIOp::create(
      b, number, arith::ShLIOp::create(b, inverted, like(bits)));
  return b.createOrFold<arith::TruncIOp>(type, both);
}

/// Also takes the salt out of the shadow's address.
RaceNumbers ShadowChecker::raceNumbers(const ShadowAccess &one,
                                       ShadowWords &words,
                                       ImplicitLocOpBuilder &b) {
  Type i64 = b.getI64Type();
  Value salt =
      arith::AndIOp::create(b, words.shadow, numberLike(saltBits, i64, b));
  words.shadow = arith::XOrIOp::create(b, words.shadow, salt);
  unsigned bits = raceWord(one.access.laneBytes).bits;
  Type type = one.access.laneBytes <= 2 ? Type(b.getI32Type()) : i64;
  RaceNumbers numbers{numberOf(linearProgram(b), bits, salt, type, b), {}};
  if (!one.lock)
    return numbers;
  Value &pointer = lockPointers[one.lock->acquire];
  if (!pointer)
    pointer = Locks::pointerBefore(*one.lock);
  Value address = addressOf(pointer, b);
  address = arith::ShRUIOp::create(b, address, numberLike(2, i64, b));
  numbers.lock = numberOf(address, bits, salt, type, b);
  return numbers;
}

namespace {
/// Emits comparisons with the sets of words.
struct Sets {
  Value words; ///< as they were before the access
  unsigned bits;
  ImplicitLocOpBuilder &b;

  Value number(int64_t value) { return numberLike(value, words.getType(), b); }
  Value shift(unsigned set) { return number(2 * set * bits); }
  Value both(Value x, Value y) { return arith::AndIOp::create(b, x, y); }

  /// Returns where a set has a number that is not `own`. A set with two numbers
  /// has a bit that is in both halves, because they differ in a bit.
  Value hasOther(unsigned set, Value own) {
    Value found = both(arith::ShRUIOp::create(b, words, shift(set)),
                       number((int64_t(1) << 2 * bits) - 1));
    Value isAny = arith::CmpIOp::create(b, P::ne, found, number(0));
    Value isOther = arith::CmpIOp::create(b, P::ne, found, own);
    return both(isAny, isOther);
  }
};
} // namespace

llvm::json::Object mlir::triton_ext::sanitizer::noteOf(const RaceWord &word,
                                                       const RaceSet &own) {
  llvm::json::Array sets;
  for (const RaceSet &set : word.sets)
    sets.push_back(nameOf(set));
  return llvm::json::Object{{"values", llvm::json::Array{"word"}},
                            {"sets", std::move(sets)},
                            {"set", nameOf(own)},
                            {"bits", int64_t(word.bits)}};
}

void ShadowChecker::checkRace(const ShadowAccess &one, const ShadowWords &words,
                              const SomeLanes &lanes,
                              const RaceNumbers &numbers,
                              ImplicitLocOpBuilder &b) {
  RaceWord word = raceWord(one.access.laneBytes);
  RaceSet own = raceSetOf(one);
  auto [offset, isOn] = offsetsOf(addressOf(lanes.pointer, b),
                                  one.access.laneBytes, lanes.mask, words, b);
  Type wide = offset.getType(), element = numbers.program.getType(),
       type = withElement(wide, element);
  Sets sets{numberLike(0, type, b), word.bits, b};
  Value program = inLanes(numbers.program, wide, b), lock;
  unsigned place = llvm::find(word.sets, own) - word.sets.begin();
  Value added = arith::ShLIOp::create(b, program, sets.shift(place));
  if (numbers.lock) {
    lock = inLanes(numbers.lock, wide, b);
    added = arith::OrIOp::create(
        b, added, arith::ShLIOp::create(b, lock, sets.shift(word.sets.size())));
  }
  Value byte = arith::ShLIOp::create(b, offset, numberLike(1, wide, b));
  // Two neighbouring bytes have their 16 bits in one word.
  Value half;
  if (one.access.laneBytes == 1) {
    half = arith::AndIOp::create(b, byte, numberLike(2, wide, b));
    byte = arith::XOrIOp::create(b, byte, half);
    half = arith::TruncIOp::create(b, type, half);
    half = arith::ShLIOp::create(b, half, numberLike(3, type, b));
    added = arith::ShLIOp::create(b, added, half);
  }
  Value pointer = shadowAt(words, byte, element, b);
  sets.words = atomicOr(pointer, added, isOn, b);
  if (half)
    sets.words = sets.both(arith::ShRUIOp::create(b, sets.words, half),
                           sets.number(0xffff));

  bool isMixed = this->isMixed(one);
  Value isWrong;
  for (auto [number, other] : llvm::enumerate(word.sets)) {
    bool isFine = !areRaced(own, other);
    if (isFine && !isMixed)
      continue;
    Value isRace = sets.hasOther(number, program);
    if (own.isLocked && other.isLocked)
      isRace = sets.both(isRace, sets.hasOther(word.sets.size(), lock));
    if (isMixed)
      isRace = flagged(isRace, !isFine, b);
    isWrong =
        isWrong ? Value(arith::OrIOp::create(b, isWrong, isRace)) : isRace;
  }
  isWrong = arith::AndIOp::create(b, isWrong, isOn);
  Value found = sets.words;
  if (element != b.getI64Type())
    found = arith::ExtUIOp::create(b, wide, found);
  reportIf(one, lanes, isWrong, noteOf(word, own), {found}, b);
}
