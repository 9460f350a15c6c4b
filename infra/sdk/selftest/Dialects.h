// SPDX-License-Identifier: Apache-2.0
//
// Contexts with dialects loaded, without the dialects' own headers: those cost
// seconds each, and most of the self-test needs only what they register.

#ifndef TRITON_EXT_SELFTEST_DIALECTS_H
#define TRITON_EXT_SELFTEST_DIALECTS_H

#include "mlir/IR/MLIRContext.h"

namespace triton_ext::selftest {

/// arith, math, scf, cf, func and ub.
void loadCore(mlir::MLIRContext &context);

/// tt, ttg, ttng and gluon, with the core dialects that they depend on.
void loadTriton(mlir::MLIRContext &context);

template <typename Dialect> void load(mlir::MLIRContext &context) {
  context.loadDialect<Dialect>();
}

/// A single-threaded context with what `load` loads.
struct Context : mlir::MLIRContext {
  explicit Context(void (*load)(mlir::MLIRContext &))
      : MLIRContext(Threading::DISABLED) {
    load(*this);
  }
};

} // namespace triton_ext::selftest

#endif // TRITON_EXT_SELFTEST_DIALECTS_H
