// SPDX-License-Identifier: Apache-2.0
//
// What functions that look at lanes for a kernel report: counts and records
// are those of `probe.check` with a note.

#ifndef TRITON_EXT_CPU_FAILURES_H
#define TRITON_EXT_CPU_FAILURES_H

#include <algorithm>
#include <cstdint>
#include <initializer_list>

namespace triton_ext::cpu {

// The words of a launch slot and of the buffer of a session, which
// dialects/probe/lower_probe/Layout.h explains and numbers in the same way.
inline constexpr int64_t kSlotMagic = 0x31304C53'4F525054;
inline constexpr int64_t kSlotBuffer = 1, kSlotSerial = 2;
inline constexpr int64_t kSlotCapacity = 5, kSlotPool = 6;
inline constexpr int64_t kViewOfArgument = 2, kSlotCounters = 4, kRuns = 2;
inline constexpr int64_t kCursor = 2, kRecordHead = 3, kMostRuns = 64;

/// The lanes that fail one check: how many, and the first one.
struct Failures {
  void add(int64_t lane, int64_t at, int64_t found = 0) {
    if (!count++) {
      first = lane;
      address = at;
      word = found;
    }
  }

  int64_t count = 0, first = 0, address = 0, word = 0;
};

/// Where the failures of a check go.
struct Site {
  int64_t *slot;     ///< of the launch
  int64_t *counters; ///< of the check
  int64_t tag;       ///< of its records
  /// The program: x with y above it, and z.
  int64_t program[2];
};

inline int64_t addTo(int64_t *word, int64_t value) {
  return __atomic_fetch_add(word, value, __ATOMIC_RELAXED);
}

/// Counts the failures, and writes the record of the first one unless there are
/// many of them. A record ends with `values`.
inline void note(const Failures &found, const Site &site,
                 std::initializer_list<int64_t> values) {
  if (!found.count)
    return;
  addTo(site.counters, found.count);
  if (addTo(site.counters + kRuns, 1) >= kMostRuns)
    return;
  const int64_t head[kRecordHead] = {site.tag, site.program[0],
                                     site.program[1] |
                                         int64_t(uint64_t(found.first) << 32)};
  int64_t size = kRecordHead + int64_t(values.size());
  auto *buffer = reinterpret_cast<int64_t *>(site.slot[kSlotBuffer]);
  int64_t start = addTo(buffer + kCursor, size);
  if (start + size > site.slot[kSlotCapacity])
    return;
  int64_t *record = buffer + site.slot[kSlotPool] + start;
  std::copy(values.begin(), values.end(),
            std::copy_n(head, kRecordHead, record));
}

} // namespace triton_ext::cpu

#endif // TRITON_EXT_CPU_FAILURES_H
