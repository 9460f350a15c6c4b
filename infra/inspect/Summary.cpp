// SPDX-License-Identifier: Apache-2.0

#include "Summary.h"

using namespace mlir;
using namespace mlir::triton_ext;

void Summary::add(Operation &op) {
  ++ops;
  mix(op.getName().getAsOpaquePointer(), op.getLoc().getAsOpaquePointer(),
      op.getRawDictionaryAttrs().getAsOpaquePointer(), op.hashProperties(),
      op.getNumOperands(), op.getNumResults(), op.getNumSuccessors(),
      op.getNumRegions());
  for (Value operand : op.getOperands())
    mix(number(operand.getAsOpaquePointer()));
  for (Value result : op.getResults())
    mix(number(result.getAsOpaquePointer()),
        result.getType().getAsOpaquePointer());
  for (Block *successor : op.getSuccessors())
    mix(number(successor));
  for (Region &region : op.getRegions()) {
    mix(region.getBlocks().size());
    for (Block &block : region) {
      mix(number(&block), block.getNumArguments(),
          block.getOperations().size());
      for (BlockArgument argument : block.getArguments())
        mix(number(argument.getAsOpaquePointer()),
            argument.getType().getAsOpaquePointer(),
            argument.getLoc().getAsOpaquePointer());
      for (Operation &nested : block)
        add(nested);
    }
  }
}
