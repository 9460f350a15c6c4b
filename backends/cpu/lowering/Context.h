// SPDX-License-Identifier: Apache-2.0
//
// The state that the parts of the lowering of one function share: the builder,
// the target, and the lowered form of each value.

#ifndef TRITON_EXT_CPU_CONTEXT_H
#define TRITON_EXT_CPU_CONTEXT_H

#include "Costs.h"
#include "LaneBuilder.h"

#include "analysis/IntegerFacts.h"

#include <map>
#include <optional>

namespace mlir::triton_ext::cpu {

/// The processor that code is emitted for.
struct Target {
  /// The size of a vector register.
  int64_t vectorBytes;
  /// Whether it has fused multiply-add. Without it, LLVM calls libm for an fma.
  bool hasFma;
  /// The features for products that it has, as bits of `DotFeature`.
  int32_t dotFeatures;
  Limits limits;
};

/// Whether the elements of each group of lanes along `dim` are contiguous, in a
/// tensor of integers or pointers. A group begins at a multiple
/// of `lanes`.
struct Runs {
  int dim = 0, lanes = 1;
  /// The distance of contiguous elements: 1 for integers, bytes for pointers.
  int64_t step = 1;
  /// An i1; null if they always are.
  Value holds;
};

/// A row-major tensor in scratch memory. An integer of fewer than 8 bits takes
/// a byte.
struct Buffer {
  Value ptr;
  Type element;
  SmallVector<int64_t, 4> shape;
  std::optional<Runs> runs = {};
};

/// program_id and num_programs along x, y and z.
struct Grid {
  Value programIds[3], numPrograms[3];
};

class LoweringContext {
public:
  LoweringContext(triton::FuncOp function, ModuleOp module, Target target);
  ~LoweringContext();

  /// Reports that `op` cannot be lowered; only the first error of a function is
  /// reported. Returns a value of the type of `op`, so that the lowering can go
  /// on. A message should end with a fix in parentheses; if it does not, this
  /// adds a general one.
  Value error(Operation *op, const Twine &message);
  bool hasFailed() const { return failed; }

  /// Returns the lowered form of a scalar of the function.
  Value scalar(Value value);

  /// Declares a function of the runtime or of the C library.
  void declareFunction(StringRef name, Type result, ArrayRef<Type> arguments);
  /// Returns the address of a string, which ends with a zero byte.
  Value globalString(StringRef text);
  /// Returns the address of a constant in the library. Equal constants of the
  /// same `kind` are emitted once. Their names are the same in every process.
  Value globalBytes(StringRef kind, const std::string &content, int alignment);

  triton::FuncOp function;
  ModuleOp module;
  Target target;
  LaneBuilder b;
  /// Facts about the emitted integers.
  analysis::IntegerFacts facts;
  Grid grid;
  /// The lowered scalars of the function.
  DenseMap<Value, Value> scalars;
  /// The tensors in scratch memory.
  DenseMap<Value, Buffer> buffers;
  /// For tensors of pointers, the bytes to the next program's tile, if it lies
  /// directly behind each row of this one.
  DenseMap<Value, int64_t> nextPrograms;
  /// Whether that program runs next, if only the launch's strides show it.
  Value isNextBeside;
  /// The operation of the function that is being lowered.
  Operation *current = nullptr;

private:
  bool failed = false;
  std::map<std::pair<std::string, std::string>, std::string> constants;
};

} // namespace mlir::triton_ext::cpu

#endif // TRITON_EXT_CPU_CONTEXT_H
