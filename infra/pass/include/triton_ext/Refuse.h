// SPDX-License-Identifier: Apache-2.0
//
// Says of each operation that a conversion cannot take why not, before the
// conversion changes anything.

#ifndef TRITON_EXT_REFUSE_H
#define TRITON_EXT_REFUSE_H

#include "mlir/IR/Operation.h"

namespace mlir::triton_ext {

/// Emits an error at each operation in `root` that `whyNot` has a reason for:
/// "'name' `cannot`: reason". Fails if there is one.
inline LogicalResult
refuse(Operation *root, StringRef cannot,
       function_ref<std::optional<StringRef>(Operation *)> whyNot) {
  bool refused = false;
  root->walk([&](Operation *op) {
    if (std::optional<StringRef> why = whyNot(op)) {
      op->emitError() << "'" << op->getName() << "' " << cannot << ": " << *why;
      refused = true;
    }
  });
  return failure(refused);
}

} // namespace mlir::triton_ext

#endif // TRITON_EXT_REFUSE_H
