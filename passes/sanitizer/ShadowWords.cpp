// SPDX-License-Identifier: Apache-2.0
//
// Checks the shadow for `uninit` word by word: a word has the bits of 32 bytes,
// and a group of neighbouring lanes with that many bytes has its bits in one
// word, or in two that follow each other.

#include "Bits.h"
#include "Bounds.h"
#include "MaskBox.h"
#include "Shadow.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::sanitizer;
namespace tt = mlir::triton;
using P = arith::CmpIPredicate;
using Kind = MemoryAccess::Kind;

/// Bytes of memory that have their bits in one word.
static constexpr int64_t bytesOfWord = 32;

/// How many groups a look takes at once, as few as it takes single lanes.
static constexpr int64_t groupsAtOnce = 256;

int64_t ShadowChecker::lanesOfWord(const ShadowAccess &one) {
  const MemoryAccess &access = one.access;
  int64_t group = bytesOfWord / access.laneBytes;
  ImplicitLocOpBuilder b = checker.before(access.op);
  if (one.isRace() || access.isAtomic || !checker.isStatic ||
      !canBuildLanes(tracker, access, b))
    return 0;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(access.type).getShape();
  std::optional<Strided> strided = tracker.track(access.pointer);
  // Where `valid` is false, the lanes need not be neighbours.
  bool isRow = strided && !strided->hasSlack() &&
               getConstantIntValue(strided->strides.back()) == access.laneBytes;
  bool isBox = maskBox(access.mask, shape, tracker).isExact;
  return isRow && isBox && shape.back() % group == 0 ? group : 0;
}

namespace {
/// Emits arithmetic on the groups of a look: on tensors with an element for
/// each group, and on scalars.
struct Groups {
  LaneBuilder &rows;
  ImplicitLocOpBuilder &b;

  Value like(int64_t number, Value value) {
    return numberLike(number, value.getType(), b);
  }
  template <typename Op> Value with(Value x, int64_t number) {
    return b.createOrFold<Op>(x, like(number, x));
  }
  Value compare(P predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, predicate, x, y);
  }
  Value both(Value x, Value y) { return arith::AndIOp::create(b, x, y); }
  Value wide(Value x) {
    auto type = RankedTensorType::get(
        cast<RankedTensorType>(x.getType()).getShape(), b.getI64Type());
    return arith::ExtSIOp::create(b, type, x);
  }
  Value narrow(Value x) {
    auto type = RankedTensorType::get(
        cast<RankedTensorType>(x.getType()).getShape(), b.getI32Type());
    return arith::TruncIOp::create(b, type, x);
  }

  /// Returns a bound of a box in all groups: i32, between 0 and `size`.
  Value boundOf(OpFoldResult bound, int64_t size) {
    IndexMath math{b, b.getLoc(), /*budget=*/1000, b.getI64Type()};
    Value scalar = math.toValue(bound);
    scalar = with<arith::MaxSIOp>(scalar, 0);
    scalar = with<arith::MinSIOp>(scalar, size);
    return rows.splat(b.createOrFold<arith::TruncIOp>(b.getI32Type(), scalar));
  }
};

/// The lanes of each group that are on: [first, end), i32.
struct OnLanes {
  Value first, end;
};
} // namespace

