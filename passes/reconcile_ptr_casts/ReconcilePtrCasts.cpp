// SPDX-License-Identifier: Apache-2.0
//
// Replaces unrealized casts between memrefs, pointers and addresses by
// operations of ptr, tptr and Triton. Leaves all other casts untouched.

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Pass/Pass.h"
#include "tptr/Tptr.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton_ext::reconcile_ptr_casts {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_RECONCILEPTRCASTSPASS
#include "ReconcilePtrCasts.h.inc"
} // namespace mlir::triton_ext::reconcile_ptr_casts

using namespace mlir;
using namespace mlir::triton_ext;
namespace tt = mlir::triton;
using PtrType = triton_ext::ptr::PtrType;

/// Returns whether values of the type are addresses of 64 bits, so that a cast
/// from one such type to another one loses nothing.
static bool isAddress(Type type) {
  return isa<UnrankedMemRefType, PtrType, tt::PointerType>(type) ||
         type.isInteger(64);
}

/// Returns whether `op` casts one address to another type of addresses.
static bool isCastOfAddress(UnrealizedConversionCastOp op) {
  return op->getNumOperands() == 1 && op->getNumResults() == 1 &&
         isAddress(op.getOperand(0).getType()) &&
         isAddress(op.getResult(0).getType());
}

/// Returns what the first of consecutive casts of addresses starts from, of
/// which `op` is the last one; null if they form a cycle, as they can in code
/// that is never reached.
static Value originOf(UnrealizedConversionCastOp op) {
  SmallPtrSet<Operation *, 4> seen;
  while (seen.insert(op).second) {
    Value origin = op.getOperand(0);
    op = origin.getDefiningOp<UnrealizedConversionCastOp>();
    if (!op || !isCastOfAddress(op))
      return origin;
  }
  return {};
}

namespace {
/// Makes operations that lead from one type of addresses to another one.
struct Maker {
  OpBuilder &builder;
  Location loc;
  Type i64 = builder.getI64Type();

  Value toPtr(Value value, PtrType type);
  Value fromPtr(Value value, Type type);
  Value convert(Value value, Type type);
};
} // namespace

static MemRefType oneElementOf(UnrankedMemRefType type, Attribute space) {
  return MemRefType::get({1}, type.getElementType(),
                         MemRefLayoutAttrInterface(), space);
}

/// Casts a memref to the same one in another memory space.
static Value castSpace(OpBuilder &builder, Location loc, Value memref,
                       MemRefType type) {
  if (memref.getType() == type)
    return memref;
  return memref::MemorySpaceCastOp::create(builder, loc, type, memref);
}

Value Maker::toPtr(Value value, PtrType type) {
  if (value.getType() == type)
    return value;
  if (auto memref = dyn_cast<UnrankedMemRefType>(value.getType())) {
    // The unranked memref is cast to one without an offset, so that its pointer
    // is that to its first element.
    Value one = memref::CastOp::create(
        builder, loc, oneElementOf(memref, memref.getMemorySpace()), value);
    one = castSpace(builder, loc, one,
                    oneElementOf(memref, type.getMemorySpace()));
    return triton_ext::ptr::ToPtrOp::create(builder, loc, type, one);
  }
  if (isa<PtrType>(value.getType()))
    value = tptr::PtrToIntOp::create(builder, loc, i64, value);
  else if (isa<tt::PointerType>(value.getType()))
    value = tt::PtrToIntOp::create(builder, loc, i64, value);
  return tptr::IntToPtrOp::create(builder, loc, type, value);
}

Value Maker::fromPtr(Value value, Type type) {
  if (auto memref = dyn_cast<UnrankedMemRefType>(type)) {
    Attribute space = cast<PtrType>(value.getType()).getMemorySpace();
    Value one = tptr::FromPtrOp::create(
        builder, loc, oneElementOf(memref, space), value, /*metadata=*/Value());
    one = castSpace(builder, loc, one,
                    oneElementOf(memref, memref.getMemorySpace()));
    return memref::CastOp::create(builder, loc, type, one);
  }
  value = tptr::PtrToIntOp::create(builder, loc, i64, value);
  if (type == i64)
    return value;
  return tt::IntToPtrOp::create(builder, loc, type, value);
}

Value Maker::convert(Value value, Type type) {
  if (value.getType() == type)
    return value;
  if (auto pointer = dyn_cast<PtrType>(type))
    return toPtr(value, pointer);
  bool isOfTriton = isa<tt::PointerType>(value.getType());
  if (isOfTriton && type == i64)
    return tt::PtrToIntOp::create(builder, loc, type, value);
  if (isOfTriton && isa<tt::PointerType>(type))
    return tt::BitcastOp::create(builder, loc, type, value);
  if (value.getType() == i64 && isa<tt::PointerType>(type))
    return tt::IntToPtrOp::create(builder, loc, type, value);
  auto pointer = dyn_cast<PtrType>(value.getType());
  if (!pointer)
    pointer = PtrType::get(
        builder.getContext(),
        triton_ext::ptr::GenericSpaceAttr::get(builder.getContext()));
  return fromPtr(toPtr(value, pointer), type);
}

namespace {
struct ReconcilePtrCastsPass
    : mlir::triton_ext::reconcile_ptr_casts::impl::ReconcilePtrCastsPassBase<
          ReconcilePtrCastsPass> {
  using ReconcilePtrCastsPassBase::ReconcilePtrCastsPassBase;

  void runOnOperation() override {
    // The origins are looked up before any of the casts is replaced.
    SmallVector<std::pair<UnrealizedConversionCastOp, Value>> casts;
    getOperation().walk([&](UnrealizedConversionCastOp op) {
      if (Value origin = isCastOfAddress(op) ? originOf(op) : Value())
        casts.push_back({op, origin});
    });
    for (auto [op, origin] : casts) {
      OpBuilder builder(op);
      Maker maker{builder, op.getLoc()};
      Value result = op.getResult(0);
      result.replaceAllUsesWith(maker.convert(origin, result.getType()));
    }
    for (auto [op, origin] : casts)
      op.erase();
    // What was made for a cast in the middle of a chain has no use.
    getOperation().walk<WalkOrder::PostOrder, ReverseIterator>(
        [](Operation *op) {
          bool isMade =
              isa<memref::CastOp, memref::MemorySpaceCastOp, tt::BitcastOp,
                  tt::IntToPtrOp, tt::PtrToIntOp>(op) ||
              isa_and_nonnull<triton_ext::ptr::PtrDialect, tptr::TptrDialect>(
                  op->getDialect());
          if (isMade && isOpTriviallyDead(op))
            op->erase();
        });
  }
};
} // namespace
