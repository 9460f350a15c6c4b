// SPDX-License-Identifier: Apache-2.0
//
// Divides elements into runs that are strided in memory, and loads and stores
// them.

#include "Runs.h"
#include "Builders.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "triton_ext/Splat.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::convert_triton_to_linalg;
using analysis::WrappedOffset;

bool mlir::triton_ext::convert_triton_to_linalg::haveRuns(
    const Pointers &pointers) {
  SmallVector<OpFoldResult> strides(pointers.offsets.strides);
  for (const WrappedOffset &term : pointers.offsets.wrapped) {
    if (!isConstantIntValue(strides[term.dim], 0))
      return false;
    strides[term.dim] = term.modulus;
  }
  return true;
}

namespace {
/// The runs of an offset that wraps around, along its dimension.
struct Runs {
  Runs(Access &access, const WrappedOffset &term, int64_t size);

  /// Returns the offset of the element at an index of the dimension, before it
  /// wraps around.
  Value dividendAt(Value index) {
    return arith::AddIOp::create(builder, loc, math.toValue(term.offset),
                                 math.toValue(math.mul(index, term.stride)));
  }
  Value wrap(Value dividend) {
    return arith::RemSIOp::create(builder, loc, dividend, modulus);
  }
  /// Returns how many elements there are before the offsets wrap around, from
  /// the one with this dividend on.
  Value lengthFrom(Value dividend);
  /// Returns a number of runs that is enough for `count` elements, of which the
  /// first are in a run of `length`.
  Value countFor(Value count, Value length);

  Value divide(Value a, Value b) {
    return arith::DivSIOp::create(builder, loc, a, b);
  }
  Value choose(arith::CmpIPredicate predicate, Value a, Value b, Value yes,
               Value no) {
    Value holds = arith::CmpIOp::create(builder, loc, predicate, a, b);
    return arith::SelectOp::create(builder, loc, holds, yes, no);
  }
  Value absolute(Value value) {
    Value minus = arith::SubIOp::create(builder, loc, zero, value);
    return arith::MaxSIOp::create(builder, loc, value, minus);
  }
  Value number(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }

  OpBuilder &builder;
  Location loc;
  IndexMath &math;
  WrappedOffset term;
  int64_t size;
  Value zero = number(0), one = number(1);
  /// Greater than any offset; twice this number fits in 64 bits.
  Value most = number(int64_t(1) << 61);
  /// Both are not negative; a modulus of 0 became the number above.
  Value distance, modulus;
};
} // namespace

Runs::Runs(Access &access, const WrappedOffset &term, int64_t size)
    : builder(access.builder), loc(access.loc), math(access.math), term(term),
      size(size) {
  distance = absolute(math.toValue(term.stride));
  Value divisor = absolute(math.toValue(term.modulus));
  modulus = choose(arith::CmpIPredicate::eq, divisor, zero, most, divisor);
}

Value Runs::lengthFrom(Value dividend) {
  // Look in the direction of the stride. Dividends above minus the modulus are
  // in a run that ends in front of a multiple of the modulus, because from
  // there up to the modulus, each one is its own remainder. Dividends below are
  // in a run that ends at a multiple, whose remainder is 0.
  Value isDown = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                       math.toValue(term.stride), zero);
  auto ahead = [&](Value value) -> Value {
    Value minus = arith::SubIOp::create(builder, loc, zero, value);
    return arith::SelectOp::create(builder, loc, isDown, minus, value);
  };
  Value offset = ahead(wrap(dividend));
  Value last = arith::SubIOp::create(builder, loc, modulus, one);
  Value before = arith::SubIOp::create(builder, loc, last, offset);
  Value upTo = arith::SubIOp::create(builder, loc, zero, offset);
  Value least = arith::SubIOp::create(builder, loc, zero, modulus);
  Value room =
      choose(arith::CmpIPredicate::sgt, ahead(dividend), least, before, upTo);
  Value step = arith::MaxSIOp::create(builder, loc, distance, one);
  Value length = arith::AddIOp::create(builder, loc, divide(room, step), one);
  // A stride of 0 stays where it is.
  return choose(arith::CmpIPredicate::eq, distance, zero, most, length);
}

Value Runs::countFor(Value count, Value length) {
  Value step = arith::MaxSIOp::create(builder, loc, distance, one);
  // Every further run but the last one has at least this length.
  Value least =
      arith::MaxSIOp::create(builder, loc, divide(modulus, step), one);
  least = arith::MinSIOp::create(builder, loc, least, number(size));
  Value left = arith::SubIOp::create(builder, loc, count, length);
  left = arith::MaxSIOp::create(builder, loc, left, zero);
  Value rounded = arith::AddIOp::create(
      builder, loc, left, arith::SubIOp::create(builder, loc, least, one));
  return arith::AddIOp::create(builder, loc, divide(rounded, least), one);
}

