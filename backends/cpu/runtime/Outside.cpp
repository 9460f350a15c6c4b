// SPDX-License-Identifier: Apache-2.0
//
// Finds the lanes of an access that are outside of a tensor. A kernel calls
// this function instead of containing its code, which takes long to compile and
// hardly ever runs. Counts and records are those of `probe.check`.

#include "Failures.h"
#include "Features.h"
#include "Runtime.h"

#include <algorithm>

using namespace triton_ext::cpu;

namespace {
/// The addresses at which an access may start.
struct Range {
  Range(const int64_t *words, int64_t bytes)
      : first(words[0]), last(words[1] - bytes) {}
  bool excludes(int64_t address) const {
    return (address < first) | (address > last);
  }

  int64_t first, last;
};
} // namespace

/// Returns a negative number if an address is less than `first` or greater than
/// `last`, which are not negative. Addresses are not negative either: so one of
/// the differences is negative for each address outside, also if the other one
/// wraps. Without comparisons, every x86-64 can do several addresses at once.
__attribute__((always_inline)) static inline int64_t
differences(uint64_t first, uint64_t last, const int64_t *addresses,
            int64_t lanes) {
  uint64_t found = 0;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    uint64_t at = addresses[lane];
    found |= (at - first) | (last - at);
  }
  return found;
}

// The same for processors with wide vectors. With those that every x86-64 has,
// a gather from memory took 1.14 times as long as without checks on an EPYC,
// with these 1.06 times.
__attribute__((target("avx2"))) static int64_t
differencesInAvx2(uint64_t first, uint64_t last, const int64_t *addresses,
                  int64_t lanes) {
  return differences(first, last, addresses, lanes);
}
__attribute__((target("avx512f"))) static int64_t
differencesInAvx512(uint64_t first, uint64_t last, const int64_t *addresses,
                    int64_t lanes) {
  return differences(first, last, addresses, lanes);
}

/// Returns false only if no address is outside of one of the ranges.
static bool mayExclude(const Range &memory, const Range &view,
                       const int64_t *addresses, int64_t lanes) {
  static const auto differencesHere = has("avx512f") ? differencesInAvx512
                                      : has("avx2")  ? differencesInAvx2
                                                     : differences;
  int64_t first = std::max({memory.first, view.first, int64_t(0)});
  int64_t last = std::min(memory.last, view.last);
  return first > last || differencesHere(first, last, addresses, lanes) < 0;
}

/// Checks the `lanes` lanes of an access of `bytes` bytes whose mask is on.
///
/// \param slot the slot of the launch; without kSlotMagic, nothing is checked
/// \param argument the place of the argument's words in the slot
/// \param site the place of the counters of the check against the memory; those
/// of the check against the view follow
/// \param tag the tag of the first check's records; the second's is 1 more
TRITON_EXT_CPU_API void triton_ext_cpu_outside(int32_t x, int32_t y, int32_t z,
                                               int64_t *slot, int64_t argument,
                                               int64_t site, int64_t tag,
                                               int64_t bytes, int64_t lanes,
                                               const int64_t *addresses,
                                               const uint8_t *mask) {
  if (slot[0] != kSlotMagic)
    return;
  const Range memory(slot + argument, bytes);
  const Range view(slot + argument + kViewOfArgument, bytes);
  if (!mayExclude(memory, view, addresses, lanes))
    return;
  Failures ofMemory, ofView;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    int64_t at = addresses[lane];
    if (mask[lane] && memory.excludes(at))
      ofMemory.add(lane, at);
    else if (mask[lane] && view.excludes(at))
      ofView.add(lane, at);
  }
  Site memorySite{slot, slot + site, tag, {}};
  memorySite.program[0] = int64_t(uint32_t(x)) | (int64_t(y) << 32);
  memorySite.program[1] = int64_t(uint32_t(z));
  Site viewSite = memorySite;
  viewSite.counters += kSlotCounters;
  ++viewSite.tag;
  note(ofMemory, memorySite, {slot[kSlotSerial], ofMemory.address});
  note(ofView, viewSite, {slot[kSlotSerial], ofView.address});
}
