// SPDX-License-Identifier: Apache-2.0
//
// The check of bounds of operations on descriptors.

#include "Bits.h"
#include "Bounds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::sanitizer;
namespace tt = mlir::triton;
using P = arith::CmpIPredicate;

/// Returns the operation that has made a descriptor in the kernel; null for one
/// that the host has made, or if it may be one of several.
static tt::MakeTensorDescOp madeBy(Value descriptor) {
  while (auto argument = dyn_cast<BlockArgument>(descriptor)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop)
      return {};
    unsigned index = argument.getArgNumber() - loop.getNumInductionVars();
    if (loop.getYieldedValues()[index] != descriptor)
      return {};
    descriptor = loop.getInitArgs()[index];
  }
  return descriptor.getDefiningOp<tt::MakeTensorDescOp>();
}

namespace {
/// Where an access begins in its descriptor.
struct Place {
  SmallVector<Value> indices; ///< of each dimension, without that of the rows
  Value rows;                 ///< their numbers; null unless they are chosen
};
} // namespace

static Place placeOf(Operation *op) {
  auto byRows = [](auto access) {
    return Place{{access.getYOffset()}, access.getXOffsets()};
  };
  return llvm::TypeSwitch<Operation *, Place>(op)
      .Case<tt::DescriptorLoadOp, tt::DescriptorStoreOp,
            tt::DescriptorReduceOp>(
          [](auto box) { return Place{llvm::to_vector(box.getIndices()), {}}; })
      .Case([&](tt::DescriptorGatherOp gather) { return byRows(gather); })
      .Case([&](tt::DescriptorScatterOp scatter) { return byRows(scatter); });
}

void BoundsChecker::checkBox(const MemoryAccess &access) {
  Operation *op = access.op;
  tt::MakeTensorDescOp made = madeBy(access.descriptor);
  if (!made)
    return checker.say(op, "bounds", Verdict::Unsupported,
                       "the descriptor is not made in the kernel");
  StringRef why;
  std::optional<Extents> extents = extents_.find(made.getBase(), op, why);
  if (!extents)
    return checker.say(op, "bounds", Verdict::Unsupported, why);
  noteUnknownPointers(access, *extents);
  sayChecked(op, *extents, "by the corners of the box");
  if (leaveToHost(access, extents->argument))
    return;
  looked[numbers.lookup(op)] = true;
  ImplicitLocOpBuilder b = checker.before(op);
  if (checker.action != Action::Trap)
    b.setInsertionPoint(op->getBlock()->getTerminator());
  IndexMath math{b, b.getLoc(), /*budget=*/1000, b.getI64Type()};
  ArrayRef<int64_t> shape = cast<RankedTensorType>(access.type).getShape();
  if (shape.size() != made.getShape().size()) // leading dimensions of size 1
    shape = cast<tt::TensorDescInterface>(access.descriptor.getType())
                .getBlockType()
                .getShape();
  auto [first, rows] = placeOf(op);
  // The address of the element at coordinate 0 and so on, which the hardware
  // leaves out where a coordinate is not in the descriptor's shape.
  Strided strided = *tracker.track(made.getBase());
  MaskBox mask;
  SmallVector<OpFoldResult> indices, sizes;
  for (auto [dim, size] : llvm::enumerate(made.getShape())) {
    OpFoldResult index, end, limit = math.fromInteger(size);
    if (rows && dim == 0) {
      index = math.fromInteger(reduce<arith::MinSIOp>(b, rows));
      end = math.add(math.fromInteger(reduce<arith::MaxSIOp>(b, rows)),
                     math.number(1));
    } else {
      index = math.fromInteger(first[rows ? dim - 1 : dim]);
      end = math.add(index, math.number(shape[dim]));
    }
    mask.box.low.push_back(math.max(index, math.number(0)));
    mask.box.high.push_back(math.min(end, limit));
    strided.strides.push_back(math.mul(math.fromInteger(made.getStrides()[dim]),
                                       math.number(access.laneBytes)));
    indices.push_back(index);
    sizes.push_back(limit);
  }
  Value isOut =
      isSuspicious(strided, mask, shape, access.laneBytes, *extents, b);
  Value base = math.toValue(strided.base);
  SmallVector<std::array<Value, 3>> dims;
  for (auto [dim, index] : llvm::enumerate(indices))
    dims.push_back({math.toValue(index), math.toValue(sizes[dim]),
                    math.toValue(strided.strides[dim])});
  SmallVector<int64_t> block(shape);
  // The address of the element at coordinate 0 and so on, and which elements
  // are in the descriptor's shape.
  auto build = [=, rows = rows](LaneBuilder &builder, ImplicitLocOpBuilder &b,
                                Value places) {
    SmallVector<Value> coordinates = builder.coordinatesOf(places, block);
    Value address = builder.splat(base), isOn;
    Value zero = builder.constant(0, b.getI64Type());
    for (auto [dim, coordinate] : llvm::enumerate(coordinates)) {
      auto [start, size, stride] = dims[dim];
      Value place;
      if (rows && dim == 0) {
        place = tt::GatherOp::create(b, rows, coordinate, /*axis=*/0);
        place = arith::ExtSIOp::create(b, zero.getType(), place);
      } else {
        place = arith::ExtUIOp::create(b, zero.getType(), coordinate);
        place = arith::AddIOp::create(b, place, builder.splat(start));
      }
      Value isIn = arith::AndIOp::create(
          b, arith::CmpIOp::create(b, P::sge, place, zero),
          arith::CmpIOp::create(b, P::slt, place, builder.splat(size)));
      isOn = isOn ? Value(arith::AndIOp::create(b, isOn, isIn)) : isIn;
      address = arith::AddIOp::create(
          b, address, arith::MulIOp::create(b, place, builder.splat(stride)));
    }
    return std::pair(address, isOn);
  };
  int64_t numLanes = ShapedType::getNumElements(shape);
  if (checker.action != Action::Trap && extents->argument &&
      extents->arguments.size() == 1 && extents->found.empty()) {
    tiles[op->getBlock()].push_back(Tile{op, isOut, *extents->argument,
                                         access.laneBytes, numLanes,
                                         /*isScalar=*/false, build});
    return;
  }
  auto look = scf::IfOp::create(b, isOut, /*withElseRegion=*/false);
  looks.push_back({op, look});
  b.setInsertionPointToStart(look.thenBlock());
  forPlaces(tracker, numLanes, lanesAtOnce, b,
            [&](LaneBuilder &builder, Value places, Value) {
              auto [address, isOn] = build(builder, b, places);
              reportLanes({address, isOn, places}, access, *extents, b);
            });
  mark(look, op);
}
