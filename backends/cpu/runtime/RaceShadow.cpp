// SPDX-License-Identifier: Apache-2.0
//
// The shadow for races: a word for each element, which has the programs that
// have touched it. passes/sanitizer/RATIONALE.md describes the words. A kernel
// calls this function once for all lanes of an access.
//
// The elements of 512 bytes of memory are a block. Mostly one program touches a
// whole block, and then one word stands for all of them; the words of the
// elements are written only when they differ. A block has a lock, under which
// its words are read and written: so each word has an order of its accesses,
// and the second of two programs that race finds the first one. In a block that
// this launch has not touched, all words are 0, whatever is there.

#include "Codes.h"
#include "Runtime.h"
#include "Shadow.h"

#include <sched.h>

using namespace triton_ext::cpu;

namespace {
constexpr int64_t kBytesOfBlock = 512;

/// The shadow: the number of the launch, in a cache line of its own, a Block
/// for each block, and 1024 bytes of words for each block.
constexpr int64_t kLaunch = 0, kBlocks = 64, kBytesOfWords = 2 * kBytesOfBlock;

/// The bits of the shadow's address that say which hash a launch has.
constexpr int64_t kSaltBits = 7;

struct Block {
  /// The number of the last launch that has touched the block, whether its
  /// elements have words of their own, and whether a thread has the lock.
  uint64_t state;
  uint64_t word; ///< of all elements, if they do not have words of their own
};
constexpr uint64_t kLocked = 1, kOwnWords = 2;
constexpr int kLaunchShift = 2;
} // namespace

/// Takes the lock of a block, and returns its state before.
static uint64_t lock(Block &block) {
  for (int tries = 0;; ++tries) {
    uint64_t state = __atomic_load_n(&block.state, __ATOMIC_RELAXED);
    if (!(state & kLocked) &&
        __atomic_compare_exchange_n(&block.state, &state, state | kLocked,
                                    /*weak=*/true, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED))
      return state;
    if (tries % 64 == 63) // the thread that has the lock may not be running
      sched_yield();
    else
      __builtin_ia32_pause();
  }
}

static void unlock(Block &block, uint64_t state) {
  __atomic_store_n(&block.state, state, __ATOMIC_RELEASE);
}

namespace {
/// What an access adds to words, and what it races with.
class Access {
public:
  Access(int64_t how, int salt, uint64_t program, uint64_t lock);

  /// Whether a word has a program that this access races with.
  bool races(uint64_t word) const;
  /// The bits of words in which only this program can be, and no other.
  uint64_t allOwn() const { return own; }
  uint64_t adds() const { return added; }

private:
  uint64_t field(uint64_t word, int set) const {
    return word >> (bits * set) & ((uint64_t(1) << bits) - 1);
  }
  bool hasOther(uint64_t word, int set, uint64_t code) const {
    uint64_t found = field(word, set);
    return found && found != code;
  }

  int bits;               ///< of a code
  int locks;              ///< the set of the locks
  uint8_t raced;          ///< the sets that it races with, a bit for each
  uint8_t racedLocks;     ///< those of them in which only other locks race
  uint64_t program, held; ///< their codes
  uint64_t added, own;
};
} // namespace

Access::Access(int64_t how, int salt, uint64_t program, uint64_t lock)
    : bits(how & 0xff), locks(how >> 16 & 0xff), raced(how >> 24),
      racedLocks(how >> 32), program(codeOf(program, bits, salt)),
      held(lock ? codeOf(lock, bits, salt) : 0) {
  int set = how >> 8 & 0xff;
  added = this->program << (bits * set);
  own = 0;
  for (int i = 0; i < locks; ++i)
    own |= this->program << (bits * i);
  if (held) {
    added |= held << (bits * locks);
    own |= held << (bits * locks);
  }
}

bool Access::races(uint64_t word) const {
  for (int set = 0; set < locks; ++set)
    if (raced >> set & 1 && hasOther(word, set, program) &&
        (!(racedLocks >> set & 1) || hasOther(word, locks, held)))
      return true;
  return false;
}

namespace {
/// The bits that some words have, and those that all of them have.
struct Summary {
  uint64_t any, all;
};
} // namespace

template <typename Word>
__attribute__((always_inline)) static inline Summary
summaryOf(const Word *words, int64_t count) {
  Word any = 0, all = ~Word(0);
  for (int64_t i = 0; i < count; ++i) {
    any |= words[i];
    all &= words[i];
  }
  return {any, all};
}

template <typename Word>
__attribute__((always_inline)) static inline void
addTo(Word *words, int64_t count, Word added) {
  for (int64_t i = 0; i < count; ++i)
    words[i] |= added;
}

