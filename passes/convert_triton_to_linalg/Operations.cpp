// SPDX-License-Identifier: Apache-2.0
//
// Everything but loads and stores: each operation of Triton as a structured one
// on tensors, with pointers as i64. What cannot be converted is named in
// whyNot().

#include "Conversion.h"

#include "aux/Aux.h"
#include "linalg_ext/LinalgExt.h"
#include "math_ext/MathExt.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/DialectConversion.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext;
namespace tt = mlir::triton;
using Rewriter = ConversionPatternRewriter;

//===----------------------------------------------------------------------===//
// What cannot be converted
//===----------------------------------------------------------------------===//

std::optional<StringRef>
mlir::triton_ext::convert_triton_to_linalg::whyNot(Operation *op) {
  using Why = std::optional<StringRef>;
  if (!isa_and_nonnull<tt::TritonDialect>(op->getDialect()))
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, Why>(op)
      .Case<tt::AddPtrOp, tt::ApproxDivFOp, tt::AssertOp, tt::AtomicCASOp,
            tt::AtomicRMWOp, tt::BitcastOp, tt::BroadcastOp, tt::CallOp,
            tt::CatOp, tt::ClampFOp, tt::DotOp, tt::ExpandDimsOp, tt::GatherOp,
            tt::GetNumProgramsOp, tt::GetProgramIdOp,
            tt::GridDependencyLaunchDependentsOp, tt::GridDependencyWaitOp,
            tt::HistogramOp, tt::IntToPtrOp, tt::JoinOp, tt::MakeRangeOp,
            tt::MapElementwiseReturnOp, tt::MulhiUIOp, tt::PreciseDivFOp,
            tt::PreciseSqrtOp, tt::PrintOp, tt::PtrToIntOp, tt::ReduceOp,
            tt::ReduceReturnOp, tt::ScanOp, tt::ReshapeOp, tt::ReturnOp,
            tt::ScanReturnOp, tt::SplatOp, tt::SplitOp, tt::StoreOp,
            tt::TransOp, tt::UnsplatOp>([](Operation *) { return Why(); })
      .Case([](tt::LoadOp load) -> Why {
        if (load.getIsVolatile())
          return "no structured load is volatile";
        return std::nullopt;
      })
      .Case([](tt::FuncOp function) -> Why {
        bool hasDescriptor =
            llvm::any_of(function.getFunctionType().getInputs(), [](Type type) {
              return !isa<tt::PointerType, IntegerType, FloatType,
                          RankedTensorType>(type);
            });
        if (hasDescriptor)
          return "it has an argument that is no pointer, number or tensor "
                 "(tensor descriptors: run "
                 "-triton-rewrite-tensor-descriptor-to-pointer first)";
        return std::nullopt;
      })
      .Case([](tt::FpToFpOp cast) -> Why {
        Type from = getElementTypeOrSelf(cast.getSrc().getType());
        Type to = getElementTypeOrSelf(cast.getType());
        std::optional<tt::RoundingMode> rounding = cast.getRounding();
        bool narrows =
            to.getIntOrFloatBitWidth() < from.getIntOrFloatBitWidth();
        if (!rounding || !narrows || *rounding == tt::RoundingMode::RTNE ||
            *rounding == tt::RoundingMode::RTZ)
          return std::nullopt;
        return "its rounding mode is none of arith";
      })
      .Case([](tt::MapElementwiseOp map) -> Why {
        if (map.getPack() != 1)
          return "it maps several elements at a time";
        if (!map.getScalarOp().hasOneBlock())
          return "its body has control flow";
        return std::nullopt;
      })
      .Case<tt::ElementwiseInlineAsmOp>([](Operation *) -> Why {
        return "the assembly is that of one kind of processor";
      })
      .Case([](tt::ExternElementwiseOp call) -> Why {
        if (!call.getPure())
          return "the function has effects";
        return std::nullopt;
      })
      .Case<tt::DotScaledOp>([](Operation *) -> Why {
        return "microscaling formats are not implemented";
      })
      .Case<tt::AtomicLoadOp, tt::AtomicPollOp, tt::AtomicStoreOp>(
          [](Operation *) -> Why {
            return "no structured load or store is atomic";
          })
      .Case<tt::MakeTensorDescOp, tt::DescriptorLoadOp, tt::DescriptorStoreOp,
            tt::DescriptorGatherOp, tt::DescriptorScatterOp,
            tt::DescriptorReduceOp>([](Operation *) -> Why {
        return "tensor descriptors have to be pointers (run "
               "-triton-rewrite-tensor-descriptor-to-pointer first)";
      })
      .Default([](Operation *) -> Why { return "it is not known"; });
}

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

