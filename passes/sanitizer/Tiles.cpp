// SPDX-License-Identifier: Apache-2.0
//
// The looks at the lanes of a block's accesses share one piece of code: a loop
// over the accesses, and over what each may be out of, chooses the addresses
// and masks. So a kernel with checks compiles in less time.

#include "Tiles.h"
#include "Extents.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "probe/Probe.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::sanitizer;
namespace tt = mlir::triton;
using P = arith::CmpIPredicate;

/// How many lanes are looked at together: as many as a warp has threads, so
/// that they are reduced without shared memory.
static constexpr int64_t lanesAtOnce = 32;

namespace {
/// Lanes that are out: of each lane at once, or of all.
struct Failed {
  Value count;   ///< i32
  Value lane;    ///< the number of the first one, i32; -1 if there is none
  Value address; ///< of that one, i64
  Failed(ValueRange values)
      : count(values[0]), lane(values[1]), address(values[2]) {}
};

/// Builds the code of a look.
class TilesLook {
public:
  TilesLook(Checker &checker, StridedTracker &tracker, ArrayRef<Tile> tiles,
            ImplicitLocOpBuilder &b)
      : checker(checker), tracker(tracker), tiles(tiles), b(b) {}

  void build(bool all);

private:
  using Lanes = std::pair<Value, Value>; ///< addresses, and which are on

  Value number(int64_t value) {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
  }
  Type inLanesOf(Type element) const {
    return RankedTensorType::get({lanesAtOnce}, element);
  }
  Value spread(Value value) {
    return inLanes(value, inLanesOf(getElementTypeOrSelf(value)), b);
  }
  Value constant(int64_t value, Type type);
  Value choose(llvm::function_ref<Value(const Tile &)> of);
  Value chooseConstant(Type type, llvm::function_ref<int64_t(const Tile &)> of);
  void readRanges();
  Lanes lanesOf(const Tile &tile, Value places);
  Lanes lanesFrom(unsigned first, Value places);
  Value isInRange(const ByteRange &range, Value address);
  Failed walk(Value numLanes);
  Failed reduce(const Failed &lanes);
  void report(Value check, const Failed &failed);

  Checker &checker;
  StridedTracker &tracker;
  ArrayRef<Tile> tiles;
  ImplicitLocOpBuilder &b;
  /// For each tile but the last one, whether it is the one that is looked at.
  SmallVector<Value> isChosen;
  Value isStorage; ///< whether the check is that of the storage, not the view
  Value numLanes;  ///< of the tile
  ByteRange range, storage; ///< `range` is what is checked; the ends are those
                            ///< of the last access that is inside
};
} // namespace

Value TilesLook::constant(int64_t value, Type type) {
  auto tensor = cast<RankedTensorType>(inLanesOf(type));
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(tensor, b.getIntegerAttr(type, value)));
}

/// Returns what `of` returns for the chosen tile.
Value TilesLook::choose(llvm::function_ref<Value(const Tile &)> of) {
  Value chosen = of(tiles.back());
  for (unsigned i = tiles.size() - 1; i-- > 0;)
    if (Value one = of(tiles[i]); one != chosen)
      chosen = arith::SelectOp::create(b, isChosen[i], one, chosen);
  return chosen;
}

Value TilesLook::chooseConstant(Type type,
                                llvm::function_ref<int64_t(const Tile &)> of) {
  DenseMap<int64_t, Value> constants;
  return choose([&](const Tile &tile) {
    Value &known = constants[of(tile)];
    if (!known)
      known = arith::ConstantOp::create(b, b.getIntegerAttr(type, of(tile)));
    return known;
  });
}

