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

/// The most bits of a code, whose numbers are enough for any grid, and those of
/// a number.
static constexpr unsigned mostBits = 24, mostBitsOfNumber = 16;

/// Of 8 bits, 70 words have four that are set. The first 64 of them, in order
/// of size: a byte each.
static constexpr uint64_t balancedBytes[] = {
    0x2d2b271e1d1b170f, 0x473c3a393635332e, 0x5a595655534e4d4b,
    0x716c6a696665635c, 0x938e8d8b87787472, 0xa6a5a39c9a999695,
    0xc3b8b4b2b1acaaa9, 0xd4d2d1cccac9c6c5,
};

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
/// the kernel needs, so that a code has more bits. A word takes at most two
/// bytes for each byte of the element, and for two sets half as much where that
/// is enough: memory that is only loaded and stored is most of what a kernel
/// touches, and what a look costs is the shadow that it moves.
RaceWord ShadowChecker::raceWord(int64_t bytes) const {
  RaceWord word{{}, false, 0, 0};
  if (!hasSignals())
    word.sets = {{Kind::Load, false}, {Kind::Store, false}};
  for (const ShadowAccess &one : shadowed) {
    if (!one.isRace() || one.access.laneBytes != bytes)
      continue;
    word.hasLocks |= one.lock.has_value();
    if (!llvm::is_contained(word.sets, raceSetOf(one)))
      word.sets.push_back(raceSetOf(one));
  }
  unsigned codes = word.sets.size() + word.hasLocks;
  bool isHalf = codes <= 2 && bytes >= 4 && !checker.callsShadows;
  word.size = isHalf ? 32 : std::min<int64_t>(16 * bytes, 64);
  word.bits = std::min(word.size / std::max(codes, 1u), mostBits);
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

/// How many bits a number has whose code has `bits`: each 8 bits of the code
/// are those of 6 bits of the number, and each pair behind them is a bit.
static unsigned bitsOfNumber(unsigned bits) {
  return std::min(bits / 8 * 6 + bits % 8 / 2, mostBitsOfNumber);
}

/// Returns the number of a program among as many as there are codes. The lowest
/// bits tell neighbours apart. To them comes a hash of the others (Fibonacci
/// hashing: Knuth, TAOCP 3, 6.4), because programs that race are often a power
/// of two apart: those of one tile and the next slice of K. The salt chooses
/// the bits of the product, so that numbers that are equal in one launch differ
/// in the next.
static Value numberOf(Value linear, unsigned bits, Value salt,
                      ImplicitLocOpBuilder &b) {
  auto like = [&](int64_t value) {
    return numberLike(value, linear.getType(), b);
  };
  Value product =
      arith::MulIOp::create(b, arith::ShRUIOp::create(b, linear, like(bits)),
                            like(0x9E3779B97F4A7C15));
  Value place = arith::SubIOp::create(
      b, like(64 - bits), arith::MulIOp::create(b, salt, like(bits)));
  Value hash = arith::ShRUIOp::create(b, product, place);
  return arith::AndIOp::create(b, arith::AddIOp::create(b, linear, hash),
                               like((int64_t(1) << bits) - 1));
}

/// Returns the 8 bits that stand for 6 bits of a number.
static Value balancedByte(Value number, ImplicitLocOpBuilder &b) {
  auto like = [&](int64_t value) {
    return numberLike(value, number.getType(), b);
  };
  Value row = arith::AndIOp::create(
      b, arith::ShRUIOp::create(b, number, like(3)), like(7));
  Value bytes = like(balancedBytes[0]);
  for (int i = 1; i < 8; ++i) {
    Value isHere = arith::CmpIOp::create(b, P::eq, row, like(i));
    bytes = arith::SelectOp::create(b, isHere, like(balancedBytes[i]), bytes);
  }
  Value place = arith::ShLIOp::create(
      b, arith::AndIOp::create(b, number, like(7)), like(3));
  return arith::AndIOp::create(b, arith::ShRUIOp::create(b, bytes, place),
                               like(255));
}

/// Returns the code of a program, of so many bits. All codes have equally many
/// bits that are set. So of two different codes, each has a bit that the other
/// one lacks, and their disjunction differs from both. Of all families of sets
/// without subsets of each other, the sets of half the size are the largest one
/// (Sperner, 1928).
static Value codeOf(Value linear, unsigned bits, Value salt, Type type,
                    ImplicitLocOpBuilder &b) {
  auto like = [&](int64_t value) {
    return numberLike(value, linear.getType(), b);
  };
  Value left = numberOf(linear, bitsOfNumber(bits), salt, b), code;
  auto add = [&](Value part, unsigned place) {
    part = arith::ShLIOp::create(b, part, like(place));
    code = code ? Value(arith::OrIOp::create(b, code, part)) : part;
  };
  unsigned place = 0;
  for (; place + 8 <= bits; place += 8) {
    add(balancedByte(left, b), place);
    left = arith::ShRUIOp::create(b, left, like(6));
  }
  // Each bit and its complement.
  if (unsigned pairs = (bits - place) / 2) {
    Value all = like((int64_t(1) << pairs) - 1);
    left = arith::AndIOp::create(b, left, all);
    add(left, place);
    add(arith::XOrIOp::create(b, left, all), place + pairs);
  }
  return b.createOrFold<arith::TruncIOp>(type, code);
}

/// For calls, the codes are made by the runtime. Else it also takes the salt
/// out of the shadow's address.
RaceCodes ShadowChecker::raceCodes(const ShadowAccess &one, ShadowWords &words,
                                   ImplicitLocOpBuilder &b) {
  Type i64 = b.getI64Type();
  Value lock;
  if (one.lock) {
    Value &pointer = lockPointers[one.lock->acquire];
    if (!pointer)
      pointer = Locks::pointerBefore(*one.lock);
    lock = addressOf(pointer, b);
    lock = arith::ShRUIOp::create(b, lock, numberLike(2, i64, b));
  }
  if (checker.callsShadows)
    return {linearProgram(b), lock ? lock : numberLike(0, i64, b)};
  Value salt =
      arith::AndIOp::create(b, words.shadow, numberLike(saltBits, i64, b));
  words.shadow = arith::XOrIOp::create(b, words.shadow, salt);
  RaceWord word = raceWord(one.access.laneBytes);
  Type type = word.size <= 32 ? Type(b.getI32Type()) : i64;
  RaceCodes codes{codeOf(linearProgram(b), word.bits, salt, type, b), {}};
  if (lock)
    codes.lock = codeOf(lock, word.bits, salt, type, b);
  return codes;
}

namespace {
/// Emits comparisons with the sets of words.
struct Sets {
  Value words; ///< as they were before the access
  unsigned bits;
  ImplicitLocOpBuilder &b;

  Value number(int64_t value) { return numberLike(value, words.getType(), b); }
  Value shift(unsigned set) { return number(set * bits); }
  Value both(Value x, Value y) { return arith::AndIOp::create(b, x, y); }

  /// Returns where a set has a code that is not `own`.
  Value hasOther(unsigned set, Value own) {
    Value found = both(arith::ShRUIOp::create(b, words, shift(set)),
                       number((int64_t(1) << bits) - 1));
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
                              const SomeLanes &lanes, const RaceCodes &codes,
                              ImplicitLocOpBuilder &b) {
  RaceWord word = raceWord(one.access.laneBytes);
  RaceSet own = raceSetOf(one);
  auto [offset, isOn] = offsetsOf(addressOf(lanes.pointer, b),
                                  one.access.laneBytes, lanes.mask, words, b);
  Type wide = offset.getType(), element = codes.program.getType(),
       type = withElement(wide, element);
  Sets sets{numberLike(0, type, b), word.bits, b};
  Value program = inLanes(codes.program, wide, b), lock;
  unsigned place = llvm::find(word.sets, own) - word.sets.begin();
  Value added = arith::ShLIOp::create(b, program, sets.shift(place));
  if (codes.lock) {
    lock = inLanes(codes.lock, wide, b);
    added = arith::OrIOp::create(
        b, added, arith::ShLIOp::create(b, lock, sets.shift(word.sets.size())));
  }
  int shift =
      llvm::Log2_64(word.size / 8) - llvm::Log2_64(one.access.laneBytes);
  Value places = numberLike(std::abs(shift), wide, b);
  Value byte = shift < 0 ? Value(arith::ShRUIOp::create(b, offset, places))
                         : arith::ShLIOp::create(b, offset, places);
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
