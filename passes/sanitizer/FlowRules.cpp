// SPDX-License-Identifier: Apache-2.0
//
// How each operation passes lanes on, and which operations have an effect.

#include "Flow.h"

#include "analysis/Dimensions.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::sanitizer;
namespace tt = mlir::triton;

static DimMap identity(size_t rank) {
  DimMap dims(rank);
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

/// Returns the dimensions through a product of matrices.
static std::optional<DimMap> throughProduct(OpOperand &use, Value a, Value b,
                                            Value c, size_t rank) {
  DimMap dims = identity(rank);
  if (use.get() == c)
    return dims;
  if (use.get() == a)
    dims[rank - 1] = -1;
  else if (use.get() == b)
    dims[rank - 2] = -1;
  return dims;
}

/// Returns the dimensions through a change of shape.
static DimMap throughReshape(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  DimMap dims(to.size(), -1);
  if (auto matched = analysis::matchDimensions(from, to))
    for (auto [d, one] : llvm::enumerate(*matched))
      dims[d] = one ? int(*one) : -1;
  return dims;
}

std::optional<DimMap> sanitizer::dimsThrough(OpOperand &use, OpResult result) {
  Operation *op = use.getOwner();
  Value source = use.get();
  ArrayRef<int64_t> from = analysis::shapeOf(source),
                    to = analysis::shapeOf(result);
  using Result = std::optional<DimMap>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](tt::BroadcastOp) {
        DimMap dims = identity(to.size());
        for (auto [d, size] : llvm::enumerate(from))
          if (size == 1)
            dims[d] = -1;
        return dims;
      })
      .Case([&](tt::TransOp trans) {
        return DimMap(trans.getOrder().begin(), trans.getOrder().end());
      })
      .Case<tt::ExpandDimsOp, tt::ReshapeOp>(
          [&](auto) { return throughReshape(from, to); })
      .Case<tt::SplatOp, tt::UnsplatOp, tt::HistogramOp, tt::DescriptorLoadOp,
            tt::DescriptorGatherOp>([&](auto) { return DimMap(to.size(), -1); })
      .Case([&](tt::JoinOp) {
        DimMap dims = identity(to.size());
        dims.back() = -1;
        return dims;
      })
      .Case([&](tt::SplitOp) { return identity(to.size()); })
      .Case([&](tt::ReduceOp reduce) {
        DimMap dims;
        for (int d = 0, rank = from.size(); d < rank; ++d)
          if (d != int(reduce.getAxis()))
            dims.push_back(d);
        return dims;
      })
      .Case([&](tt::ScanOp scan) {
        DimMap dims = identity(to.size());
        dims[scan.getAxis()] = -1;
        return dims;
      })
      .Case([&](tt::GatherOp gather) {
        DimMap dims = identity(to.size());
        if (use.getOperandNumber() == 0)
          dims[gather.getAxis()] = -1;
        return dims;
      })
      .Case([&](tt::DotOp dot) {
        return throughProduct(use, dot.getA(), dot.getB(), dot.getC(),
                              to.size());
      })
      .Default([&](Operation *op) -> Result {
        bool isByLane =
            op->hasTrait<OpTrait::Elementwise>() ||
            isa<tt::MapElementwiseOp, tt::LoadOp, tt::AtomicLoadOp>(op);
        if (!isByLane)
          return std::nullopt;
        return from.empty() ? DimMap(to.size(), -1) : identity(to.size());
      });
}

/// Returns the operation's mask, if the operand is not the mask itself.
static Value maskFor(Value mask, OpOperand &use) {
  return use.get() == mask ? Value() : mask;
}

std::optional<Gate> sanitizer::gateOf(OpOperand &use) {
  Operation *op = use.getOwner();
  unsigned number = use.getOperandNumber();
  if (isa<arith::SelectOp>(op) && number != 0)
    return Gate{op->getOperand(0), number == 1};
  if (auto load = dyn_cast<tt::LoadOp>(op); load && load.getMask()) {
    if (number == 0)
      return Gate{load.getMask(), true};
    if (number == 2)
      return Gate{load.getMask(), false};
  }
  if (auto load = dyn_cast<tt::AtomicLoadOp>(op);
      load && load.getMask() && number == 0)
    return Gate{load.getMask(), true};
  bool isBit = getElementTypeOrSelf(use.get().getType()).isInteger(1);
  if (isa<arith::AndIOp, arith::OrIOp>(op) && isBit)
    return Gate{op->getOperand(1 - number), isa<arith::AndIOp>(op)};
  // A product with a single bit.
  if (isa<arith::MulIOp>(op))
    if (auto bits = op->getOperand(1 - number).getDefiningOp<arith::ExtUIOp>();
        bits && getElementTypeOrSelf(bits.getIn().getType()).isInteger(1))
      return Gate{bits.getIn(), true};
  return std::nullopt;
}

std::optional<Sink> sanitizer::sinkOf(OpOperand &use) {
  using Result = std::optional<Sink>;
  return llvm::TypeSwitch<Operation *, Result>(use.getOwner())
      .Case<tt::StoreOp, tt::AtomicStoreOp>([&](auto store) {
        return Sink{"store", maskFor(store.getMask(), use)};
      })
      .Case([&](tt::AtomicRMWOp rmw) {
        return Sink{"atomic", maskFor(rmw.getMask(), use)};
      })
      .Case<tt::AtomicCASOp, tt::AtomicPollOp>(
          [&](auto) { return Sink{"atomic", {}}; })
      .Case([&](tt::AssertOp) { return Sink{"assert", {}}; })
      .Case([&](scf::IfOp) { return Sink{"branch", {}}; })
      .Case([&](scf::ConditionOp) -> Result {
        if (use.getOperandNumber() == 0)
          return Sink{"branch", {}};
        return std::nullopt;
      })
      .Case([&](scf::ForOp) -> Result {
        if (use.getOperandNumber() < 3)
          return Sink{"branch", {}};
        return std::nullopt;
      })
      .Default([&](Operation *op) -> Result {
        if (isa<BranchOpInterface>(op) && use.getOperandNumber() == 0 &&
            use.get().getType().isInteger(1))
          return Sink{"branch", {}};
        return std::nullopt;
      });
}
