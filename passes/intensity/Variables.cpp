// SPDX-License-Identifier: Apache-2.0
//
// Which integers are variables of the kernel's source.

#include "Slice.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::intensity;

/// Remembers that `node` is the value of a variable. Triton gives the name to
/// each operation of the assignment; the last one computes its value. Example:
/// of `at = a * b + c`, both the product and the sum are named `at`. What a
/// loop carries is assigned by the loop.
void Slice::keepName(Value value, int node) {
  auto name = dyn_cast<NameLoc>(value.getLoc());
  if (!name)
    return;
  Location loc = name;
  if (Operation *op = value.getDefiningOp()) {
    if (op->getNumResults() > 1) // which have one location
      return;
    if (Operation *next = op->getNextNode())
      if (auto other = dyn_cast<NameLoc>(next->getLoc()))
        if (other.getName() == name.getName())
          return;
  } else if (auto loop = dyn_cast<scf::ForOp>(
                 cast<BlockArgument>(value).getOwner()->getParentOp())) {
    loc = loop.getLoc();
  }
  variables.push_back(
      llvm::json::Array{name.getName().str(), node, lineOf(loc)});
}
