// SPDX-License-Identifier: Apache-2.0
//
// Loads and stores: as views of the memory that they touch where pointers and
// mask are tracked, as gather and scatter elsewhere. Atomics, element by
// element. What is masked off is not touched.

#include "Conversion.h"
#include "Trackers.h"

#include "aux/Aux.h"
#include "linalg_ext/LinalgExt.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::convert_triton_to_linalg;
namespace tt = mlir::triton;

static Type withElement(Type type, Type element) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? Type(tensor.clone(element)) : element;
}

namespace {

/// Makes the parts of one access, before the operation.
struct Access {
  Access(Operation *op, Type type)
      : builder(op), loc(op->getLoc()), math{builder, loc},
        element(getElementTypeOrSelf(type)) {
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      shape.assign(tensor.getShape().begin(), tensor.getShape().end());
  }

  RankedTensorType tensorOf(ArrayRef<int64_t> shape, Type element) {
    return RankedTensorType::get(shape, element);
  }
  Value zero() {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getZeroAttr(element));
  }
  Value address(Value pointer) {
    Value integer =
        tt::PtrToIntOp::create(builder, loc, builder.getI64Type(), pointer);
    return LLVM::IntToPtrOp::create(
        builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
        integer);
  }
  Value view(Value address, OpFoldResult offset, ArrayRef<OpFoldResult> sizes,
             ArrayRef<OpFoldResult> strides);
  /// A view of exactly the box.
  Value viewOf(const Pointers &pointers, const Box &box,
               SmallVector<OpFoldResult> &sizes);
  Value readTensor(Value view);
  /// All elements in a line, or as windows of one element.
  Value toLine(Value tensor);
  Value toWindows(Value tensor);
  Value fromWindows(Value windows);
  /// Memory without bounds and where in it each element is, as windows.
  std::pair<Value, Value> memoryAndIndices(Value pointers);

  OpBuilder builder;
  Location loc;
  IndexMath math;
  Type element;
  SmallVector<int64_t> shape;
};

} // namespace

Value Access::view(Value address, OpFoldResult offset,
                   ArrayRef<OpFoldResult> sizes,
                   ArrayRef<OpFoldResult> strides) {
  // A negative number would not verify.
  if (getConstantIntValue(offset).value_or(0) < 0)
    offset = math.toValue(offset);
  auto known = [](OpFoldResult value) {
    if (isa<Value>(value))
      return ShapedType::kDynamic;
    return *getConstantIntValue(value);
  };
  auto layout = StridedLayoutAttr::get(
      builder.getContext(), known(offset),
      SmallVector<int64_t>(llvm::map_range(strides, known)));
  auto type = MemRefType::get(
      SmallVector<int64_t>(llvm::map_range(sizes, known)), element, layout);
  return aux::ViewOp::create(builder, loc, type, address, offset, sizes,
                             strides);
}

Value Access::viewOf(const Pointers &pointers, const Box &box,
                     SmallVector<OpFoldResult> &sizes) {
  OpFoldResult offset = pointers.offsets.offset;
  for (auto [low, high, stride] :
       llvm::zip(box.low, box.high, pointers.offsets.strides)) {
    sizes.push_back(math.sub(high, low));
    offset = math.add(offset, math.mul(low, stride));
  }
  // Of one element the stride is of no account, and 1 reads best.
  SmallVector<OpFoldResult> strides(pointers.offsets.strides);
  for (auto [size, stride] : llvm::zip(shape, strides))
    if (size == 1 && isConstantIntValue(stride, 0))
      stride = math.number(1);
  return view(address(pointers.base), offset, sizes, strides);
}

Value Access::readTensor(Value view) {
  auto type = cast<MemRefType>(view.getType());
  return bufferization::ToTensorOp::create(
      builder, loc, tensorOf(type.getShape(), type.getElementType()), view,
      /*restrict=*/true, /*writable=*/true);
}

