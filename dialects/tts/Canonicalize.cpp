// SPDX-License-Identifier: Apache-2.0
//
// Canonicalization patterns of the dialect `tts`.

#include "Tts.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::triton_ext::tts;
namespace tt = mlir::triton;

//===----------------------------------------------------------------------===//
// make_tptr
//===----------------------------------------------------------------------===//

namespace {
/// A dimension of one element may have any stride. If it is 0, it becomes the
/// one of a contiguous tensor, which can be collapsed.
struct StrideOfOneElement : OpRewritePattern<MakeTptrOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MakeTptrOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<int64_t> strides(op.getStaticStrides());
    int64_t product = 1;
    bool changed = false;
    for (size_t dim = strides.size(); dim-- > 0;) {
      int64_t size = op.getSizes()[dim];
      if (size == 1 && strides[dim] == 0) {
        strides[dim] = product;
        changed = true;
      }
      product *= size;
    }
    if (!changed)
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.setStaticStrides(strides); });
    return success();
  }
};

/// Addresses that lie below the shape do not wrap around.
struct NoWrapAround : OpRewritePattern<MakeTptrOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MakeTptrOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getOrder().empty())
      return failure();
    SmallVector<int64_t> shape(op.getStaticShape());
    bool changed = false;
    for (auto [bound, offset, stride, size] :
         llvm::zip_equal(shape, op.getStaticOffsets(), op.getStaticStrides(),
                         op.getSizes())) {
      if (bound == 0 || ShapedType::isDynamic(bound) ||
          ShapedType::isDynamic(offset) ||
          (ShapedType::isDynamic(stride) && size != 1))
        continue;
      int64_t distance = 0, last = 0;
      if ((size != 1 && llvm::MulOverflow(stride, size - 1, distance)) ||
          llvm::AddOverflow(offset, distance, last) ||
          std::min(offset, last) < 0 || std::max(offset, last) >= bound)
        continue;
      bound = 0;
      changed = true;
    }
    if (!changed)
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.setStaticShape(shape); });
    return success();
  }
};

//===----------------------------------------------------------------------===//
// load, store, atomic_rmw
//===----------------------------------------------------------------------===//

/// The elements of a tensor that an access takes.
enum class Extent { Whole, Some, None };

/// Returns what is known of the extent of an access; nullopt if its pointers
/// may have a mask of their own, with which `mask_dims` are 0.
std::optional<Extent> extentOf(Value ptr, ArrayRef<int64_t> maskDims) {
  auto gather = ptr.getDefiningOp<MakeGatherScatterTptrOp>();
  if (gather ? bool(gather.getGatherScatterMask())
             : !ptr.getDefiningOp<MakeTptrOp>())
    return std::nullopt;
  if (maskDims.empty())
    return Extent::Whole;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(ptr.getType()).getShape();
  ArrayRef<int64_t> ends = maskDims.take_front(shape.size());
  SmallVector<int64_t> begins(maskDims.drop_front(shape.size()));
  begins.resize(shape.size(), 0);
  bool isWhole = true;
  for (auto [begin, end, size] : llvm::zip_equal(begins, ends, shape)) {
    bool isKnown = !ShapedType::isDynamic(begin);
    // What begins at 2 and ends at 2, or begins at the size, is empty.
    if (end == 0 || (isKnown && begin >= size) ||
        (isKnown && !ShapedType::isDynamic(end) && begin >= end))
      return Extent::None;
    isWhole &= begin == 0 && !ShapedType::isDynamic(end) && end >= size;
  }
  return isWhole ? Extent::Whole : Extent::Some;
}

/// Bounds of 0 from below exclude nothing, whatever the pointers are.
template <typename Op> struct DropBegins : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getPtr().getType());
    if (!type)
      return failure();
    size_t rank = type.getRank();
    ArrayRef<int64_t> numbers = op.getStaticMaskDims();
    if (rank == 0 || numbers.size() != 2 * rank ||
        llvm::any_of(numbers.drop_front(rank),
                     [](int64_t number) { return number != 0; }))
      return failure();
    SmallVector<int64_t> ends(numbers.take_front(rank));
    rewriter.modifyOpInPlace(op, [&] { op.setStaticMaskDims(ends); });
    return success();
  }
};

