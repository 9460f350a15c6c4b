// SPDX-License-Identifier: Apache-2.0
//
// Computes some elements of a tensor again: the operations on elements are the
// kernel's, and changes of shape become arithmetic on coordinates.

#include "LaneBuilder.h"
#include "Extents.h"

#include "analysis/Dimensions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::triton_ext::sanitizer;
using mlir::triton_ext::analysis::shapeOf;
namespace tt = mlir::triton;

/// Whether each element of the one result is computed of the same elements of
/// the operands, or of scalars.
static bool isElementwise(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1 &&
         op->getNumRegions() == 0 && isMemoryEffectFree(op);
}

static bool isReshape(Operation *op) {
  if (auto reshape = dyn_cast<tt::ReshapeOp>(op))
    return !reshape.getAllowReorder();
  return isa<tt::ExpandDimsOp, tt::BroadcastOp, tt::TransOp>(op);
}

static DenseElementsAttr splatConstant(Value value) {
  DenseElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)) && constant.isSplat())
    return constant;
  return {};
}

bool LaneBuilder::canBuild(Value value, unsigned &budget) {
  if (!isa<RankedTensorType>(value.getType()))
    return true; // scalars are at hand
  if (budget == 0)
    return false;
  --budget;
  if (auto moved = tracker.movedFrom(value))
    return canBuild(moved->start, budget);
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (isa<tt::SplatOp, tt::MakeRangeOp>(op) || splatConstant(value))
    return true;
  if (isReshape(op))
    return canBuild(op->getOperand(0), budget);
  return isElementwise(op) &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return canBuild(operand, budget); });
}

Value LaneBuilder::constant(int64_t value, Type type) {
  auto tensor = cast<RankedTensorType>(like(type));
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(tensor, b.getIntegerAttr(type, value)));
}

Value LaneBuilder::splat(Value scalar) {
  return tt::SplatOp::create(b, like(scalar.getType()), scalar);
}

SmallVector<Value> LaneBuilder::coordinatesOf(Value places,
                                              ArrayRef<int64_t> shape) {
  Type i32 = b.getI32Type();
  SmallVector<Value> coordinates(shape.size());
  int64_t inner = 1;
  for (int dim = int(shape.size()) - 1; dim >= 0; --dim) {
    Value coordinate = places;
    if (inner != 1)
      coordinate = arith::DivUIOp::create(b, coordinate, constant(inner, i32));
    if (dim != 0)
      coordinate =
          arith::RemUIOp::create(b, coordinate, constant(shape[dim], i32));
    coordinates[dim] = coordinate;
    inner *= shape[dim];
  }
  return coordinates;
}

Value LaneBuilder::buildMoved(const StridedTracker::Moved &moved, Value value,
                              ArrayRef<Value> coordinates) {
  Value start = build(moved.start, coordinates);
  IndexMath math{b, b.getLoc(), /*budget=*/1000, b.getI64Type()};
  Value distance = math.toValue(math.sub(moved.now, moved.before));
  Type element = getElementTypeOrSelf(value.getType());
  if (isa<tt::PointerType>(element)) {
    Type wide = like(math.type);
    Value address = tt::PtrToIntOp::create(b, wide, start);
    address = arith::AddIOp::create(b, address, splat(distance));
    return tt::IntToPtrOp::create(b, like(element), address);
  }
  if (element != math.type) // i32, which may wrap around
    distance = arith::TruncIOp::create(b, element, distance);
  return arith::AddIOp::create(b, start, splat(distance));
}