/// Returns which lanes of each group are in the box. `coordinates` are those of
/// the first lane of each group, which is along the last dimension.
static OnLanes lanesInBox(Groups &groups, const MaskBox &mask,
                          ArrayRef<Value> coordinates, ArrayRef<int64_t> shape,
                          int64_t group) {
  auto &[rows, b] = groups;
  Value isOn;
  auto require = [&](Value condition) {
    isOn = isOn ? groups.both(isOn, condition) : condition;
  };
  if (mask.isAny)
    require(rows.splat(mask.isAny));
  OnLanes lanes;
  for (auto [dim, at] : llvm::enumerate(coordinates)) {
    int64_t size = shape[dim];
    OpFoldResult low = mask.box.low[dim], high = mask.box.high[dim];
    bool isLast = dim + 1 == coordinates.size();
    auto within = [&](Value bound) { // of the group
      Value lane = arith::SubIOp::create(b, bound, at);
      lane = groups.with<arith::MaxSIOp>(lane, 0);
      return groups.with<arith::MinSIOp>(lane, group);
    };
    bool isFromStart = isConstantIntValue(low, 0),
         isToEnd = isConstantIntValue(high, size);
    if (isLast) {
      lanes.first =
          isFromStart ? groups.like(0, at) : within(groups.boundOf(low, size));
      lanes.end =
          isToEnd ? groups.like(group, at) : within(groups.boundOf(high, size));
      continue;
    }
    if (!isFromStart)
      require(groups.compare(P::sge, at, groups.boundOf(low, size)));
    if (!isToEnd)
      require(groups.compare(P::slt, at, groups.boundOf(high, size)));
  }
  if (isOn)
    lanes.end =
        arith::SelectOp::create(b, isOn, lanes.end, groups.like(0, lanes.end));
  return lanes;
}

/// Returns whether a group may have its bits in two words, because it does not
/// start at the first byte of one.
static Value isSplitOverWords(const Strided &strided, const ShadowWords &words,
                              ImplicitLocOpBuilder &b) {
  IndexMath math{b, b.getLoc(), /*budget=*/1000, b.getI64Type()};
  Value bits =
      arith::SubIOp::create(b, math.toValue(strided.base), words.start);
  for (OpFoldResult stride : ArrayRef(strided.strides).drop_back())
    bits = b.createOrFold<arith::OrIOp>(bits, math.toValue(stride));
  bits = arith::AndIOp::create(b, bits,
                               numberLike(bytesOfWord - 1, bits.getType(), b));
  return arith::CmpIOp::create(b, P::ne, bits,
                               numberLike(0, bits.getType(), b));
}

