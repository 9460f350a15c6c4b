// SPDX-License-Identifier: Apache-2.0
//
// Merges adjacent dimensions of operations of linalg on tensors of known shape.
// Everything else is left untouched.

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

namespace mlir::triton_ext::collapse_shape {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_COLLAPSESHAPEPASS
#include "CollapseShape.h.inc"
} // namespace mlir::triton_ext::collapse_shape

using namespace mlir;
using Groups = SmallVector<ReassociationIndices>;

namespace {
/// How an operation is collapsed.
struct Plan {
  /// The dimensions of inputs and of outputs that become one.
  Groups inputs, outputs;
  /// The attribute that numbers dimensions, if there is one.
  StringRef attribute = {};
  SmallVector<int64_t> dimensions = {};
};
} // namespace

/// Returns the groups of `rank` dimensions, in which neighbours for which
/// `together` holds are in one group.
static Groups groupsOf(int64_t rank, function_ref<bool(int64_t)> together) {
  Groups groups;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (dim == 0 || !together(dim))
      groups.emplace_back();
    groups.back().push_back(dim);
  }
  return groups;
}

/// Plans an operation that treats the dimensions `some` of the larger tensors
/// in one way and all others in another one. The smaller tensors have only the
/// others. Sets the groups of both.
static void planSplit(int64_t rank, ArrayRef<int64_t> some, Groups &larger,
                      Groups &smaller, Plan &plan) {
  SmallVector<bool> is(rank);
  for (int64_t dim : some)
    is[dim] = true;
  larger = groupsOf(rank, [&](int64_t dim) { return is[dim] == is[dim - 1]; });
  int64_t next = 0;
  for (auto [index, group] : llvm::enumerate(larger)) {
    if (is[group.front()]) {
      plan.dimensions.push_back(index);
      continue;
    }
    ReassociationIndices &others = smaller.emplace_back();
    for (size_t i = 0; i < group.size(); ++i)
      others.push_back(next++);
  }
  plan.attribute = "dimensions";
}

/// Dimension `i` of the result is dimension `permutation[i]` of the input.
static Plan planTranspose(ArrayRef<int64_t> permutation) {
  Plan plan;
  plan.attribute = "permutation";
  plan.outputs = groupsOf(permutation.size(), [&](int64_t dim) {
    return permutation[dim] == permutation[dim - 1] + 1;
  });
  // The groups of the input are the same, in the order of their dimensions.
  SmallVector<int64_t> order =
      llvm::to_vector(llvm::seq<int64_t>(plan.outputs.size()));
  auto first = [&](int64_t group) {
    return permutation[plan.outputs[group].front()];
  };
  llvm::sort(order, [&](int64_t a, int64_t b) { return first(a) < first(b); });
  plan.dimensions.resize(order.size());
  for (auto [place, group] : llvm::enumerate(order)) {
    plan.dimensions[group] = place;
    ReassociationIndices &dims = plan.inputs.emplace_back();
    for (int64_t dim : plan.outputs[group])
      dims.push_back(permutation[dim]);
  }
  return plan;
}

static int64_t rankOf(Value value) {
  return cast<ShapedType>(value.getType()).getRank();
}

static std::optional<Plan> planOf(linalg::LinalgOp op) {
  auto all = [](int64_t) { return true; };
  if (isa<linalg::FillOp, linalg::MapOp>(op)) {
    Groups groups = groupsOf(rankOf(op.getDpsInits()[0]), all);
    return Plan{groups, groups};
  }
  Plan plan;
  if (auto broadcast = dyn_cast<linalg::BroadcastOp>(*op))
    planSplit(rankOf(broadcast.getInit()), broadcast.getDimensions(),
              plan.outputs, plan.inputs, plan);
  else if (auto reduce = dyn_cast<linalg::ReduceOp>(*op))
    planSplit(rankOf(reduce.getInputs()[0]), reduce.getDimensions(),
              plan.inputs, plan.outputs, plan);
  else if (auto transpose = dyn_cast<linalg::TransposeOp>(*op))
    plan = planTranspose(transpose.getPermutation());
  else
    return std::nullopt;
  return plan;
}

static RankedTensorType collapsed(RankedTensorType type, const Groups &groups) {
  SmallVector<int64_t> shape;
  for (const ReassociationIndices &group : groups) {
    int64_t &size = shape.emplace_back(1);
    for (int64_t dim : group)
      size *= type.getDimSize(dim);
  }
  return RankedTensorType::get(shape, type.getElementType());
}

static Value collapse(Value value, const Groups &groups, OpBuilder &builder) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || int64_t(groups.size()) == type.getRank())
    return value;
  RankedTensorType to = collapsed(type, groups);
  if (value.getDefiningOp<tensor::EmptyOp>())
    return tensor::EmptyOp::create(builder, value.getLoc(), to.getShape(),
                                   to.getElementType());
  return tensor::CollapseShapeOp::create(builder, value.getLoc(), to, value,
                                         groups);
}

/// Returns whether the operation is on tensors of known shape, without an
/// encoding, whose elements it does not number.
static bool canCollapse(linalg::LinalgOp op) {
  for (Value operand : op->getOperands()) {
    if (!isa<ShapedType>(operand.getType()))
      continue;
    auto tensor = dyn_cast<RankedTensorType>(operand.getType());
    if (!tensor || !tensor.hasStaticShape() || tensor.getEncoding())
      return false;
  }
  return !op.hasIndexSemantics();
}

static void collapse(linalg::LinalgOp op, IRRewriter &rewriter) {
  std::optional<Plan> plan;
  if (canCollapse(op))
    plan = planOf(op);
  auto isLess = [](const Groups &groups, ValueRange values) {
    return llvm::any_of(values, [&](Value value) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      return type && int64_t(groups.size()) < type.getRank();
    });
  };
  if (!plan || (!isLess(plan->inputs, op.getDpsInputs()) &&
                !isLess(plan->outputs, op.getDpsInits())))
    return;
  rewriter.setInsertionPoint(op);
  SmallVector<Value> operands;
  SmallVector<Type> types;
  for (Value input : op.getDpsInputs())
    operands.push_back(collapse(input, plan->inputs, rewriter));
  for (Value init : op.getDpsInits()) {
    operands.push_back(collapse(init, plan->outputs, rewriter));
    types.push_back(operands.back().getType());
  }
  OperationState state(op.getLoc(), op->getName(), operands, types,
                       op->getAttrs());
  if (!plan->attribute.empty())
    state.attributes.set(plan->attribute,
                         rewriter.getDenseI64ArrayAttr(plan->dimensions));
  for (Region &region : op->getRegions())
    state.addRegion()->takeBody(region);
  Operation *smaller = rewriter.create(state);
  SmallVector<Value> results;
  for (auto [result, old] :
       llvm::zip_equal(smaller->getResults(), op->getResults())) {
    if (result.getType() == old.getType())
      results.push_back(result);
    else
      results.push_back(tensor::ExpandShapeOp::create(
          rewriter, op.getLoc(), old.getType(), result, plan->outputs));
  }
  rewriter.replaceOp(op, results);
}

namespace {
struct CollapseShapePass
    : mlir::triton_ext::collapse_shape::impl::CollapseShapePassBase<
          CollapseShapePass> {
  using CollapseShapePassBase::CollapseShapePassBase;

  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops)
      collapse(op, rewriter);
  }
};
} // namespace