static RankedTensorType tensorOf(ArrayRef<int64_t> shape, Type element) {
  return RankedTensorType::get(shape, element);
}

static Value emptyOf(OpBuilder &builder, Location loc, RankedTensorType type) {
  return tensor::EmptyOp::create(builder, loc, type.getShape(),
                                 type.getElementType());
}

static Value fill(OpBuilder &builder, Location loc, RankedTensorType type,
                  Value value) {
  return linalg::FillOp::create(builder, loc, value,
                                emptyOf(builder, loc, type))
      .getResult(0);
}

static Type withElement(Type type, Type element) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? Type(tensor.clone(element)) : element;
}

/// A constant, or a tensor of it.
static Value constantOf(OpBuilder &builder, Location loc, Type type,
                        int64_t value) {
  Attribute attribute =
      builder.getIntegerAttr(getElementTypeOrSelf(type), value);
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    attribute = DenseElementsAttr::get(tensor, attribute);
  return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(attribute));
}

/// One group for each dimension that is kept, with those beside it that are
/// dropped; no group if none is kept.
static SmallVector<ReassociationIndices> groupsOf(ArrayRef<bool> dropped) {
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices leading;
  for (auto [dim, isDropped] : llvm::enumerate(dropped)) {
    if (isDropped && groups.empty()) {
      leading.push_back(dim);
      continue;
    }
    if (!isDropped) {
      groups.push_back(std::exchange(leading, {}));
      groups.back().push_back(dim);
      continue;
    }
    groups.back().push_back(dim);
  }
  return groups;
}

static Value reshape(OpBuilder &builder, Location loc, Value value,
                     RankedTensorType type) {
  auto from = cast<RankedTensorType>(value.getType());
  if (from.getShape() == type.getShape())
    return value;
  auto allInOne = [](int64_t rank) -> SmallVector<ReassociationIndices> {
    return {llvm::to_vector(llvm::seq<int64_t>(0, rank))};
  };
  Type element = from.getElementType();
  auto line = tensorOf(from.getNumElements(), element);
  if (from.getRank() != 1)
    value = tensor::CollapseShapeOp::create(builder, loc, line, value,
                                            allInOne(from.getRank()));
  if (type.getRank() != 1)
    value = tensor::ExpandShapeOp::create(builder, loc, type.clone(element),
                                          value, allInOne(type.getRank()));
  return value;
}

/// Moves the body of one block into an operation's new body: `mapping` has what
/// stands for its arguments. Returns what it yields.
static SmallVector<Value> cloneBody(OpBuilder &builder, Region &body,
                                    IRMapping &mapping) {
  for (Operation &op : body.front().without_terminator())
    builder.clone(op, mapping);
  SmallVector<Value> results;
  for (Value value : body.front().getTerminator()->getOperands())
    results.push_back(mapping.lookupOrDefault(value));
  return results;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

namespace {

struct FuncPattern : OpConversionPattern<tt::FuncOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::FuncOp op, OpAdaptor,
                                Rewriter &rewriter) const override {
    FunctionType type = op.getFunctionType();
    TypeConverter::SignatureConversion signature(type.getNumInputs());
    SmallVector<Type> results;
    if (failed(getTypeConverter()->convertSignatureArgs(type.getInputs(),
                                                        signature)) ||
        failed(getTypeConverter()->convertTypes(type.getResults(), results)))
      return failure();
    auto function = func::FuncOp::create(
        rewriter, op.getLoc(), op.getName(),
        FunctionType::get(getContext(), signature.getConvertedTypes(),
                          results));
    function.setVisibility(op.getVisibility());
    function->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    function.setArgAttrsAttr(op.getArgAttrsAttr());
    function.setResAttrsAttr(op.getResAttrsAttr());
    rewriter.inlineRegionBefore(op.getBody(), function.getBody(),
                                function.end());
    if (!function.isExternal() &&
        failed(rewriter.convertRegionTypes(&function.getBody(),
                                           *getTypeConverter(), &signature)))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }
};

