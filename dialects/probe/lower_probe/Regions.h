// SPDX-License-Identifier: Apache-2.0
//
// Lowers the regions of one kernel to tt.

#ifndef TRITON_EXT_LOWER_PROBE_REGIONS_H
#define TRITON_EXT_LOWER_PROBE_REGIONS_H

#include "Clock.h"
#include "Emitter.h"

namespace mlir::triton_ext::lower_probe {

/// Lowers `probe.region_begin` and `probe.region_end`. RATIONALE.md describes
/// the blocks of the buffer that a program's threads take for their records.
///
/// A program has two numbers, where its next record goes and how many fit
/// behind it. They are values that run through the kernel, also through its
/// loops and branches, so a record waits for no load or atomic operation. All
/// threads have the same numbers, also if only one of them records.
/// Marks the clock of a region's end in a room, and the stores of its record.
inline constexpr StringRef kEnd = "probe.end";

class Regions {
public:
  /// How many turns of a loop with one region a block of the buffer serves.
  static constexpr int64_t kTurnsOfBlock = 32;

  Regions(Emitter &emitter, Clock &clock);

  /// Returns the number of records of a block in a kernel with these regions.
  /// If none of them is in a loop, that is how many records they make.
  static int64_t recordsOfBlock(ArrayRef<probe::RegionBeginOp> regions,
                                const Clock &clock);

  /// Emits the code of all regions. The operations stay.
  /// `first`, if it is not null, is the operation before which the builder is.
  LogicalResult run(Operation *first);

  /// Emits what reads the time of the program's start, unless that is the start
  /// of the region that `first`, as in `run`, begins.
  void readStart(Operation *first);

private:
  /// The two numbers, in i32. `left` is -1 if the buffer is full.
  struct State {
    Value next, left;
  };

  /// The room for the records of all turns of a loop.
  struct Room {
    const RegionLoop *loop;
    Value records; ///< the address of the first one
    Value limit;   ///< how many records fit, i32
    Value place;   ///< the number of the turn's first record, i32
  };

  State takeHome(Operation *first);
  State takeBlock(int64_t needed);
  Value turnsOf(scf::ForOp loop);
  Value wordsOf(const RegionLoop &loop, Value turns);
  Room roomOf(const RegionLoop &loop, Value turns, Value words, Value at,
              Value space, Value mask);
  Room takeRoom(const RegionLoop &loop);
  void endInRoom(probe::RegionEndOp op, int64_t offset);
  Value warpOfThread();
  Value firstOfWarp(Value mask);
  State makeRoom(unsigned site, State state, int64_t needed);
  State end(probe::RegionEndOp op, State state);
  void storeStart(Value cycles, Value global);
  void finish(Operation *exit);
  LogicalResult walk(Block &block, State &state);
  LogicalResult walkOp(Operation &op, State &state);
  LogicalResult walkFor(scf::ForOp op, State &state);
  LogicalResult walkIf(scf::IfOp op, State &state);
  LogicalResult walkWhile(scf::WhileOp op, State &state);
  State addArguments(Block &block);

  Value i32(int32_t value);
  Value widen(Value value);
  Value both(Value left, Value right);
  Value compare(arith::CmpIPredicate predicate, Value left, Value right);
  Value addressOf(Value place, int64_t word);
  void store(Value place, int64_t word, Value content, Value mask);

  Emitter &e;
  Clock &clock;
  ImplicitLocOpBuilder &b;
  int64_t n;       ///< threads, 0 if a program is one
  int64_t records; ///< of a block
  bool hasLoops;
  /// The time of the program's start, i64; null if it is that of a region.
  Value start, globalStart;
  Operation *lastEnd = nullptr;        ///< the region_end that was lowered last
  Value lastEndTime;                   ///< its time, if it is not in a room
  std::optional<Room> room;            ///< of the loop that is being emitted
  Value home;                          ///< the first block of the program, i32
  Value hasHome;                       ///< whether it has one
  DenseMap<Operation *, Value> begins; ///< the time of each region_begin
};

} // namespace mlir::triton_ext::lower_probe

#endif // TRITON_EXT_LOWER_PROBE_REGIONS_H
