// SPDX-License-Identifier: Apache-2.0
//
// Facts about the elements of integer and pointer tensors along each dimension:
// a divisor, the size of the groups in which they are strided, and their
// stride. A scalar has one dimension of one element. Pointers are addresses, in
// bytes.

#ifndef TRITON_EXT_ANALYSIS_AXISINFO_H
#define TRITON_EXT_ANALYSIS_AXISINFO_H

#include "analysis/IntegerRules.h"

#include "mlir/Analysis/DataFlow/SparseAnalysis.h"
#include "llvm/ADT/APInt.h"

namespace mlir::triton_ext::analysis {

/// Facts along one dimension. The dimension falls into groups of `stride`
/// elements (the last may be shorter), at every position in the other
/// dimensions. From one element of a group to the next the value grows by
/// `strideValue`, modulo 2^width. Example: 0, 2, 4, 6, 100, 102, 104, 106 has
/// divisibility 4, stride 4 and stride value 2.
struct Axis {
  /// A power of two that divides the first element of each group.
  int64_t divisibility = 1;
  /// The number of elements in a group.
  int64_t stride = 1;
  /// The difference of neighbours in a group; 0 if `stride` is 1.
  int64_t strideValue = 0;

  /// Returns the size of groups of equal elements.
  int64_t constancy() const { return strideValue == 0 ? stride : 1; }
  /// Returns a power of two that divides all elements.
  int64_t divisibilityOfAll() const;
  /// Returns the facts for groups of `smaller` elements; `smaller` divides
  /// `stride`.
  Axis refined(int64_t smaller) const;
  bool operator==(const Axis &other) const = default;
};

/// Facts about a value. `axes` is empty until the analysis reaches the value.
struct AxisInfo {
  SmallVector<Axis, 4> axes;
  /// The value of all elements, if it is known; never set for pointers.
  std::optional<APInt> constant;
  /// Whether no element is negative when read as a signed number.
  bool isNonNegative = false;

  /// Returns the facts that hold for every value of this type.
  static AxisInfo unknown(Type type);
  /// Returns the facts about a value whose elements are all `constant`.
  static AxisInfo ofConstant(Type type, const APInt &constant);

  bool isKnown() const { return !axes.empty(); }
  /// Returns a power of two that divides all elements.
  int64_t divisibilityOfAll() const;
  /// Returns the facts that hold for both values.
  static AxisInfo join(const AxisInfo &a, const AxisInfo &b);
  bool operator==(const AxisInfo &other) const = default;
  void print(raw_ostream &os) const;
};

using AxisInfoLattice = dataflow::Lattice<AxisInfo>;

/// Whether the analysis assumes that sums and products may wrap around.
enum class Overflow {
  /// As Triton's own analyses do, the analysis assumes that sums, differences
  /// and products of signed integers of 32 bits or more do not wrap, unless the
  /// known facts show that they do. A value that is divided or shifted right
  /// later may wrap on purpose (`x << 28 >> 28`), so it gets no such
  /// assumption.
  Never,
  /// They may wrap around, and every fact still holds if they do.
  Wraps,
};

/// A forward analysis, through arithmetic, changes of shape, branches, loops
/// and calls. Dialects teach it further operations by InferAxisInfo. It takes
/// the attributes tt.divisibility, tt.contiguity and tt.constancy of a
/// function's arguments to hold, but of an operation only tt.divisibility.
/// Reason: kernels mark a tile as contiguous although its tail has been
/// clamped, because the tail is masked off later; a view as long as the tile
/// would read beyond the end. The divisor of a tile is that of its first
/// element, so it counts only if the tile is known to be contiguous.
class AxisInfoAnalysis
    : public dataflow::SparseForwardDataFlowAnalysis<AxisInfoLattice> {
public:
  AxisInfoAnalysis(DataFlowSolver &solver, Overflow overflow)
      : SparseForwardDataFlowAnalysis(solver), overflow(overflow) {}

  LogicalResult visitOperation(Operation *op,
                               ArrayRef<const AxisInfoLattice *> operands,
                               ArrayRef<AxisInfoLattice *> results) override;
  void setToEntryState(AxisInfoLattice *lattice) override;
  void
  visitNonControlFlowArguments(Operation *op, const RegionSuccessor &successor,
                               ValueRange arguments,
                               ArrayRef<AxisInfoLattice *> lattices) override;

private:
  Overflow overflow;
};

/// The analysis of everything in one operation, such as a module. Its answers
/// hold until something in the operation changes.
class AxisInfos {
public:
  explicit AxisInfos(Operation *top, Overflow overflow = Overflow::Never);

  /// Returns the facts about `value`; unknown axes if it is never computed.
  AxisInfo get(Value value) const;

  /// Returns the strides of a tensor of pointers, in elements of the type that
  /// they point to; nullopt if it is not strided along the whole of each
  /// dimension, or by bytes that are not a multiple of an element.
  std::optional<SmallVector<int64_t>> getPointerStrides(Value pointers) const;

private:
  DataFlowSolver solver;
};

} // namespace mlir::triton_ext::analysis

#endif // TRITON_EXT_ANALYSIS_AXISINFO_H
