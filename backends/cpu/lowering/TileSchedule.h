// SPDX-License-Identifier: Apache-2.0
//
// Loops over the elements of tiles, and the writing of tensors to scratch
// memory.

#ifndef TRITON_EXT_CPU_TILESCHEDULE_H
#define TRITON_EXT_CPU_TILESCHEDULE_H

#include "Evaluator.h"
#include "Plan.h"
#include "SplitPoints.h"

namespace mlir::triton_ext::cpu {

class TileSchedule {
public:
  TileSchedule(LoweringContext &context, Plan &plan, LaneArithmetic &arithmetic,
               Evaluator &evaluator, Scratch &scratch, SplitPoints &splits)
      : context(context), b(context.b), plan(plan), arithmetic(arithmetic),
        evaluator(evaluator), scratch(scratch), splits(splits) {}

  using Body = llvm::function_ref<void(const Coords &)>;
  /// Emits what happens behind the point at which a split loop stops. It is
  /// called with the first group of lanes there, and with a function that emits
  /// a loop over all groups there.
  using Rest =
      llvm::function_ref<void(const Coords &, llvm::function_ref<void(Body)>)>;
  /// Emits loops over a tile that call `body` with groups of lanes along
  /// `vectorDim`. A group has as many lanes as possible, up to `maxLanes`. The
  /// loop along `vectorDim` is split as `split` says.
  void forTile(ArrayRef<int64_t> shape, int vectorDim, Body body,
               int maxLanes = mostLanes, const Split &split = {},
               Rest rest = nullptr);
  /// Does the same for all elements of `tensor`, with lanes along the dimension
  /// that the plan has chosen for it.
  void forTensor(Value tensor, Body body);

  /// Returns scratch memory for a result. If the result is the next value of a
  /// loop-carried tensor, and no operation needs the old value any more, this
  /// is the memory of the old value; else it is new memory.
  Buffer allocateFor(Value tensor);
  /// Writes a tensor to scratch memory. Returns what is known of its runs.
  std::optional<Runs> materialize(Value tensor, const Buffer &target,
                                  int maxLanes = mostLanes);
  /// Writes the tensors among `values` to `targets`, one after the other. The
  /// order is such that none overwrites a tensor that a later one reads.
  /// Returns the lowered scalars among `values`.
  SmallVector<Value> assign(OperandRange values, ArrayRef<Buffer> targets);

private:
  /// How an expression reads a buffer.
  enum class Reads { Never, InPlace, Elsewhere };
  Reads readsOf(Value tensor, const Buffer &buffer);

  std::optional<Runs> possibleRuns(Value tensor, int dim, int lanes);
  Coords spread(Value first, ArrayRef<int64_t> shape);
  void forSplitGroups(Coords &coords, int64_t size, int lanes, Body body,
                      const Split &split, Rest rest);
  void copy(const Buffer &from, const Buffer &to);
  std::optional<Buffer> carriedBuffer(Value next);

  LoweringContext &context;
  LaneBuilder &b;
  Plan &plan;
  LaneArithmetic &arithmetic;
  Evaluator &evaluator;
  Scratch &scratch;
  SplitPoints &splits;
};

} // namespace mlir::triton_ext::cpu

#endif // TRITON_EXT_CPU_TILESCHEDULE_H
