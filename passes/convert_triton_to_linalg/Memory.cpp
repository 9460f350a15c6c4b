// SPDX-License-Identifier: Apache-2.0
//
// Converts loads and stores. If pointers and mask are tracked, they become
// accesses to a view of the memory that they touch, otherwise gathers and
// scatters. Memory that is masked off is not touched.

#include "Access.h"
#include "Conversion.h"
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

/// Gathers the elements by index. Returns null if the addresses may not be
/// whole elements apart, so that they have no indices.
static Value gather(Access &access, tt::LoadOp op) {
  OpBuilder &builder = access.builder;
  Location loc = access.loc;
  auto where = access.memoryAndIndices(op.getPtr());
  if (!where)
    return {};
  auto [memory, indices] = *where;
  Value tensor = access.readTensor(memory);
  Value mask = op.getMask() ? access.toLine(op.getMask()) : Value();
  Value init;
  if (op.getOther()) {
    init = access.toWindows(op.getOther());
  } else {
    int64_t count = cast<ShapedType>(indices.getType()).getDimSize(0);
    init = tensor::EmptyOp::create(builder, loc, ArrayRef<int64_t>{count, 1},
                                   access.element);
    if (mask)
      init = linalg::FillOp::create(builder, loc, access.zero(), init)
                 .getResult(0);
  }
  auto result = linalg_ext::GatherOp::create(builder, loc, tensor, indices,
                                             mask, init, /*dimensionMap=*/0);
  return access.fromWindows(result.getResult());
}

/// Returns the alignment attribute of an access. An address that was computed
/// as an integer need not be a multiple of the size of an element, which an
/// access to a memref assumes without this attribute.
static IntegerAttr alignmentOf(const Pointers &pointers, OpBuilder &builder) {
  if (pointers.base.getDefiningOp<tt::IntToPtrOp>())
    return builder.getI64IntegerAttr(1);
  return {};
}

static Value loadScalar(Access &access, tt::LoadOp op) {
  OpBuilder &builder = access.builder;
  Location loc = access.loc;
  std::optional<Pointers> pointers = trackPointers(op.getPtr(), access.math);
  auto load = [&]() -> Value {
    OpFoldResult one = access.math.number(1);
    Value view = access.view(access.address(pointers->base),
                             pointers->offsets.offset, one, one);
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    auto loaded = memref::LoadOp::create(builder, loc, view, zero);
    loaded.setAlignmentAttr(alignmentOf(*pointers, builder));
    return loaded;
  };
  if (!op.getMask())
    return load();
  Value other = op.getOther() ? op.getOther() : access.zero();
  auto branch = scf::IfOp::create(
      builder, loc, op.getMask(),
      [&](OpBuilder &inner, Location) {
        scf::YieldOp::create(inner, loc, load());
      },
      [&](OpBuilder &inner, Location) {
        scf::YieldOp::create(inner, loc, other);
      });
  return branch.getResult(0);
}

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
      value = loadScalar(access, op);
    else if (auto tracked = access.track(op, op.getPtr(), op.getMask()))
      value = loadBox(access, tracked->first, tracked->second, op.getOther());
    else
      value = gather(access, op);
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

/// Scatters the elements by index. Fails if the addresses may not be whole
/// elements apart.
static LogicalResult scatter(Access &access, tt::StoreOp op, Value value) {
  auto where = access.memoryAndIndices(op.getPtr());
  if (!where)
    return failure();
  auto [memory, indices] = *where;
  Value mask = op.getMask() ? access.toLine(op.getMask()) : Value();
  linalg_ext::ScatterOp::create(access.builder, access.loc,
                                access.toWindows(value), indices, mask, memory,
                                /*dimensionMap=*/0);
  return success();
}

static void storeScalar(Access &access, tt::StoreOp op, Value value) {
  OpBuilder &builder = access.builder;
  Location loc = access.loc;
  std::optional<Pointers> pointers = trackPointers(op.getPtr(), access.math);
  if (op.getMask()) {
    auto branch = scf::IfOp::create(builder, loc, op.getMask(),
                                    /*withElseRegion=*/false);
    builder.setInsertionPointToStart(branch.thenBlock());
  }
  OpFoldResult one = access.math.number(1);
  Value view = access.view(access.address(pointers->base),
                           pointers->offsets.offset, one, one);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  auto store = memref::StoreOp::create(builder, loc, value, view, zero);
  store.setAlignmentAttr(alignmentOf(*pointers, builder));
}

namespace {
struct StorePattern : AccessPattern<tt::StoreOp> {
  using AccessPattern::AccessPattern;

  LogicalResult matchAndRewrite(tt::StoreOp op, OpAdaptor,
                                Rewriter &rewriter) const override {
    Value value = op.getValue();
    Access access(op, value.getType(), facts, rewriter);
    if (access.shape.empty()) {
      storeScalar(access, op, value);
    } else if (auto tracked = access.track(op, op.getPtr(), op.getMask())) {
      storeBox(access, tracked->first, tracked->second, value);
    } else if (failed(scatter(access, op, value))) {
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
