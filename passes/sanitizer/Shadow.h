// SPDX-License-Identifier: Apache-2.0
//
// Checks with memory beside the memory of tensors: reads of what nothing has
// written, and races between programs.

#ifndef TRITON_EXT_SANITIZER_SHADOW_H
#define TRITON_EXT_SANITIZER_SHADOW_H

#include "Checks.h"
#include "LaneBuilder.h"
#include "Locks.h"
#include "Roots.h"
#include "Signals.h"
#include "Strided.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

#include <map>

namespace mlir::triton_ext::sanitizer {

/// An access by pointers into one argument, and the shadow that it looks at.
struct ShadowAccess {
  MemoryAccess access;
  ArgumentWord shadow; ///< InitShadow or RaceShadow
  unsigned argument;
  Operation *place = nullptr; ///< the look comes before it
  scf::IfOp look = {};
  scf::ForOp loop = {}; ///< behind which the look goes; null if there is none
  std::optional<Lock> lock = {}; ///< that the program holds; for races
  SignalPlace signals = {};      ///< for races

  bool isRace() const { return shadow == ArgumentWord::RaceShadow; }
  StringRef check() const { return isRace() ? "race" : "uninit"; }
  /// Whether the access, or its look, changes what others find: in memory and
  /// in the shadow of `uninit`.
  bool writes() const { return access.kind != MemoryAccess::Kind::Load; }
  bool reads() const { return access.kind != MemoryAccess::Kind::Store; }
};

/// Launch words of an argument, as numbers that a look has read.
struct ShadowWords {
  Value start, end, shadow;
};

/// Accesses that are alike in what they can race with.
struct RaceSet {
  MemoryAccess::Kind kind; ///< Atomic for all atomic accesses
  bool isLocked;
  SignalPlace signals = {};

  bool operator==(const RaceSet &other) const {
    return kind == other.kind && isLocked == other.isLocked &&
           signals == other.signals;
  }
};

/// What a word of the shadow for races has of an element: for each set of
/// accesses the disjunction of the programs' codes. Behind them the same of the
/// locks, if there are any.
struct RaceWord {
  SmallVector<RaceSet> sets;
  bool hasLocks;
  unsigned size; ///< in bits: 16, 32 or 64
  unsigned bits; ///< of a code

  /// Whether a code has two bits, also in the 16 bits of an element of one
  /// byte.
  bool hasRoom() const { return sets.size() + hasLocks <= 8; }
};

/// What a look for races adds to words: the code of the program, and that of
/// the lock; null if it holds none.
struct RaceCodes {
  Value program, lock;
};

class ShadowChecker {
public:
  explicit ShadowChecker(Checker &checker)
      : checker(checker), tracker(checker.kernel), locks(checker.kernel),
        signals(checker.kernel, locks) {}

  /// Inserts the looks. Returns what the host has to know of them.
  llvm::json::Array run();

private:
  llvm::json::Array describe() const;
  void collect();
  std::optional<unsigned> argumentOf(const MemoryAccess &access,
                                     StringRef check);
  std::string whyRaceUnknown(const MemoryAccess &access, unsigned argument);
  bool canRace(const ShadowAccess &one,
               llvm::function_ref<bool(const ShadowAccess &)> isCompared) const;
  bool hasSignals() const;
  bool keepsLook(const ShadowAccess &one);
  Operation *placeOf(const ShadowAccess &one);

  /// Its attribute tells `lower_probe` that it says nothing else
  /// (JoinLooks.cpp).
  Value hasShadow(const ShadowAccess &one);
  void insertLook(ShadowAccess &one);
  bool mayDefer(const ShadowAccess &one, scf::ForOp loop);
  scf::ForOp loopFor(const ShadowAccess &one);
  bool mayMove(const ShadowAccess &one);
  Operation *stopBehind(Operation *about);
  void defer(scf::ForOp loop, ArrayRef<ShadowAccess *> looks, Operation *place);
  void moveLooks();

