// SPDX-License-Identifier: Apache-2.0
//
// Makes pointers, bounds and defaults of tts from the scalars of a descriptor.

#include "BlockAccess.h"

#include "analysis/IntegerFacts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/BuiltinOps.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "tts/Tts.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::descriptor_to_structured;
namespace tt = mlir::triton;

BlockAccess::BlockAccess(Operation *op, Value descriptor)
    : builder(op), loc(op->getLoc()),
      type(cast<tt::TensorDescType>(descriptor.getType())
               .getSignlessBlockType()),
      rank(type.getRank()) {
  SmallVector<Type> types{tt::getPointerType(type.getElementType())};
  types.append(2 * rank, builder.getI64Type());
  types.append(2, builder.getI1Type());
  // Triton's pass makes a cast back from these values, which cancels this one.
  ValueRange scalars =
      UnrealizedConversionCastOp::create(builder, loc, types, descriptor)
          .getResults();
  base = scalars.front();
  shape = llvm::to_vector(scalars.slice(1, rank));
  strides = llvm::to_vector(scalars.slice(1 + rank, rank));
  padsNaN = scalars[1 + 2 * rank];
  rounds = scalars.back();
}

Value BlockAccess::zeroOrNaN() {
  Type element = type.getElementType();
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element));
  auto number = dyn_cast<FloatType>(element);
  if (!number)
    return zero;
  Value nan = arith::ConstantOp::create(
      builder, loc,
      builder.getFloatAttr(number,
                           APFloat::getNaN(number.getFloatSemantics())));
  return arith::SelectOp::create(builder, loc, padsNaN, nan, zero);
}

Value BlockAccess::roundToTf32(Value value) {
  if (!type.getElementType().isF32())
    return value;
  auto make = [&](OpBuilder &inner, Location at) {
    auto bitsType =
        cast<RankedTensorType>(value.getType()).clone(inner.getI32Type());
    auto number = [&](int32_t constant) -> Value {
      return arith::ConstantOp::create(
          inner, at,
          DenseElementsAttr::get(bitsType,
                                 inner.getI32IntegerAttr(constant).getValue()));
    };
    Value bits = tt::BitcastOp::create(inner, at, bitsType, value);
    Value all = number(0x7F800000);
    Value exponent = arith::AndIOp::create(inner, at, bits, all);
    Value isSpecial = arith::CmpIOp::create(inner, at, arith::CmpIPredicate::eq,
                                            exponent, all);
    Value odd = arith::ShRUIOp::create(inner, at, bits, number(13));
    odd = arith::AndIOp::create(inner, at, odd, number(1));
    Value half = arith::AddIOp::create(inner, at, odd, number(0xFFF));
    Value sum = arith::AddIOp::create(inner, at, bits, half);
    sum = arith::AndIOp::create(inner, at, sum, number(~0x1FFF));
    sum = arith::SelectOp::create(inner, at, isSpecial, bits, sum);
    scf::YieldOp::create(
        inner, at,
        tt::BitcastOp::create(inner, at, value.getType(), sum).getResult());
  };
  auto keep = [&](OpBuilder &inner, Location at) {
    scf::YieldOp::create(inner, at, value);
  };
  return scf::IfOp::create(builder, loc, rounds, make, keep).getResult(0);
}

Value BlockAccess::reshape(Value value, Type to) {
  if (value.getType() == to)
    return value;
  return tt::ReshapeOp::create(builder, loc, to, value);
}

SmallVector<OpFoldResult> BlockAccess::boundsOf(ArrayRef<Value> indices) {
  // The verifier rejects a number of less than 0, but accepts it as a value.
  auto bound = [&](OpFoldResult a, OpFoldResult b) {
    OpFoldResult difference = math.sub(a, b);
    return getConstantIntValue(difference).value_or(0) < 0 ? math.number(0)
                                                           : difference;
  };
  SmallVector<OpFoldResult> bounds, begins;
  for (auto [index, extent] : llvm::zip_equal(indices, shape)) {
    OpFoldResult end = math.number(0), begin = end;
    if (index) {
      OpFoldResult first = math.fromInteger(index);
      end = bound(math.fromInteger(extent), first);
      if (!analysis::IntegerFacts().limit(index))
        begin = bound(math.number(0), first);
    }
    bounds.push_back(end);
    begins.push_back(begin);
  }
  bool isLow = llvm::all_of(
      begins, [](OpFoldResult begin) { return isConstantIntValue(begin, 0); });
  if (!isLow)
    bounds.append(begins);
  return bounds;
}

Value BlockAccess::pointersAt(ValueRange indices) {
  SmallVector<OpFoldResult> steps, offsets, extents;
  for (auto [index, extent, stride] :
       llvm::zip_equal(indices, shape, strides)) {
    steps.push_back(math.fromInteger(stride));
    offsets.push_back(math.mul(math.fromInteger(index), steps.back()));
    extents.push_back(math.fromInteger(extent));
  }
  auto order =
      llvm::to_vector(llvm::reverse(llvm::seq<int32_t>(0, int32_t(rank))));
  return tts::MakeTptrOp::create(builder, loc, base, type.getShape(), steps,
                                 offsets, extents, order);
}

Value BlockAccess::rowsAt(Value rows, Value column) {
  auto rowsType = cast<RankedTensorType>(rows.getType());
  auto wide = RankedTensorType::get(rowsType.getShape(), builder.getI64Type());
  Value numbers = arith::ExtSIOp::create(builder, loc, wide, rows);
  Value zeros =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(wide));
  Value count = tt::SplatOp::create(builder, loc, wide, shape[0]);
  auto compare = [&](arith::CmpIPredicate predicate, Value with) -> Value {
    return arith::CmpIOp::create(builder, loc, predicate, numbers, with);
  };
  Value mask = arith::AndIOp::create(builder, loc,
                                     compare(arith::CmpIPredicate::sge, zeros),
                                     compare(arith::CmpIPredicate::slt, count));
  if (rowsType.getElementType().isInteger(16))
    rows = arith::ExtSIOp::create(builder, loc,
                                  rowsType.clone(builder.getI32Type()), rows);
  SmallVector<OpFoldResult> steps{math.fromInteger(strides[0]),
                                  math.fromInteger(strides[1])};
  SmallVector<OpFoldResult> offsets{
      math.number(0), math.mul(math.fromInteger(column), steps[1])};
  SmallVector<int64_t> sizes{rowsType.getDimSize(0), type.getDimSize(1)};
  return tts::MakeGatherScatterTptrOp::create(builder, loc, base, rows, mask,
                                              /*gatherDim=*/0, sizes, steps,
                                              offsets);
}
