// SPDX-License-Identifier: Apache-2.0
//
// Lowers the probes of one kernel to tt.

#ifndef TRITON_EXT_LOWER_PROBE_EMITTER_H
#define TRITON_EXT_LOWER_PROBE_EMITTER_H

#include "Sites.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "triton/Dialect/TritonGPU/IR/Dialect.h"

namespace mlir::triton_ext::lower_probe {

using probe::HistogramOp;
using probe::MinMaxOp;
using probe::StatsOp;

class Ptx;

class Emitter {
public:
  Emitter(triton::FuncOp kernel, ArrayRef<Operation *> probes, Clock &clock)
      : kernel(kernel), clock(clock), sites(kernel, probes, clock),
        b(kernel.getLoc(), kernel.getContext()) {}

  /// Emits the code of each probe before it, and what they share at the
  /// kernel's start. The probes stay, but for the uses of those that
  /// have results.
  LogicalResult run();

  /// Returns whether there are sites, which a table describes.
  bool hasSites() const { return !sites.ops.empty(); }

  /// Returns the sites as a JSON text.
  StringRef table() const { return sites.table; }

private:
  friend class Regions;

  /// Lanes that take part in a probe.
  struct Lanes {
    Value mask;           ///< i1, or a tensor of i1 with one axis
    Value count;          ///< how many are active, i64
    Value rank;           ///< for tensors, the active lanes before each one
    int64_t numLanes = 0; ///< 0 for a scalar
  };

  Operation *firstProbe();
  void emitPrologue();
  void openBuffer();
  void findShard(Value linear);
  Value take(Value words, Value mask);
  Value takeFromPool(Value words, Value mask);
  void followSlot();
  LogicalResult checkLaunchWords();
  void readLaunchWords();
  bool isLate(Operation *op) const;
  void emitLate(unsigned site, probe::CheckOp check, probe::CheckOp next);
  void emitRaise(probe::RaiseOp op);
  LogicalResult emitFailures(unsigned site, probe::FailuresOp op);
  LogicalResult emitOutside(unsigned site, probe::OutsideOp op);
  LogicalResult emitShadow(unsigned site, probe::ShadowOp op);
  void call(StringRef function, unsigned site, uint32_t argument,
            ValueRange operands);
  Value lanesLike(Type type);
  void keepFirst(probe::OutsideOp op, Value place);
  bool callRuntime(unsigned site, probe::CheckOp check);
  bool isInThreads(probe::OutsideOp op) const;
  void keepFirstInThreads(probe::OutsideOp op, int64_t site);
  bool isPtx();
  Value readInPtx(ArrayRef<probe::LaunchWordOp> words, Value slot);
  void raiseInPtx(ArrayRef<probe::RaiseOp> raises, Value slot);
  bool emitInPtx();
  void raiseIf(Ptx &ptx);
  bool raiseOfLoop(probe::RaiseOp op);
  void raiseAtEnd(ArrayRef<probe::RaiseOp> raises);
  void raiseBehindLoops(SmallVector<probe::RaiseOp> &raises);
  void recordFailure(unsigned site, Value number, Value hasFailed, Value count,
                     Value lane, ValueRange values);
  /// Returns the check of the site behind `site` if it is in the same place
  /// with the same values and mask, so that one piece of code can serve both.
  probe::CheckOp partnerOf(unsigned site) const;
  Value slotWord(int64_t word);
  Value loadSlot(int64_t word, Value offset = {}, int64_t otherwise = 0);
  Value findChunk(int64_t key);
  Value isEntry(Value entry, Value wanted);
  void emit(unsigned site, Operation *op);
  void emitCheck(unsigned site, probe::CheckOp check);
  void emitRecords(unsigned site, Lanes lanes, ValueRange values);
  void writeRecords(Value tag, Value lane, ValueRange values, Value first,
                    Value offset, Value mask);
  Lanes lanesOf(Operation *op, Value mask, bool isNegated, Value also);
  void emitMinMax(unsigned site, MinMaxOp op);
  void emitStats(unsigned site, StatsOp op);
  void emitHistogram(unsigned site, HistogramOp op);
  Value binWords(unsigned site, int64_t numBins);
  Value reduce(Value values, triton::RMWOp kind);
  Value numberOf(Value mask);
  Value inF64(Value value, bool isUnsigned);
  Value update(triton::RMWOp kind, Value pointer, Value value, Value mask);
  Value addTo(Value pointer, Value amount, Value mask);
  Value bits(Value value, int64_t numLanes);
  Value flat(Value value, int64_t numLanes);
  Value splat(Value value, int64_t numLanes);
  Value siteWord(unsigned site, int64_t word);
  int64_t countersOf(unsigned site);
  /// Returns the number of the slot's word that counts how often its flag was
  /// raised. It is behind the counters of the sites, which a replay of a CUDA
  /// graph does not reset.
  int64_t flagWord() { return countersOf(sites.ops.size()); }
  Value sharedWord(unsigned site, int64_t word);
  Value at(Value words);
  Value constant(int64_t value);
  Value truth(bool value);
  Value loadHeader(int64_t word);

  triton::FuncOp kernel;
  Clock &clock;
  Sites sites;
  ImplicitLocOpBuilder b;
  /// The threads of a program, 0 if it is one; nothing if they are unknown.
  std::optional<int64_t> numThreads;
  Value own; ///< what ttg.global_scratch_alloc returns, for this program
  /// The scratch pointer, !tt.ptr<i64>: it points to the launch slot if a probe
  /// of the kernel needs one, else to the buffer. Null with `slotInPtx`.
  Value shared;
  Value hasSlot; ///< whether that is a slot
  /// If all probes of the kernel are assembly: the address of the slot, an i64
  /// that is 0 without a slot. Null if only `outside` needs the slot.
  Value slotInPtx;
  Value base;     ///< the buffer, !tt.ptr<i64>
  Value isThere;  ///< whether it is one
  Value capacity; ///< words of the area of records
  Value records;  ///< offset of the area
  Value pool;     ///< offset of the pool in the area
  /// The shard of the program: how many words it has (0 without shards), its
  /// offset in the area, and its cursor.
  Value shardWords, shard, shardCursor;
  Value programXY, programZ;
  Value linear;              ///< number of the program, i64
  Value copy;                ///< offset of the program's copy in each chunk
  SmallVector<Value> chunks; ///< the offset of each chunk of the kernel
};

/// Erases what has computed `values` if nothing uses it, and then what has
/// computed its operands; probes only if they need not be kept.
void eraseDead(ValueRange values, bool keepsProbes);

} // namespace mlir::triton_ext::lower_probe

#endif // TRITON_EXT_LOWER_PROBE_EMITTER_H
