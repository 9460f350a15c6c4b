// SPDX-License-Identifier: Apache-2.0
//
// Loads and stores: as views of the memory that they touch where pointers and
// mask are tracked, as gather and scatter elsewhere. What is masked off is not
// touched.

#include "Access.h"
#include "Conversion.h"

#include "analysis/AxisInfo.h"
#include "analysis/AxisTransfer.h"
#include "linalg_ext/LinalgExt.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::convert_triton_to_linalg;
namespace tt = mlir::triton;

/// The one value of all elements, or null.
static Value getSplat(Value tensor, OpBuilder &builder) {
  if (auto splat = tensor.getDefiningOp<tt::SplatOp>())
    return splat.getSrc();
  SplatElementsAttr elements;
  if (!matchPattern(tensor, m_Constant(&elements)) || !elements)
    return {};
  return arith::ConstantOp::create(builder, tensor.getLoc(),
                                   elements.getSplatValue<TypedAttr>());
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

/// The elements of the box, and around them what the load has for others.
static Value loadBox(Access &access, const Pointers &pointers, const Box &box,
                     Value other) {
  OpBuilder &builder = access.builder;
  Location loc = access.loc;
  if (isNothing(box, access.shape))
    return other ? other : access.zeros();
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

/// Null if the elements are not where indices of elements can say.
static Value gather(Access &access, tt::LoadOp op) {
  OpBuilder &builder = access.builder;
  Location loc = access.loc;
  auto where = access.memoryAndIndices(op.getPtr());
  if (!where)
    return {};
  auto [memory, indices] = *where;
  Value tensor = access.readTensor(memory);
  Value mask = op.getMask() ? access.toLine(op.getMask()) : Value();
  Value init;
  if (op.getOther()) {
    init = access.toWindows(op.getOther());
  } else {
    int64_t count = cast<ShapedType>(indices.getType()).getDimSize(0);
    init = tensor::EmptyOp::create(builder, loc, ArrayRef<int64_t>{count, 1},
                                   access.element);
    if (mask)
      init = linalg::FillOp::create(builder, loc, access.zero(), init)
                 .getResult(0);
  }
  auto result = linalg_ext::GatherOp::create(builder, loc, tensor, indices,
                                             mask, init, /*dimensionMap=*/0);
  return access.fromWindows(result.getResult());
}

/// An address that was computed as a number need not be a multiple of the size
/// of an element, as that of a memref otherwise is.
static IntegerAttr alignmentOf(const Pointers &pointers, OpBuilder &builder) {
  if (pointers.base.getDefiningOp<tt::IntToPtrOp>())
    return builder.getI64IntegerAttr(1);
  return {};
}

static Value loadScalar(Access &access, tt::LoadOp op) {
  OpBuilder &builder = access.builder;
  Location loc = access.loc;
  std::optional<Pointers> pointers = trackPointers(op.getPtr(), access.math);
  auto load = [&](OpBuilder &inner) -> Value {
    OpBuilder::InsertionGuard guard(builder);
    builder.restoreInsertionPoint(inner.saveInsertionPoint());
    OpFoldResult one = access.math.number(1);
    Value view = access.view(access.address(pointers->base),
                             pointers->offsets.offset, one, one);
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    auto loaded = memref::LoadOp::create(builder, loc, view, zero);
    loaded.setAlignmentAttr(alignmentOf(*pointers, builder));
    return loaded;
  };
  if (!op.getMask())
    return load(builder);
  Value other = op.getOther() ? op.getOther() : access.zero();
  auto branch = scf::IfOp::create(
      builder, loc, op.getMask(),
      [&](OpBuilder &inner, Location) {
        Value loaded = load(inner);
        inner.setInsertionPointAfterValue(loaded);
        scf::YieldOp::create(inner, loc, loaded);
      },
      [&](OpBuilder &inner, Location) {
        scf::YieldOp::create(inner, loc, other);
      });
  return branch.getResult(0);
}

static void convertLoad(tt::LoadOp op, const AllPointerFacts &facts,
                        SmallVectorImpl<Operation *> &made) {
  Access access(op, op.getType(), facts);
  Value value;
  if (access.shape.empty()) {
    value = loadScalar(access, op);
  } else {
    auto tracked = access.track(op, op.getPtr(), op.getMask());
    value = tracked ? loadBox(access, tracked->first, tracked->second,
                              op.getOther())
                    : gather(access, op);
  }
  if (!value) {
    made.push_back(accessOneByOne(op));
    return;
  }
  op.replaceAllUsesWith(value);
  op.erase();
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

static void storeBox(Access &access, const Pointers &pointers, const Box &box,
                     Value value) {
  if (isNothing(box, access.shape))
    return;
  OpBuilder &builder = access.builder;
  Location loc = access.loc;
  SmallVector<OpFoldResult> sizes;
  Value view = access.viewOf(pointers, box, sizes);
  if (!isWhole(box, access.shape))
    value = access.slice(value, box, sizes);
  bufferization::MaterializeInDestinationOp::create(
      builder, loc, /*result=*/Type(), value, view, /*restrict=*/false,
      /*writable=*/true);
}

/// Fails if the elements are not where indices of elements can say.
static LogicalResult scatter(Access &access, tt::StoreOp op, Value value) {
  auto where = access.memoryAndIndices(op.getPtr());
  if (!where)
    return failure();
  auto [memory, indices] = *where;
  Value mask = op.getMask() ? access.toLine(op.getMask()) : Value();
  linalg_ext::ScatterOp::create(access.builder, access.loc,
                                access.toWindows(value), indices, mask, memory,
                                /*dimensionMap=*/0);
  return success();
}

static void storeScalar(Access &access, tt::StoreOp op, Value value) {
  OpBuilder &builder = access.builder;
  Location loc = access.loc;
  std::optional<Pointers> pointers = trackPointers(op.getPtr(), access.math);
  if (op.getMask()) {
    auto branch = scf::IfOp::create(builder, loc, op.getMask(),
                                    /*withElseRegion=*/false);
    builder.setInsertionPointToStart(branch.thenBlock());
  }
  OpFoldResult one = access.math.number(1);
  Value view = access.view(access.address(pointers->base),
                           pointers->offsets.offset, one, one);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  auto store = memref::StoreOp::create(builder, loc, value, view, zero);
  store.setAlignmentAttr(alignmentOf(*pointers, builder));
}

static void convertStore(tt::StoreOp op, const AllPointerFacts &facts,
                         SmallVectorImpl<Operation *> &made) {
  Access access(op, op.getValue().getType(), facts);
  Value value = op.getValue();
  if (access.shape.empty()) {
    storeScalar(access, op, value);
  } else {
    if (auto tracked = access.track(op, op.getPtr(), op.getMask()))
      storeBox(access, tracked->first, tracked->second, value);
    else if (failed(scatter(access, op, value))) {
      made.push_back(accessOneByOne(op));
      return;
    }
  }
  op.erase();
}

/// As long as nothing is changed: what the analysis knows it knows of values
/// that are there.
static AllPointerFacts getPointerFacts(Operation *module,
                                       ArrayRef<Operation *> accesses) {
  AllPointerFacts facts;
  analysis::AxisInfos infos(module);
  for (Operation *op : accesses) {
    Value pointers = op->getOperand(0);
    analysis::AxisInfo info = infos.get(pointers);
    int64_t bytes = analysis::bytesOfPointee(pointers.getType());
    facts[op] = {infos.getPointerStrides(pointers),
                 bytes > 0 &&
                     (bytes == 1 || (info.isKnown() &&
                                     info.divisibilityOfAll() % bytes == 0))};
  }
  return facts;
}

/// An access whose tensors have no dimensions, as one of scalars.
static void makeScalar(Operation *op) {
  auto hasNoDimensions = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getRank() == 0;
  };
  if (!hasNoDimensions(op->getOperand(0)))
    return;
  OpBuilder builder(op);
  IRMapping mapping;
  for (Value operand : op->getOperands()) {
    if (!hasNoDimensions(operand))
      continue;
    Value scalar = getSplat(operand, builder);
    mapping.map(operand,
                scalar ? scalar
                       : tt::UnsplatOp::create(builder, op->getLoc(), operand)
                             .getResult());
  }
  Operation *access = builder.clone(*op, mapping);
  for (auto [scalar, tensor] :
       llvm::zip_equal(access->getResults(), op->getResults())) {
    scalar.setType(getElementTypeOrSelf(tensor.getType()));
    tensor.replaceAllUsesWith(
        tt::SplatOp::create(builder, op->getLoc(), tensor.getType(), scalar));
  }
  op->erase();
}

void mlir::triton_ext::convert_triton_to_linalg::convertMemory(
    Operation *module) {
  SmallVector<Operation *> all;
  module->walk([&](Operation *op) {
    if (isa<tt::LoadOp, tt::StoreOp, tt::AtomicRMWOp, tt::AtomicCASOp,
            tt::AtomicLoadOp, tt::AtomicStoreOp, tt::AtomicPollOp>(op))
      all.push_back(op);
  });
  for (Operation *op : all)
    makeScalar(op);
  module->walk([](Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case<tt::AtomicLoadOp, tt::AtomicStoreOp, tt::AtomicPollOp>(
            [](auto atomic) { expandAtomic(atomic); });
  });
  SmallVector<Operation *> accesses;
  module->walk([&](Operation *op) {
    if (isa<tt::LoadOp, tt::StoreOp, tt::AtomicRMWOp, tt::AtomicCASOp>(op))
      accesses.push_back(op);
  });
  AllPointerFacts facts = getPointerFacts(module, accesses);
  while (!accesses.empty()) {
    SmallVector<Operation *> made;
    for (Operation *op : accesses)
      llvm::TypeSwitch<Operation *>(op)
          .Case([&](tt::LoadOp load) { convertLoad(load, facts, made); })
          .Case([&](tt::StoreOp store) { convertStore(store, facts, made); })
          .Case<tt::AtomicRMWOp, tt::AtomicCASOp>(
              [&](auto atomic) { convertAtomic(atomic, facts, made); });
    // What is known is known of operations that are gone, whose addresses
    // operations of now may have.
    facts.clear();
    accesses = std::move(made);
  }
}
