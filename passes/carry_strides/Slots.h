// SPDX-License-Identifier: Apache-2.0
//
// The numbers that the iterations of a loop pass on.

#ifndef TRITON_EXT_CARRY_STRIDES_SLOTS_H
#define TRITON_EXT_CARRY_STRIDES_SLOTS_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"

namespace mlir::triton_ext::carry_strides {

/// One of the numbers that an iteration passes on.
struct Slot {
  BlockArgument argument;
  /// Its value where it comes from: before the first iteration, or, behind the
  /// condition of a `while`, before the condition.
  Value from;
  /// Its value in the next iteration.
  Value next;
};

/// Returns the slots of numbers, which are the last arguments of a block.
SmallVector<Slot> makeSlots(ArrayRef<SmallVector<Value>> from, Block *block);

/// Replaces the numbers that are the same in every iteration by those before
/// the loop. A `while` has slots behind the condition, too: `tailSlots`.
void dropInvariants(Operation *loop, MutableArrayRef<Slot> headSlots,
                    MutableArrayRef<Slot> tailSlots);

} // namespace mlir::triton_ext::carry_strides

#endif // TRITON_EXT_CARRY_STRIDES_SLOTS_H