namespace {
/// A look at the lanes of an access whose words have the type `Word`.
template <typename Word> class Look {
public:
  Look(const Memory &memory, int64_t shadow, const Access &access,
       const Addresses &addresses, bool isScalar)
      : memory(memory), access(access), addresses(addresses),
        isScalar(isScalar) {
    shadow &= ~kSaltBits;
    launch = *reinterpret_cast<uint64_t *>(shadow + kLaunch);
    blocks = reinterpret_cast<Block *>(shadow + kBlocks);
    int64_t size = memory.end - memory.start;
    int64_t count = (size + kBytesOfBlock - 1) / kBytesOfBlock;
    words = reinterpret_cast<char *>(blocks + count);
  }

  void at(const Run &run);

  Failures found;

private:
  void at(int64_t block, int64_t first, int64_t count, int64_t lane);
  void addIfRaced(uint64_t word, int64_t lane) {
    if (access.races(word))
      found.add(isScalar ? -1 : lane, addresses.of(lane), int64_t(word));
  }

  const Memory memory;
  const Access access;
  const Addresses addresses;
  bool isScalar;
  uint64_t launch;
  Block *blocks;
  char *words;
};
} // namespace

template <typename Word> void Look<Word>::at(const Run &run) {
  const int64_t ofBlock = kBytesOfBlock / memory.bytes;
  int64_t element = run.offset / memory.bytes, lane = run.lane,
          end = element + run.lanes;
  while (element < end) {
    int64_t block = element / ofBlock, first = element % ofBlock,
            count = std::min(ofBlock - first, end - element);
    at(block, first, count, lane);
    element += count;
    lane += count;
  }
}

/// Looks at `count` elements of a block.
template <typename Word>
void Look<Word>::at(int64_t number, int64_t first, int64_t count,
                    int64_t lane) {
  constexpr auto summaryHere = inWidestVectors<summaryOf<Word>>;
  constexpr auto addHere = inWidestVectors<addTo<Word>>;
  Block &block = blocks[number];
  uint64_t state = lock(block);
  if (state >> kLaunchShift != launch) {
    state = launch << kLaunchShift;
    block.word = 0;
  }
  auto *own = reinterpret_cast<Word *>(words + number * kBytesOfWords);
  const uint64_t added = access.adds();
  if (!(state & kOwnWords)) {
    const uint64_t word = block.word;
    if (word & ~access.allOwn())
      for (int64_t i = 0; i < count; ++i)
        addIfRaced(word, lane + i);
    int64_t size = memory.end - memory.start - number * kBytesOfBlock;
    int64_t elements = std::min(size, kBytesOfBlock) / memory.bytes;
    if (count == elements) {
      block.word = word | added;
    } else if ((word & added) != added) {
      std::fill_n(own, elements, Word(word));
      state |= kOwnWords;
      addHere(own + first, count, Word(added));
    }
    return unlock(block, state);
  }
  Summary summary = summaryHere(own + first, count);
  if (summary.any & ~access.allOwn())
    for (int64_t i = 0; i < count; ++i)
      addIfRaced(own[first + i], lane + i);
  if ((summary.all & added) != added)
    addHere(own + first, count, Word(added));
  unlock(block, state);
}

template <typename Word>
static Failures look(const Memory &memory, int64_t shadow, const Access &access,
                     const Addresses &addresses, int64_t lanes) {
  Look<Word> look(memory, shadow, access, addresses, /*isScalar=*/!lanes);
  forRuns(memory, addresses, std::max<int64_t>(lanes, 1),
          [&](const Run &run) { look.at(run); });
  return look.found;
}

/// Adds the program to the words of the lanes of an access of `bytes` bytes,
/// and reports those in which it finds another program that it races with.
/// Without a shadow, nothing is looked at.
///
/// \param slot the slot of the launch; without kSlotMagic, nothing is looked at
/// \param argument the place of the argument's words in the slot
/// \param site the place of the counters of the check
/// \param tag the tag of its records
/// \param how the bits of a code, the set of the access, the number of sets,
/// the sets that it races with, and those of them in which only accesses under
/// other locks race: 8 bits each, from the lowest ones on
/// \param lanes how many; 0 for an access of a scalar, which has one
/// \param base,scale,offsets the addresses of the lanes
/// \param program its place in the grid
/// \param lock the number of the lock that it holds; 0 if it holds none
TRITON_EXT_CPU_API void
triton_ext_cpu_look_for_races(int32_t x, int32_t y, int32_t z, int64_t *slot,
                              int64_t argument, int64_t site, int64_t tag,
                              int64_t bytes, int64_t how, int64_t lanes,
                              int64_t base, int64_t scale, int64_t program,
                              int64_t lock, const int64_t *offsets) {
  const int64_t *words = slot + argument;
  if (slot[0] != kSlotMagic || !words[kRaceShadow])
    return;
  const Memory memory{words[0], words[1], bytes};
  const Addresses addresses{base, scale, offsets};
  const Access access(how, words[kRaceShadow] & kSaltBits, program, lock);
  auto lookHere = bytes == 1   ? look<uint16_t>
                  : bytes == 2 ? look<uint32_t>
                               : look<uint64_t>;
  Failures found =
      lookHere(memory, words[kRaceShadow], access, addresses, lanes);
  note(found, siteOf(slot, site, tag, x, y, z),
       {slot[kSlotSerial], found.address, found.word});
}