static SmallVector<ReassociationIndices> allInOne(int64_t rank) {
  return {llvm::to_vector(llvm::seq<int64_t>(0, rank))};
}

Value Access::toLine(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getRank() == 1)
    return tensor;
  return tensor::CollapseShapeOp::create(
      builder, loc, tensorOf(type.getNumElements(), type.getElementType()),
      tensor, allInOne(type.getRank()));
}

Value Access::toWindows(Value tensor) {
  Value line = toLine(tensor);
  auto type = cast<RankedTensorType>(line.getType());
  return tensor::ExpandShapeOp::create(
      builder, loc, tensorOf({type.getDimSize(0), 1}, type.getElementType()),
      line, allInOne(2));
}

Value Access::fromWindows(Value windows) {
  auto type = cast<RankedTensorType>(windows.getType());
  Value line = tensor::CollapseShapeOp::create(
      builder, loc, tensorOf(type.getDimSize(0), type.getElementType()),
      windows, allInOne(2));
  if (shape.size() == 1)
    return line;
  return tensor::ExpandShapeOp::create(builder, loc,
                                       tensorOf(shape, type.getElementType()),
                                       line, allInOne(shape.size()));
}

std::pair<Value, Value> Access::memoryAndIndices(Value pointers) {
  math.budget = IndexMath{builder, loc}.budget;
  Type i64 = builder.getI64Type();
  Value base, indices;
  if (std::optional<PointerSum> sum = trackPointerSum(pointers, math)) {
    base = address(sum->base);
    for (Value addend : sum->addends) {
      Type type = withElement(addend.getType(), i64);
      if (addend.getType() != type)
        addend = arith::ExtSIOp::create(builder, loc, type, addend);
      indices =
          indices
              ? arith::AddIOp::create(builder, loc, indices, addend).getResult()
              : addend;
    }
    if (!indices)
      indices = arith::ConstantOp::create(
          builder, loc, builder.getZeroAttr(tensorOf(shape, i64)));
  } else {
    // Pointers from anywhere: their addresses, in elements from address 0.
    base = LLVM::ZeroOp::create(
        builder, loc, LLVM::LLVMPointerType::get(builder.getContext()));
    indices =
        tt::PtrToIntOp::create(builder, loc, tensorOf(shape, i64), pointers);
    int64_t bytes = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
    Value size = arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(tensorOf(shape, i64),
                               builder.getI64IntegerAttr(bytes).getValue()));
    indices = arith::DivUIOp::create(builder, loc, indices, size);
  }
  Value memory =
      view(base, math.number(0),
           math.number(std::numeric_limits<int64_t>::max()), math.number(1));
  return {memory, toWindows(indices)};
}

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

