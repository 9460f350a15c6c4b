// SPDX-License-Identifier: Apache-2.0
//
// Lowers `probe.outside`: the first lane outside of a range, without a search
// by reductions, which took most of the time that a gather took to compile.

#include "Clock.h"
#include "Emitter.h"
#include "Layout.h"

using namespace mlir;
using namespace mlir::triton_ext::lower_probe;
using namespace mlir::triton_ext::probe;
namespace tt = mlir::triton;

static RankedTensorType typeOf(OutsideOp op) {
  return cast<RankedTensorType>(op.getAddress().getType());
}
using P = arith::CmpIPredicate;

/// The most lanes of a thread that looks at its own ones. The code has to be
/// compiled for each of them; reductions need less for large tiles.
static constexpr int64_t kMostLanesOfThread = 32;

/// Returns the row-major number of each lane, as i32 in the shape of `type`.
Value Emitter::lanesLike(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  Type i32 = b.getI32Type();
  Value lanes;
  int64_t stride = 1;
  for (int64_t dim = tensor.getRank(); dim-- > 0;) {
    int64_t size = tensor.getDimSize(dim);
    Value range = tt::MakeRangeOp::create(b, RankedTensorType::get({size}, i32),
                                          0, int32_t(size));
    Value step = arith::ConstantOp::create(b, b.getI32IntegerAttr(stride));
    range = arith::MulIOp::create(b, range, splat(step, size));
    for (int64_t axis = 0; axis < tensor.getRank(); ++axis)
      if (axis != dim)
        range = tt::ExpandDimsOp::create(b, range, axis);
    if (range.getType() != tensor.clone(i32))
      range = tt::BroadcastOp::create(b, tensor.clone(i32), range);
    lanes = lanes ? Value(arith::AddIOp::create(b, lanes, range)) : range;
    stride *= size;
  }
  return lanes;
}

/// Keeps the first lane of `op` in the site's words at `place`.
void Emitter::keepFirst(OutsideOp op, Value place) {
  Value least = arith::SubIOp::create(
      b, constant(INT64_MAX),
      arith::ShLIOp::create(b, linear, constant(kKeyLaneBits)));
  int64_t n = typeOf(op).getNumElements();
  Value address = flat(op.getAddress(), n), zero = splat(constant(0), n);
  auto isOutOf = [&](Value start, Value last) -> Value {
    return arith::OrIOp::create(
        b, arith::CmpIOp::create(b, P::slt, address, splat(start, n)),
        arith::CmpIOp::create(b, P::sgt, address, splat(last, n)));
  };
  int64_t storage = kSlotHead + kArgumentWords * int64_t(op.getArgument());
  auto isOutOfRange = [&](int64_t word) {
    Value end = arith::SubIOp::create(b, loadSlot(word + 1, {}, INT64_MAX),
                                      constant(op.getBytes()));
    return isOutOf(loadSlot(word, {}, INT64_MIN), end);
  };
  Value isBad = isOutOfRange(storage + kViewOfArgument);
  if (Value mask = op.getMask())
    isBad = arith::AndIOp::create(b, isBad, flat(mask, n));
  Value isOutOfMemory = isOutOfRange(storage);
  Value lane = arith::ExtUIOp::create(
      b, RankedTensorType::get({n}, b.getI64Type()),
      lanesLike(RankedTensorType::get({n}, b.getI32Type())));
  Value key = arith::SubIOp::create(b, splat(least, n), lane);
  key = arith::OrIOp::create(
      b, key,
      arith::SelectOp::create(b, isOutOfMemory, splat(constant(INT64_MIN), n),
                              zero));
  key = arith::SelectOp::create(b, isBad, key, zero);
  Value first = reduce(key, tt::RMWOp::UMAX);
  Value isFirst = arith::CmpIOp::create(b, P::eq, key, splat(first, n));
  Value where = reduce(arith::SelectOp::create(b, isFirst, address, zero),
                       tt::RMWOp::UMAX);
  Value isAny = arith::CmpIOp::create(b, P::ne, first, constant(0));
  isAny = arith::AndIOp::create(b, isAny, hasSlot);
  Value before = update(tt::RMWOp::UMAX, place, first, isAny);
  Value isNew = arith::AndIOp::create(
      b, isAny, arith::CmpIOp::create(b, P::ugt, first, before));
  auto store = [&](int64_t word, Value value) {
    Value to = tt::AddPtrOp::create(b, place.getType(), place, constant(word));
    tt::StoreOp::create(b, to, value, isNew);
  };
  store(kFirstAddress, where);
  store(kKeyOfAddress, first);
}

bool Emitter::isInThreads(OutsideOp op) const {
  return clock.isGpu() &&
         typeOf(op).getNumElements() <= kMostLanesOfThread * clock.numThreads();
}

LogicalResult Emitter::emitOutside(unsigned site, OutsideOp op) {
  if (op.getArgument() >= kernel.getNumArguments())
    return op->emitOpError()
           << "expected an argument below " << kernel.getNumArguments()
           << ", got " << op.getArgument();
  int64_t word = countersOf(site);
  if (isInThreads(op))
    keepFirstInThreads(op, word);
  else
    keepFirst(op, slotWord(word));
  return success();
}
