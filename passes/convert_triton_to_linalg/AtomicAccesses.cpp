// SPDX-License-Identifier: Apache-2.0
//
// Atomic loads, stores and polls as operations that read, modify and write:
// what MLIR has atomics for. A load is an `or` with 0 of the bits, a store an
// exchange whose result nobody asks for; a poll is a loop around a load.

#include "Access.h"
#include "Builders.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::triton_ext::convert_triton_to_linalg;
namespace tt = mlir::triton;

/// The value at the pointer, as an integer of its bits.
static Value loadBits(OpBuilder &builder, Location loc, Value pointer,
                      Value mask, tt::MemSemantic order,
                      tt::MemSyncScope scope) {
  auto type = cast<tt::PointerType>(getElementTypeOrSelf(pointer.getType()));
  Type element = type.getPointeeType();
  Type bits = builder.getIntegerType(element.getIntOrFloatBitWidth());
  if (element != bits) {
    Type toBits = tt::PointerType::get(bits, type.getAddressSpace());
    pointer = tt::BitcastOp::create(
        builder, loc, withElement(pointer.getType(), toBits), pointer);
  }
  Type result = withElement(pointer.getType(), bits);
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(result));
  return tt::AtomicRMWOp::create(builder, loc, result, tt::RMWOp::OR, pointer,
                                 zero, mask, order, scope);
}

void mlir::triton_ext::convert_triton_to_linalg::expandAtomic(
    tt::AtomicLoadOp op) {
  OpBuilder builder(op);
  Value value = loadBits(builder, op.getLoc(), op.getPtr(), op.getMask(),
                         op.getSem(), op.getScope());
  if (value.getType() != op.getType())
    value = tt::BitcastOp::create(builder, op.getLoc(), op.getType(), value);
  op.replaceAllUsesWith(value);
  op.erase();
}

void mlir::triton_ext::convert_triton_to_linalg::expandAtomic(
    tt::AtomicStoreOp op) {
  OpBuilder builder(op);
  tt::AtomicRMWOp::create(builder, op.getLoc(), op.getValue().getType(),
                          tt::RMWOp::XCHG, op.getPtr(), op.getValue(),
                          op.getMask(), op.getSem(), op.getScope());
  op.erase();
}

/// Loads until the value is there or `left`, if it is not null, has been
/// counted down. Gives whether it is there, and what is left.
static std::pair<Value, Value> poll(OpBuilder &builder, tt::AtomicPollOp op,
                                    Value pointer, Value expected, Value left) {
  Location loc = op.getLoc();
  SmallVector<Value> inits;
  SmallVector<Type> types{builder.getI1Type()};
  if (left) {
    inits.push_back(left);
    types.push_back(left.getType());
  }
  auto loop = scf::WhileOp::create(
      builder, loc, types, inits,
      [&](OpBuilder &before, Location loc, ValueRange arguments) {
        Value value = loadBits(before, loc, pointer, /*mask=*/Value(),
                               op.getSem(), op.getScope());
        Value isThere = arith::CmpIOp::create(
            before, loc, arith::CmpIPredicate::eq, value, expected);
        Value again = arith::CmpIOp::create(
            before, loc, arith::CmpIPredicate::ne, value, expected);
        SmallVector<Value> results{isThere};
        if (left) {
          Value zero = arith::ConstantIntOp::create(before, loc, 0, 64);
          Value more = arith::CmpIOp::create(
              before, loc, arith::CmpIPredicate::sgt, arguments[0], zero);
          again = arith::AndIOp::create(before, loc, again, more);
          results.push_back(arguments[0]);
        }
        scf::ConditionOp::create(before, loc, again, results);
      },
      [&](OpBuilder &after, Location loc, ValueRange arguments) {
        SmallVector<Value> next;
        if (left) {
          Value one = arith::ConstantIntOp::create(after, loc, 1, 64);
          next.push_back(arith::SubIOp::create(after, loc, arguments[1], one));
        }
        scf::YieldOp::create(after, loc, next);
      });
  return {loop.getResult(0), left ? loop.getResult(1) : Value()};
}

void mlir::triton_ext::convert_triton_to_linalg::expandAtomic(
    tt::AtomicPollOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto type = dyn_cast<RankedTensorType>(op.getType());
  if (!type) {
    auto [isThere, left] =
        poll(builder, op, op.getPtr(), op.getExpected(), op.getTimeout());
    op.replaceAllUsesWith(isThere);
    op.erase();
    return;
  }
  // One element after the other, with one timeout for all.
  Value addresses = tt::PtrToIntOp::create(
      builder, loc, type.clone(builder.getI64Type()), op.getPtr());
  auto pointerType = getElementTypeOrSelf(op.getPtr().getType());
  SmallVector<Value> state{tensor::EmptyOp::create(
      builder, loc, type.getShape(), type.getElementType())};
  if (op.getTimeout())
    state.push_back(op.getTimeout());
  SmallVector<Value> results = forEachElement(
      builder, loc, type.getShape(), state,
      [&](OpBuilder &inner, ValueRange indices,
          ValueRange carried) -> SmallVector<Value> {
        Value address =
            tensor::ExtractOp::create(inner, loc, addresses, indices);
        Value pointer =
            tt::IntToPtrOp::create(inner, loc, pointerType, address);
        Value expected =
            tensor::ExtractOp::create(inner, loc, op.getExpected(), indices);
        auto [isThere, left] = poll(inner, op, pointer, expected,
                                    op.getTimeout() ? carried[1] : Value());
        SmallVector<Value> next{
            tensor::InsertOp::create(inner, loc, isThere, carried[0], indices)};
        if (left)
          next.push_back(left);
        return next;
      });
  op.replaceAllUsesWith(results.front());
  op.erase();
}