/// Whether all elements along a dimension are at one address. Where strides are
/// known only when the kernel runs, which of several stores to one address
/// stays is as open as it is in Triton.
static bool overlaps(const Pointers &pointers, ArrayRef<int64_t> shape) {
  return llvm::any_of(llvm::zip(pointers.offsets.strides, shape), [](auto dim) {
    auto [stride, size] = dim;
    return size != 1 && isConstantIntValue(stride, 0);
  });
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

/// The elements of the box, and around them what the load has for others.
static Value loadBox(Access &access, const Pointers &pointers, const Box &box,
                     Value other) {
  OpBuilder &builder = access.builder;
  Location loc = access.loc;
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
  Value whole =
      tensor::EmptyOp::create(builder, loc, access.shape, access.element);
  SmallVector<OpFoldResult> rest;
  for (auto [size, high] : llvm::zip(access.shape, box.high))
    rest.push_back(access.math.sub(access.math.number(size), high));
  return linalg_ext::PadOp::create(builder, loc, copy, whole, value, box.low,
                                   rest)
      .getResult();
}

static Value gather(Access &access, tt::LoadOp op) {
  OpBuilder &builder = access.builder;
  Location loc = access.loc;
  auto [memory, indices] = access.memoryAndIndices(op.getPtr());
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
    return memref::LoadOp::create(builder, loc, view, zero);
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

static void convertLoad(tt::LoadOp op) {
  Access access(op, op.getType());
  Value value;
  if (access.shape.empty()) {
    value = loadScalar(access, op);
  } else {
    std::optional<Pointers> pointers = trackPointers(op.getPtr(), access.math);
    std::optional<Box> box;
    if (pointers)
      box = op.getMask() ? trackMask(op.getMask(), access.math)
                         : wholeOf(access.shape, access.math);
    value = box ? loadBox(access, *pointers, *box, op.getOther())
                : gather(access, op);
  }
  op.replaceAllUsesWith(value);
  op.erase();
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

static void storeBox(Access &access, const Pointers &pointers, const Box &box,
                     Value value) {
  OpBuilder &builder = access.builder;
  Location loc = access.loc;
  SmallVector<OpFoldResult> sizes;
  Value view = access.viewOf(pointers, box, sizes);
  if (!isWhole(box, access.shape))
    value = tensor::ExtractSliceOp::create(
        builder, loc, value, box.low, sizes,
        SmallVector<OpFoldResult>(sizes.size(), builder.getIndexAttr(1)));
  bufferization::MaterializeInDestinationOp::create(
      builder, loc, /*result=*/Type(), value, view, /*restrict=*/false,
      /*writable=*/true);
}

static void scatter(Access &access, tt::StoreOp op, Value value) {
  auto [memory, indices] = access.memoryAndIndices(op.getPtr());
  Value mask = op.getMask() ? access.toLine(op.getMask()) : Value();
  linalg_ext::ScatterOp::create(access.builder, access.loc,
                                access.toWindows(value), indices, mask, memory,
                                /*dimensionMap=*/0);
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
  memref::StoreOp::create(builder, loc, value, view, zero);
}

static void convertStore(tt::StoreOp op) {
  Access access(op, op.getValue().getType());
  Value value = op.getValue();
  if (access.shape.empty()) {
    storeScalar(access, op, value);
  } else {
    std::optional<Pointers> pointers = trackPointers(op.getPtr(), access.math);
    std::optional<Box> box;
    if (pointers && !overlaps(*pointers, access.shape))
      box = op.getMask() ? trackMask(op.getMask(), access.math)
                         : wholeOf(access.shape, access.math);
    if (box)
      storeBox(access, *pointers, *box, value);
    else
      scatter(access, op, value);
  }
  op.erase();
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

/// A value as windows; a scalar as one window.
static Value toWindows(Access &access, Value value) {
  if (isa<RankedTensorType>(value.getType()))
    return access.toWindows(value);
  return tensor::FromElementsOp::create(
      access.builder, access.loc, access.tensorOf({1, 1}, value.getType()),
      value);
}

/// What the operation gives, from windows.
static Value fromWindows(Access &access, Value windows) {
  if (!access.shape.empty())
    return access.fromWindows(windows);
  Value zero = arith::ConstantIndexOp::create(access.builder, access.loc, 0);
  return tensor::ExtractOp::create(access.builder, access.loc, windows,
                                   ValueRange{zero, zero});
}

/// The memory and where in it the windows are; for a scalar a view of it alone.
static std::pair<Value, Value> windowsOf(Access &access, Value pointers) {
  if (!access.shape.empty())
    return access.memoryAndIndices(pointers);
  std::optional<Pointers> scalar = trackPointers(pointers, access.math);
  OpFoldResult one = access.math.number(1);
  Value view = access.view(access.address(scalar->base), scalar->offsets.offset,
                           one, one);
  Value index =
      arith::ConstantOp::create(access.builder, access.loc,
                                access.builder.getZeroAttr(access.tensorOf(
                                    {1, 1}, access.builder.getI64Type())));
  return {view, index};
}

static StringRef kindOf(tt::RMWOp op) {
  switch (op) {
  case tt::RMWOp::AND:
    return "andi";
  case tt::RMWOp::OR:
    return "ori";
  case tt::RMWOp::XOR:
    return "xori";
  case tt::RMWOp::ADD:
    return "addi";
  case tt::RMWOp::FADD:
    return "addf";
  case tt::RMWOp::MAX:
    return "maxs";
  case tt::RMWOp::MIN:
    return "mins";
  case tt::RMWOp::UMAX:
    return "maxu";
  case tt::RMWOp::UMIN:
    return "minu";
  case tt::RMWOp::XCHG:
    return "assign";
  }
  llvm_unreachable("all operations are above");
}

static StringRef orderOf(tt::MemSemantic order) {
  switch (order) {
  case tt::MemSemantic::RELAXED:
    return "relaxed";
  case tt::MemSemantic::ACQUIRE:
    return "acquire";
  case tt::MemSemantic::RELEASE:
    return "release";
  case tt::MemSemantic::ACQUIRE_RELEASE:
    return "acq_rel";
  }
  llvm_unreachable("all orders are above");
}

static void convertAtomic(tt::AtomicRMWOp op) {
  Access access(op, op.getType());
  OpBuilder &builder = access.builder;
  auto [memory, indices] = windowsOf(access, op.getPtr());
  Value value = toWindows(access, op.getVal());
  Value mask = op.getMask();
  if (mask && access.shape.empty())
    mask = tensor::FromElementsOp::create(builder, access.loc, mask);
  else if (mask)
    mask = access.toLine(mask);
  int64_t count = cast<ShapedType>(value.getType()).getDimSize(0);
  Value init = tensor::EmptyOp::create(
      builder, access.loc, ArrayRef<int64_t>{count, 1}, access.element);
  // What Triton gives where the mask is false is open; it is 0 here.
  if (mask)
    init = linalg::FillOp::create(builder, access.loc, access.zero(), init)
               .getResult(0);
  auto atomic = linalg_ext::GatherAtomicRMWOp::create(
      builder, access.loc, init.getType(),
      builder.getStringAttr(kindOf(op.getAtomicRmwOp())),
      builder.getStringAttr(orderOf(op.getSem())),
      builder.getStringAttr(tt::stringifyMemSyncScope(op.getScope())), value,
      indices, mask, memory, init);
  op.replaceAllUsesWith(fromWindows(access, atomic.getResult()));
  op.erase();
}

static void convertAtomic(tt::AtomicCASOp op) {
  Access access(op, op.getType());
  OpBuilder &builder = access.builder;
  auto [memory, indices] = windowsOf(access, op.getPtr());
  Value expected = toWindows(access, op.getCmp());
  Value value = toWindows(access, op.getVal());
  int64_t count = cast<ShapedType>(value.getType()).getDimSize(0);
  Value init = tensor::EmptyOp::create(
      builder, access.loc, ArrayRef<int64_t>{count, 1}, access.element);
  auto atomic = linalg_ext::GatherAtomicCASOp::create(
      builder, access.loc, init.getType(),
      builder.getStringAttr(orderOf(op.getSem())),
      builder.getStringAttr(tt::stringifyMemSyncScope(op.getScope())), expected,
      value, indices, memory, init);
  op.replaceAllUsesWith(fromWindows(access, atomic.getResult()));
  op.erase();
}

void mlir::triton_ext::convert_triton_to_linalg::convertMemory(
    Operation *module) {
  SmallVector<Operation *> accesses;
  module->walk([&](Operation *op) {
    if (isa<tt::LoadOp, tt::StoreOp, tt::AtomicRMWOp, tt::AtomicCASOp>(op))
      accesses.push_back(op);
  });
  for (Operation *op : accesses)
    llvm::TypeSwitch<Operation *>(op)
        .Case([](tt::LoadOp load) { convertLoad(load); })
        .Case([](tt::StoreOp store) { convertStore(store); })
        .Case<tt::AtomicRMWOp, tt::AtomicCASOp>(
            [](auto atomic) { convertAtomic(atomic); });
}
