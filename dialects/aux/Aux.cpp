// SPDX-License-Identifier: Apache-2.0
//
// Verifiers, folders and canonicalization patterns of the dialect `aux`.

#include "Aux.h"
#include "Format.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

#include "Aux.cpp.inc"

using namespace mlir;
using namespace mlir::triton_ext::aux;

Operation *AuxDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                           Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

//===----------------------------------------------------------------------===//
// view
//===----------------------------------------------------------------------===//

void ViewOp::build(OpBuilder &builder, OperationState &state, MemRefType type,
                   Value ptr, OpFoldResult offset, ArrayRef<OpFoldResult> sizes,
                   ArrayRef<OpFoldResult> strides) {
  SmallVector<int64_t> staticOffsets, staticSizes, staticStrides;
  SmallVector<Value> offsetValues, sizeValues, strideValues;
  dispatchIndexOpFoldResults({offset}, offsetValues, staticOffsets);
  dispatchIndexOpFoldResults(sizes, sizeValues, staticSizes);
  dispatchIndexOpFoldResults(strides, strideValues, staticStrides);
  build(builder, state, type, ptr, offsetValues, sizeValues, strideValues,
        builder.getDenseI64ArrayAttr(staticOffsets),
        builder.getDenseI64ArrayAttr(staticSizes),
        builder.getDenseI64ArrayAttr(staticStrides),
        /*cache_mode=*/StringAttr());
}

/// Checks one number of the result type, `typed`, against the operation's own,
/// `given`. The type may leave the number dynamic, but must not contradict it.
static LogicalResult checkAgainstType(ViewOp op, StringRef what, int64_t typed,
                                      int64_t given) {
  if (ShapedType::isDynamic(typed) || typed == given)
    return success();
  std::string found =
      ShapedType::isDynamic(given) ? "a value" : std::to_string(given);
  return op.emitOpError() << "expected " << what << " " << typed
                          << " as in the result type, got " << found;
}

LogicalResult ViewOp::verify() {
  MemRefType type = getType();
  int64_t offset;
  SmallVector<int64_t> strides;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return emitOpError() << "expected a strided result type, got " << type;
  if (failed(checkAgainstType(*this, "offset", offset, getStaticOffsets()[0])))
    return failure();
  for (int64_t dim = 0, rank = type.getRank(); dim < rank; ++dim) {
    std::string suffix = " of dimension " + std::to_string(dim) + " to be";
    if (failed(checkAgainstType(*this, "size" + suffix, type.getDimSize(dim),
                                getStaticSizes()[dim])) ||
        failed(checkAgainstType(*this, "stride" + suffix, strides[dim],
                                getStaticStrides()[dim])))
      return failure();
  }
  return success();
}

namespace {
/// Replaces operands that are constants by static numbers. The result type
/// stays as it is, so users of the view need no change.
struct NumbersForConstants : OpRewritePattern<ViewOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ViewOp op,
                                PatternRewriter &rewriter) const override {
    bool changed = false;
    auto toNumbers = [&](SmallVector<OpFoldResult> values, bool isStride) {
      for (OpFoldResult &value : values) {
        std::optional<int64_t> number = getConstantIntValue(value);
        // The verifier rejects a negative offset or size that is a static
        // number, but accepts it as a value.
        if (!isa<Value>(value) || !number || (!isStride && *number < 0))
          continue;
        value = rewriter.getIndexAttr(*number);
        changed = true;
      }
      return values;
    };
    auto offsets = toNumbers(op.getMixedOffsets(), /*isStride=*/false);
    auto sizes = toNumbers(op.getMixedSizes(), /*isStride=*/false);
    auto strides = toNumbers(op.getMixedStrides(), /*isStride=*/true);
    if (!changed)
      return failure();
    auto view = ViewOp::create(rewriter, op.getLoc(), op.getType(), op.getPtr(),
                               offsets[0], sizes, strides);
    view.setCacheModeAttr(op.getCacheModeAttr());
    view->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.replaceOp(op, view);
    return success();
  }
};
} // namespace

void ViewOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {
  patterns.add<NumbersForConstants>(context);
}

//===----------------------------------------------------------------------===//
// store, print, scalar.print
//===----------------------------------------------------------------------===//