struct ReturnPattern : OpConversionPattern<tt::ReturnOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::ReturnOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<func::ReturnOp>(op, adaptor.getSrcs());
    return success();
  }
};

struct CallPattern : OpConversionPattern<tt::CallOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::CallOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op->getResultTypes(), types)))
      return failure();
    rewriter.replaceOpWithNewOp<func::CallOp>(op, op.getCallee(), types,
                                              adaptor.getOperands());
    return success();
  }
};

/// An operation of another dialect that is on pointers, such as arith.select
/// and cf.br.
struct RetypedPattern : ConversionPattern {
  RetypedPattern(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), /*benefit=*/0,
                          context) {}

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                                Rewriter &rewriter) const override {
    SmallVector<Type> types;
    if (isa<tt::TritonDialect>(op->getDialect()) || op->getNumRegions() != 0 ||
        failed(getTypeConverter()->convertTypes(op->getResultTypes(), types)))
      return failure();
    OperationState state(op->getLoc(), op->getName(), operands, types,
                         op->getAttrs(), op->getSuccessors());
    rewriter.replaceOp(op, rewriter.create(state)->getResults());
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Elementwise operations, on tensors or scalars
//===----------------------------------------------------------------------===//

/// The same operation of another dialect.
template <typename From, typename To>
struct RenamedPattern : OpConversionPattern<From> {
  using OpConversionPattern<From>::OpConversionPattern;

  LogicalResult matchAndRewrite(From op, typename From::Adaptor adaptor,
                                Rewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<To>(op, adaptor.getOperands());
    return success();
  }
};

/// What is nothing any more once pointers are integers.
template <typename OpTy> struct ForwardPattern : OpConversionPattern<OpTy> {
  using OpConversionPattern<OpTy>::OpConversionPattern;

  LogicalResult matchAndRewrite(OpTy op, typename OpTy::Adaptor adaptor,
                                Rewriter &rewriter) const override {
    rewriter.replaceOp(op, adaptor.getSrc());
    return success();
  }
};

struct BitcastPattern : OpConversionPattern<tt::BitcastOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::BitcastOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    Type type = getTypeConverter()->convertType(op.getType());
    if (adaptor.getSrc().getType() == type)
      rewriter.replaceOp(op, adaptor.getSrc());
    else
      rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, type, adaptor.getSrc());
    return success();
  }
};

struct AddPtrPattern : OpConversionPattern<tt::AddPtrOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::AddPtrOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type type = getTypeConverter()->convertType(op.getType());
    Value offset = adaptor.getOffset();
    if (offset.getType() != type)
      offset = arith::ExtSIOp::create(rewriter, loc, type, offset);
    Type pointee = cast<tt::PointerType>(getElementTypeOrSelf(op.getType()))
                       .getPointeeType();
    Value bytes =
        constantOf(rewriter, loc, type,
                   llvm::divideCeil(pointee.getIntOrFloatBitWidth(), 8));
    Value scaled = arith::MulIOp::create(rewriter, loc, offset, bytes);
    rewriter.replaceOpWithNewOp<arith::AddIOp>(op, adaptor.getPtr(), scaled);
    return success();
  }
};