Value LaneBuilder::buildReshaped(Operation *op, ArrayRef<Value> coordinates) {
  ArrayRef<int64_t> from = shapeOf(op->getOperand(0)),
                    to = shapeOf(op->getResult(0));
  SmallVector<Value> source(coordinates.begin(), coordinates.end());
  if (auto expand = dyn_cast<tt::ExpandDimsOp>(op)) {
    source.erase(source.begin() + expand.getAxis());
  } else if (isa<tt::BroadcastOp>(op)) {
    for (unsigned dim = 0; dim < from.size(); ++dim)
      if (from[dim] != to[dim])
        source[dim] = constant(0, b.getI32Type());
  } else if (auto transpose = dyn_cast<tt::TransOp>(op)) {
    for (auto [dim, order] : llvm::enumerate(transpose.getOrder()))
      source[order] = coordinates[dim];
  } else {
    Value place = constant(0, b.getI32Type());
    for (auto [size, coordinate] : llvm::zip_equal(to, coordinates)) {
      place = arith::MulIOp::create(b, place, constant(size, b.getI32Type()));
      place = arith::AddIOp::create(b, place, coordinate);
    }
    source = coordinatesOf(place, from);
  }
  return build(op->getOperand(0), source);
}

Value LaneBuilder::build(Value value, ArrayRef<Value> coordinates) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return value;
  if (auto moved = tracker.movedFrom(value))
    return buildMoved(*moved, value, coordinates);
  Type element = type.getElementType();
  if (DenseElementsAttr constant = splatConstant(value))
    return arith::ConstantOp::create(
        b, constant.resizeSplat(cast<ShapedType>(like(element))));
  Operation *op = value.getDefiningOp();
  if (auto scalar = dyn_cast<tt::SplatOp>(op))
    return splat(scalar.getSrc());
  if (auto range = dyn_cast<tt::MakeRangeOp>(op)) {
    Value start = constant(range.getStartAttr().getInt(), element);
    return arith::AddIOp::create(b, coordinates[0], start);
  }
  if (isReshape(op))
    return buildReshaped(op, coordinates);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(build(operand, coordinates));
  Operation *copy = b.clone(*op);
  copy->setLoc(b.getLoc());
  copy->setOperands(operands);
  copy->getResult(0).setType(like(element));
  // What `tl.max_contiguous` and the like say is about the whole tile.
  copy->setDiscardableAttrs(ArrayRef<NamedAttribute>());
  return copy->getResult(0);
}

bool mlir::triton_ext::sanitizer::canBuildLanes(
    StridedTracker &tracker, const analysis::MemoryAccess &access,
    ImplicitLocOpBuilder &b) {
  LaneBuilder whole(tracker, b, access.lanes);
  return access.lanes > 1 && whole.canBuild(access.pointer) &&
         (!access.mask || whole.canBuild(access.mask));
}

void mlir::triton_ext::sanitizer::forPlaces(
    StridedTracker &tracker, int64_t numLanes, int64_t atOnce,
    ImplicitLocOpBuilder &b,
    llvm::function_ref<void(LaneBuilder &, Value, Value)> body) {
  int64_t step = std::min(numLanes, atOnce);
  LaneBuilder builder(tracker, b, step);
  auto type = RankedTensorType::get({step}, b.getI32Type());
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
  };
  OpBuilder::InsertionGuard guard(b);
  Value start;
  if (step < numLanes) {
    auto loop =
        scf::ForOp::create(b, number(0), number(numLanes), number(step));
    b.setInsertionPointToStart(loop.getBody());
    start = loop.getInductionVar();
  }
  Value places = tt::MakeRangeOp::create(b, type, 0, step);
  if (start)
    places = arith::AddIOp::create(b, places, builder.splat(start));
  body(builder, places, start);
}

void mlir::triton_ext::sanitizer::forLanes(
    StridedTracker &tracker, const analysis::MemoryAccess &access,
    int64_t atOnce, ImplicitLocOpBuilder &b,
    llvm::function_ref<void(const SomeLanes &)> body) {
  if (!canBuildLanes(tracker, access, b))
    return body({access.pointer, access.mask, {}, {}});
  ArrayRef<int64_t> shape = cast<RankedTensorType>(access.type).getShape();
  forPlaces(tracker, access.lanes, atOnce, b,
            [&](LaneBuilder &builder, Value places, Value first) {
              auto coordinates = builder.coordinatesOf(places, shape);
              Value pointer = builder.build(access.pointer, coordinates), mask;
              if (access.mask)
                mask = inLanes(builder.build(access.mask, coordinates),
                               pointer.getType(), b);
              body({pointer, mask, places, first});
            });
}