LogicalResult StoreOp::verify() {
  auto type = cast<ShapedType>(getMemref().getType());
  if (!type.hasRank() || type.getRank() != int64_t(getIndices().size()))
    return emitOpError() << "expected an index for each dimension of " << type
                         << ", got " << getIndices().size();
  return success();
}

LogicalResult PrintOp::verify() {
  Type type = getValue().getType();
  if (!isa<TensorType>(type) && getResult())
    return emitOpError() << "expected no result for " << type;
  if (getResult() && getResult().getType() != type)
    return emitOpError() << "expected a result of type " << type << ", got "
                         << getResult().getType();
  return checkFormat(*this, getElementTypeOrSelf(type), getFormat());
}

LogicalResult ScalarPrintOp::verify() {
  if (!getValue() && !getFormat())
    return emitOpError() << "expected a value or a format";
  return checkFormat(*this, getValue() ? getValue().getType() : Type(),
                     getFormat());
}

//===----------------------------------------------------------------------===//
// bitcast_ext
//===----------------------------------------------------------------------===//

/// Returns the bit width of an element, or nothing if the type has no fixed
/// width, such as `index`.
static std::optional<unsigned> getBits(Type type) {
  if (isa<LLVM::LLVMPointerType>(type))
    return 64;
  if (type.isIntOrFloat())
    return type.getIntOrFloatBitWidth();
  return std::nullopt;
}

LogicalResult BitcastExtOp::verify() {
  Type from = getValue().getType(), to = getType();
  auto shapedFrom = dyn_cast<ShapedType>(from);
  auto shapedTo = dyn_cast<ShapedType>(to);
  if (bool(shapedFrom) != bool(shapedTo) ||
      (shapedFrom &&
       (!isa<RankedTensorType>(from) || !isa<RankedTensorType>(to) ||
        shapedFrom.getShape() != shapedTo.getShape())))
    return emitOpError()
           << "expected scalars or ranked tensors of one shape, got " << from
           << " and " << to;
  std::optional<unsigned> bits = getBits(getElementTypeOrSelf(from));
  std::optional<unsigned> wanted = getBits(getElementTypeOrSelf(to));
  if (!bits || !wanted || *bits != *wanted)
    return emitOpError() << "expected integers, floats or pointers of one "
                            "width, got "
                         << from << " and " << to;
  return success();
}

/// Returns a constant with the same bits and the given type, or null if the
/// elements of that type are not integers or floats.
static Attribute castConstant(Attribute value, Type type) {
  Type element = getElementTypeOrSelf(type);
  if (!element.isIntOrFloat())
    return {};
  if (auto elements = dyn_cast_or_null<DenseElementsAttr>(value))
    return elements.bitcast(element);
  APInt bits;
  if (auto integer = dyn_cast_or_null<IntegerAttr>(value))
    bits = integer.getValue();
  else if (auto number = dyn_cast_or_null<FloatAttr>(value))
    bits = number.getValue().bitcastToAPInt();
  else
    return {};
  if (auto number = dyn_cast<FloatType>(element))
    return FloatAttr::get(type, APFloat(number.getFloatSemantics(), bits));
  return IntegerAttr::get(type, bits);
}

OpFoldResult BitcastExtOp::fold(FoldAdaptor adaptor) {
  if (getValue().getType() == getType())
    return getValue();
  if (Attribute constant = castConstant(adaptor.getValue(), getType()))
    return constant;
  // Of two casts in a row, only the second one's type matters.
  auto first = getValue().getDefiningOp<BitcastExtOp>();
  if (!first)
    return {};
  if (first.getValue().getType() == getType())
    return first.getValue();
  getValueMutable().assign(first.getValue());
  return getResult();
}

MemRefType mlir::triton_ext::aux::viewTypeOf(Type element, OpFoldResult offset,
                                             ArrayRef<OpFoldResult> sizes,
                                             ArrayRef<OpFoldResult> strides,
                                             Attribute memorySpace) {
  auto known = [](OpFoldResult value) {
    return isa<Value>(value) ? ShapedType::kDynamic
                             : *getConstantIntValue(value);
  };
  auto layout = StridedLayoutAttr::get(element.getContext(), known(offset),
                                       llvm::map_to_vector(strides, known));
  return MemRefType::get(llvm::map_to_vector(sizes, known), element, layout,
                         memorySpace);
}
