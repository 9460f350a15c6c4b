// SPDX-License-Identifier: Apache-2.0
//
// Drops attributes of Triton, which other tools cannot parse.

#include "Lowering.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

/// Returns the list without attributes of Triton; null for null.
static DictionaryAttr withoutTriton(DictionaryAttr attributes) {
  if (!attributes)
    return attributes;
  SmallVector<NamedAttribute> kept;
  for (NamedAttribute attribute : attributes)
    if (!attribute.getName().getValue().starts_with("tt."))
      kept.push_back(attribute);
  return DictionaryAttr::get(attributes.getContext(), kept);
}

void mlir::triton_ext::lower_linalg_ext::dropAttributes(ModuleOp module) {
  module.walk([](Operation *op) {
    op->setDiscardableAttrs(withoutTriton(op->getDiscardableAttrDictionary()));
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function)
      return;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      function.setArgAttrs(i, withoutTriton(function.getArgAttrDict(i)));
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      function.setResultAttrs(i, withoutTriton(function.getResultAttrDict(i)));
  });
}
