// SPDX-License-Identifier: Apache-2.0
//
// Functions that a kernel applies to elements: the combine functions of
// reductions and scans, and what tl.map_elementwise maps.

#ifndef TRITON_EXT_CPU_ELEMENTFUNCTIONS_H
#define TRITON_EXT_CPU_ELEMENTFUNCTIONS_H

#include "Elementwise.h"

#include <functional>

namespace mlir::triton_ext::cpu {

class ElementFunctions {
public:
  /// `lowerBlock` emits a block of scalar code with its branches and loops.
  ElementFunctions(LoweringContext &context, Elementwise &elementwise,
                   std::function<void(Block &)> lowerBlock)
      : context(context), b(context.b), elementwise(elementwise),
        lowerBlock(std::move(lowerBlock)) {}

  /// Applies the function to a group of lanes.
  SmallVector<Lanes> apply(Region &function, ArrayRef<Lanes> arguments);
  /// Applies the function to scalars.
  SmallVector<Value> call(Region &function, ValueRange arguments);

private:
  using LaneMap = DenseMap<Value, Lanes>;
  SmallVector<Lanes> selectPaths(Region &region, LaneMap &values);
  SmallVector<Lanes> runForEachLane(Region &region, ArrayRef<Lanes> arguments);

  LoweringContext &context;
  LaneBuilder &b;
  Elementwise &elementwise;
  std::function<void(Block &)> lowerBlock;
};

} // namespace mlir::triton_ext::cpu

#endif // TRITON_EXT_CPU_ELEMENTFUNCTIONS_H