struct FpToFpPattern : OpConversionPattern<tt::FpToFpOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::FpToFpOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    Value value = adaptor.getSrc();
    Type from = getElementTypeOrSelf(value.getType());
    Type to = getElementTypeOrSelf(op.getType());
    unsigned fromBits = from.getIntOrFloatBitWidth();
    unsigned toBits = to.getIntOrFloatBitWidth();
    if (from == to) {
      rewriter.replaceOp(op, value);
      return success();
    }
    // Between formats of one width there is no cast; f32 holds all of both.
    if (fromBits == toBits)
      value = arith::ExtFOp::create(
          rewriter, op.getLoc(),
          withElement(op.getType(), rewriter.getF32Type()), value);
    if (fromBits < toBits) {
      rewriter.replaceOpWithNewOp<arith::ExtFOp>(op, op.getType(), value);
      return success();
    }
    auto truncate =
        rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), value);
    if (std::optional<tt::RoundingMode> mode = op.getRounding())
      truncate.setRoundingmode(*mode == tt::RoundingMode::RTZ
                                   ? arith::RoundingMode::toward_zero
                                   : arith::RoundingMode::to_nearest_even);
    return success();
  }
};

struct ClampPattern : OpConversionPattern<tt::ClampFOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::ClampFOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    Location loc = op.getLoc();
    if (op.getPropagateNan() == tt::PropagateNan::ALL) {
      Value low = arith::MaximumFOp::create(rewriter, loc, adaptor.getX(),
                                            adaptor.getMin());
      rewriter.replaceOpWithNewOp<arith::MinimumFOp>(op, low, adaptor.getMax());
      return success();
    }
    Value low = arith::MaxNumFOp::create(rewriter, loc, adaptor.getX(),
                                         adaptor.getMin());
    rewriter.replaceOpWithNewOp<arith::MinNumFOp>(op, low, adaptor.getMax());
    return success();
  }
};

struct MapElementwisePattern : OpConversionPattern<tt::MapElementwiseOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::MapElementwiseOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    SmallVector<Value> results;
    for (OpResult result : op->getResults()) {
      auto type = cast<RankedTensorType>(result.getType());
      auto map = linalg::MapOp::create(
          rewriter, op.getLoc(), adaptor.getSrcs(),
          emptyOf(rewriter, op.getLoc(), type),
          [&](OpBuilder &builder, Location loc, ValueRange arguments) {
            IRMapping mapping;
            mapping.map(op.getScalarOp().getArguments(), arguments);
            SmallVector<Value> values =
                cloneBody(builder, op.getScalarOp(), mapping);
            linalg::YieldOp::create(builder, loc,
                                    values[result.getResultNumber()]);
          });
      results.push_back(map->getResult(0));
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct ExternPattern : OpConversionPattern<tt::ExternElementwiseOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::ExternElementwiseOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getType());
    Operation *call;
    if (type)
      call = linalg_ext::LibdeviceCallOp::create(
          rewriter, op.getLoc(), type, adaptor.getSrcs(),
          emptyOf(rewriter, op.getLoc(), type), op.getSymbolAttr());
    else
      call = linalg_ext::ScalarLibdeviceCallOp::create(
          rewriter, op.getLoc(), op.getType(), adaptor.getSrcs(),
          op.getSymbolAttr());
    rewriter.replaceOp(op, call->getResults());
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Making and reshaping tensors
//===----------------------------------------------------------------------===//

struct SplatPattern : OpConversionPattern<tt::SplatOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::SplatOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    rewriter.replaceOp(op, fill(rewriter, op.getLoc(), type, adaptor.getSrc()));
    return success();
  }
};

struct UnsplatPattern : OpConversionPattern<tt::UnsplatOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::UnsplatOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    Value zero = arith::ConstantIndexOp::create(rewriter, op.getLoc(), 0);
    SmallVector<Value> indices(
        cast<RankedTensorType>(adaptor.getSrc().getType()).getRank(), zero);
    rewriter.replaceOpWithNewOp<tensor::ExtractOp>(op, adaptor.getSrc(),
                                                   indices);
    return success();
  }
};