template <typename Op> void dropMaskDims(Op op, PatternRewriter &rewriter) {
  rewriter.modifyOpInPlace(op, [&] {
    op.getMaskDimsMutable().clear();
    op.setStaticMaskDims({});
  });
}

struct SimplifyLoad : OpRewritePattern<LoadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LoadOp op,
                                PatternRewriter &rewriter) const override {
    auto extent = extentOf(op.getPtr(), op.getStaticMaskDims());
    if (extent == Extent::None && op.getOther()) {
      rewriter.replaceOpWithNewOp<tt::SplatOp>(op, op.getType(), op.getOther());
      return success();
    }
    if (extent != Extent::Whole ||
        (op.getStaticMaskDims().empty() && !op.getOther()))
      return failure();
    dropMaskDims(op, rewriter);
    rewriter.modifyOpInPlace(op, [&] { op.getOtherMutable().clear(); });
    return success();
  }
};

/// An access whose result, if it has one, is undefined where it accesses
/// nothing.
template <typename Op> struct SimplifyWrite : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    auto extent = extentOf(op.getPtr(), op.getStaticMaskDims());
    if (extent == Extent::None && op->use_empty()) {
      rewriter.eraseOp(op);
      return success();
    }
    if (extent != Extent::Whole || op.getStaticMaskDims().empty())
      return failure();
    dropMaskDims(op, rewriter);
    return success();
  }
};

/// Drops a constant mask, or an operation whose mask is false and whose result,
/// if it has one, nobody uses.
template <typename Op>
LogicalResult simplifyMask(Op op, PatternRewriter &rewriter) {
  Value mask = op.getMask();
  if (mask && matchPattern(mask, m_Zero()) && op->use_empty()) {
    rewriter.eraseOp(op);
    return success();
  }
  if (!mask || !matchPattern(mask, m_One()))
    return failure();
  rewriter.modifyOpInPlace(op, [&] { op.getMaskMutable().clear(); });
  return success();
}

/// The unstructured form, with a constant mask.
struct SimplifyMaskedAtomic : OpRewritePattern<AtomicRMWOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AtomicRMWOp op,
                                PatternRewriter &rewriter) const override {
    return simplifyMask(op, rewriter);
  }
};
} // namespace

void MakeTptrOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                             MLIRContext *context) {
  patterns.add<StrideOfOneElement, NoWrapAround>(context);
}

void LoadOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {
  patterns.add<SimplifyLoad, DropBegins<LoadOp>>(context);
}

void StoreOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                          MLIRContext *context) {
  patterns.add<SimplifyWrite<StoreOp>, DropBegins<StoreOp>>(context);
}

void AtomicRMWOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<SimplifyWrite<AtomicRMWOp>, DropBegins<AtomicRMWOp>,
               SimplifyMaskedAtomic>(context);
}

//===----------------------------------------------------------------------===//
// gather, scatter
//===----------------------------------------------------------------------===//

LogicalResult GatherOp::canonicalize(GatherOp op, PatternRewriter &rewriter) {
  Value mask = op.getMask(), other = op.getOther();
  if (mask && matchPattern(mask, m_Zero()) && other) {
    if (isa<RankedTensorType>(op.getType()))
      rewriter.replaceOpWithNewOp<tt::SplatOp>(op, op.getType(), other);
    else
      rewriter.replaceOp(op, other);
    return success();
  }
  bool isWhole = !mask || matchPattern(mask, m_One());
  if (!isWhole || (!mask && !other))
    return failure();
  rewriter.modifyOpInPlace(op, [&] {
    op.getMaskMutable().clear();
    op.getOtherMutable().clear();
  });
  return success();
}

LogicalResult ScatterOp::canonicalize(ScatterOp op, PatternRewriter &rewriter) {
  return simplifyMask(op, rewriter);
}
