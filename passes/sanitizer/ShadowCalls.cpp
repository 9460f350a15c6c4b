// SPDX-License-Identifier: Apache-2.0
//
// Looks at shadows by functions of the CPU backend's runtime: one call for all
// lanes of an access.

#include "Bounds.h"
#include "Shadow.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "probe/Probe.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::sanitizer;

/// Returns what the runtime has to know of words: the bits of a code, the set
/// of the access, how many sets there are, those that it races with, and those
/// of them in which only accesses under other locks race.
static int64_t wordsFor(const RaceWord &word, const RaceSet &own) {
  int64_t raced = 0, racedLocks = 0;
  for (auto [number, other] : llvm::enumerate(word.sets)) {
    if (!areRaced(own, other))
      continue;
    raced |= int64_t(1) << number;
    if (own.isLocked && other.isLocked)
      racedLocks |= int64_t(1) << number;
  }
  int64_t place = llvm::find(word.sets, own) - word.sets.begin();
  return int64_t(word.bits) | place << 8 | int64_t(word.sets.size()) << 16 |
         raced << 24 | racedLocks << 32;
}

void ShadowChecker::callLook(const ShadowAccess &one, const SomeLanes &lanes,
                             const RaceCodes &codes, ImplicitLocOpBuilder &b) {
  SmallVector<Value> ofRace;
  llvm::json::Object note{{"values", llvm::json::Array()}};
  int64_t how = int64_t(one.reads()) | int64_t(one.writes()) << 1;
  if (one.isRace()) {
    RaceWord word = raceWord(one.access.laneBytes);
    note = noteOf(word, raceSetOf(one));
    how = wordsFor(word, raceSetOf(one));
    ofRace = {codes.program, codes.lock};
  }
  addTo(note, one);
  auto look = probe::ShadowOp::create(
      b, addressOf(lanes.pointer, b), one.check(), lanes.mask, ofRace,
      int32_t(one.argument), int32_t(one.access.laneBytes), how);
  look->setAttr("probe.note", b.getStringAttr(textOf(std::move(note))));
  look->setAttr("probe.rules", b.getStringAttr("sanitize"));
}