struct MakeRangePattern : OpConversionPattern<tt::MakeRangeOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::MakeRangeOp op, OpAdaptor,
                                Rewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getType());
    Value start = arith::ConstantOp::create(rewriter, loc, op.getStartAttr());
    Value end = arith::ConstantOp::create(rewriter, loc, op.getEndAttr());
    Value init = emptyOf(rewriter, loc, type);
    rewriter.replaceOp(
        op, linalg_ext::MakeRangeOp::create(rewriter, loc, start, end, init)
                .getResult());
    return success();
  }
};

struct ExpandDimsPattern : OpConversionPattern<tt::ExpandDimsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::ExpandDimsOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    SmallVector<bool> added(type.getRank());
    added[op.getAxis()] = true;
    rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(
        op, type, adaptor.getSrc(), groupsOf(added));
    return success();
  }
};

struct BroadcastPattern : OpConversionPattern<tt::BroadcastOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::BroadcastOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value source = adaptor.getSrc();
    auto from = cast<RankedTensorType>(source.getType());
    auto to = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    SmallVector<bool> dropped;
    SmallVector<int64_t> kept, added;
    for (int64_t dim = 0; dim < to.getRank(); ++dim) {
      dropped.push_back(from.getDimSize(dim) != to.getDimSize(dim));
      if (dropped.back())
        added.push_back(dim);
      else
        kept.push_back(from.getDimSize(dim));
    }
    if (added.empty()) {
      rewriter.replaceOp(op, source);
      return success();
    }
    Value collapsed = tensor::CollapseShapeOp::create(
        rewriter, loc, tensorOf(kept, from.getElementType()), source,
        groupsOf(dropped));
    auto broadcast = linalg::BroadcastOp::create(
        rewriter, loc, collapsed, emptyOf(rewriter, loc, to), added);
    rewriter.replaceOp(op, broadcast->getResults());
    return success();
  }
};

struct ReshapePattern : OpConversionPattern<tt::ReshapeOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::ReshapeOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    rewriter.replaceOp(op,
                       reshape(rewriter, op.getLoc(), adaptor.getSrc(), type));
    return success();
  }
};

struct TransPattern : OpConversionPattern<tt::TransOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::TransOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    SmallVector<int64_t> order(op.getOrder());
    auto transpose = linalg::TransposeOp::create(
        rewriter, op.getLoc(), adaptor.getSrc(),
        emptyOf(rewriter, op.getLoc(), type), order);
    rewriter.replaceOp(op, transpose->getResults());
    return success();
  }
};

/// Where part `index` of two lies: along `dim`, of `size` elements.
struct Part {
  Part(OpBuilder &builder, RankedTensorType whole, int64_t dim, int64_t index,
       int64_t size) {
    for (int64_t d = 0; d < whole.getRank(); ++d) {
      offsets.push_back(builder.getIndexAttr(d == dim ? index * size : 0));
      sizes.push_back(
          builder.getIndexAttr(d == dim ? size : whole.getDimSize(d)));
      strides.push_back(builder.getIndexAttr(1));
    }
  }
  SmallVector<OpFoldResult> offsets, sizes, strides;
};

static Value joinParts(OpBuilder &builder, Location loc, RankedTensorType type,
                       Value lhs, Value rhs, int64_t dim) {
  Value whole = emptyOf(builder, loc, type);
  for (auto [index, value] : llvm::enumerate(ArrayRef<Value>{lhs, rhs})) {
    Part part(builder, type, dim, index, type.getDimSize(dim) / 2);
    whole = tensor::InsertSliceOp::create(
        builder, loc, value, whole, part.offsets, part.sizes, part.strides);
  }
  return whole;
}

struct CatPattern : OpConversionPattern<tt::CatOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::CatOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    rewriter.replaceOp(op, joinParts(rewriter, op.getLoc(), type,
                                     adaptor.getLhs(), adaptor.getRhs(), 0));
    return success();
  }
};

