// SPDX-License-Identifier: Apache-2.0
//
// A run of the pass for its remarks alone, on a module that no session has
// marked: `triton-ext pipeline show` and `triton-ext-opt` show what the pass
// says of each access. The module stays as it is.

#ifndef TRITON_EXT_SANITIZER_REHEARSAL_H
#define TRITON_EXT_SANITIZER_REHEARSAL_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Remarks.h"

namespace mlir::triton_ext::sanitizer {

/// Marks a module as a session would, if somebody listens to remarks and no
/// session has marked it. At the end the module is again what it was.
class Rehearsal {
public:
  /// The attribute `looks` tells the pass that looks may be left to the host,
  /// as a session does.
  Rehearsal(ModuleOp module, StringRef looks) : module(module) {
    MLIRContext *context = module.getContext();
    if (module->hasAttr("probe.kept") || module->hasAttr("probe.lowered") ||
        !context->getRemarkEngine())
      return;
    original = module.clone();
    module->setAttr("probe.kept", UnitAttr::get(context));
    module->setAttr(looks, StringAttr::get(context, "host"));
  }

  ~Rehearsal() {
    if (!original)
      return;
    (*module).setAttrs((*original)->getAttrDictionary());
    module.getBodyRegion().takeBody(original->getBodyRegion());
  }

  Rehearsal(const Rehearsal &) = delete;
  Rehearsal &operator=(const Rehearsal &) = delete;

private:
  ModuleOp module;
  OwningOpRef<ModuleOp> original;
};

} // namespace mlir::triton_ext::sanitizer

#endif // TRITON_EXT_SANITIZER_REHEARSAL_H
