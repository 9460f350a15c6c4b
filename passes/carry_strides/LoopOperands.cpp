// SPDX-License-Identifier: Apache-2.0
//
// Adds operands, arguments and results to loops.

#include "LoopOperands.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

bool mlir::triton_ext::carry_strides::isLoop(Operation *op) {
  return isa<scf::ForOp, scf::WhileOp>(op);
}

Operation *mlir::triton_ext::carry_strides::extendLoop(Operation *loop,
                                                       ValueRange inits,
                                                       TypeRange resultTypes) {
  OpBuilder b(loop);
  OperationState state(loop->getLoc(), loop->getName());
  state.addOperands(loop->getOperands());
  state.addOperands(inits);
  state.addTypes(loop->getResultTypes());
  state.addTypes(resultTypes);
  state.addAttributes(loop->getAttrs());
  for (unsigned i = 0; i < loop->getNumRegions(); ++i)
    state.addRegion();
  Operation *extended = b.create(state);
  for (auto [to, from] : llvm::zip(extended->getRegions(), loop->getRegions()))
    to.takeBody(from);
  loop->erase();
  auto add = [&](Region &region, TypeRange types) {
    for (Type type : types)
      region.addArgument(type, extended->getLoc());
  };
  add(extended->getRegion(0), inits.getTypes());
  if (isa<scf::WhileOp>(extended))
    add(extended->getRegion(1), resultTypes);
  return extended;
}