/// Compares and marks the words of all groups of lanes. Returns an i1: whether
/// the lanes must still be looked at one by one, because one of them reads what
/// nothing has written, or is not inside of the storage or not aligned.
Value ShadowChecker::lookAtWords(const ShadowAccess &one,
                                 const ShadowWords &words, int64_t group,
                                 ImplicitLocOpBuilder &b) {
  const MemoryAccess &access = one.access;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(access.type).getShape();
  MaskBox mask = maskBox(access.mask, shape, tracker);
  Strided strided = *tracker.track(access.pointer);
  IndexMath math{b, b.getLoc(), /*budget=*/1000, b.getI64Type()};
  Value valid = both(strided.valid, mask.valid, math);

  int64_t bytes = access.laneBytes, all = access.lanes / group;
  int64_t count = std::min(all, groupsAtOnce);
  LaneBuilder rows(tracker, b, count);
  Groups groups{rows, b};
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
  };
  auto type = RankedTensorType::get({count}, b.getI32Type());
  auto bits = RankedTensorType::get({count}, b.getI1Type());
  Value none = numberLike(0, bits, b);
  // If a group is not aligned, each second turn looks at the second words.
  Value turns = number(all / count);
  Value isSplit = isSplitOverWords(strided, words, b);
  Value shiftOfTurn = arith::ExtUIOp::create(b, b.getI32Type(), isSplit);
  auto loop = scf::ForOp::create(b, number(0),
                                 arith::ShLIOp::create(b, turns, shiftOfTurn),
                                 number(1), ValueRange{none});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value turn = loop.getInductionVar();
    Value half = arith::AndIOp::create(b, turn, shiftOfTurn);
    Value start = groups.with<arith::MulIOp>(
        arith::ShRUIOp::create(b, turn, shiftOfTurn), count);
    Value places = tt::MakeRangeOp::create(b, type, 0, count);
    places = arith::AddIOp::create(b, places, rows.splat(start));
    places = groups.with<arith::MulIOp>(places, group);
    SmallVector<Value> coordinates = rows.coordinatesOf(places, shape);
    OnLanes lanes = lanesInBox(groups, mask, coordinates, shape, group);

    // The bytes [first, first + size) of the storage, from the group's start.
    Value address = addressOf(rows.build(access.pointer, coordinates), b);
    Value offset = arith::SubIOp::create(b, address, rows.splat(words.start));
    Value before = groups.wide(groups.with<arith::MulIOp>(lanes.first, bytes));
    Value size = groups.wide(groups.with<arith::MulIOp>(
        arith::SubIOp::create(b, lanes.end, lanes.first), bytes));
    Value first = arith::AddIOp::create(b, offset, before);
    Value end = arith::AddIOp::create(b, first, size);
    Value storage = arith::SubIOp::create(b, words.end, words.start);
    Value isAny = groups.compare(P::sgt, size, groups.like(0, size));
    Value isFine = groups.compare(P::sge, first, groups.like(0, first));
    isFine =
        groups.both(isFine, groups.compare(P::sle, end, rows.splat(storage)));
    Value rest = groups.with<arith::AndIOp>(first, bytes - 1);
    isFine =
        groups.both(isFine, groups.compare(P::eq, rest, groups.like(0, rest)));
    Value isLeft = groups.both(
        isAny, arith::XOrIOp::create(b, isFine, groups.like(1, isFine)));
    Value isOn = groups.both(isAny, isFine);
    if (valid)
      isOn = groups.both(isOn, rows.splat(valid));

    // The bits of both words, of which this turn takes one.
    Value one64 = groups.like(1, size);
    Value wanted = arith::ShLIOp::create(b, one64, size);
    wanted = arith::SubIOp::create(b, wanted, one64);
    Value shift = arith::AddIOp::create(
        b, before, groups.with<arith::AndIOp>(offset, bytesOfWord - 1));
    wanted = arith::ShLIOp::create(b, wanted, shift);
    Value skipped = arith::ExtUIOp::create(
        b, b.getI64Type(), groups.with<arith::MulIOp>(half, 32));
    wanted =
        groups.narrow(arith::ShRUIOp::create(b, wanted, rows.splat(skipped)));
    Value byte = groups.with<arith::ShRSIOp>(offset, 5);
    byte = groups.with<arith::MulIOp>(byte, 4);
    Value behind = arith::ExtUIOp::create(b, b.getI64Type(),
                                          groups.with<arith::MulIOp>(half, 4));
    byte = arith::AddIOp::create(b, byte, rows.splat(behind));
    Value pointer = shadowAt(words, byte, b.getI32Type(), b);
    isOn = groups.both(isOn,
                       groups.compare(P::ne, wanted, groups.like(0, wanted)));

    auto load = tt::LoadOp::create(b, pointer, isOn, numberLike(0, type, b),
                                   /*isVolatile=*/true);
    Value written = arith::AndIOp::create(b, ownResult(load), wanted);
    Value isMissing = groups.both(isOn, groups.compare(P::ne, written, wanted));
    if (one.reads() || isMixed(one))
      isLeft = arith::OrIOp::create(
          b, isLeft,
          isMixed(one) ? flagged(isMissing, one.reads(), b) : isMissing);
    if (one.writes() || isMixed(one)) {
      Value isMarked =
          isMixed(one) ? flagged(isMissing, one.writes(), b) : isMissing;
      Value isWhole = groups.compare(P::eq, wanted, groups.like(-1, wanted));
      // A store of all bits cannot undo bits that other threads set meanwhile.
      markOwn(tt::StoreOp::create(b, pointer, wanted,
                                  groups.both(isMarked, isWhole)));
      Value isPart = arith::XOrIOp::create(b, isWhole, groups.like(1, isWhole));
      isPart = groups.both(isMarked, isPart);
      auto some = scf::IfOp::create(b, anyOf(b, isPart),
                                    /*withElseRegion=*/false);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(some.thenBlock());
      atomicOr(pointer, wanted, isPart, b);
    }
    isLeft = arith::OrIOp::create(b, loop.getRegionIterArg(0), isLeft);
    scf::YieldOp::create(b, isLeft);
  }
  Value isLeft = anyOf(b, loop.getResult(0));
  if (valid)
    isLeft = arith::OrIOp::create(
        b, isLeft, arith::XOrIOp::create(b, valid, groups.like(1, valid)));
  return isLeft;
}
