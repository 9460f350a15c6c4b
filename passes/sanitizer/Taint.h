// SPDX-License-Identifier: Apache-2.0
//
// Computes, while the kernel runs, which lanes of values depend on lanes of a
// load that its mask has turned off.

#ifndef TRITON_EXT_SANITIZER_TAINT_H
#define TRITON_EXT_SANITIZER_TAINT_H

#include "Bits.h"
#include "Condition.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::triton_ext::sanitizer {

/// Maps each replaced operation to the new one, which has more results.
using Replacements = DenseMap<Operation *, Operation *>;

/// The taint of the values that depend on one source. A lane is tainted if its
/// value may change when the source's tainted lanes have other values.
///
/// The taint of a value is compact bits. Loops and branches with tainted
/// results get results for the taint, too.
class Taint {
public:
  /// The lanes of `source` in which one of `conditions` does not hold are
  /// tainted. `values` are the values whose taint the caller asks for, and all
  /// values between the source and them; no others are tainted.
  Taint(OpResult source, Conditions conditions, DenseSet<Value> values);

  /// Gives loops and branches the results for the taint. Their old operations
  /// are gone, and added to `replaced`.
  void prepare(Replacements &replaced);
  /// Returns the taint of `value`, computed behind it; null if no lane of it is
  /// ever tainted.
  Value of(Value value);
  /// Computes the operands that yield the new results of loops and branches.
  void finish();

private:
  /// An operand of a loop or a yield that is to become the taint of another one
  /// of its operands.
  struct Carried {
    Operation *op;
    unsigned operand, of;
    Dims dims;
  };

  void spread();
  Dims dimsOf(OpResult result);
  Dims dimsOfGate(Value mask) const;
  void extend(scf::ForOp loop, Replacements &replaced);
  void extend(scf::IfOp branch, Replacements &replaced);
  void rename(Value from, Value to);

  Value compute(OpResult result);
  Value fromOperand(ImplicitLocOpBuilder &b, OpOperand &use, OpResult result);
  Value gated(ImplicitLocOpBuilder &b, OpOperand &use, Value bits,
              ArrayRef<int64_t> shape);
  Value fullOf(ImplicitLocOpBuilder &b, Value value);
  Value join(ImplicitLocOpBuilder &b, Value a, Value c,
             ArrayRef<int64_t> shape);

  OpResult source;
  Conditions conditions;
  DenseSet<Value> values;
  DenseMap<Value, Dims> dims;
  DenseMap<Value, Value> known;
  SmallVector<Carried> carried;
};

} // namespace mlir::triton_ext::sanitizer

#endif // TRITON_EXT_SANITIZER_TAINT_H
