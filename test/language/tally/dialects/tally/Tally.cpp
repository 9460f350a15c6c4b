// SPDX-License-Identifier: Apache-2.0
//
// What makes the operations of the dialect `tally` valid.

#include "Tally.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

#include "Tally.cpp.inc"

using namespace mlir;
using namespace mlir::triton_ext::tally;

LogicalResult OrderOp::verify() {
  if (!getElementTypeOrSelf(getLow().getType()).isIntOrFloat())
    return emitOpError() << "expected numbers, got " << getLow().getType();
  return success();
}
