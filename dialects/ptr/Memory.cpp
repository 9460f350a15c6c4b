// SPDX-License-Identifier: Apache-2.0
//
// Accesses of the dialect `ptr`: what they may load and store, and their
// effects.

#include "Ptr.h"

#include "mlir/IR/Builders.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton_ext::ptr;

template <typename OpT>
static LogicalResult verifyAccess(OpT op, Type type,
                                  AtomicOrdering impossible) {
  if (!TypeOffsetOp::bytesOf(type))
    return op.emitOpError()
           << "expected a value that is a number or a pointer, got " << type;
  std::optional<int64_t> alignment = op.getAlignment();
  if (alignment && (*alignment <= 0 || !llvm::isPowerOf2_64(*alignment)))
    return op.emitOpError()
           << "expected a power of 2 as alignment, got " << *alignment;
  AtomicOrdering ordering = op.getOrdering();
  if (ordering == AtomicOrdering::not_atomic)
    return op.getSyncscope()
               ? op.emitOpError("expected no syncscope, because the access "
                                "is not atomic")
               : success();
  if (ordering == impossible || ordering == AtomicOrdering::acq_rel)
    return op.emitOpError() << "expected another ordering than '"
                            << stringifyAtomicOrdering(ordering) << "'";
  if (!alignment)
    return op.emitOpError(
        "expected an alignment, because the access is atomic");
  return success();
}

LogicalResult LoadOp::verify() {
  return verifyAccess(*this, getType(), AtomicOrdering::release);
}

LogicalResult StoreOp::verify() {
  return verifyAccess(*this, getValue().getType(), AtomicOrdering::acquire);
}

using Effects = SmallVectorImpl<MemoryEffects::EffectInstance>;

/// Adds the effect on memory that both a `tt.load`, whose resource is Triton's,
/// and a `memref.load` may read. For MLIR, two resources have nothing to do
/// with each other, so that CSE would merge two `tt.load` across a store that
/// named only one of them.
template <typename Effect> static void addEffect(Effects &effects) {
  effects.emplace_back(Effect::get());
  effects.emplace_back(Effect::get(), triton::GlobalMemory::get());
}

/// Adds the effects of an access. A volatile one, or an atomic one that orders
/// others, may do anything to memory.
template <typename Effect, typename OpT>
static void addEffects(OpT op, Effects &effects) {
  addEffect<Effect>(effects);
  bool orders = op.getOrdering() != AtomicOrdering::not_atomic &&
                op.getOrdering() != AtomicOrdering::unordered;
  if (!op.getVolatile_() && !orders)
    return;
  addEffect<MemoryEffects::Read>(effects);
  addEffect<MemoryEffects::Write>(effects);
}

void LoadOp::getEffects(Effects &effects) {
  addEffects<MemoryEffects::Read>(*this, effects);
}

void StoreOp::getEffects(Effects &effects) {
  addEffects<MemoryEffects::Write>(*this, effects);
}

void LoadOp::build(OpBuilder &builder, OperationState &state, Type type,
                   Value ptr, bool isVolatile) {
  build(builder, state, type, ptr, /*alignment=*/std::nullopt, isVolatile,
        /*nontemporal=*/false, /*invariant=*/false, /*invariantGroup=*/false,
        AtomicOrdering::not_atomic, /*syncscope=*/nullptr);
}

void StoreOp::build(OpBuilder &builder, OperationState &state, Value value,
                    Value ptr) {
  build(builder, state, value, ptr, /*alignment=*/std::nullopt,
        /*volatile_=*/false, /*nontemporal=*/false, /*invariantGroup=*/false,
        AtomicOrdering::not_atomic, /*syncscope=*/nullptr);
}
