// SPDX-License-Identifier: Apache-2.0
//
// Makes the slots of the numbers that a loop carries, and removes those that
// are the same in every iteration.

#include "Slots.h"
#include "StridedNumbers.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::triton_ext::carry_strides;

SmallVector<Slot>
mlir::triton_ext::carry_strides::makeSlots(ArrayRef<SmallVector<Value>> from,
                                           Block *block) {
  SmallVector<Slot> slots;
  for (const SmallVector<Value> &numbers : from)
    for (Value number : numbers)
      slots.push_back({{}, number, {}});
  auto arguments = block->getArguments().take_back(slots.size());
  for (auto [slot, argument] : llvm::zip_equal(slots, arguments))
    slot.argument = argument;
  return slots;
}

void mlir::triton_ext::carry_strides::dropInvariants(
    Operation *loop, MutableArrayRef<Slot> headSlots,
    MutableArrayRef<Slot> tailSlots) {
  // Assumes that all are the same, until some turn out to be not.
  SmallVector<Slot *> same;
  for (Slot &slot : headSlots)
    same.push_back(&slot);
  DenseMap<Value, Value> known;
  size_t before;
  do {
    before = same.size();
    known.clear();
    for (Slot *slot : same)
      known[slot->argument] = slot->from;
    for (Slot &slot : tailSlots)
      if (Value value = known.lookup(slot.from))
        known[slot.argument] = value;
    llvm::erase_if(same, [&](Slot *slot) {
      return !isSame(slot->next, slot->from, known);
    });
  } while (same.size() != before);
  for (Slot *slot : same)
    slot->next = slot->from;
  for (Slot &slot : headSlots)
    if (Value value = known.lookup(slot.next))
      slot.next = value;
  for (auto [argument, value] : known)
    argument.replaceAllUsesWith(value);
  auto &slots = isa<scf::ForOp>(loop) ? headSlots : tailSlots;
  auto results = loop->getResults().take_back(slots.size());
  for (auto [slot, result] : llvm::zip_equal(slots, results))
    if (Value value = known.lookup(slot.argument))
      result.replaceAllUsesWith(value);
}