/// Reads the launch words of the chosen tile's argument. Without a slot they
/// are 0, and nothing is reported.
void TilesLook::readRanges() {
  Type i64 = b.getI64Type();
  Value first = chooseConstant(i64, [](const Tile &tile) {
    return Checker::numberOf(tile.argument, ArgumentWord::StorageStart);
  });
  Value bytes =
      chooseConstant(i64, [](const Tile &tile) { return tile.bytes; });
  auto read = [&](Value offset) {
    Value start = Checker::wordAt(b, 0, offset);
    Value end = Checker::wordAt(b, 1, offset);
    return ByteRange{spread(start),
                     spread(arith::SubIOp::create(b, end, bytes))};
  };
  storage = read(first);
  static_assert(int(ArgumentWord::ViewStart) == 2);
  Value two = arith::ConstantOp::create(b, b.getI64IntegerAttr(2));
  Value zero = arith::ConstantOp::create(b, b.getI64IntegerAttr(0));
  Value which = arith::SelectOp::create(b, isStorage, zero, two);
  range = read(arith::AddIOp::create(b, first, which));
}

TilesLook::Lanes TilesLook::lanesOf(const Tile &tile, Value places) {
  LaneBuilder builder(tracker, b, lanesAtOnce);
  auto [address, mask] = tile.build(builder, b, places);
  if (!mask)
    mask = arith::ConstantOp::create(b, b.getBoolAttr(true));
  return {spread(address), spread(mask)};
}

