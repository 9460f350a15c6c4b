// SPDX-License-Identifier: Apache-2.0
//
// Verifiers and memory effects of reductions and of operations on windows of
// images. An operation that combines elements with its inits reads the inits.

#include "Checks.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::triton_ext::linalg_ext;

void ReduceSumOp::getEffects(Effects &effects) {
  getDestinationEffects(*this, /*readsInits=*/true, effects);
}
void ReduceMaxOp::getEffects(Effects &effects) {
  getDestinationEffects(*this, /*readsInits=*/true, effects);
}
void ReduceMinOp::getEffects(Effects &effects) {
  getDestinationEffects(*this, /*readsInits=*/true, effects);
}
void ReduceMaxNanOp::getEffects(Effects &effects) {
  getDestinationEffects(*this, /*readsInits=*/true, effects);
}
void ReduceMinNanOp::getEffects(Effects &effects) {
  getDestinationEffects(*this, /*readsInits=*/true, effects);
}
void ArgMaxOp::getEffects(Effects &effects) {
  getDestinationEffects(*this, /*readsInits=*/true, effects);
}
void ArgMinOp::getEffects(Effects &effects) {
  getDestinationEffects(*this, /*readsInits=*/true, effects);
}
void BatchConv2DNhwcFhwcOp::getEffects(Effects &effects) {
  getDestinationEffects(*this, /*readsInits=*/true, effects);
}
void PoolingNhwcMaxNanOp::getEffects(Effects &effects) {
  getDestinationEffects(*this, /*readsInits=*/true, effects);
}
void PoolingNhwcMinNanOp::getEffects(Effects &effects) {
  getDestinationEffects(*this, /*readsInits=*/true, effects);
}
void Im2ColOp::getEffects(Effects &effects) {
  getDestinationEffects(*this, /*readsInits=*/false, effects);
}
void TriOp::getEffects(Effects &effects) {
  getDestinationEffects(*this, /*readsInits=*/false, effects);
}

static LogicalResult checkSameElement(Operation *op, Value init, Value input) {
  Type element = shaped(input).getElementType();
  if (shaped(init).getElementType() == element)
    return success();
  return op->emitOpError() << "expected an init of " << element << ", got "
                           << init.getType();
}

static LogicalResult checkNumbers(Operation *op, Value value) {
  Type element = shaped(value).getElementType();
  if (isa<FloatType>(element) || element.isSignlessInteger())
    return success();
  return op->emitOpError() << "expected floating-point numbers or signless "
                              "integers, got "
                           << value.getType();
}

static LogicalResult checkFloats(Operation *op, Value value) {
  if (isa<FloatType>(shaped(value).getElementType()))
    return success();
  return op->emitOpError() << "expected floating-point numbers, got "
                           << value.getType();
}

//===----------------------------------------------------------------------===//
// reduce_sum, reduce_max, reduce_min, reduce_max_nan, reduce_min_nan
//===----------------------------------------------------------------------===//

/// Returns the shape of `type` without these dimensions. Fails unless they are
/// in strictly ascending order and in range.
static FailureOr<SmallVector<int64_t>>
getReducedShape(Operation *op, ShapedType type, ArrayRef<int64_t> dimensions) {
  int64_t before = -1;
  SmallVector<int64_t> shape(type.getShape());
  for (int64_t dim : dimensions) {
    if (dim <= before || dim >= type.getRank()) {
      op->emitOpError() << "expected dimensions of " << type
                        << " in ascending order, got " << dim;
      return failure();
    }
    before = dim;
  }
  for (int64_t dim : llvm::reverse(dimensions))
    shape.erase(shape.begin() + dim);
  return shape;
}