struct JoinPattern : OpConversionPattern<tt::JoinOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::JoinOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    rewriter.replaceOp(op,
                       joinParts(rewriter, op.getLoc(), type, adaptor.getLhs(),
                                 adaptor.getRhs(), type.getRank() - 1));
    return success();
  }
};

struct SplitPattern : OpConversionPattern<tt::SplitOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::SplitOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    auto from = cast<RankedTensorType>(adaptor.getSrc().getType());
    auto to = getTypeConverter()->convertType<RankedTensorType>(
        op.getOutLHS().getType());
    SmallVector<Value> parts;
    for (int64_t index : {0, 1}) {
      Part part(rewriter, from, from.getRank() - 1, index, 1);
      parts.push_back(tensor::ExtractSliceOp::create(
          rewriter, op.getLoc(), to, adaptor.getSrc(), part.offsets, part.sizes,
          part.strides));
    }
    rewriter.replaceOp(op, parts);
    return success();
  }
};

struct GatherPattern : OpConversionPattern<tt::GatherOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::GatherOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    auto map = linalg::MapOp::create(
        rewriter, op.getLoc(), adaptor.getIndices(),
        emptyOf(rewriter, op.getLoc(), type),
        [&](OpBuilder &builder, Location loc, ValueRange arguments) {
          SmallVector<Value> indices;
          for (int64_t dim = 0; dim < type.getRank(); ++dim) {
            if (dim == int64_t(op.getAxis()))
              indices.push_back(arith::IndexCastOp::create(
                  builder, loc, builder.getIndexType(), arguments[0]));
            else
              indices.push_back(linalg::IndexOp::create(builder, loc, dim));
          }
          Value value = tensor::ExtractOp::create(builder, loc,
                                                  adaptor.getSrc(), indices);
          linalg::YieldOp::create(builder, loc, value);
        });
    rewriter.replaceOp(op, map->getResults());
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Reductions, scans, products
//===----------------------------------------------------------------------===//

/// The value that changes nothing, for combiners of which there is one. That of
/// a sum is -0.0: 0.0 would change the sign of a sum of negative zeros. Maximum
/// and minimum have none here: with NaN among the elements that would not do.
static TypedAttr getIdentity(Operation *combiner, Builder &builder) {
  Type type = combiner->getResult(0).getType();
  unsigned bits = type.getIntOrFloatBitWidth();
  auto integer = [&](APInt value) -> TypedAttr {
    return builder.getIntegerAttr(type, value);
  };
  return llvm::TypeSwitch<Operation *, TypedAttr>(combiner)
      .Case([&](arith::AddFOp) { return builder.getFloatAttr(type, -0.0); })
      .Case([&](arith::MulFOp) { return builder.getFloatAttr(type, 1.0); })
      .Case<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>(
          [&](Operation *) { return integer(APInt::getZero(bits)); })
      .Case([&](arith::MulIOp) { return integer(APInt(bits, 1)); })
      .Case<arith::AndIOp, arith::MinUIOp>(
          [&](Operation *) { return integer(APInt::getAllOnes(bits)); })
      .Case([&](arith::MaxSIOp) {
        return integer(APInt::getSignedMinValue(bits));
      })
      .Case([&](arith::MinSIOp) {
        return integer(APInt::getSignedMaxValue(bits));
      })
      .Default([](Operation *) { return TypedAttr(); });
}