/// Returns the lanes of the chosen tile, which is not one before `first`.
TilesLook::Lanes TilesLook::lanesFrom(unsigned first, Value places) {
  if (first + 1 == tiles.size())
    return lanesOf(tiles[first], places);
  auto branch = scf::IfOp::create(
      b, TypeRange{inLanesOf(b.getI64Type()), inLanesOf(b.getI1Type())},
      isChosen[first], /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  auto [address, mask] = lanesOf(tiles[first], places);
  scf::YieldOp::create(b, ValueRange{address, mask});
  b.setInsertionPointToStart(branch.elseBlock());
  auto [other, others] = lanesFrom(first + 1, places);
  scf::YieldOp::create(b, ValueRange{other, others});
  return {branch.getResult(0), branch.getResult(1)};
}

Value TilesLook::isInRange(const ByteRange &range, Value address) {
  return arith::AndIOp::create(
      b, arith::CmpIOp::create(b, P::sge, address, range.start),
      arith::CmpIOp::create(b, P::sle, address, range.end));
}

/// Walks over the lanes of the chosen tile. In a look at the view, lanes count
/// that are in the storage.
Failed TilesLook::walk(Value end) {
  Type i32 = b.getI32Type();
  Value places = tt::MakeRangeOp::create(b, inLanesOf(i32), 0, lanesAtOnce);
  auto loop = scf::ForOp::create(b, number(0), end, number(lanesAtOnce),
                                 ValueRange{constant(0, i32), constant(-1, i32),
                                            constant(0, b.getI64Type())});
  keepRolled(loop);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Failed before(loop.getRegionIterArgs());
  places = arith::AddIOp::create(b, places, spread(loop.getInductionVar()));
  auto [address, mask] = lanesFrom(0, places);
  Value isIn = isInRange(range, address);
  Value counts =
      arith::OrIOp::create(b, isInRange(storage, address), spread(isStorage));
  Value isBad = arith::XOrIOp::create(b, isIn, constant(-1, b.getI1Type()));
  isBad =
      arith::AndIOp::create(b, isBad, arith::AndIOp::create(b, counts, mask));
  if (llvm::any_of(tiles,
                   [](const Tile &tile) { return tile.lanes < lanesAtOnce; }))
    isBad = arith::AndIOp::create(
        b, isBad, arith::CmpIOp::create(b, P::slt, places, spread(numLanes)));
  Value isFirst = arith::AndIOp::create(
      b, isBad,
      arith::CmpIOp::create(b, P::eq, before.count, constant(0, i32)));
  Value count = arith::AddIOp::create(
      b, before.count, arith::ExtUIOp::create(b, inLanesOf(i32), isBad));
  Value lane = arith::SelectOp::create(b, isFirst, places, before.lane);
  Value where = arith::SelectOp::create(b, isFirst, address, before.address);
  scf::YieldOp::create(b, ValueRange{count, lane, where});
  return Failed(loop.getResults());
}

Failed TilesLook::reduce(const Failed &lanes) {
  auto op = tt::ReduceOp::create(
      b, ValueRange{lanes.count, lanes.lane, lanes.address}, /*axis=*/0);
  OpBuilder::InsertionGuard guard(b);
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  Location loc = b.getLoc();
  Block *body =
      b.createBlock(&op.getCombineOp(), {}, {i32, i32, i64, i32, i32, i64},
                    SmallVector<Location>(6, loc));
  ValueRange all = body->getArguments();
  Failed left(all.take_front(3)), right(all.drop_front(3));
  Value isLeft = arith::CmpIOp::create(b, P::ult, left.lane, right.lane);
  tt::ReduceReturnOp::create(
      b, ValueRange{
             arith::AddIOp::create(b, left.count, right.count),
             arith::SelectOp::create(b, isLeft, left.lane, right.lane),
             arith::SelectOp::create(b, isLeft, left.address, right.address)});
  return Failed(op->getResults());
}

void TilesLook::report(Value check, const Failed &failed) {
  SmallVector<Attribute> messages, notes, places;
  for (const Tile &tile : tiles)
    for (StringRef name : {"bounds", "view"}) {
      llvm::json::Object note{{"address", true},
                              {"argument", int64_t(tile.argument)},
                              {"values", llvm::json::Array()}};
      checker.addTo(note, name, tile.op);
      messages.push_back(b.getStringAttr(name));
      notes.push_back(b.getStringAttr(textOf(std::move(note))));
      places.push_back(tile.op->getLoc());
    }
  Value lane = failed.lane;
  if (llvm::any_of(tiles, [](const Tile &tile) { return tile.isScalar; })) {
    Value isScalar = chooseConstant(
        b.getI1Type(), [](const Tile &tile) { return tile.isScalar; });
    lane = arith::SelectOp::create(b, isScalar, number(-1), lane);
  }
  Value count = arith::ExtUIOp::create(b, b.getI64Type(), failed.count);
  auto op = probe::FailuresOp::create(
      b, check, count, lane, ValueRange{Checker::wordAt(b, 2), failed.address},
      b.getArrayAttr(messages), b.getArrayAttr(notes), b.getArrayAttr(places));
  op->setAttr("probe.rules", b.getStringAttr("sanitize"));
}

void TilesLook::build(bool all) {
  OpBuilder::InsertionGuard guard(b);
  auto loop = scf::ForOp::create(b, number(0),
                                 number(2 * int64_t(tiles.size())), number(1));
  keepRolled(loop);
  b.setInsertionPointToStart(loop.getBody());
  Value check = loop.getInductionVar();
  Value tile = arith::ShRUIOp::create(b, check, number(1));
  for (unsigned i = 0; i + 1 < tiles.size(); ++i)
    isChosen.push_back(arith::CmpIOp::create(b, P::eq, tile, number(i)));
  isStorage = arith::CmpIOp::create(
      b, P::eq, arith::AndIOp::create(b, check, number(1)), number(0));
  readRanges();
  numLanes = chooseConstant(b.getI32Type(),
                            [](const Tile &tile) { return tile.lanes; });
  Value end = numLanes;
  if (tiles.size() > 1 && !all)
    end = arith::SelectOp::create(
        b, choose([](const Tile &tile) { return tile.isOut; }), end, number(0));
  report(check, reduce(walk(end)));
}

void mlir::triton_ext::sanitizer::keepRolled(Operation *loop) {
  MLIRContext *context = loop->getContext();
  auto yes = BoolAttr::get(context, true);
  auto unroll = LLVM::LoopUnrollAttr::get(context, /*disable=*/yes, {}, {}, {},
                                          {}, {}, {});
  loop->setAttr("llvm.loop_annotation",
                LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, unroll, {},
                                              {}, {}, {}, {}, {}, {}, {}, {},
                                              {}, {}));
}

void mlir::triton_ext::sanitizer::lookAtTiles(Checker &checker,
                                              StridedTracker &tracker,
                                              ArrayRef<Tile> tiles, bool all,
                                              ImplicitLocOpBuilder &b) {
  TilesLook(checker, tracker, tiles, b).build(all);
}
