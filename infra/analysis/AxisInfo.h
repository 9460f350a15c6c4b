// SPDX-License-Identifier: Apache-2.0
//
// What is known of the elements of integer and pointer tensors along each
// dimension: what divides them, along which stretches they grow evenly and by
// how much, which value they all have. A scalar is one dimension of one
// element. Pointers are addresses, in bytes.

#ifndef TRITON_EXT_ANALYSIS_AXISINFO_H
#define TRITON_EXT_ANALYSIS_AXISINFO_H

#include "mlir/Analysis/DataFlow/SparseAnalysis.h"
#include "llvm/ADT/APInt.h"

namespace mlir::triton_ext::analysis {

/// The largest divisor that is spoken of: that of 0.
inline constexpr int64_t maxDivisibility = int64_t(1) << 62;

/// The largest power of two that divides `number`.
int64_t powerOfTwoIn(int64_t number);

/// What is known along one dimension. It falls into groups of `stride` elements
/// (the last may be shorter), at every position in the other dimensions. From
/// one element of a group to the next the value grows by `strideValue`, modulo
/// 2 to the width of the type.
struct Axis {
  /// A power of two that divides the first element of each group.
  int64_t divisibility = 1;
  /// In how many elements at a time it grows evenly.
  int64_t stride = 1;
  /// By how much; 0 if `stride` is 1.
  int64_t strideValue = 0;

  /// How many elements at a time are the same.
  int64_t constancy() const { return strideValue == 0 ? stride : 1; }
  /// A power of two that divides all elements.
  int64_t divisibilityOfAll() const;
  /// The same in groups of `smaller` elements, a divisor of `stride`.
  Axis refined(int64_t smaller) const;
  bool operator==(const Axis &other) const = default;
};

/// What is known of a value. Before the analysis has been there, nothing is,
/// and `axes` is empty.
struct AxisInfo {
  SmallVector<Axis, 4> axes;
  /// The value of all elements; none of pointers.
  std::optional<APInt> constant;
  /// Whether no element is negative when read as a signed number.
  bool isNonNegative = false;

  /// Of a value of this type of which nothing is known.
  static AxisInfo unknown(Type type);
  /// Of a value all of whose elements are `constant`.
  static AxisInfo ofConstant(Type type, const APInt &constant);

  bool isKnown() const { return !axes.empty(); }
  /// A power of two that divides all elements.
  int64_t divisibilityOfAll() const;
  /// What holds of both.
  static AxisInfo join(const AxisInfo &a, const AxisInfo &b);
  bool operator==(const AxisInfo &other) const = default;
  void print(raw_ostream &os) const;
};

using AxisInfoLattice = dataflow::Lattice<AxisInfo>;

/// How sums and products behave.
enum class Overflow {
  /// As in Triton's own analyses, sums, differences and products of signed
  /// integers of 32 bits or more are taken to be what they are in arithmetic
  /// without bounds, unless they wrap for what is known of them. What is
  /// divided or shifted to the right may have been made to wrap
  /// (`x << 28 >> 28`), and is never taken to be like that.
  Never,
  /// They wrap around, and nothing is claimed that would then not hold.
  Wraps,
};

/// Forward, through arithmetic, changes of shape, branches, loops and calls. Of
/// arguments of functions it believes tt.divisibility, tt.contiguity and
/// tt.constancy, of operations tt.divisibility alone: kernels say of a tile
/// that it is contiguous whose tail has been clamped, because what is loaded
/// there is masked off later on; a view as long as the tile would read beyond
/// the end. What divides a tile is that which divides its first element, and so
/// it is believed only where the tile is known to be contiguous.
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

/// The analysis of all that is in one operation, such as a module. Holds as
/// long as nothing in it is changed.
class AxisInfos {
public:
  explicit AxisInfos(Operation *top, Overflow overflow = Overflow::Never);

  /// What is known of the value; nothing, where it is never computed.
  AxisInfo get(Value value) const;

  /// By how much the elements grow along each dimension, all of it, in elements
  /// of the type that it points to. Nothing if they do not grow evenly, by
  /// numbers of elements that are known.
  std::optional<SmallVector<int64_t>> getPointerStrides(Value pointers) const;

private:
  DataFlowSolver solver;
};

} // namespace mlir::triton_ext::analysis

#endif // TRITON_EXT_ANALYSIS_AXISINFO_H
