// SPDX-License-Identifier: Apache-2.0
//
// Lowers the probes of one kernel to tt.

#ifndef TRITON_EXT_LOWER_PROBE_EMITTER_H
#define TRITON_EXT_LOWER_PROBE_EMITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "probe/Probe.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "triton/Dialect/TritonGPU/IR/Dialect.h"

namespace mlir::triton_ext::lower_probe {

using probe::HistogramOp;
using probe::MinMaxOp;
using probe::StatsOp;

class Clock;

class Emitter {
public:
  /// The probes of a kernel. The number of a site is its place among those that
  /// are neither clocks nor ends of regions.
  Emitter(triton::FuncOp kernel, ArrayRef<Operation *> probes, Clock &clock);

  /// Emits the code of each probe before it, and what they share at the
  /// kernel's start. The probes stay, but for clocks.
  LogicalResult run();

  /// Returns whether there are sites, which a table describes.
  bool hasSites() const { return !sitesOfKernel.empty(); }

  /// Returns the sites as a JSON text.
  std::string table() const { return sites; }

private:
  friend class Regions;

  /// Lanes that take part in a probe.
  struct Lanes {
    Value mask;           ///< i1, or a tensor of i1 with one axis
    Value count;          ///< how many are active, i64
    Value rank;           ///< for tensors, the active lanes before each one
    int64_t numLanes = 0; ///< 0 for a scalar
  };

  void emitPrologue();
  Value findChunk(int64_t key);
  Value isEntry(Value entry, Value wanted);
  void emit(unsigned site, Operation *op);
  void emitRecords(unsigned site, Lanes lanes, ValueRange values);
  Lanes lanesOf(Operation *op, Value mask, bool isNegated, Value also);
  void emitMinMax(unsigned site, MinMaxOp op);
  void emitStats(unsigned site, StatsOp op);
  void emitHistogram(unsigned site, HistogramOp op);
  void placeLines();
  unsigned siteOf(Operation *op) const;
  Value binWords(unsigned site, int64_t numBins);
  Value reduce(Value values, triton::RMWOp kind);
  Value numberOf(Value mask);
  Value inF64(Value value);
  Value update(triton::RMWOp kind, Value pointer, Value value, Value mask);
  Value addTo(Value pointer, Value amount, Value mask);
  Value bits(Value value, int64_t numLanes);
  Value flat(Value value, int64_t numLanes);
  Value splat(Value value, int64_t numLanes);
  Value siteWord(unsigned site, int64_t word);
  Value sharedWord(unsigned site, int64_t word);
  Value at(Value words);
  Value constant(int64_t value);
  Value truth(bool value);
  Value loadHeader(int64_t word);

  triton::FuncOp kernel;
  Clock &clock;
  SmallVector<Operation *> sitesOfKernel;
  SmallVector<probe::RegionBeginOp> regions;
  SmallVector<probe::ClockOp> clocks;
  ImplicitLocOpBuilder b;
  std::string sites;
  /// For each site its line, and for a histogram the first line of its bins.
  SmallVector<int64_t> lines, binLines;
  int64_t numLines = 0;
  /// The threads of a program, 0 if it is one; nothing if they are unknown.
  std::optional<int64_t> numThreads;
  int64_t key = 0;
  Value base;     ///< the buffer, !tt.ptr<i64>
  Value isThere;  ///< whether it is one
  Value capacity; ///< words of the area of records
  Value records;  ///< offset of the area
  Value programXY, programZ;
  Value copy;                ///< offset of the program's copy in each chunk
  SmallVector<Value> chunks; ///< the offset of each chunk of the kernel
};

} // namespace mlir::triton_ext::lower_probe

#endif // TRITON_EXT_LOWER_PROBE_EMITTER_H
