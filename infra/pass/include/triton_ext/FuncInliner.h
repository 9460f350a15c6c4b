// SPDX-License-Identifier: Apache-2.0
//
// The inliner interface of the func dialect, for passes that load func, and for
// the driver. The dialect promises this interface, and MLIR's inliner aborts if
// it is missing. libtriton has the dialect and the inliner, but not the
// interface.

#ifndef TRITON_EXT_FUNCINLINER_H
#define TRITON_EXT_FUNCINLINER_H

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/InliningUtils.h"

namespace mlir::triton_ext {

/// Allows every call of func to be inlined, with any body.
struct FuncInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Operation *, bool) const final {
    return true;
  }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }

  /// Turns a return in one of several blocks into a branch to the block after
  /// the call.
  void handleTerminator(Operation *op, Block *destination) const final {
    auto callee = dyn_cast<func::ReturnOp>(op);
    if (!callee)
      return;
    OpBuilder builder(op);
    cf::BranchOp::create(builder, op->getLoc(), destination,
                         callee.getOperands());
    op->erase();
  }

  /// Replaces the results of the call by the operands of the only return.
  void handleTerminator(Operation *op, ValueRange results) const final {
    auto callee = cast<func::ReturnOp>(op);
    for (auto [result, value] : llvm::zip(results, callee.getOperands()))
      result.replaceAllUsesWith(value);
  }
};

/// Registers the interface for all contexts that load func.
inline void registerFuncInliner(DialectRegistry &registry) {
  registry.insert<cf::ControlFlowDialect>();
  registry.addExtension(+[](MLIRContext *context, func::FuncDialect *dialect) {
    dialect->addInterfaces<FuncInliner>();
    context->getOrLoadDialect<cf::ControlFlowDialect>();
  });
}

} // namespace mlir::triton_ext

#endif // TRITON_EXT_FUNCINLINER_H
