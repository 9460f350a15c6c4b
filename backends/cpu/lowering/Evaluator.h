// SPDX-License-Identifier: Apache-2.0
//
// Evaluates tensors as expressions, at coordinates.

#ifndef TRITON_EXT_CPU_EVALUATOR_H
#define TRITON_EXT_CPU_EVALUATOR_H

#include "ElementFunctions.h"
#include "MemoryAccess.h"

namespace mlir::triton_ext::cpu {

class Evaluator {
public:
  Evaluator(LoweringContext &context, LaneArithmetic &arithmetic,
            MemoryAccess &memory, Scratch &scratch, Elementwise &elementwise,
            ElementFunctions &functions)
      : context(context), b(context.b), arithmetic(arithmetic), memory(memory),
        scratch(scratch), elementwise(elementwise), functions(functions) {}

  /// Emits `body` for groups of `lanes` lanes. Within it, each value is emitted
  /// once for each place where it is evaluated.
  void withScope(int lanes, llvm::function_ref<void()> body);

  /// Prefetches what lies `distance` bytes behind the lanes, if they are a
  /// line of contiguous elements and the distance is not 0. The prefetch is
  /// under `condition`, unless that is null.
  void prefetchNext(const Lanes &ptr, int64_t bytes, int64_t distance,
                    Value condition, bool isStore);

  /// Returns the elements of `value` at `coords`; these are empty for a scalar.
  Lanes eval(Value value, const Coords &coords);
  /// Makes the current scope take the elements of `value` at `coords` to be
  /// `lanes`.
  void assume(Value value, const Coords &coords, const Lanes &lanes);
  /// Emits the operation of a tensor that is not in scratch memory.
  Lanes evalTensor(Operation *op, OpResult result, const Coords &coords);

private:
  /// Identifies the coordinates of a group of lanes along one dimension.
  using CoordId = int;
  /// Coordinates are equal if their keys are. Constants are compared by value,
  /// other coordinates by the SSA value that holds them.
  struct CoordKey {
    const void *base = nullptr, *vec = nullptr;
    std::optional<int64_t> number;
    SmallVector<int64_t, 4> pattern;

    bool operator<(const CoordKey &other) const {
      return std::tie(base, vec, number, pattern) <
             std::tie(other.base, other.vec, other.number, other.pattern);
    }
  };
  /// A value at a place.
  using Place = std::pair<void *, SmallVector<CoordId>>;
  /// One way to reshape.
  struct Reshape {
    Type from, to;
    SmallVector<CoordId> at;

    bool operator==(const Reshape &) const = default;
  };
  /// The values that have been evaluated inside one loop body.
  struct Scope {
    std::map<Place, Lanes> memo;
    std::map<CoordKey, CoordId> coords;
    std::vector<std::pair<Reshape, Coords>> reshapes;
  };

  CoordId coordId(const Lanes &lanes);
  SmallVector<CoordId> coordIds(const Coords &coords);

  // One operation each
  Lanes evalRange(triton::MakeRangeOp op, const Coords &coords);
  Lanes evalConstant(arith::ConstantOp op, const Coords &coords);
  Lanes evalReshape(triton::ReshapeOp op, const Coords &coords);
  Lanes evalJoined(Operation *op, const Coords &coords);
  Lanes evalGather(triton::GatherOp op, const Coords &coords);
  Lanes evalLoad(triton::LoadOp op, const Coords &coords);
  Lanes evalSmallReduce(triton::ReduceOp op, OpResult result,
                        const Coords &coords);

  bool areAlong(const Coords &coords, int dim) const;
  Lanes withHint(Value value, Lanes lanes, const Coords &coords);
  Lanes withRuns(const Runs &runs, Lanes lanes, const Coords &coords);
  Buffer constantTable(arith::ConstantOp op, DenseElementsAttr dense);

  LoweringContext &context;
  LaneBuilder &b;
  LaneArithmetic &arithmetic;
  MemoryAccess &memory;
  Scratch &scratch;
  Elementwise &elementwise;
  ElementFunctions &functions;
  Scope *scope = nullptr;
};

} // namespace mlir::triton_ext::cpu

#endif // TRITON_EXT_CPU_EVALUATOR_H
