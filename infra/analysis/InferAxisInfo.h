// SPDX-License-Identifier: Apache-2.0
//
// The interface by which a dialect teaches AxisInfoAnalysis its operations.
// They list it in their .td (see InferAxisInfo.td), or the dialect attaches an
// ExternalModel to them.

#ifndef TRITON_EXT_ANALYSIS_INFERAXISINFO_H
#define TRITON_EXT_ANALYSIS_INFERAXISINFO_H

#include "analysis/AxisInfo.h"

#include "mlir/IR/OpDefinition.h"

namespace mlir::triton_ext::analysis {

class InferAxisInfo;

namespace detail {
/// What MLIR's generator makes of an interface with this method.
struct InferAxisInfoTraits {
  struct Concept {
    void (*inferAxisInfo)(const Concept *, Operation *, ArrayRef<AxisInfo>,
                          Overflow, MutableArrayRef<AxisInfo>);
  };
  template <typename ConcreteOp> struct Model : Concept {
    using Interface = InferAxisInfo;
    Model() : Concept{call} {}
    static void call(const Concept *, Operation *op,
                     ArrayRef<AxisInfo> operands, Overflow overflow,
                     MutableArrayRef<AxisInfo> results) {
      cast<ConcreteOp>(op).inferAxisInfo(operands, overflow, results);
    }
  };
  template <typename ConcreteModel> struct FallbackModel : Concept {
    using Interface = InferAxisInfo;
    FallbackModel() : Concept{call} {}
    static void call(const Concept *model, Operation *op,
                     ArrayRef<AxisInfo> operands, Overflow overflow,
                     MutableArrayRef<AxisInfo> results) {
      static_cast<const ConcreteModel *>(model)->inferAxisInfo(
          op, operands, overflow, results);
    }
  };
  template <typename ConcreteModel, typename ConcreteOp>
  struct ExternalModel : FallbackModel<ConcreteModel> {
    using ConcreteEntity = ConcreteOp;
  };
};
} // namespace detail

/// An operation that says what its results look like along each dimension.
class InferAxisInfo
    : public OpInterface<InferAxisInfo, detail::InferAxisInfoTraits> {
public:
  using OpInterface::OpInterface;

  /// Sets the facts about the results, which hold for every value of their
  /// types at first, from those about the operands. With Overflow::Wraps, they
  /// must hold even if sums and products wrap around.
  void inferAxisInfo(ArrayRef<AxisInfo> operands, Overflow overflow,
                     MutableArrayRef<AxisInfo> results) {
    getImpl()->inferAxisInfo(getImpl(), getOperation(), operands, overflow,
                             results);
  }
};

} // namespace mlir::triton_ext::analysis

#endif // TRITON_EXT_ANALYSIS_INFERAXISINFO_H
