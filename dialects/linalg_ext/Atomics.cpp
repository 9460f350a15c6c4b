// SPDX-License-Identifier: Apache-2.0
//
// Verifiers and memory effects of the atomics of the dialect `linalg_ext`.

#include "Checks.h"

using namespace mlir;
using namespace mlir::triton_ext::linalg_ext;

/// An atomic reads and writes its memory. A memref is not one of the inits, so
/// its write is added here. A tensor may stand for any buffer, so its effects
/// name no value.
template <typename OpTy>
static void getAtomicEffects(OpTy op, Effects &effects) {
  getDestinationEffects(op, /*readsInits=*/true, effects);
  if (isa<MemRefType>(op.getMemory().getType())) {
    effects.emplace_back(MemoryEffects::Write::get(), &op.getMemoryMutable());
    return;
  }
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}

void AtomicRMWOp::getEffects(Effects &effects) {
  getAtomicEffects(*this, effects);
}
void AtomicCASOp::getEffects(Effects &effects) {
  getAtomicEffects(*this, effects);
}
void GatherAtomicRMWOp::getEffects(Effects &effects) {
  getAtomicEffects(*this, effects);
}
void GatherAtomicCASOp::getEffects(Effects &effects) {
  getAtomicEffects(*this, effects);
}

static LogicalResult checkOrder(Operation *op, StringRef order) {
  if (llvm::is_contained({"relaxed", "acquire", "release", "acq_rel"}, order))
    return success();
  return op->emitOpError() << "expected relaxed, acquire, release or acq_rel, "
                              "got "
                           << order;
}

static LogicalResult checkKind(Operation *op, StringRef name, Value value) {
  std::optional<arith::AtomicRMWKind> kind =
      arith::symbolizeAtomicRMWKind(name);
  if (!kind)
    return op->emitOpError()
           << "expected a kind of memref.atomic_rmw, got " << name;
  using Kind = arith::AtomicRMWKind;
  bool isFloat = llvm::is_contained({Kind::addf, Kind::maximumf, Kind::maxnumf,
                                     Kind::minimumf, Kind::minnumf, Kind::mulf},
                                    *kind);
  Type element = shaped(value).getElementType();
  if (*kind != Kind::assign && isFloat != isa<FloatType>(element))
    return op->emitOpError() << "expected elements that " << name
                             << " can be done with, got " << element;
  return success();
}

/// Checks that all values have this shape and the memory's element type.
static LogicalResult checkElements(Operation *op, Value memory, StringRef what,
                                   SmallVector<int64_t> shape,
                                   ArrayRef<Value> values) {
  Type element = shaped(memory).getElementType();
  for (Value value : values) {
    if (failed(checkSameShape(op, what, value, shape)))
      return failure();
    if (shaped(value).getElementType() != element)
      return op->emitOpError() << "expected " << what << " of " << element
                               << ", got " << value.getType();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// atomic_rmw, atomic_cas
//===----------------------------------------------------------------------===//

LogicalResult AtomicRMWOp::verify() {
  if (failed(checkKind(*this, getKind(), getValue())) ||
      failed(checkOrder(*this, getOrder())))
    return failure();
  return checkElements(*this, getMemory(), "elements",
                       SmallVector<int64_t>(shaped(getMemory()).getShape()),
                       {getValue(), getInit()});
}

LogicalResult AtomicCASOp::verify() {
  if (failed(checkOrder(*this, getOrder())))
    return failure();
  return checkElements(*this, getMemory(), "elements",
                       SmallVector<int64_t>(shaped(getMemory()).getShape()),
                       {getExpected(), getValue(), getInit()});
}

//===----------------------------------------------------------------------===//
// gather_atomic_rmw, gather_atomic_cas
//===----------------------------------------------------------------------===//

static LogicalResult checkGathered(Operation *op, StringRef order, Value memory,
                                   Value indices, ArrayRef<Value> windows) {
  if (failed(checkOrder(op, order)))
    return failure();
  ShapedType type = shaped(memory), indicesType = shaped(indices);
  if (type.getRank() != 1)
    return op->emitOpError()
           << "expected memory of one dimension, got " << type;
  if (!indicesType.getElementType().isSignlessInteger())
    return op->emitOpError()
           << "expected indices that are signless integers, got "
           << indicesType;
  bool isLine = indicesType.getRank() == 1;
  int64_t count = isLine || indicesType.getRank() == 2
                      ? indicesType.getDimSize(0)
                      : ShapedType::kDynamic;
  SmallVector<int64_t> shape{count};
  if (!isLine)
    shape.push_back(1);
  if (failed(checkShape(op, "indices", indices, shape)))
    return failure();
  return checkElements(op, memory, "windows", shape, windows);
}

LogicalResult GatherAtomicRMWOp::verify() {
  if (failed(checkKind(*this, getKind(), getValue())) ||
      failed(checkGathered(*this, getOrder(), getMemory(), getIndices(),
                           {getValue(), getInit()})))
    return failure();
  SmallVector<int64_t> count;
  for (Value value : {getIndices(), getValue(), getInit()})
    if (count.empty() || ShapedType::isDynamic(count[0]))
      count.assign(1, shaped(value).getDimSize(0));
  // A buffer of booleans has one byte for each, so a mask of i8 is valid, too.
  if (getMask() && shaped(getMask()).getElementType().isInteger(8))
    return checkShape(*this, "a mask", getMask(), count);
  return checkMask(*this, getMask(), count);
}

LogicalResult GatherAtomicCASOp::verify() {
  return checkGathered(*this, getOrder(), getMemory(), getIndices(),
                       {getExpected(), getValue(), getInit()});
}
