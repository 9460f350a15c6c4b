// SPDX-License-Identifier: Apache-2.0
//
// Finds the smallest mask whose active lanes say how many lanes are active.

#include "Access.h"

#include "mlir/IR/BuiltinTypes.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::instrument;
namespace tt = mlir::triton;

/// Returns the smaller mask that `mask` repeats, which takes less time to
/// count: that of one row, if all rows are equal.
static Value withoutCopies(Value mask) {
  while (Operation *source = mask ? mask.getDefiningOp() : nullptr) {
    if (!isa<tt::BroadcastOp, tt::SplatOp, tt::ExpandDimsOp>(source))
      break;
    mask = source->getOperand(0);
  }
  return mask;
}

static StringRef ruleOf(analysis::MemoryAccess::Kind kind) {
  using Kind = analysis::MemoryAccess::Kind;
  return kind == Kind::Load    ? "loaded"
         : kind == Kind::Store ? "stored"
                               : "atomic";
}

std::optional<Access> instrument::accessOf(Operation *op) {
  auto found = analysis::memoryAccessOf(op);
  if (!found)
    return std::nullopt;
  Access access{*found, ruleOf(found->kind), withoutCopies(found->mask), 1};
  if (access.counted) {
    auto tensor = dyn_cast<RankedTensorType>(access.counted.getType());
    access.copies = access.lanes / (tensor ? tensor.getNumElements() : 1);
  }
  return access;
}
