// SPDX-License-Identifier: Apache-2.0
//
// Verifiers of the atomics of the dialect `tts`, in both of their forms.

#include "Checks.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::triton_ext::tts;
namespace tt = mlir::triton;

/// Checks that `ptr` is a tensor of pointers in the structured form, which has
/// no offset, and a pointer in the other one. Returns the type of the values.
static FailureOr<Type> getValueType(Operation *op, Value ptr, Value offset) {
  if (isa<RankedTensorType>(ptr.getType()) == bool(offset))
    return op->emitOpError()
           << "expected a tensor of pointers, or a pointer and an offset, got "
           << ptr.getType() << (offset ? " and an offset" : "");
  return offset ? valueTypeAt(ptr, offset) : tt::getPointeeType(ptr.getType());
}

LogicalResult AtomicRMWOp::verify() {
  FailureOr<Type> type = getValueType(*this, getPtr(), getOffset());
  if (failed(type) ||
      failed(checkType(*this, "a value", getVal().getType(), *type)) ||
      failed(checkType(*this, "a result", getType(), *type)))
    return failure();
  Type element = getElementTypeOrSelf(*type);
  StringRef kind = tt::stringifyRMWOp(getAtomicRmwOp());
  bool isFloat = getAtomicRmwOp() == tt::RMWOp::FADD;
  if (getAtomicRmwOp() != tt::RMWOp::XCHG &&
      !(isFloat ? isa<FloatType>(element) : element.isSignlessInteger()))
    return emitOpError() << "expected " << (isFloat ? "floats" : "integers")
                         << " for " << kind << ", got " << element;
  if (isStructured()) {
    if (getMask())
      return emitOpError()
             << "expected no mask for a tensor of pointers, but mask_dims";
    return checkMaskDims(*this, getPtr(), getStaticMaskDims(), getMaskDims());
  }
  if (!getStaticMaskDims().empty() || !getMaskDims().empty())
    return emitOpError() << "expected no mask_dims with an offset, but a mask";
  if (Value mask = getMask())
    return checkType(*this, "a mask", mask.getType(),
                     tt::getI1SameShape(getOffset().getType()));
  return success();
}

LogicalResult AtomicCASOp::verify() {
  FailureOr<Type> type = getValueType(*this, getPtr(), getOffset());
  if (failed(type) ||
      failed(
          checkType(*this, "values to compare", getCmp().getType(), *type)) ||
      failed(checkType(*this, "a value", getVal().getType(), *type)))
    return failure();
  return checkType(*this, "a result", getType(), *type);
}
