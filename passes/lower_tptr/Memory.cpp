// SPDX-License-Identifier: Apache-2.0
//
// Accesses to memory, and memrefs.

#include "Lowering.h"

#include "aux/Aux.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "tptr/Tptr.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::triton_ext;
namespace ours = mlir::triton_ext::ptr;

static Value pointerTo(OpBuilder &builder, Location loc, Value address) {
  return LLVM::IntToPtrOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), address);
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

namespace {
/// Makes the operations of an access to one element, which lies in memory as
/// an address if it is a pointer.
struct Access {
  OpBuilder builder;
  Location loc;
  Value address;
  Type element; // of memory
  std::optional<int64_t> alignment;

  Access(Operation *op, Value pointer, Type type, std::optional<int64_t> align)
      : builder(op), loc(op->getLoc()),
        address(lower_tptr::addressOf(builder, pointer)),
        element(isa<ours::PtrType>(type) ? builder.getI64Type() : type),
        alignment(align) {}

  Value view() {
    return aux::ViewOp::create(
        builder, loc, MemRefType::get({1}, element),
        pointerTo(builder, loc, address), builder.getIndexAttr(0),
        {builder.getIndexAttr(1)}, {builder.getIndexAttr(1)});
  }
  Value zero() { return arith::ConstantIndexOp::create(builder, loc, 0); }

  /// Returns the type of LLVM in which the element lies in memory.
  Type inLLVM() {
    if (element.isIndex() || isa<triton::PointerType>(element))
      return builder.getI64Type();
    if (LLVM::isCompatibleType(element))
      return element;
    return builder.getIntegerType(element.getIntOrFloatBitWidth());
  }
  /// Casts between the element and the type in which it lies in memory.
  Value cast(Value value, Type type) {
    if (value.getType() == type)
      return value;
    if (value.getType().isIndex() || type.isIndex())
      return arith::IndexCastOp::create(builder, loc, type, value);
    if (type.isIntOrFloat() && value.getType().isIntOrFloat())
      return arith::BitcastOp::create(builder, loc, type, value);
    return lower_tptr::asType(builder, loc, value, type);
  }
};
} // namespace

static LLVM::AtomicOrdering inLLVM(ours::AtomicOrdering ordering) {
  return *LLVM::symbolizeAtomicOrdering(
      ours::stringifyAtomicOrdering(ordering));
}

/// Returns whether an access has more than an address, a value and hints.
template <typename OpT> static bool isOrdered(OpT op) {
  return op.getVolatile_() ||
         op.getOrdering() != ours::AtomicOrdering::not_atomic;
}

/// The verifier of LLVM's operations tells of types that cannot be atomic.
static void lowerLoad(ours::LoadOp op) {
  Access access(op, op.getPtr(), op.getType(), op.getAlignment());
  Value value;
  if (isOrdered(op)) {
    value = LLVM::LoadOp::create(
        access.builder, access.loc, access.inLLVM(),
        pointerTo(access.builder, access.loc, access.address),
        access.alignment.value_or(0), op.getVolatile_(), op.getNontemporal(),
        op.getInvariant(), op.getInvariantGroup(), inLLVM(op.getOrdering()),
        op.getSyncscope().value_or(""));
    value = access.cast(value, access.element);
  } else {
    auto load = memref::LoadOp::create(access.builder, access.loc,
                                       access.view(), access.zero());
    load.setNontemporal(op.getNontemporal());
    value = load;
  }
  op.replaceAllUsesWith(
      lower_tptr::asType(access.builder, access.loc, value, op.getType()));
}

static void lowerStore(ours::StoreOp op) {
  Access access(op, op.getPtr(), op.getValue().getType(), op.getAlignment());
  Value value = op.getValue();
  value = lower_tptr::asType(access.builder, access.loc, value, access.element);
  if (isOrdered(op)) {
    LLVM::StoreOp::create(
        access.builder, access.loc, access.cast(value, access.inLLVM()),
        pointerTo(access.builder, access.loc, access.address),
        access.alignment.value_or(0), op.getVolatile_(), op.getNontemporal(),
        op.getInvariantGroup(), inLLVM(op.getOrdering()),
        op.getSyncscope().value_or(""));
    return;
  }
  auto store = memref::StoreOp::create(access.builder, access.loc, value,
                                       access.view(), access.zero());
  store.setNontemporal(op.getNontemporal());
}

LogicalResult lower_tptr::lowerAccess(Operation *op) {
  if (auto load = dyn_cast<ours::LoadOp>(op))
    lowerLoad(load);
  else
    lowerStore(cast<ours::StoreOp>(op));
  return success();
}

//===----------------------------------------------------------------------===//
// Memrefs
//===----------------------------------------------------------------------===//

static LogicalResult lowerFromPtr(Operation *op, Value pointer,
                                  Value metadata) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  auto type = dyn_cast<MemRefType>(op->getResult(0).getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!type || failed(type.getStridesAndOffset(strides, offset)))
    return op->emitOpError("has no lowering: expected a memref with strides");
  bool isKnown = type.hasStaticShape() && ShapedType::isStatic(offset) &&
                 ShapedType::isStaticShape(strides);
  if (!isKnown && !metadata)
    return op->emitOpError() << "has no lowering without metadata: " << type
                             << " does not say all sizes, strides and offset";
  auto indices = [&](ArrayRef<int64_t> numbers) {
    return getAsIndexOpFoldResult(builder.getContext(), numbers);
  };
  OpFoldResult begin = builder.getIndexAttr(offset);
  SmallVector<OpFoldResult> sizes = indices(type.getShape());
  SmallVector<OpFoldResult> steps = indices(strides);
  if (!isKnown) {
    // The memref that the metadata are of stands for them.
    Value memref = lower_tptr::asType(builder, loc, metadata, type);
    auto parts = memref::ExtractStridedMetadataOp::create(builder, loc, memref);
    begin = parts.getConstifiedMixedOffset();
    sizes = parts.getConstifiedMixedSizes();
    steps = parts.getConstifiedMixedStrides();
  }
  // The view lies in the memory that a kernel's pointers point to.
  auto plain =
      MemRefType::get(type.getShape(), type.getElementType(), type.getLayout());
  Value address = lower_tptr::addressOf(builder, pointer);
  Value view =
      aux::ViewOp::create(builder, loc, plain, pointerTo(builder, loc, address),
                          begin, sizes, steps);
  op->getResult(0).replaceAllUsesWith(
      lower_tptr::asType(builder, loc, view, type));
  return success();
}

static LogicalResult lowerToPtr(ours::ToPtrOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value memref = op.getPtr();
  if (auto unranked = dyn_cast<UnrankedMemRefType>(memref.getType()))
    memref = memref::CastOp::create(
        builder, loc,
        MemRefType::get({1}, unranked.getElementType(),
                        MemRefLayoutAttrInterface(), unranked.getMemorySpace()),
        memref);
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memref);
  address =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), address);
  op.replaceAllUsesWith(
      lower_tptr::asType(builder, loc, address, op.getType()));
  return success();
}

LogicalResult lower_tptr::lowerCast(Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([](ours::ToPtrOp op) { return lowerToPtr(op); })
      .Case<ours::FromPtrOp, tptr::FromPtrOp>([](auto op) {
        return lowerFromPtr(op, op.getPtr(), op.getMetadata());
      })
      .Case([](ours::GetMetadataOp op) {
        OpBuilder builder(op);
        op.replaceAllUsesWith(
            asType(builder, op.getLoc(), op.getPtr(), op.getType()));
        return success();
      });
}
