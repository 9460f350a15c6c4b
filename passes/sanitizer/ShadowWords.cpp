// SPDX-License-Identifier: Apache-2.0
//
// Checks the shadow for `uninit` word by word: a row of neighbouring lanes
// whose bytes share a word needs one comparison, and one plain store marks it.

#include "Bounds.h"
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

int64_t ShadowChecker::lanesOfWord(const ShadowAccess &one) {
  const MemoryAccess &access = one.access;
  int64_t group = bytesOfWord / access.laneBytes;
  ImplicitLocOpBuilder b = checker.before(access.op);
  if (one.isRace() || access.isAtomic || !checker.isStatic ||
      !canBuildLanes(tracker, access, b))
    return 0;
  std::optional<Strided> strided = tracker.track(access.pointer);
  int64_t size = cast<RankedTensorType>(access.type).getShape().back();
  // Where `valid` is false, the lanes need not be neighbours.
  bool isRow = strided && !strided->hasSlack() &&
               getConstantIntValue(strided->strides.back()) == access.laneBytes;
  return isRow && size % group == 0 ? group : 0;
}

/// Returns, for each row of `group` lanes, whether all of its lanes are on.
static Value allOfRows(Value lanes, int64_t group, ImplicitLocOpBuilder &b) {
  int64_t size = cast<RankedTensorType>(lanes.getType()).getNumElements();
  Type i32 = b.getI32Type();
  Value wide =
      arith::ExtUIOp::create(b, RankedTensorType::get({size}, i32), lanes);
  wide = tt::ReshapeOp::create(
      b, RankedTensorType::get({size / group, group}, i32), wide,
      /*allowReorder=*/false);
  auto reduce = tt::ReduceOp::create(b, ValueRange{wide}, /*axis=*/1);
  {
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&reduce.getCombineOp(), {}, {i32, i32},
                                {b.getLoc(), b.getLoc()});
    Value both =
        arith::AndIOp::create(b, body->getArgument(0), body->getArgument(1));
    tt::ReduceReturnOp::create(b, both);
  }
  Value all = reduce->getResult(0);
  return arith::CmpIOp::create(b, P::ne, all, numberLike(0, all.getType(), b));
}

/// Compares and marks the words that belong to whole rows of lanes. Returns an
/// i1: whether some lanes must still be checked one by one.
Value ShadowChecker::lookAtWords(const ShadowAccess &one,
                                 const ShadowWords &words,
                                 const SomeLanes &lanes,
                                 ImplicitLocOpBuilder &b) {
  int64_t group = lanesOfWord(one);
  int64_t count =
      cast<RankedTensorType>(lanes.pointer.getType()).getNumElements() / group;
  LaneBuilder rows(tracker, b, count);
  Type i32 = b.getI32Type();
  auto type = RankedTensorType::get({count}, i32);
  Value places = tt::MakeRangeOp::create(b, type, 0, count);
  places = arith::MulIOp::create(b, places, numberLike(group, type, b));
  if (lanes.first)
    places = arith::AddIOp::create(b, places, rows.splat(lanes.first));
  auto shape = cast<RankedTensorType>(one.access.type).getShape();
  Value address = addressOf(
      rows.build(one.access.pointer, rows.coordinatesOf(places, shape)), b);
  auto [offset, isWord] =
      offsetsOf(address, bytesOfWord, /*mask=*/{}, words, b);
  if (Value valid = tracker.track(one.access.pointer)->valid)
    isWord = arith::AndIOp::create(b, isWord, rows.splat(valid));
  Value byte =
      arith::ShRUIOp::create(b, offset, numberLike(3, offset.getType(), b));
  Value pointer = shadowAt(words, byte, i32, b);
  Value all = numberLike(-1, type, b);
  auto load = tt::LoadOp::create(b, pointer, isWord, numberLike(0, type, b),
                                 /*isVolatile=*/true);
  Value isDone = arith::CmpIOp::create(b, P::eq, ownResult(load), all);
  Value isLeft = arith::CmpIOp::create(b, P::eq, isDone,
                                       numberLike(0, isDone.getType(), b));
  if (one.writes() || isMixed(one)) {
    Value isMarked = arith::AndIOp::create(b, isLeft, isWord);
    if (isMixed(one))
      isMarked = flagged(isMarked, one.writes(), b);
    if (lanes.mask)
      isMarked =
          arith::AndIOp::create(b, isMarked, allOfRows(lanes.mask, group, b));
    // The store sets all bits, so it cannot undo bits that other threads set
    // meanwhile.
    markOwn(tt::StoreOp::create(b, pointer, all, isMarked));
    isLeft = arith::XOrIOp::create(b, isLeft, isMarked);
  }
  return anyOf(isLeft, b);
}
