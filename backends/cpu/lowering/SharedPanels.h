// SPDX-License-Identifier: Apache-2.0
//
// Right operands of products that stay packed for later programs. Programs that
// run behind each other in a thread often multiply the same right matrix, for
// example all rows of tiles of one column. Then the first one packs it for all.

#ifndef TRITON_EXT_CPU_SHAREDPANELS_H
#define TRITON_EXT_CPU_SHAREDPANELS_H

#include "DotPacking.h"
#include "ProgramOrder.h"

namespace mlir::triton_ext::cpu {

/// The right operand of a product in a loop, and its state in scratch memory.
struct SharedPanel {
  triton::DotOp product;
  /// The scalars that the operand is computed from, besides constants,
  /// arguments of the function and the number of the iteration.
  SmallVector<Value> key;
  /// The loads that the operand is computed from.
  SmallVector<triton::LoadOp> loads;
  /// How many iterations may be kept; a multiple of the slots of a block.
  int64_t iterations = 0;
  /// The number of iterations that this launch keeps: all of these, or none.
  Value kept = {};
  /// The addresses of numbers of 64 bits: how many iterations are valid; the
  /// range of addresses that they were loaded from; the values of the key.
  Value valid = {}, low = {}, high = {}, keys = {};
};

class SharedPanels : RootParts {
public:
  explicit SharedPanels(RootParts parts) : RootParts(parts), b(context.b) {}

  /// Finds the products whose right operands may be shared, and emits the
  /// allocation of their state, which must be the first one in scratch memory.
  void find(const ProgramOrder &order);
  bool isEmpty() const { return panels.empty(); }
  /// Returns the panel of a product; null if it is not shared.
  const SharedPanel *of(triton::DotOp op) const;
  /// Emits, in front of the loop, what makes the packed iterations invalid
  /// unless the scalars of the key are those of the last time.
  void begin(const SharedPanel &panel);
  /// Emits `pack`, which runs unless the iteration is valid.
  void packOnce(const SharedPanel &panel, Value iteration,
                llvm::function_ref<void()> pack);
  /// Emits that at most `iterations` are valid.
  void limit(const SharedPanel &panel, Value iterations);
  /// Emits what makes panels invalid if the store may write what they were
  /// loaded from.
  void storesTo(triton::StoreOp op);

  /// How many programs should run behind each other; a power of two.
  int64_t together = 4;

  /// The most products that share.
  static constexpr int64_t mostProducts = 7;

private:
  /// Emits what widens the range of addresses in memory by those of a tensor of
  /// pointers.
  void widen(Value pointers, Value low, Value high);
  void clear(Value low, Value high);
  Value load(Value address);
  void store(Value value, Value address);
  Value place(Value base, int64_t number);

  LaneBuilder &b;
  SmallVector<SharedPanel> panels;
  /// Whether this launch keeps anything, as an i1.
  Value keeps;
  /// Where a store's range of addresses is computed.
  Value storeLow, storeHigh;
};

} // namespace mlir::triton_ext::cpu

#endif // TRITON_EXT_CPU_SHAREDPANELS_H
