// SPDX-License-Identifier: Apache-2.0
//
// Integers and the elements of integer tensors as affine expressions of
// scalars. Analyses; changes nothing.

#ifndef TRITON_EXT_LOOP_SPLIT_AFFINEFORM_H
#define TRITON_EXT_LOOP_SPLIT_AFFINEFORM_H

#include "Recurrence.h"
#include "llvm/ADT/APInt.h"

namespace mlir::triton_ext::loop_split {

/// An affine expression for one integer, or for each element of a tensor:
/// modulo 2^width, it is `constant`, plus each term's scalar times the term's
/// coefficient, plus a number in [0, spread] that differs from element to
/// element. Scalars of fewer bits are sign-extended. Example: the elements of
/// `splat(x) * 4 + arange(8, 16)` are 4x + 8 plus a number in [0, 7].
struct AffineForm {
  SmallVector<std::pair<Value, APInt>> terms;
  APInt constant;
  APInt spread;

  /// Whether the difference of both is a constant, apart from the spreads.
  /// Forms of different widths may have a term in common: a scalar and what it
  /// is extended to. Their numbers, which have different widths, must not be
  /// compared.
  bool hasTermsOf(const AffineForm &other) const {
    return constant.getBitWidth() == other.constant.getBitWidth() &&
           terms == other.terms;
  }
  bool operator==(const AffineForm &other) const {
    return hasTermsOf(other) && constant == other.constant &&
           spread == other.spread;
  }
};

class AffineForms {
public:
  /// If `noWrap`, sums and products are taken not to wrap before an extension.
  AffineForms(RecurrenceAnalysis &recurrences, bool noWrap)
      : recurrences(recurrences), noWrap(noWrap) {}

  /// Returns `value` as an affine expression, or nullopt if none is found.
  std::optional<AffineForm> get(Value value) { return get(value, maxDepth); }

private:
  /// How far back tensors are followed, a bound of the stack, as in
  /// RecurrenceAnalysis.
  static constexpr unsigned maxDepth = 500;

  std::optional<AffineForm> get(Value value, unsigned depth);
  std::optional<AffineForm> compute(Value value, unsigned depth);
  bool isExtendable(const AffineForm &form);

  RecurrenceAnalysis &recurrences;
  bool noWrap;
  llvm::DenseMap<Value, std::optional<AffineForm>> forms;
};

} // namespace mlir::triton_ext::loop_split

#endif // TRITON_EXT_LOOP_SPLIT_AFFINEFORM_H
