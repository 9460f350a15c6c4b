// SPDX-License-Identifier: Apache-2.0
//
// How calls of func are inlined. The dialect promises to say it, MLIR's inliner
// ends the process where nobody has, and libtriton, which has both, lacks the
// part between them. For passes that bring func into a context, and the driver.

#ifndef TRITON_EXT_FUNCINLINER_H
#define TRITON_EXT_FUNCINLINER_H

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/InliningUtils.h"

namespace mlir::triton_ext {

/// Any call of func can be inlined, with any body.
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

  /// A return in one of several blocks: to the block after the call.
  void handleTerminator(Operation *op, Block *destination) const final {
    auto callee = dyn_cast<func::ReturnOp>(op);
    if (!callee)
      return;
    OpBuilder builder(op);
    cf::BranchOp::create(builder, op->getLoc(), destination,
                         callee.getOperands());
    op->erase();
  }

  /// The return of the only block: what it returns is what the call gives.
  void handleTerminator(Operation *op, ValueRange results) const final {
    auto callee = cast<func::ReturnOp>(op);
    for (auto [result, value] : llvm::zip(results, callee.getOperands()))
      result.replaceAllUsesWith(value);
  }
};

/// Registers it for contexts that have func or are to have it.
inline void registerFuncInliner(DialectRegistry &registry) {
  registry.insert<cf::ControlFlowDialect>();
  registry.addExtension(+[](MLIRContext *context, func::FuncDialect *dialect) {
    dialect->addInterfaces<FuncInliner>();
    context->getOrLoadDialect<cf::ControlFlowDialect>();
  });
}

} // namespace mlir::triton_ext

#endif // TRITON_EXT_FUNCINLINER_H