/// Visits the runs along the dimensions of the offsets that wrap around, from
/// the one of this number on.
static Value visit(Access &access, const Run &run,
                   ArrayRef<WrappedOffset> wrapped, Value state,
                   function_ref<Value(const Run &, Value)> body) {
  if (wrapped.empty())
    return body(run, state);
  OpBuilder &builder = access.builder;
  Location loc = access.loc;
  const WrappedOffset &term = wrapped.front();
  unsigned dim = term.dim;
  Runs runs(access, term, access.shape[dim]);
  Value low = access.math.toValue(run.elements.low[dim]);
  Value high = access.math.toValue(run.elements.high[dim]);
  Value count = arith::SubIOp::create(builder, loc, high, low);
  Value first = runs.lengthFrom(runs.dividendAt(low));
  SmallVector<Value> carried{low};
  if (state)
    carried.push_back(state);
  auto loop = scf::ForOp::create(
      builder, loc, runs.zero, runs.countFor(count, first), runs.one, carried);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value at = loop.getRegionIterArg(0);
  Value dividend = runs.dividendAt(at), offset = runs.wrap(dividend);
  Value length =
      arith::MinSIOp::create(builder, loc, runs.lengthFrom(dividend),
                             arith::SubIOp::create(builder, loc, high, at));
  Value next = arith::AddIOp::create(builder, loc, at, length);
  Run part = run;
  part.pointers.offsets.offset =
      access.math.add(run.pointers.offsets.offset, offset);
  part.pointers.offsets.strides[dim] = term.stride;
  part.memory.low[dim] = access.math.number(0);
  part.memory.high[dim] = length;
  part.elements.low[dim] = at;
  part.elements.high[dim] = next;
  SmallVector<Value> yielded{next};
  Value result = visit(access, part, wrapped.drop_front(),
                       state ? Value(loop.getRegionIterArg(1)) : Value(), body);
  if (result)
    yielded.push_back(result);
  builder.setInsertionPointToEnd(loop.getBody());
  scf::YieldOp::create(builder, loc, yielded);
  return state ? Value(loop.getResult(1)) : Value();
}

Value mlir::triton_ext::convert_triton_to_linalg::forEachRun(
    Access &access, const Pointers &pointers, const Box &box, Value state,
    function_ref<Value(const Run &, Value)> body) {
  Run run{pointers, box, box};
  run.pointers.offsets.wrapped.clear();
  return visit(access, run, pointers.offsets.wrapped, state, body);
}

static SmallVector<OpFoldResult> ones(Access &access) {
  return SmallVector<OpFoldResult>(access.shape.size(), access.math.number(1));
}

Value mlir::triton_ext::convert_triton_to_linalg::loadRun(Access &access,
                                                          const Run &run,
                                                          Value into) {
  SmallVector<OpFoldResult> sizes;
  Value memory =
      access.readTensor(access.viewOf(run.pointers, run.memory, sizes));
  // The destination is a part of the tensor, so that bufferization needs no
  // buffer for the run.
  Value part = access.slice(into, run.elements, sizes);
  Value copy = linalg::CopyOp::create(access.builder, access.loc, memory, part)
                   ->getResult(0);
  return tensor::InsertSliceOp::create(access.builder, access.loc, copy, into,
                                       run.elements.low, sizes, ones(access));
}

void mlir::triton_ext::convert_triton_to_linalg::storeRun(Access &access,
                                                          const Run &run,
                                                          Value value) {
  SmallVector<OpFoldResult> sizes;
  Value view = access.viewOf(run.pointers, run.memory, sizes);
  if (!isWhole(run.elements, access.shape))
    value = access.slice(value, run.elements, sizes);
  bufferization::MaterializeInDestinationOp::create(
      access.builder, access.loc, /*result=*/Type(), value, view,
      /*restrict=*/false, /*writable=*/true);
}

Value mlir::triton_ext::convert_triton_to_linalg::getAround(Access &access,
                                                            const Box &box,
                                                            Value other) {
  auto type = access.tensorOf(access.shape, access.element);
  if (isWhole(box, access.shape))
    return emptyOf(access.builder, access.loc, type);
  Value value = other ? getSplat(other, access.builder) : access.zero();
  return value ? fill(access.builder, access.loc, type, value) : other;
}

Value mlir::triton_ext::convert_triton_to_linalg::loadBox(
    Access &access, const Pointers &pointers, const Box &box, Value other) {
  OpBuilder &builder = access.builder;
  Location loc = access.loc;
  if (isNothing(box, access.shape))
    return other ? other : access.zeros();
  if (pointers.offsets.wrapsAround())
    return forEachRun(access, pointers, box, getAround(access, box, other),
                      [&](const Run &run, Value state) {
                        return loadRun(access, run, state);
                      });
  SmallVector<OpFoldResult> sizes;
  Value tensor = access.readTensor(access.viewOf(pointers, box, sizes));
  Value empty = tensor::EmptyOp::create(builder, loc, sizes, access.element);
  Value copy =
      linalg::CopyOp::create(builder, loc, tensor, empty)->getResult(0);
  if (isWhole(box, access.shape))
    return copy;
  Value value = other ? getSplat(other, builder) : access.zero();
  if (!value)
    return tensor::InsertSliceOp::create(
        builder, loc, copy, other, box.low, sizes,
        SmallVector<OpFoldResult>(sizes.size(), builder.getIndexAttr(1)));
  return access.pad(copy, box, value);
}

void mlir::triton_ext::convert_triton_to_linalg::storeBox(
    Access &access, const Pointers &pointers, const Box &box, Value value) {
  if (isNothing(box, access.shape))
    return;
  forEachRun(access, pointers, box, Value(), [&](const Run &run, Value) {
    storeRun(access, run, value);
    return Value();
  });
}
