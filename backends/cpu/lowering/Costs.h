// SPDX-License-Identifier: Apache-2.0
//
// The costs of operations, which tell whether to recompute a tensor or to keep
// it in scratch memory. The numbers are orders of magnitude: they need to
// distinguish one addition, one load and one call of exp.

#ifndef TRITON_EXT_CPU_COSTS_H
#define TRITON_EXT_CPU_COSTS_H

#include "mlir/IR/Operation.h"

namespace mlir::triton_ext::cpu {

/// The kind of work that an operation is for the processor.
enum class OperationKind {
  /// Only changes where its operand is evaluated, or is a constant.
  Free,
  /// One vector instruction.
  Arithmetic,
  /// Computes the coordinates of its operand, or loads a constant table.
  Rearrangement,
  /// A load from memory of the kernel's caller.
  Load,
  /// A conversion of floats in integer arithmetic, or a load at computed
  /// coordinates.
  Conversion,
  /// A division, a remainder of integers or a square root, none of which is
  /// pipelined well.
  Division,
  /// A polynomial, or a call of the C library for each lane.
  Function,
};

OperationKind kindOf(Operation *op);

/// Costs are counted in vector additions for each group of lanes.
using Cost = int;

/// Returns the cost of `op` without its operands.
Cost costOf(OperationKind kind);

/// The cost of a load from scratch memory, which is in the first-level cache if
/// the tile is small and in the second-level cache if it is large.
constexpr Cost costOfScratch = 2;

/// The limits up to which a tensor is recomputed instead of stored. They are
/// options of the pass.
struct Limits {
  /// A tensor that is needed at several coordinates is recomputed for each if
  /// its cost is at most this. For example, a load and two additions are
  /// recomputed, and the result of a division is stored.
  Cost mostForTwoViews;

  /// A tensor is recomputed in every iteration of a loop, or for every element
  /// of a broadcast, if its cost is at most this. For example, two loads or one
  /// division are recomputed. The limit is higher than for two views, because
  /// storing needs an additional loop that writes the scratch memory.
  Cost mostForReplication;

  /// The bytes of packed operands that programs share; 0 if each program packs
  /// its own.
  int64_t mostSharedBytes;
};

/// The addresses of a load are part of its cost only if they cost at least
/// this. Cheaper ones are affine expressions, most of which are computed once
/// for a whole group or outside of the loop.
constexpr Cost leastForAddresses = 16;

/// Sums of costs are capped at this. So with a higher limit, no tensor is
/// stored because of its cost.
constexpr Cost mostCost = 1000;

} // namespace mlir::triton_ext::cpu

#endif // TRITON_EXT_CPU_COSTS_H
