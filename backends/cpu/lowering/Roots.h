// SPDX-License-Identifier: Apache-2.0
//
// Roots: operations that are lowered where they stand, by loops of their own.
// There is one class for each family. All of them evaluate their operands
// inside their loops.

#ifndef TRITON_EXT_CPU_ROOTS_H
#define TRITON_EXT_CPU_ROOTS_H

#include "TileSchedule.h"

namespace mlir::triton_ext::cpu {

/// The parts of the lowering that all of these classes use.
struct RootParts {
  LoweringContext &context;
  Plan &plan;
  Evaluator &evaluator;
  TileSchedule &tiles;
  Scratch &scratch;
  SplitPoints &splits;
};

/// Reductions, scans and histograms (Reduce.cpp), and tl.map_elementwise
/// (Map.cpp).
class ReduceLowering : RootParts {
public:
  ReduceLowering(RootParts parts, ElementFunctions &functions)
      : RootParts(parts), b(context.b), functions(functions) {}

  void lower(triton::ReduceOp op);
  void lower(triton::ScanOp op);
  void lower(triton::HistogramOp op);
  void lower(triton::MapElementwiseOp op);

private:
  SmallVector<Value> combine(Region &function, ValueRange lhs, ValueRange rhs);
  /// Returns whether the combine function has no side effects and returns bits
  /// that can be compared: then it need not run for every element.
  static bool mayRepeat(triton::ReduceOp op);
  SmallVector<Value>
  combineRest(Region &function, ValueRange sums, Value stop, int64_t size,
              int lanes, llvm::function_ref<SmallVector<Value>()> valuesOfRest);

  LaneBuilder &b;
  ElementFunctions &functions;
};

struct DotUnit;
struct PackedRows;
struct PackedPanels;
struct WaitingProduct;
class SharedPanels;

/// Matrix products (Dot.cpp, DotPacked.cpp, DotTiles.cpp, DotWaiting.cpp).
class DotLowering : RootParts {
public:
  DotLowering(RootParts parts, FloatConversion &conversion,
              SharedPanels &shared)
      : RootParts(parts), b(context.b), conversion(conversion), shared(shared) {
  }

  void lower(triton::DotOp op);

  /// Emits the configuration of the tiles of AMX in front of a loop whose
  /// products use them, unless the loop may leave the compiled code. Returns
  /// whether it did; then `endTiles` belongs behind the loop.
  bool beginTilesFor(Operation *loop);
  void endTiles();

  /// Prepares the products of a loop that wait for several iterations, and
  /// returns them. The loop must then carry the number of the iteration, which
  /// `setIteration` gets; behind the loop, `multiplyRest` gets their count.
  SmallVector<triton::DotOp> beginWaiting(scf::ForOp loop);
  void setIteration(ArrayRef<triton::DotOp> products, Value iteration);
  void multiplyRest(ArrayRef<triton::DotOp> products, Value iterations);

private:
  /// Emits sum += left * right for row-major matrices of the same element type.
  /// The matrices are the last two dimensions of the buffers; the dimensions
  /// before them are batches.
  void multiply(const Buffer &left, const Buffer &right, const Buffer &sum);
  Buffer operand(Operation *op, Value value, Type work);
  /// Writes `tensor` to scratch memory, converted to its type there.
  void convertTo(Operation *op, Value tensor, const Buffer &target);
  /// Converts the sum to the type that `op` returns, and writes it to `result`.
  void convertSum(Operation *op, const Buffer &sum, const Buffer &result);

  // Products of packed operands
  void lowerPacked(triton::DotOp op, const DotUnit &unit,
                   llvm::function_ref<Buffer()> startOfSum, bool startsAtZero);
  void multiplyPacked(triton::DotOp op, const DotUnit &unit, const Buffer &sum,
                      bool startsAtZero, const PackedRows &left,
                      const PackedPanels &right, Value words);
  bool beginTiles();
  void lowerWaiting(triton::DotOp op, const WaitingProduct &product);

  LaneBuilder &b;
  FloatConversion &conversion;
  SharedPanels &shared;
  /// Whether the tiles are configured where code is emitted now.
  bool areTilesReady = false;
  DenseMap<Operation *, std::shared_ptr<WaitingProduct>> waiting;
};

/// Stores (Accesses.cpp) and atomic operations (Atomics.cpp).
class AccessLowering : RootParts {
public:
  AccessLowering(RootParts parts, MemoryAccess &memory,
                 FloatConversion &conversion)
      : RootParts(parts), b(context.b), memory(memory), conversion(conversion) {
  }

  void lower(triton::StoreOp op);
  /// Lowers a read-modify-write, a compare-and-swap, an atomic load or store.
  void lowerAtomic(Operation *op);
  void lower(triton::AtomicPollOp op);

private:
  /// Emits the loops over a tile.
  void store(triton::StoreOp op);
  bool isBoundByMemory(Value tensor);
  Value atomic(Operation *op, const Coords &coords);
  Value exchange(triton::AtomicCASOp op, Value ptr, const Coords &coords);
  Value update(triton::AtomicRMWOp op, Value ptr, Value value);
  Value updateBrainFloat(triton::AtomicRMWOp op, Value ptr, Value value);
  Value scalar(Value value, const Coords &coords);
  Value underMask(Operation *op, Value mask, const Coords &coords,
                  llvm::function_ref<Value()> body);

  LaneBuilder &b;
  MemoryAccess &memory;
  FloatConversion &conversion;
};

/// Prints and assertions (Messages.cpp).
class MessageLowering : RootParts {
public:
  explicit MessageLowering(RootParts parts) : RootParts(parts), b(context.b) {}

  void lower(triton::PrintOp op);
  void lower(triton::AssertOp op);

private:
  void call(StringRef function, triton::PrintOp op);

  LaneBuilder &b;
  /// Tensors that calls in a block of the result have got, and where their
  /// elements are.
  DenseMap<std::pair<Block *, Value>, Buffer> written;
};

} // namespace mlir::triton_ext::cpu

#endif // TRITON_EXT_CPU_ROOTS_H
