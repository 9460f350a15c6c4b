// SPDX-License-Identifier: Apache-2.0
//
// Follows indices back through arithmetic, to integers and to values that this
// arithmetic does not make. The latter are cast.

#include "IndexValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace {
struct Rebuild {
  OpBuilder &builder;
  Location loc;
  /// A value that is used twice is made once: the paths to it may be many.
  DenseMap<Value, Value> done;

  Value number(int64_t value) {
    return arith::ConstantIntOp::create(builder, loc, value, 64);
  }

  Value get(Value index) {
    if (Value value = done.lookup(index))
      return value;
    Value value = make(index);
    done[index] = value;
    return value;
  }

  Value make(Value index) {
    Type i64 = builder.getI64Type();
    if (auto constant = getConstantIntValue(index))
      return number(*constant);
    Operation *op = index.getDefiningOp();
    if (auto cast = dyn_cast_or_null<arith::IndexCastOp>(op)) {
      Value integer = cast.getIn();
      if (integer.getType() == i64)
        return integer;
      if (integer.getType().getIntOrFloatBitWidth() < 64)
        return arith::ExtSIOp::create(builder, loc, i64, integer);
    }
    if (auto select = dyn_cast_or_null<arith::SelectOp>(op))
      return arith::SelectOp::create(builder, loc, select.getCondition(),
                                     get(select.getTrueValue()),
                                     get(select.getFalseValue()));
    if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp,
                         arith::MinSIOp, arith::MaxSIOp>(op))
      return arith::IndexCastOp::create(builder, loc, i64, index);
    Value lhs = get(op->getOperand(0)), rhs = get(op->getOperand(1));
    OperationState state(loc, op->getName(), ValueRange({lhs, rhs}), i64);
    return builder.create(state)->getResult(0);
  }
};
} // namespace

Value mlir::triton_ext::lower_structured::toI64(OpFoldResult value,
                                                OpBuilder &builder,
                                                Location loc) {
  Rebuild rebuild{builder, loc, DenseMap<Value, Value>()};
  if (auto number = getConstantIntValue(value))
    return rebuild.number(*number);
  return rebuild.get(cast<Value>(value));
}