  /// How many neighbouring lanes have as many bytes as a word of the shadow for
  /// `uninit` has bits; 0 if groups of so many lanes cannot be looked at.
  int64_t lanesOfWord(const ShadowAccess &one);
  Value lookAtWords(const ShadowAccess &one, const ShadowWords &words,
                    int64_t group, ImplicitLocOpBuilder &b);
  void checkInit(const ShadowAccess &one, const ShadowWords &words,
                 const SomeLanes &lanes, ImplicitLocOpBuilder &b);
  RaceWord raceWord(int64_t bytes) const;
  RaceCodes raceCodes(const ShadowAccess &one, ShadowWords &words,
                      ImplicitLocOpBuilder &b);
  void checkRace(const ShadowAccess &one, const ShadowWords &words,
                 const SomeLanes &lanes, const RaceCodes &codes,
                 ImplicitLocOpBuilder &b);
  /// Looks at the lanes of an access by a call of the CPU backend's runtime.
  void callLook(const ShadowAccess &one, const SomeLanes &lanes,
                const RaceCodes &codes, ImplicitLocOpBuilder &b);
  /// Whether an access like this one does what this one does not, so that
  /// their looks can be merged only if each can do everything.
  bool isMixed(const ShadowAccess &one);
  void addTo(llvm::json::Object &note, const ShadowAccess &one) const;
  static Value flagged(Value isOn, bool flag, ImplicitLocOpBuilder &b);
  void reportIf(const ShadowAccess &one, const SomeLanes &lanes, Value isWrong,
                llvm::json::Object note, ArrayRef<Value> words,
                ImplicitLocOpBuilder &b);

  Checker &checker;
  StridedTracker tracker;
  /// The accesses of the kernel, and where their pointers come from.
  SmallVector<std::pair<MemoryAccess, Roots>> accesses;
  SmallVector<ShadowAccess> shadowed;
  /// Whether a program may wait for what another one stores.
  bool isOrdered = false;
  std::map<std::pair<unsigned, ArgumentWord>, Value> conditions;
  const Locks locks;
  const Signals signals;
  /// The pointers of locks, as values before the loops that take them.
  DenseMap<Operation *, Value> lockPointers;
};

/// Sets bits of words.
Value atomicOr(Value pointer, Value bits, Value mask, ImplicitLocOpBuilder &b);

/// Gives an operation on a shadow its mark and returns its result.
Value ownResult(Operation *op);

/// Returns a constant of the type of `like`, an integer or a tensor of them.
Value numberLike(int64_t value, Type like, ImplicitLocOpBuilder &b);

/// Where addresses are in the storage.
struct Offsets {
  Value offset; ///< in bytes, i64
  Value isOn;   ///< in the mask, `bytes` inside of the storage, and aligned
};

/// Returns where `bytes` bytes at each address are. The mask may be null.
Offsets offsetsOf(Value address, int64_t bytes, Value mask,
                  const ShadowWords &words, ImplicitLocOpBuilder &b);

/// Returns pointers to the words of the shadow at these bytes of it.
Value shadowAt(const ShadowWords &words, Value byte, Type word,
               ImplicitLocOpBuilder &b);

/// Returns the set of an access, and its name in notes.
RaceSet raceSetOf(const ShadowAccess &one);
std::string nameOf(const RaceSet &set);

/// Whether accesses of two programs race; of two sets under locks, if the locks
/// are different ones. Those that signals may order do not.
bool areRaced(const RaceSet &one, const RaceSet &other);

/// Returns what the host has to know of a race.
llvm::json::Object noteOf(const RaceWord &word, const RaceSet &own);

Value negated(Value value, ImplicitLocOpBuilder &b);

/// Returns a type of the same shape with another element.
Type withElement(Type type, Type element);

} // namespace mlir::triton_ext::sanitizer

#endif // TRITON_EXT_SANITIZER_SHADOW_H
