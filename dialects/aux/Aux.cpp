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
  size_t rank = cast<ShapedType>(type).getRank();
  if (!getOffsets().empty() && getOffsets().size() != rank)
    return emitOpError() << "expected an offset for each dimension of " << type
                         << ", got " << getOffsets().size();
  if (getWhole() && getWhole()->size() != rank)
    return emitOpError() << "expected a whole of " << rank
                         << " dimensions, got " << getWhole()->size();
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

std::pair<unsigned, unsigned> BitcastExtOp::getWidths() {
  return {getBits(getElementTypeOrSelf(getValue().getType())).value_or(0),
          getBits(getElementTypeOrSelf(getType())).value_or(0)};
}

/// Returns whether one width is a multiple of the other, both in whole bytes.
static bool areDivisible(unsigned a, unsigned b) {
  return a && b && a % 8 == 0 && b % 8 == 0 && (a % b == 0 || b % a == 0);
}

/// Checks the shapes of tensors whose elements have different widths.
static LogicalResult checkShapes(BitcastExtOp op, RankedTensorType from,
                                 RankedTensorType to) {
  auto [bits, wanted] = op.getWidths();
  int64_t rank = from.getRank();
  bool isSame = rank > 0 && to.getRank() == rank &&
                from.getShape().drop_back() == to.getShape().drop_back();
  if (isSame) {
    int64_t count = from.getShape().back(), counted = to.getShape().back();
    bool isDynamic = ShapedType::isDynamic(count);
    isSame = isDynamic == ShapedType::isDynamic(counted) &&
             (isDynamic || count * bits == counted * wanted);
  }
  if (isSame)
    return success();
  return op.emitOpError() << "expected tensors that have as many bits along "
                             "the innermost dimension, and as many elements "
                             "along the others, got "
                          << from << " and " << to;
}

LogicalResult BitcastExtOp::verify() {
  Type from = getValue().getType(), to = getType();
  auto tensorFrom = dyn_cast<RankedTensorType>(from);
  auto tensorTo = dyn_cast<RankedTensorType>(to);
  auto [bits, wanted] = getWidths();
  if (tensorFrom && tensorTo && bits != wanted && areDivisible(bits, wanted))
    return checkShapes(*this, tensorFrom, tensorTo);
  bool areScalars = !isa<ShapedType>(from) && !isa<ShapedType>(to);
  bool areTensors =
      tensorFrom && tensorTo && tensorFrom.getShape() == tensorTo.getShape();
  if (!areScalars && !areTensors)
    return emitOpError()
           << "expected scalars or ranked tensors of one shape, got " << from
           << " and " << to;
  if (!bits || bits != wanted)
    return emitOpError() << "expected integers, floats or pointers of one "
                            "width"
                         << (areTensors ? ", or of whole bytes" : "")
                         << ", got " << from << " and " << to;
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
  auto [bits, wanted] = getWidths();
  if (bits == wanted)
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
