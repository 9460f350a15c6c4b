// SPDX-License-Identifier: Apache-2.0
//
// The shadow for `uninit`: a bit for each byte of a tensor's memory, in words
// of 32 bits. A kernel calls this function once for all lanes of an access.
// Contiguous lanes have contiguous bits, which vectors compare and set; an
// atomic operation sets bits that share a word with others. No lock is needed:
// bits are only ever set, and a store of all bits of a word cannot undo what
// another thread has set in it.

#include "Shadow.h"
#include "Runtime.h"

using namespace triton_ext::cpu;

__attribute__((always_inline)) static inline bool
areContiguous(const int64_t *offsets, int64_t lanes, int64_t step) {
  int64_t different = 0;
  for (int64_t i = 0; i < lanes; ++i)
    different |= offsets[i] ^ (offsets[0] + i * step);
  return !different;
}

int64_t triton_ext::cpu::lengthOfRun(const int64_t *offsets, int64_t lanes,
                                     int64_t step) {
  constexpr auto areContiguousHere = inWidestVectors<areContiguous>;
  constexpr int64_t group = 64;
  int64_t length = 2;
  // Groups are compared from the lane before, which is known to follow.
  while (lanes - length >= group &&
         areContiguousHere(offsets + length - 1, group + 1, step))
    length += group;
  while (length < lanes && offsets[length] == offsets[0] + length * step)
    ++length;
  return length;
}

namespace {
/// The bytes of memory whose bits are in one word.
constexpr int64_t kBytesOfWord = 32;

/// Bits of the words of a shadow. All threads read and write them, so each word
/// is read and written at once, which aligned words are on x86-64.
class Bits {
public:
  explicit Bits(int64_t shadow) : words(reinterpret_cast<uint32_t *>(shadow)) {}
  ~Bits() { flush(); }

  /// Whether the bits from `first` to before `end` are set.
  bool areSet(int64_t first, int64_t end) const;
  void set(int64_t first, int64_t end);

private:
  static uint32_t maskOf(int64_t first, int64_t end) {
    return ((uint64_t(1) << (end - first)) - 1) << (first % kBytesOfWord);
  }
  void setPart(int64_t word, uint32_t bits);
  void flush();

  uint32_t *words;
  /// Bits that are to be set in one word: neighbouring lanes that are not
  /// contiguous mostly share words, and an atomic operation takes 20 cycles.
  int64_t pending = -1;
  uint32_t pendingBits = 0;
};
} // namespace

// GCC and Clang make vectors of these loops.
__attribute__((always_inline)) static inline bool
areWhole(const uint32_t *words, int64_t count) {
  uint32_t all = ~0u;
  for (int64_t i = 0; i < count; ++i)
    all &= words[i];
  return all == ~0u;
}
static constexpr auto areWholeHere = inWidestVectors<areWhole>;

bool Bits::areSet(int64_t first, int64_t end) const {
  int64_t word = first / kBytesOfWord, last = (end - 1) / kBytesOfWord;
  if (word == last) {
    uint32_t mask = maskOf(first, end);
    return (words[word] & mask) == mask;
  }
  uint32_t head = maskOf(first, (word + 1) * kBytesOfWord),
           tail = maskOf(last * kBytesOfWord, end);
  return (words[word] & head) == head && (words[last] & tail) == tail &&
         areWholeHere(words + word + 1, last - word - 1);
}

void Bits::flush() {
  if (pendingBits && (words[pending] & pendingBits) != pendingBits)
    __atomic_fetch_or(words + pending, pendingBits, __ATOMIC_RELAXED);
  pendingBits = 0;
}

void Bits::setPart(int64_t word, uint32_t bits) {
  if (word != pending) {
    flush();
    pending = word;
  }
  pendingBits |= bits;
}

void Bits::set(int64_t first, int64_t end) {
  int64_t word = first / kBytesOfWord, last = (end - 1) / kBytesOfWord;
  if (word == last)
    return setPart(word, maskOf(first, end));
  setPart(word, maskOf(first, (word + 1) * kBytesOfWord));
  if (!areWholeHere(words + word + 1, last - word - 1))
    std::fill(words + word + 1, words + last, ~0u);
  setPart(last, maskOf(last * kBytesOfWord, end));
}

/// Looks at the bits of the lanes of an access of `bytes` bytes. What it reads
/// must be written, and what it writes is from then on. All lanes are compared
/// before the first one is marked. Without a shadow, nothing is looked at.
///
/// \param slot the slot of the launch; without kSlotMagic, nothing is looked at
/// \param argument the place of the argument's words in the slot
/// \param site the place of the counters of the check
/// \param tag the tag of its records
/// \param how 1 if the access reads, plus 2 if it writes
/// \param lanes how many; 0 for an access of a scalar, which has one
/// \param base,scale,offsets the addresses of the lanes
TRITON_EXT_CPU_API void triton_ext_cpu_look_at_bits(
    int32_t x, int32_t y, int32_t z, int64_t *slot, int64_t argument,
    int64_t site, int64_t tag, int64_t bytes, int64_t how, int64_t lanes,
    int64_t base, int64_t scale, const int64_t *offsets) {
  const int64_t *words = slot + argument;
  if (slot[0] != kSlotMagic || !words[kInitShadow])
    return;
  const Memory memory{words[0], words[1], bytes};
  const Addresses addresses{base, scale, offsets};
  const int64_t count = std::max<int64_t>(lanes, 1);
  Bits bits(words[kInitShadow]);
  if (how & 1) {
    Failures found;
    forRuns(memory, addresses, count, [&](const Run &run) {
      if (bits.areSet(run.offset, run.offset + run.lanes * bytes))
        return;
      for (int64_t i = 0; i < run.lanes; ++i)
        if (int64_t at = run.offset + i * bytes; !bits.areSet(at, at + bytes))
          found.add(lanes ? run.lane + i : -1, addresses.of(run.lane + i));
    });
    note(found, siteOf(slot, site, tag, x, y, z),
         {slot[kSlotSerial], found.address});
  }
  if (how & 2)
    forRuns(memory, addresses, count, [&](const Run &run) {
      bits.set(run.offset, run.offset + run.lanes * bytes);
    });
}
