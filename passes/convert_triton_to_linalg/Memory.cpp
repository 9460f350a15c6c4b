// SPDX-License-Identifier: Apache-2.0
//
// Converts loads and stores. If pointers and mask are tracked, they become
// accesses to a view of the memory that they touch; if all but one dimension
// are, to a view of each row; otherwise gathers and scatters. Memory that is
// masked off is not touched.

#include "Access.h"
#include "Conversion.h"
#include "Indexed.h"
#include "Rows.h"
#include "Runs.h"

#include "linalg_ext/LinalgExt.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "triton_ext/Splat.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::convert_triton_to_linalg;
namespace tt = mlir::triton;
using Rewriter = ConversionPatternRewriter;

static constexpr char isDescriptor[] =
    "tensor descriptors have to be pointers (run "
    "-triton-rewrite-tensor-descriptor-to-pointer first)";

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

namespace {
struct LoadPattern : AccessPattern<tt::LoadOp> {
  using AccessPattern::AccessPattern;

  static Reason whyNot(tt::LoadOp op) {
    if (!op.getIsVolatile())
      return std::nullopt;
    return "no structured load is volatile (tl.atomic_add(p, 0) reads anew "
           "each time)";
  }

  LogicalResult matchAndRewrite(tt::LoadOp op, OpAdaptor,
                                Rewriter &rewriter) const override {
    if (Reason reason = whyNot(op))
      return rewriter.notifyMatchFailure(op, *reason);
    Access access(op, op.getType(), facts, rewriter);
    Value value;
    if (access.shape.empty())
      value = loadElement(access, *trackPointers(op.getPtr(), access.math),
                          op.getMask(), op.getOther());
    else if (auto tracked = access.track(op, op.getPtr(), op.getMask()))
      value = loadBox(access, tracked->first, tracked->second, op.getOther());
    else if (auto rows = access.trackRows(op, op.getPtr(), op.getMask()))
      value = loadRows(access, *rows, op.getOther());
    else if (auto where = access.memoryAndIndices(op.getPtr()))
      value = loadIndexed(access, *where, op.getMask(), op.getOther());
    if (value)
      rewriter.replaceOp(op, value);
    else
      accessOneByOne(op, rewriter);
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

namespace {
struct StorePattern : AccessPattern<tt::StoreOp> {
  using AccessPattern::AccessPattern;

  LogicalResult matchAndRewrite(tt::StoreOp op, OpAdaptor,
                                Rewriter &rewriter) const override {
    Value value = op.getValue();
    Access access(op, value.getType(), facts, rewriter);
    if (access.shape.empty()) {
      storeElement(access, *trackPointers(op.getPtr(), access.math),
                   op.getMask(), value);
    } else if (auto tracked = access.track(op, op.getPtr(), op.getMask())) {
      storeBox(access, tracked->first, tracked->second, value);
    } else if (auto rows = access.trackRows(op, op.getPtr(), op.getMask())) {
      storeRows(access, *rows, value);
    } else if (auto where = access.memoryAndIndices(op.getPtr())) {
      storeIndexed(access, *where, op.getMask(), value);
    } else {
      accessOneByOne(op, rewriter);
      return success();
    }
    rewriter.eraseOp(op);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Accesses of tensors without dimensions
//===----------------------------------------------------------------------===//

/// Replaces an access of tensors of rank 0 by one of scalars.
template <typename OpTy> struct NoDimensions : OpConversionPattern<OpTy> {
  explicit NoDimensions(MLIRContext *context)
      : OpConversionPattern<OpTy>(context, /*benefit=*/2) {}

  static bool hasNoDimensions(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getRank() == 0;
  }

  LogicalResult matchAndRewrite(OpTy op, typename OpTy::Adaptor adaptor,
                                Rewriter &rewriter) const override {
    if (!hasNoDimensions(op->getOperand(0)))
      return rewriter.notifyMatchFailure(op,
                                         "it is not a tensor of one element");
    IRMapping mapping;
    // If another of these accesses produced the operand, it is a splat.
    for (auto [operand, tensor] :
         llvm::zip_equal(op->getOperands(), adaptor.getOperands())) {
      if (!hasNoDimensions(operand))
        continue;
      Value scalar = getSplat(tensor, rewriter);
      if (!scalar)
        scalar = tt::UnsplatOp::create(rewriter, op.getLoc(), tensor);
      mapping.map(operand, scalar);
    }
    Operation *access = rewriter.clone(*op, mapping);
    SmallVector<Value> results;
    for (auto [scalar, tensor] :
         llvm::zip_equal(access->getResults(), op->getResults())) {
      scalar.setType(getElementTypeOrSelf(tensor.getType()));
      results.push_back(
          tt::SplatOp::create(rewriter, op.getLoc(), tensor.getType(), scalar));
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};
} // namespace

void mlir::triton_ext::convert_triton_to_linalg::populateMemoryPatterns(
    const AllPointerFacts &facts, PatternSet &patterns) {
  patterns.add<LoadPattern, StorePattern>(facts);
  patterns.add<NoDimensions<tt::LoadOp>, NoDimensions<tt::StoreOp>,
               NoDimensions<tt::AtomicRMWOp>, NoDimensions<tt::AtomicCASOp>,
               NoDimensions<tt::AtomicLoadOp>, NoDimensions<tt::AtomicStoreOp>,
               NoDimensions<tt::AtomicPollOp>>();
  patterns.add<RefusedPattern<tt::MakeTensorDescOp, isDescriptor>,
               RefusedPattern<tt::DescriptorLoadOp, isDescriptor>,
               RefusedPattern<tt::DescriptorStoreOp, isDescriptor>,
               RefusedPattern<tt::DescriptorGatherOp, isDescriptor>,
               RefusedPattern<tt::DescriptorScatterOp, isDescriptor>,
               RefusedPattern<tt::DescriptorReduceOp, isDescriptor>>();
  populateAtomicPatterns(facts, patterns);
  populateAtomicAccessPatterns(patterns);
}
