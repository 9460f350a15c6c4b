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
/// Each thread that records has two numbers, where its next record goes and how
/// many fit behind it. They are values that run through the kernel, also
/// through its loops and branches, so a record waits for no load or atomic
/// operation.
class Regions {
public:
  /// How many records a block of the buffer has: as many as there are regions,
  /// or this if one of them is in a loop.
  static constexpr int64_t kRecordsOfLoops = 32;

  Regions(Emitter &emitter, Clock &clock);

  /// Returns the number of records of a block in a kernel with these regions.
  static int64_t recordsOfBlock(ArrayRef<probe::RegionBeginOp> regions);

  /// Emits the code of all regions. The operations stay.
  LogicalResult run();

private:
  /// The two numbers of each thread, in i32. `left` is -1 if the buffer is
  /// full.
  struct State {
    Value next, left;
  };

  State start();
  State takeBlock(State state, Value mask, bool isFirst);
  State end(probe::RegionEndOp op, State state);
  void finish();
  LogicalResult walk(Block &block, State &state);
  LogicalResult walkOp(Operation &op, State &state);
  LogicalResult walkFor(scf::ForOp op, State &state);
  LogicalResult walkIf(scf::IfOp op, State &state);
  LogicalResult walkWhile(scf::WhileOp op, State &state);
  State addArguments(Block &block);

  Value each(Value value) { return e.splat(value, n); }
  Value i32(int32_t value);
  Value i64(int64_t value) { return each(e.constant(value)); }
  Value widen(Value value);
  Value add(Value left, Value right);
  Value both(Value left, Value right);
  Value compare(arith::CmpIPredicate predicate, Value left, Value right);
  void store(Value place, int64_t word, Value content, Value mask);

  Emitter &e;
  Clock &clock;
  ImplicitLocOpBuilder &b;
  int64_t n;       ///< threads, 0 if a program is one
  int64_t records; ///< of a block
  bool hasLoops;
  Value isFirst;  ///< the first thread of the program
  Value isOfWarp; ///< the first thread of each warp
  Value isUsed;   ///< threads that record in this kernel
  Value warp;     ///< the number of each thread's warp, i64
  Value home;     ///< the first block of the thread, i32
  Value hasHome;  ///< whether it has one
  DenseMap<Operation *, Value> begins; ///< the time of each region_begin
};

} // namespace mlir::triton_ext::lower_probe

#endif // TRITON_EXT_LOWER_PROBE_REGIONS_H
