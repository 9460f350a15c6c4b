// SPDX-License-Identifier: Apache-2.0
//
// A builder for scalars and for groups of lanes.

#ifndef TRITON_EXT_CPU_LANEBUILDER_H
#define TRITON_EXT_CPU_LANEBUILDER_H

#include "Lanes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::triton_ext::cpu {

class LaneBuilder : public ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;

  /// From its construction to its destruction, the builder emits code for
  /// groups of `lanes` lanes.
  class GroupGuard {
  public:
    GroupGuard(LaneBuilder &builder, int lanes);
    GroupGuard(const GroupGuard &) = delete;
    ~GroupGuard();

  private:
    LaneBuilder &builder;
    int outerLanes;
    Value outerZero;
  };

  /// Returns the number of lanes of a group.
  int lanes() const { return numLanes; }
  /// Returns the i64 0, which most coordinates begin with.
  Value zero() const { return groupZero; }

  // Constants. In a vector, all elements are `value`.
  Value constant(Type type, int64_t value);
  Value floatConstant(Type type, double value);

  // Vectors
  Value splat(Value scalar, int lanes);
  Value shuffle(Value lhs, Value rhs, ArrayRef<int32_t> mask);
  Value extract(Value vec, int lane);

  // Lanes
  /// Returns the lanes as a vector; as a scalar if there is one lane.
  Value toVector(const Lanes &lanes);
  /// Returns the vector or the base of lanes that are not a pattern.
  Value toScalar(const Lanes &lanes);
  /// Returns uniform lanes as a scalar, and other lanes as a vector.
  Value compact(const Lanes &lanes);
  Lanes select(const Lanes &condition, const Lanes &yes, const Lanes &no);

  /// Returns the lanes `first`, `first` + `step`, …
  Lanes contiguous(Value first, int64_t step);

  // Frequent operations
  /// Returns the pointer `bytes` behind `ptr`.
  Value offset(Value ptr, Value bytes);
  /// Calls an intrinsic of LLVM.
  Value intrinsic(StringRef name, Type result, ValueRange operands);

  /// Emits a loop that carries values. Since bounds and step are constants, a
  /// loop of one iteration is emitted as its body, and a loop of no iterations
  /// is replaced by `inits`.
  SmallVector<Value>
  forLoop(int64_t from, int64_t to, int64_t step, ValueRange inits,
          llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body);
  /// Emits a loop whose bounds are i64 values.
  SmallVector<Value>
  forLoop(Value from, Value to, int64_t step, ValueRange inits,
          llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body);
  /// Emits a loop that carries nothing.
  void forLoop(int64_t from, int64_t to, int64_t step,
               llvm::function_ref<void(Value)> body);
  /// Emits `body`, which runs if `condition`, an i1, is true.
  void ifTrue(Value condition, llvm::function_ref<void()> body);

private:
  int numLanes = 1;
  Value groupZero;
};

} // namespace mlir::triton_ext::cpu

#endif // TRITON_EXT_CPU_LANEBUILDER_H
