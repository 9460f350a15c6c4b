// SPDX-License-Identifier: Apache-2.0
//
// The axis of the grid along which programs run first.

#ifndef TRITON_EXT_CPU_GRIDORDER_H
#define TRITON_EXT_CPU_GRIDORDER_H

#include "LaneBuilder.h"

#include "triton/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton_ext::cpu {

struct GridOrder {
  explicit GridOrder(triton::FuncOp function);

  /// Returns whether programs run along y first, as an i1. `arguments` are the
  /// lowered arguments of the function.
  Value runsAlongY(LaneBuilder &b, ArrayRef<Value> arguments) const;

  /// Whether programs may run along y first; else they run along x.
  bool mayRunAlongY = false;
  /// They do if these arguments, which are strides, are 1.
  SmallVector<BlockArgument> strides;
  /// For tensors of pointers, the bytes to the tile of the program that
  /// probably runs next, if it lies directly behind each row of this tile.
  /// Empty for products, which have an order of their own.
  DenseMap<Value, int64_t> nextPrograms;
};

} // namespace mlir::triton_ext::cpu

#endif // TRITON_EXT_CPU_GRIDORDER_H
