// SPDX-License-Identifier: Apache-2.0
//
// Adds scalars to tensors, and finds tensors that are scalars.

#include "Sums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "triton_ext/Splat.h"

using namespace mlir;
using namespace mlir::triton_ext;
namespace tt = mlir::triton;

Value mlir::triton_ext::ptr_strength_reduction::getScalar(Value value,
                                                          OpBuilder &builder) {
  return isa<RankedTensorType>(value.getType()) ? getSplat(value, builder)
                                                : value;
}

bool mlir::triton_ext::ptr_strength_reduction::isUniform(Value value) {
  return !isa<RankedTensorType>(value.getType()) || isSplat(value);
}

bool mlir::triton_ext::ptr_strength_reduction::isPointer(Type type) {
  return isa<tt::PointerType>(getElementTypeOrSelf(type));
}

Value mlir::triton_ext::ptr_strength_reduction::extend(Value value,
                                                       Type element,
                                                       OpBuilder &builder) {
  Type type = value.getType();
  if (getElementTypeOrSelf(type) == element)
    return value;
  auto tensor = dyn_cast<RankedTensorType>(type);
  return arith::ExtSIOp::create(builder, value.getLoc(),
                                tensor ? Type(tensor.clone(element)) : element,
                                value);
}

Value mlir::triton_ext::ptr_strength_reduction::addOffset(OpBuilder &builder,
                                                          Location loc,
                                                          Value start,
                                                          Value offset) {
  auto tensor = dyn_cast<RankedTensorType>(start.getType());
  if (tensor && !isa<RankedTensorType>(offset.getType()))
    offset = tt::SplatOp::create(builder, loc, tensor.clone(offset.getType()),
                                 offset);
  if (isPointer(start.getType()))
    return tt::AddPtrOp::create(builder, loc, start.getType(), start, offset);
  return arith::AddIOp::create(builder, loc, start, offset);
}

Type mlir::triton_ext::ptr_strength_reduction::offsetTypeOf(Type type) {
  return isPointer(type) ? IntegerType::get(type.getContext(), 64)
                         : getElementTypeOrSelf(type);
}