template <typename OpTy> static LogicalResult checkReduction(OpTy op) {
  if (op.getDimensions().empty())
    return op.emitOpError() << "expected at least one dimension";
  auto shape = getReducedShape(op, shaped(op.getInput()), op.getDimensions());
  if (failed(shape) || failed(checkNumbers(op, op.getInput())) ||
      failed(checkSameElement(op, op.getInit(), op.getInput())))
    return failure();
  return checkShape(op, "an init", op.getInit(), *shape);
}

LogicalResult ReduceSumOp::verify() { return checkReduction(*this); }
LogicalResult ReduceMaxOp::verify() { return checkReduction(*this); }
LogicalResult ReduceMinOp::verify() { return checkReduction(*this); }
LogicalResult ReduceMaxNanOp::verify() {
  return failed(checkFloats(*this, getInput())) ? failure()
                                                : checkReduction(*this);
}
LogicalResult ReduceMinNanOp::verify() {
  return failed(checkFloats(*this, getInput())) ? failure()
                                                : checkReduction(*this);
}

//===----------------------------------------------------------------------===//
// argmax, argmin
//===----------------------------------------------------------------------===//

template <typename OpTy> static LogicalResult checkArg(OpTy op) {
  if (op.getInits().size() != 2)
    return op.emitOpError()
           << "expected two inits, of a value and of its index, got "
           << op.getInits().size();
  ShapedType type = shaped(op.getValues());
  auto shape = getReducedShape(op, type, int64_t(op.getDimension()));
  if (failed(shape) || failed(checkNumbers(op, op.getValues())))
    return failure();
  if (!shaped(op.getIndices()).getElementType().isSignlessInteger())
    return op.emitOpError()
           << "expected indices that are signless integers, got "
           << op.getIndices().getType();
  SmallVector<int64_t> whole(type.getShape());
  if (failed(checkSameShape(op, "indices", op.getIndices(), whole)))
    return failure();
  whole.erase(whole.begin() + op.getDimension());
  Value inputs[] = {op.getValues(), op.getIndices()};
  for (auto [init, input] : llvm::zip(op.getInits(), inputs))
    if (failed(checkSameElement(op, init, input)) ||
        failed(checkSameShape(op, "an init", init, whole)))
      return failure();
  Type value = type.getElementType();
  Type index = shaped(op.getIndices()).getElementType();
  return checkBody<linalg::YieldOp>(
      op, op.getRegion(), {value, index, value, index}, {value, index});
}

LogicalResult ArgMaxOp::verify() { return checkArg(*this); }
LogicalResult ArgMinOp::verify() { return checkArg(*this); }

//===----------------------------------------------------------------------===//
// batch_conv_2d_nhwc_fhwc, im2col, pooling_nhwc_max_nan, pooling_nhwc_min_nan
//===----------------------------------------------------------------------===//

static LogicalResult checkRank(Operation *op, StringRef what, Value value,
                               int64_t rank) {
  if (shaped(value).getRank() == rank)
    return success();
  return op->emitOpError() << "expected " << what << " of " << rank
                           << " dimensions, got " << value.getType();
}

/// Checks that the windows lie in the image. `image` is the size of the image,
/// `count` the number of windows and `size` the size of a window, each along
/// height and width.
template <typename OpTy>
static LogicalResult checkWindows(OpTy op, ArrayRef<int64_t> image,
                                  ArrayRef<int64_t> count,
                                  ArrayRef<int64_t> size) {
  for (ArrayRef<int64_t> numbers : {op.getStrides(), op.getDilations()})
    if (numbers.size() != 2 ||
        llvm::any_of(numbers, [](int64_t number) { return number < 1; }))
      return op.emitOpError()
             << "expected two strides and two dilations of at least 1, got "
             << op.getStrides() << " and " << op.getDilations();
  for (int dim : {0, 1}) {
    if (ShapedType::isDynamic(image[dim]) ||
        ShapedType::isDynamic(count[dim]) || ShapedType::isDynamic(size[dim]) ||
        count[dim] == 0 || size[dim] == 0)
      continue;
    int64_t end = (count[dim] - 1) * op.getStrides()[dim] +
                  (size[dim] - 1) * op.getDilations()[dim] + 1;
    if (end > image[dim])
      return op.emitOpError() << "expected windows that fit into " << image[dim]
                              << " elements, got " << count[dim] << " of "
                              << size[dim] << " elements, which take " << end;
  }
  return success();
}