struct ReducePattern : OpConversionPattern<tt::ReduceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::ReduceOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    Location loc = op.getLoc();
    int64_t axis = op.getAxis();
    auto whole = cast<RankedTensorType>(adaptor.getSrcs()[0].getType());
    SmallVector<int64_t> shape(whole.getShape());
    shape.erase(shape.begin() + axis);

    SmallVector<Value> inputs(adaptor.getSrcs()), inits;
    Operation *combiner = op.getSingleCombiner();
    TypedAttr identity = combiner && inputs.size() == 1
                             ? getIdentity(combiner, rewriter)
                             : TypedAttr();
    for (Value &input : inputs) {
      Type element = getElementTypeOrSelf(input.getType());
      if (identity) {
        Value value = arith::ConstantOp::create(rewriter, loc, identity);
        inits.push_back(fill(rewriter, loc, tensorOf(shape, element), value));
        continue;
      }
      // Without one the reduction begins with the first elements.
      Part first(rewriter, whole, axis, 0, 1);
      inits.push_back(tensor::ExtractSliceOp::create(
          rewriter, loc, tensorOf(shape, element), input, first.offsets,
          first.sizes, first.strides));
      Part rest(rewriter, whole, axis, 0, whole.getDimSize(axis) - 1);
      rest.offsets[axis] = rewriter.getIndexAttr(1);
      if (whole.getDimSize(axis) != 1)
        input = tensor::ExtractSliceOp::create(
            rewriter, loc, input, rest.offsets, rest.sizes, rest.strides);
    }
    SmallVector<Value> results;
    if (!identity && whole.getDimSize(axis) == 1) {
      results = inits;
    } else {
      // A body of Triton has accumulators first, one of linalg elements.
      auto reduce = linalg::ReduceOp::create(
          rewriter, loc, inputs, inits, axis,
          [&](OpBuilder &builder, Location loc, ValueRange arguments) {
            IRMapping mapping;
            size_t count = inputs.size();
            auto from = op.getCombineOp().getArguments();
            mapping.map(from.take_front(count), arguments.drop_front(count));
            mapping.map(from.drop_front(count), arguments.take_front(count));
            linalg::YieldOp::create(
                builder, loc, cloneBody(builder, op.getCombineOp(), mapping));
          });
      results.assign(reduce->getResults().begin(), reduce->getResults().end());
    }
    if (shape.empty())
      for (Value &result : results)
        result = tensor::ExtractOp::create(rewriter, loc, result, ValueRange());
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct ScanPattern : OpConversionPattern<tt::ScanOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::ScanOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    SmallVector<Value> inits;
    SmallVector<Type> types;
    for (Value source : adaptor.getSrcs()) {
      types.push_back(source.getType());
      inits.push_back(emptyOf(rewriter, op.getLoc(),
                              cast<RankedTensorType>(source.getType())));
    }
    auto scan = linalg_ext::ScanOp::create(
        rewriter, op.getLoc(), types, adaptor.getSrcs(), inits,
        int64_t(op.getAxis()), op.getReverse());
    OpBuilder::InsertionGuard guard(rewriter);
    auto from = op.getCombineOp().getArguments();
    Block *body = rewriter.createBlock(
        &scan.getBody(), {}, op.getCombineOp().getArgumentTypes(),
        SmallVector<Location>(from.size(), op.getLoc()));
    IRMapping mapping;
    mapping.map(from, body->getArguments());
    linalg_ext::YieldOp::create(
        rewriter, op.getLoc(), cloneBody(rewriter, op.getCombineOp(), mapping));
    rewriter.replaceOp(op, scan.getResults());
    return success();
  }
};

struct DotPattern : OpConversionPattern<tt::DotOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::DotOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    SmallVector<Value> inputs{adaptor.getA(), adaptor.getB()};
    if (cast<RankedTensorType>(op.getType()).getRank() == 3)
      rewriter.replaceOpWithNewOp<linalg::BatchMatmulOp>(
          op, op.getType(), inputs, adaptor.getC());
    else
      rewriter.replaceOpWithNewOp<linalg::MatmulOp>(op, op.getType(), inputs,
                                                    adaptor.getC());
    return success();
  }
};

