// SPDX-License-Identifier: Apache-2.0
//
// The layout of a session's buffer, in words of 64 bits. The host has the same
// numbers (dialects/probe/api/_layout.py), and RATIONALE.md explains them.

#ifndef TRITON_EXT_LOWER_PROBE_LAYOUT_H
#define TRITON_EXT_LOWER_PROBE_LAYOUT_H

#include <cstdint>

namespace mlir::triton_ext::lower_probe {

/// The first word of a buffer. In memory without it, no probe writes.
inline constexpr int64_t kMagic = 0x31304542'4F525054; // "TPROBE01"

/// Words of the header.
inline constexpr int64_t kCapacity = 1;   // words of the area of records
inline constexpr int64_t kCursor = 2;     // words asked for in the pool
inline constexpr int64_t kChunkMask = 3;  // number of chunks - 1, a power of 2
inline constexpr int64_t kChunks = 4;     // the offset of the first chunk
inline constexpr int64_t kRecords = 5;    // the offset of the area of records
inline constexpr int64_t kShardWords = 6; // words of a shard, 0 without shards

/// The area of records begins with shards, one for the programs whose linear id
/// has the same low bits; behind them is the pool, which all programs share.
/// Behind the header each shard has a cursor, the words asked for in it, on a
/// cache line of its own: additions to one word run one after the other.
/// In a kernel with regions on a CPU, 2^kNeighbourBits neighbours share one.
inline constexpr int64_t kShards = 64, kCursorWords = 16, kNeighbourBits = 3;
inline constexpr int64_t kShardCursors = 16;
inline constexpr int64_t kDirectory = kShardCursors + kShards * kCursorWords;

/// Each site has a cache line in a chunk.
inline constexpr int64_t kSiteWords = 8, kSitesOfChunk = 16;
/// A chunk has copies, which programs use in turn: one word takes the atomic
/// additions of all programs one after the other. The host adds the copies up.
inline constexpr int64_t kCopyWords = kSiteWords * kSitesOfChunk, kCopies = 16;
inline constexpr int64_t kCount = 0, kLost = 1; // words of a site
/// Of minmax: keys whose unsigned order is that of the numbers. Zero is below
/// every key, so a new buffer needs no other start.
inline constexpr int64_t kMax = 2, kInvertedMin = 3;
inline constexpr int64_t kSum = 2, kSquares = 3; // of stats, f64
inline constexpr int64_t kBelow = 2, kAbove = 3; // of histogram
inline constexpr int64_t kNaN = 4, kInf = 5;     // of all three, of stats

/// A record is a tag, x and y of the program, z and the lane, and the values.
inline constexpr int64_t kRecordHead = 3;

/// Regions: a program takes blocks of the area of records. The first one, its
/// home, has a tag, x and y of the program, z, the processor, and the cycles
/// and the global time of the program's start and end. A further block has a
/// tag and the offset of the home.
inline constexpr int64_t kHomeTag = 0xFFFF, kBlockTag = 0xFFFE;
inline constexpr int64_t kHomeHead = 8, kBlockHead = 2;
/// A block with the records of all turns of a loop: a tag, the offset of the
/// home with the number of the loop above it, and the words behind the head. If
/// the loop is the first of the program's regions, its records are behind those
/// of the home, whose head then has two words more: the number of the loop, and
/// the words of its records. Such a record is the cycles of the start and of
/// the end; its place tells the region and the warp.
inline constexpr int64_t kLoopTag = 0xFFFD, kHomeOfLoopTag = 0xFFFC;
inline constexpr int64_t kLoopHead = 3, kHomeOfLoopHead = 10;
inline constexpr int64_t kHomeUnit = 3, kHomeStart = 4, kHomeEnd = 6;
/// Behind the head are other records: the cycles of the start, and the duration
/// with the warp and the number of the site plus 1 above it. Records of the
/// warps of one region follow each other. A record of zeros is not used yet.
inline constexpr int64_t kRegionWords = 2, kCycleBits = 40, kSiteBit = 48;

/// The most failures of a check that are recorded, and the most runs of a check
/// with a note whose first failure is.
inline constexpr int64_t kMostFailures = 16, kMostRuns = 64;

/// The pointer from ttg.global_scratch_alloc is the buffer's address plus the
/// program's linear id times this. As an alignment it tells the host that a
/// launch asks for the buffer of a session.
inline constexpr int32_t kStride = 1024;

/// In a kernel with a probe that needs a launch slot, the pointer leads to the
/// slot, and this is the stride and the alignment.
inline constexpr int32_t kSlotStride = 2048;
/// The first word of a slot, and the words with the buffer's address, the words
/// of its pool, and the offset of the pool.
inline constexpr int64_t kSlotMagic = 0x31304C53'4F525054; // "TPROSL01"
inline constexpr int64_t kSlotBuffer = 1, kSlotCapacity = 5, kSlotPool = 6;
/// Behind the head each argument of the kernel has words, and behind these each
/// site has its count, 0, and its runs that have failed. Behind the last one is
/// the number of times that the slot's flag was raised.
inline constexpr int64_t kSlotHead = 8, kArgumentWords = 8, kSlotCounters = 4;
inline constexpr int64_t kRuns = 2;
/// The words of an argument begin with the start and the end of its memory;
/// here are those of its view.
inline constexpr int64_t kViewOfArgument = 2;
/// Of `outside`: the key of the first lane, and the address of a lane with its
/// key, which are one after the other. A key is the largest of all lanes that
/// are outside. Its highest bit is on if the lane is outside of the memory of
/// the argument; below are the inverted bits of the number of the program and,
/// in 20 bits, of the lane. 0 is below every key.
inline constexpr int64_t kFirstKey = 0, kFirstAddress = 2, kKeyOfAddress = 3;
inline constexpr int64_t kKeyLaneBits = 20;

/// The low bits of a key: the number of a site plus 1, or of a chunk.
inline constexpr int64_t kChunkKey = 0x8000, kLocalBits = 16;

} // namespace mlir::triton_ext::lower_probe

#endif // TRITON_EXT_LOWER_PROBE_LAYOUT_H
