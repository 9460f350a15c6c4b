// SPDX-License-Identifier: Apache-2.0
//
// Builds operations on tensors of i1.

#include "Bits.h"

#include "analysis/Dimensions.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::sanitizer;
namespace tt = mlir::triton;

Dims sanitizer::allDims(ArrayRef<int64_t> shape) {
  Dims dims = 0;
  for (auto [d, size] : llvm::enumerate(shape))
    if (size != 1)
      dims |= 1u << d;
  return dims;
}

static SmallVector<int64_t> compactShape(ArrayRef<int64_t> shape, Dims dims) {
  SmallVector<int64_t> compact;
  for (auto [d, size] : llvm::enumerate(shape))
    compact.push_back(dims >> d & 1 ? size : 1);
  return compact;
}

Type sanitizer::compactType(MLIRContext *context, ArrayRef<int64_t> shape,
                            Dims dims) {
  Type bit = IntegerType::get(context, 1);
  if (!dims)
    return bit;
  return RankedTensorType::get(compactShape(shape, dims), bit);
}

Value sanitizer::constantOf(ImplicitLocOpBuilder &b, Type type, int64_t value) {
  auto number = b.getIntegerAttr(getElementTypeOrSelf(type), value);
  if (auto shaped = dyn_cast<ShapedType>(type))
    return arith::ConstantOp::create(
        b, SplatElementsAttr::get(shaped, Attribute(number)));
  return arith::ConstantOp::create(b, number);
}

Value sanitizer::notOf(ImplicitLocOpBuilder &b, Value bits) {
  return arith::XOrIOp::create(b, bits, constantOf(b, bits.getType(), 1));
}

bool sanitizer::isNotOf(Value bits, Value others) {
  auto negation = bits.getDefiningOp<arith::XOrIOp>();
  return negation && negation.getLhs() == others &&
         matchPattern(negation.getRhs(), m_One());
}

Value sanitizer::reshaped(ImplicitLocOpBuilder &b, Value value,
                          ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getShape() == shape)
    return value;
  return tt::ReshapeOp::create(
      b, RankedTensorType::get(shape, type.getElementType()), value,
      /*allow_reorder=*/false);
}

Value sanitizer::broadcastTo(ImplicitLocOpBuilder &b, Value value,
                             ArrayRef<int64_t> shape) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (shape.empty() || (type && type.getShape() == shape))
    return value;
  auto wide =
      RankedTensorType::get(shape, getElementTypeOrSelf(value.getType()));
  if (!type)
    return tt::SplatOp::create(b, wide, value);
  return tt::BroadcastOp::create(b, wide, value);
}

Value sanitizer::widened(ImplicitLocOpBuilder &b, Value bits,
                         ArrayRef<int64_t> shape, Dims dims) {
  if (!dims)
    return bits;
  return broadcastTo(b, bits, compactShape(shape, dims));
}

/// Returns the bits as numbers of a width that every target reduces.
static Value toNumbers(ImplicitLocOpBuilder &b, Value bits) {
  auto type = cast<RankedTensorType>(bits.getType());
  return arith::ExtUIOp::create(b, type.clone(b.getI32Type()), bits);
}

static Value toBits(ImplicitLocOpBuilder &b, Value numbers) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, numbers,
                               constantOf(b, numbers.getType(), 0));
}

static Value reduceBits(ImplicitLocOpBuilder &b, Value bits, unsigned axis) {
  return toBits(b, reduce<arith::OrIOp>(b, toNumbers(b, bits), axis));
}

Value sanitizer::anyOf(ImplicitLocOpBuilder &b, Value bits) {
  auto type = dyn_cast<RankedTensorType>(bits.getType());
  if (!type)
    return bits;
  // Without a reorder, a tile of two dimensions would be moved between threads.
  if (type.getRank() != 1)
    bits = tt::ReshapeOp::create(
        b, RankedTensorType::get({type.getNumElements()}, b.getI1Type()), bits,
        /*allow_reorder=*/true);
  return reduceBits(b, bits, 0);
}

Value sanitizer::anyAlong(ImplicitLocOpBuilder &b, Value bits, unsigned axis) {
  auto type = dyn_cast<RankedTensorType>(bits.getType());
  if (!type)
    return bits;
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = 1;
  if (allDims(shape) == 0) // also of one element: a scalar is compact
    return anyOf(b, bits);
  if (type.getDimSize(axis) == 1)
    return bits;
  return reshaped(b, reduceBits(b, bits, axis), shape);
}

Value sanitizer::anyBefore(ImplicitLocOpBuilder &b, Value bits, unsigned axis,
                           bool isReverse) {
  auto op = tt::ScanOp::create(b, ValueRange{toNumbers(b, bits)}, int(axis),
                               isReverse);
  combineWith<arith::OrIOp>(b, op);
  return toBits(b, op->getResult(0));
}
