// SPDX-License-Identifier: Apache-2.0
//
// Finds the lanes of an access that are outside of a tensor. A kernel calls
// this function instead of containing its code, which takes long to compile and
// hardly ever runs. Counts and records are those of `probe.check`.

#include "Features.h"
#include "Runtime.h"

#include <algorithm>

using namespace triton_ext::cpu;

// The words of a launch slot and of the buffer of a session, which
// dialects/probe/lower_probe/Layout.h explains and numbers in the same way.
static constexpr int64_t kSlotMagic = 0x31304C53'4F525054;
static constexpr int64_t kSlotBuffer = 1, kSlotSerial = 2;
static constexpr int64_t kSlotCapacity = 5, kSlotPool = 6;
static constexpr int64_t kViewOfArgument = 2, kSlotCounters = 4, kRuns = 2;
static constexpr int64_t kCursor = 2, kRecordHead = 3, kMostRuns = 64;

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

/// The lanes that fail one check: how many, and the first one.
struct Failures {
  void add(int64_t lane, int64_t at) {
    if (!count++) {
      first = lane;
      address = at;
    }
  }

  int64_t count = 0, first = 0, address = 0;
};
} // namespace

static int64_t addTo(int64_t *word, int64_t value) {
  return __atomic_fetch_add(word, value, __ATOMIC_RELAXED);
}

/// Counts the failures of the check with `counters`, and writes the record of
/// the first one unless there are many of them.
static void note(const Failures &found, const int64_t *slot, int64_t *counters,
                 int64_t tag, const int64_t (&program)[2]) {
  if (!found.count)
    return;
  addTo(counters, found.count);
  if (addTo(counters + kRuns, 1) >= kMostRuns)
    return;
  constexpr int64_t size = kRecordHead + 2;
  auto *buffer = reinterpret_cast<int64_t *>(slot[kSlotBuffer]);
  int64_t start = addTo(buffer + kCursor, size);
  if (start + size > slot[kSlotCapacity])
    return;
  const int64_t record[size] = {tag, program[0],
                                program[1] | (found.first << 32),
                                slot[kSlotSerial], found.address};
  std::copy_n(record, size, buffer + slot[kSlotPool] + start);
}

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
  const int64_t program[] = {int64_t(uint32_t(x)) | (int64_t(y) << 32),
                             int64_t(uint32_t(z))};
  note(ofMemory, slot, slot + site, tag, program);
  note(ofView, slot, slot + site + kSlotCounters, tag + 1, program);
}
