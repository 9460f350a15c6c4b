// SPDX-License-Identifier: Apache-2.0
//
// What the verifiers and effects of this dialect's operations have in common.

#ifndef TRITON_EXT_LINALG_EXT_CHECKS_H
#define TRITON_EXT_LINALG_EXT_CHECKS_H

#include "LinalgExt.h"

namespace mlir::triton_ext::linalg_ext {

using Effects = SmallVectorImpl<MemoryEffects::EffectInstance>;

/// Memrefs are read, and those among the inits written. Tensors have no memory.
/// `readsInits`: nothing is kept of a memref that is written as a whole.
inline void getDestinationEffects(DestinationStyleOpInterface op,
                                  bool readsInits, Effects &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    bool isInit = op.isDpsInit(&operand);
    if (!isInit || readsInits)
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
    if (isInit)
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
  }
}

inline bool sameOrDynamic(int64_t a, int64_t b) {
  return ShapedType::isDynamic(a) || ShapedType::isDynamic(b) || a == b;
}

inline ShapedType shaped(Value value) {
  return cast<ShapedType>(value.getType());
}

/// `what` has to have this shape, as far as both are known.
inline LogicalResult checkShape(Operation *op, StringRef what, Value value,
                                ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> found = shaped(value).getShape();
  if (found.size() == shape.size() &&
      llvm::all_of(llvm::zip(found, shape), [](auto pair) {
        return sameOrDynamic(std::get<0>(pair), std::get<1>(pair));
      }))
    return success();
  InFlightDiagnostic diagnostic = op->emitOpError();
  diagnostic << "expected " << what << " of shape [";
  auto print = [&](int64_t size) {
    if (ShapedType::isDynamic(size))
      diagnostic << "?";
    else
      diagnostic << size;
  };
  llvm::interleave(shape, print, [&] { diagnostic << ", "; });
  diagnostic << "], got " << value.getType();
  return diagnostic;
}

/// The same of values that all have one shape. What one of them says of a size
/// holds for the next: where `shape` does not know it, it does then.
inline LogicalResult checkSameShape(Operation *op, StringRef what, Value value,
                                    SmallVectorImpl<int64_t> &shape) {
  if (failed(checkShape(op, what, value, shape)))
    return failure();
  for (auto [size, found] : llvm::zip(shape, shaped(value).getShape()))
    if (ShapedType::isDynamic(size))
      size = found;
  return success();
}

inline LogicalResult checkMask(Operation *op, Value mask,
                               ArrayRef<int64_t> shape) {
  if (!mask)
    return success();
  if (!shaped(mask).getElementType().isInteger(1))
    return op->emitOpError() << "expected a mask of i1, got " << mask.getType();
  return checkShape(op, "a mask", mask, shape);
}

inline LogicalResult checkBody(Operation *op, Region &region,
                               ArrayRef<Type> arguments,
                               ArrayRef<Type> results) {
  Block &body = region.front();
  if (TypeRange(body.getArgumentTypes()) != TypeRange(arguments))
    return op->emitOpError()
           << "expected a body with arguments of type " << arguments << ", got "
           << SmallVector<Type>(body.getArgumentTypes());
  auto yield = dyn_cast<YieldOp>(body.back());
  if (!yield)
    return op->emitOpError() << "expected a body that ends in linalg_ext.yield";
  if (TypeRange(yield.getOperandTypes()) != TypeRange(results))
    return op->emitOpError()
           << "expected a body that yields " << results << ", got "
           << SmallVector<Type>(yield.getOperandTypes());
  return success();
}

} // namespace mlir::triton_ext::linalg_ext

#endif // TRITON_EXT_LINALG_EXT_CHECKS_H
