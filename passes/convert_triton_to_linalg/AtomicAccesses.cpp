// SPDX-License-Identifier: Apache-2.0
//
// Converts atomic loads, stores and polls to atomic read-modify-writes, because
// MLIR has no others. A load is an `or` of the bits with 0, a store is an
// exchange whose result is not used, and a poll is a loop around a load.

#include "Access.h"
#include "Builders.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::triton_ext::convert_triton_to_linalg;
namespace tt = mlir::triton;
using Rewriter = ConversionPatternRewriter;

/// Reads the value at the pointer, as an integer of its bits.
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

namespace {
struct AtomicLoadPattern : OpConversionPattern<tt::AtomicLoadOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::AtomicLoadOp op, OpAdaptor,
                                Rewriter &rewriter) const override {
    Value value = loadBits(rewriter, op.getLoc(), op.getPtr(), op.getMask(),
                           op.getSem(), op.getScope());
    if (value.getType() != op.getType())
      value = tt::BitcastOp::create(rewriter, op.getLoc(), op.getType(), value);
    rewriter.replaceOp(op, value);
    return success();
  }
};

struct AtomicStorePattern : OpConversionPattern<tt::AtomicStoreOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::AtomicStoreOp op, OpAdaptor,
                                Rewriter &rewriter) const override {
    tt::AtomicRMWOp::create(rewriter, op.getLoc(), op.getValue().getType(),
                            tt::RMWOp::XCHG, op.getPtr(), op.getValue(),
                            op.getMask(), op.getSem(), op.getScope());
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

/// Loads until the value is the expected one. If `left` is not null, it is the
/// number of further loads, and the loop also ends at 0. Returns whether the
/// value was found, and the number of loads that are left.
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

namespace {
struct AtomicPollPattern : OpConversionPattern<tt::AtomicPollOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tt::AtomicPollOp op, OpAdaptor,
                                Rewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (!type) {
      auto [isThere, left] =
          poll(rewriter, op, op.getPtr(), op.getExpected(), op.getTimeout());
      rewriter.replaceOp(op, isThere);
      return success();
    }
    // Polls one element after the other. All share one timeout.
    Value addresses = tt::PtrToIntOp::create(
        rewriter, loc, type.clone(rewriter.getI64Type()), op.getPtr());
    auto pointerType = getElementTypeOrSelf(op.getPtr().getType());
    SmallVector<Value> state{tensor::EmptyOp::create(
        rewriter, loc, type.getShape(), type.getElementType())};
    if (op.getTimeout())
      state.push_back(op.getTimeout());
    SmallVector<Value> results = forEachElement(
        rewriter, loc, type.getShape(), state,
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
          SmallVector<Value> next{tensor::InsertOp::create(
              inner, loc, isThere, carried[0], indices)};
          if (left)
            next.push_back(left);
          return next;
        });
    rewriter.replaceOp(op, results.front());
    return success();
  }
};
} // namespace

void mlir::triton_ext::convert_triton_to_linalg::populateAtomicAccessPatterns(
    PatternSet &patterns) {
  patterns.add<AtomicLoadPattern, AtomicPollPattern, AtomicStorePattern>();
}