LogicalResult BatchConv2DNhwcFhwcOp::verify() {
  if (failed(checkRank(*this, "an image", getImage(), 5)) ||
      failed(checkRank(*this, "a filter", getFilter(), 5)) ||
      failed(checkRank(*this, "an init", getInit(), 5)))
    return failure();
  ArrayRef<int64_t> image = shaped(getImage()).getShape();
  ArrayRef<int64_t> filter = shaped(getFilter()).getShape();
  ArrayRef<int64_t> init = shaped(getInit()).getShape();
  Type element = shaped(getInit()).getElementType();
  if (failed(checkNumbers(*this, getInit())))
    return failure();
  for (Value value : {getImage(), getFilter()}) {
    Type from = shaped(value).getElementType();
    if (isa<FloatType>(from) != isa<FloatType>(element) ||
        !from.isIntOrFloat() ||
        (from != element &&
         from.getIntOrFloatBitWidth() >= element.getIntOrFloatBitWidth()))
      return emitOpError() << "expected elements that can be extended to "
                           << element << ", got " << value.getType();
  }
  int64_t any = ShapedType::kDynamic;
  SmallVector<int64_t> shape{image[0], any, any, any, image[4]};
  if (failed(checkSameShape(*this, "a filter", getFilter(), shape)) ||
      failed(checkShape(*this, "an init", getInit(),
                        {shape[0], image[1], any, any, filter[1]})))
    return failure();
  return checkWindows(*this, image.slice(2, 2), init.slice(2, 2),
                      filter.slice(2, 2));
}

LogicalResult Im2ColOp::verify() {
  if (failed(checkRank(*this, "an image", getImage(), 4)) ||
      failed(checkRank(*this, "an init", getInit(), 6)) ||
      failed(checkSameElement(*this, getInit(), getImage())))
    return failure();
  ArrayRef<int64_t> image = shaped(getImage()).getShape();
  ArrayRef<int64_t> init = shaped(getInit()).getShape();
  int64_t any = ShapedType::kDynamic;
  if (failed(checkShape(*this, "an init", getInit(),
                        {image[0], any, any, any, any, image[3]})))
    return failure();
  return checkWindows(*this, image.slice(1, 2), init.slice(1, 2),
                      init.slice(3, 2));
}

template <typename OpTy> static LogicalResult checkPooling(OpTy op) {
  if (failed(checkRank(op, "an image", op.getImage(), 4)) ||
      failed(checkRank(op, "a window", op.getWindow(), 2)) ||
      failed(checkRank(op, "an init", op.getInit(), 4)) ||
      failed(checkFloats(op, op.getImage())) ||
      failed(checkSameElement(op, op.getInit(), op.getImage())))
    return failure();
  ArrayRef<int64_t> image = shaped(op.getImage()).getShape();
  int64_t any = ShapedType::kDynamic;
  if (failed(checkShape(op, "an init", op.getInit(),
                        {image[0], any, any, image[3]})))
    return failure();
  return checkWindows(op, image.slice(1, 2),
                      shaped(op.getInit()).getShape().slice(1, 2),
                      shaped(op.getWindow()).getShape());
}

LogicalResult PoolingNhwcMaxNanOp::verify() { return checkPooling(*this); }
LogicalResult PoolingNhwcMinNanOp::verify() { return checkPooling(*this); }

//===----------------------------------------------------------------------===//
// tri
//===----------------------------------------------------------------------===//

LogicalResult TriOp::verify() {
  return failed(checkRank(*this, "an init", getInit(), 2))
             ? failure()
             : checkNumbers(*this, getInit());
}
