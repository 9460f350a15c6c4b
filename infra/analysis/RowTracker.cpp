// SPDX-License-Identifier: Apache-2.0
//
// Divides accesses into rows: takes the sum of offsets apart into strided ones
// and those along one dimension, and the mask into a box and others along this
// dimension.

#include "analysis/RowTracker.h"
#include "analysis/Dimensions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton_ext::analysis;
namespace tt = mlir::triton;

/// Returns the sum of tensors of offsets, which depends on the index along one
/// dimension; nullopt if it depends on several. A single tensor of 32 bits
/// stays as it is, otherwise the sum is an i64.
static std::optional<Line> addLines(ArrayRef<Value> tensors, IndexMath &math) {
  OpBuilder &builder = math.builder;
  std::optional<Line> sum;
  for (Value tensor : tensors) {
    auto line = trackLine(tensor, math);
    if (!line || !line->dim || (sum && sum->dim != line->dim))
      return std::nullopt;
    auto lineType = cast<RankedTensorType>(line->value.getType());
    unsigned bits = lineType.getElementTypeBitWidth();
    Type i64 = builder.getI64Type();
    if (bits < 32 || (bits == 32 && tensors.size() > 1))
      line->value = arith::ExtSIOp::create(builder, math.loc,
                                           lineType.clone(i64), line->value);
    if (sum)
      line->value =
          arith::AddIOp::create(builder, math.loc, sum->value, line->value);
    sum = line;
  }
  return sum;
}

/// Returns the offsets of a line plus the multiple of `stride` at each index,
/// as an i64.
static Value addMultiples(Value line, OpFoldResult stride, IndexMath &math) {
  OpBuilder &builder = math.builder;
  ArrayRef<int64_t> shape = shapeOf(line);
  auto wide = RankedTensorType::get(shape, builder.getI64Type());
  Value index = tt::MakeRangeOp::create(
      builder, math.loc, RankedTensorType::get(shape, builder.getI32Type()), 0,
      int32_t(shape.front()));
  index = arith::ExtSIOp::create(builder, math.loc, wide, index);
  Value factor = math.toValue(stride);
  if (factor.getType().isIndex())
    factor = arith::IndexCastOp::create(builder, math.loc, builder.getI64Type(),
                                        factor);
  factor = tt::SplatOp::create(builder, math.loc, wide, factor);
  Value multiples = arith::MulIOp::create(builder, math.loc, index, factor);
  if (line.getType() != wide)
    line = arith::ExtSIOp::create(builder, math.loc, wide, line);
  return arith::AddIOp::create(builder, math.loc, line, multiples);
}

/// Divides the offsets of a line by a factor that all of them have, and returns
/// the factor.
static OpFoldResult takeFactor(Value &line, IndexMath &math) {
  auto product = line.getDefiningOp<arith::MulIOp>();
  auto factor = product ? trackLine(product.getRhs(), math) : std::nullopt;
  if (!factor || factor->dim)
    return math.number(1);
  line = product.getLhs();
  return math.fromInteger(factor->value);
}

/// Returns the conjunction of masks of `size` elements, which are lines along
/// `dim`; null if one is not.
static Value restrict(ArrayRef<Value> masks, unsigned dim, int64_t size,
                      IndexMath &math) {
  OpBuilder &builder = math.builder;
  Value result;
  for (Value mask : masks) {
    auto line = trackLine(mask, math);
    if (!line || (line->dim && line->dim != dim))
      return {};
    if (!line->dim)
      line->value = tt::SplatOp::create(
          builder, math.loc, RankedTensorType::get(size, builder.getI1Type()),
          line->value);
    result = result
                 ? arith::AndIOp::create(builder, math.loc, result, line->value)
                       .getResult()
                 : line->value;
  }
  return result;
}

std::optional<Rows> mlir::triton_ext::analysis::trackRows(
    Value pointers, Value mask, IndexMath &math,
    function_ref<bool(const Box &, std::optional<unsigned>)> accept) {
  ArrayRef<int64_t> shape = shapeOf(pointers);
  // Without another dimension, nothing is strided.
  auto sum = trackPointerSum(pointers, math);
  if (!sum || shape.size() < 2)
    return std::nullopt;
  Offsets strided{math.number(0),
                  SmallVector<OpFoldResult>(shape.size(), math.number(0))};
  SmallVector<Value> others;
  for (Value addend : sum->addends) {
    for (Value summand : getSummands(addend, math)) {
      auto offsets = trackOffsets(summand, math);
      if (offsets && !offsets->wrapsAround())
        strided = addOffsets(strided, *offsets, math);
      else
        others.push_back(summand);
    }
  }
  std::optional<Line> line = addLines(others, math);
  if (!others.empty() && !line)
    return std::nullopt;
  std::optional<unsigned> dim = line ? line->dim : std::nullopt;
  SplitMask parts{wholeOf(shape, math), {}};
  if (mask)
    parts = splitMask(
        mask, [&](const Box &box) { return accept(box, std::nullopt); }, math);
  for (Value part : parts.rest) {
    auto along = trackLine(part, math);
    if (!along || (dim && along->dim && dim != along->dim))
      return std::nullopt;
    if (along->dim)
      dim = along->dim;
  }
  if (!dim)
    return std::nullopt;
  // Each row has one offset, so the stride of the rows is part of it.
  if (line && !isZero(strided.strides[*dim]))
    line->value = addMultiples(line->value, strided.strides[*dim], math);
  Rows rows{{sum->base, strided}, *dim, {}, {}, {}};
  if (!parts.rest.empty()) {
    parts =
        splitMask(mask, [&](const Box &box) { return accept(box, dim); }, math);
    rows.mask = restrict(parts.rest, *dim, shape[*dim], math);
    if (!rows.mask)
      return std::nullopt;
  }
  rows.box = parts.box;
  if (line) {
    rows.offsets = line->value;
    rows.pointers.offsets.strides[*dim] = takeFactor(rows.offsets, math);
  }
  return rows;
}