struct HistogramPattern : OpConversionPattern<tt::HistogramOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::HistogramOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getType());
    Value zero = constantOf(rewriter, loc, type.getElementType(), 0);
    auto histogram = linalg_ext::HistogramOp::create(
        rewriter, loc, adaptor.getSrc(), adaptor.getMask(),
        fill(rewriter, loc, type, zero));
    rewriter.replaceOp(op, histogram.getResult());
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Prints, assertions, what only a GPU has
//===----------------------------------------------------------------------===//

struct PrintPattern : OpConversionPattern<tt::PrintOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::PrintOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    Location loc = op.getLoc();
    if (adaptor.getArgs().empty())
      aux::ScalarPrintOp::create(rewriter, loc, Value(), op.getPrefixAttr());
    for (auto [value, isSigned] :
         llvm::zip(adaptor.getArgs(), op.getIsSigned())) {
      Operation *print;
      if (isa<RankedTensorType>(value.getType()))
        print = aux::PrintOp::create(rewriter, loc, Type(), value,
                                     op.getPrefixAttr());
      else
        print = aux::ScalarPrintOp::create(rewriter, loc, value,
                                           op.getPrefixAttr());
      if (op.getHex())
        print->setAttr("hex", rewriter.getUnitAttr());
      bool isInteger = isa<IntegerType>(getElementTypeOrSelf(value.getType()));
      if (isInteger && !isSigned)
        print->setAttr("unsigned", rewriter.getUnitAttr());
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct AssertPattern : OpConversionPattern<tt::AssertOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::AssertOp op, OpAdaptor adaptor,
                                Rewriter &rewriter) const override {
    if (isa<RankedTensorType>(adaptor.getCondition().getType()))
      linalg_ext::AssertOp::create(rewriter, op.getLoc(),
                                   adaptor.getCondition(), op.getMessage());
    else
      linalg_ext::ScalarAssertOp::create(
          rewriter, op.getLoc(), adaptor.getCondition(), op.getMessage());
    rewriter.eraseOp(op);
    return success();
  }
};

/// Kernels that overlap are a matter of the target's launches.
template <typename OpTy> struct ErasePattern : OpConversionPattern<OpTy> {
  using OpConversionPattern<OpTy>::OpConversionPattern;

  LogicalResult matchAndRewrite(OpTy op, typename OpTy::Adaptor,
                                Rewriter &rewriter) const override {
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void mlir::triton_ext::convert_triton_to_linalg::addConversions(
    TypeConverter &converter) {
  converter.addConversion([](Type type) { return type; });
  converter.addConversion([](tt::PointerType type) -> Type {
    return IntegerType::get(type.getContext(), 64);
  });
  converter.addConversion([](RankedTensorType type) -> Type {
    if (!isa<tt::PointerType>(type.getElementType()))
      return type;
    return type.clone(IntegerType::get(type.getContext(), 64));
  });
}

void mlir::triton_ext::convert_triton_to_linalg::populateOperationPatterns(
    const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<AddPtrPattern, AssertPattern, BitcastPattern, BroadcastPattern,
               CallPattern, CatPattern, ClampPattern, DotPattern,
               ErasePattern<tt::GridDependencyLaunchDependentsOp>,
               ErasePattern<tt::GridDependencyWaitOp>, ExpandDimsPattern,
               ExternPattern, ForwardPattern<tt::IntToPtrOp>,
               ForwardPattern<tt::PtrToIntOp>, FpToFpPattern, FuncPattern,
               GatherPattern, HistogramPattern, JoinPattern, MakeRangePattern,
               MapElementwisePattern, PrintPattern, ReducePattern,
               RenamedPattern<tt::ApproxDivFOp, arith::DivFOp>,
               RenamedPattern<tt::MulhiUIOp, math_ext::MulhiUIOp>,
               RenamedPattern<tt::PreciseDivFOp, arith::DivFOp>,
               RenamedPattern<tt::PreciseSqrtOp, math::SqrtOp>, ReshapePattern,
               RetypedPattern, ReturnPattern, ScanPattern, SplatPattern,
               SplitPattern, TransPattern, UnsplatPattern>(
      converter, patterns.getContext());
}
