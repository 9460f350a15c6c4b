// SPDX-License-Identifier: Apache-2.0
//
// Helpers of this dialect's verifiers and memory effects.

#ifndef TRITON_EXT_LINALG_EXT_CHECKS_H
#define TRITON_EXT_LINALG_EXT_CHECKS_H

#include "LinalgExt.h"

namespace mlir::triton_ext::linalg_ext {

using Effects = SmallVectorImpl<MemoryEffects::EffectInstance>;

/// Adds the effects of an operation in destination style: it reads the memrefs
/// among its inputs and writes those among its inits. If `readsInits`, it also
/// reads these. It does not if it overwrites all their elements. Tensors have
/// no effects.
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

/// Checks that `value`, called `what` in the error, has this shape. A dynamic
/// size fits every size.
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

/// Checks the same, for one of several values that have one shape. Replaces
/// dynamic sizes in `shape` by those of `value`, so that the next value is
/// checked against them.
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

template <typename Yield = YieldOp>
LogicalResult checkBody(Operation *op, Region &region, ArrayRef<Type> arguments,
                        ArrayRef<Type> results) {
  Block &body = region.front();
  if (TypeRange(body.getArgumentTypes()) != TypeRange(arguments))
    return op->emitOpError()
           << "expected a body with arguments of type " << arguments << ", got "
           << SmallVector<Type>(body.getArgumentTypes());
  auto yield = dyn_cast<Yield>(body.back());
  if (!yield)
    return op->emitOpError()
           << "expected a body that ends in " << Yield::getOperationName();
  if (TypeRange(yield.getOperandTypes()) != TypeRange(results))
    return op->emitOpError()
           << "expected a body that yields " << results << ", got "
           << SmallVector<Type>(yield.getOperandTypes());
  return success();
}

} // namespace mlir::triton_ext::linalg_ext

#endif // TRITON_EXT_LINALG_EXT_CHECKS_H
