// SPDX-License-Identifier: Apache-2.0
//
// Loops over arrays, which are tensors or memrefs.

#include "Arrays.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::triton_ext::lower_linalg_ext;

namespace mlir::triton_ext::lower_linalg_ext {

Value indexConstant(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

Values sizesOf(OpBuilder &builder, Location loc, Value array) {
  auto type = cast<ShapedType>(array.getType());
  Values sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!type.isDynamicDim(dim))
      sizes.push_back(indexConstant(builder, loc, type.getDimSize(dim)));
    else if (isa<MemRefType>(type))
      sizes.push_back(memref::DimOp::create(builder, loc, array, dim));
    else
      sizes.push_back(tensor::DimOp::create(builder, loc, array, dim));
  }
  return sizes;
}

Value loadFrom(OpBuilder &builder, Location loc, Value array,
               ValueRange indices) {
  if (isa<MemRefType>(array.getType()))
    return memref::LoadOp::create(builder, loc, array, indices);
  return tensor::ExtractOp::create(builder, loc, array, indices);
}

Value storeInto(OpBuilder &builder, Location loc, Value element, Value array,
                ValueRange indices) {
  if (!isa<MemRefType>(array.getType()))
    return tensor::InsertOp::create(builder, loc, element, array, indices);
  memref::StoreOp::create(builder, loc, element, array, indices);
  return array;
}

static bool isCarried(Value value) { return !isa<MemRefType>(value.getType()); }

static Values carriedOf(ValueRange values) {
  return Values(llvm::make_filter_range(values, isCarried));
}

/// Returns `values` with its carried ones replaced by `carried`, in order.
static Values withCarried(ValueRange values, ValueRange carried) {
  Values result(values);
  for (Value &value : result) {
    if (!isCarried(value))
      continue;
    value = carried.front();
    carried = carried.drop_front();
  }
  return result;
}

Values loop(OpBuilder &builder, Location loc, Value from, Value to,
            ValueRange values, LoopBody body) {
  auto loop = scf::ForOp::create(
      builder, loc, from, to, indexConstant(builder, loc, 1), carriedOf(values),
      [&](OpBuilder &inner, Location loc, Value index, ValueRange arguments) {
        Values results =
            body(inner, loc, index, withCarried(values, arguments));
        scf::YieldOp::create(inner, loc, carriedOf(results));
      });
  return withCarried(values, loop.getResults());
}

static Values nest(OpBuilder &builder, Location loc, ValueRange sizes,
                   Values &indices, ValueRange values, LoopBody body) {
  if (indices.size() == sizes.size())
    return body(builder, loc, indices, values);
  Value zero = indexConstant(builder, loc, 0);
  return loop(
      builder, loc, zero, sizes[indices.size()], values,
      [&](OpBuilder &inner, Location loc, ValueRange index, ValueRange values) {
        indices.push_back(index.front());
        Values results = nest(inner, loc, sizes, indices, values, body);
        indices.pop_back();
        return results;
      });
}

Values loopNest(OpBuilder &builder, Location loc, ValueRange sizes,
                ValueRange values, LoopBody body) {
  Values indices;
  return nest(builder, loc, sizes, indices, values, body);
}

Values ifTrue(OpBuilder &builder, Location loc, Value condition,
              ValueRange values, ThenBody then) {
  if (!condition)
    return then(builder, loc, values);
  Values carried = carriedOf(values);
  auto thenBuilder = [&](OpBuilder &inner, Location loc) {
    scf::YieldOp::create(inner, loc, carriedOf(then(inner, loc, values)));
  };
  auto elseBuilder = [&](OpBuilder &inner, Location loc) {
    scf::YieldOp::create(inner, loc, carried);
  };
  if (carried.empty()) {
    scf::IfOp::create(builder, loc, condition, thenBuilder);
    return Values(values);
  }
  auto branch =
      scf::IfOp::create(builder, loc, condition, thenBuilder, elseBuilder);
  return withCarried(values, branch.getResults());
}

Value toIndex(OpBuilder &builder, Location loc, Value integer, bool isSigned) {
  Type type = builder.getIndexType();
  if (isSigned)
    return arith::IndexCastOp::create(builder, loc, type, integer);
  return arith::IndexCastUIOp::create(builder, loc, type, integer);
}

Value toCondition(OpBuilder &builder, Location loc, Value integer) {
  Type type = integer.getType();
  if (type.isInteger(1))
    return integer;
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, integer,
                               zero);
}

Value copyOf(OpBuilder &builder, Location loc, Value array) {
  auto type = cast<ShapedType>(array.getType());
  Values sizes;
  for (auto [dim, size] : llvm::enumerate(sizesOf(builder, loc, array)))
    if (type.isDynamicDim(dim))
      sizes.push_back(size);
  Value copy = memref::AllocOp::create(
      builder, loc, MemRefType::get(type.getShape(), type.getElementType()),
      sizes);
  if (isa<MemRefType>(type))
    linalg::CopyOp::create(builder, loc, array, copy);
  else
    bufferization::MaterializeInDestinationOp::create(
        builder, loc, /*result=*/Type(), array, copy, /*restrict=*/true,
        /*writable=*/true);
  return copy;
}

Value memoryOf(Value array) {
  if (auto read = array.getDefiningOp<bufferization::ToTensorOp>())
    return read.getBuffer();
  return array;
}

} // namespace mlir::triton_ext::lower_linalg_ext
