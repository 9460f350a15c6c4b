// SPDX-License-Identifier: Apache-2.0
//
// Uses a block argument before or after it is destroyed, and leaves the module
// as it was: what it prints looks right either way.

#include "mlir/IR/Block.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::triton_ext::planted {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_PLANTEDPASS
#include "Planted.h.inc"
} // namespace mlir::triton_ext::planted

using namespace mlir;

namespace {
struct PlantedPass
    : mlir::triton_ext::planted::impl::PlantedPassBase<PlantedPass> {
  using PlantedPassBase::PlantedPassBase;

  void runOnOperation() override {
    Block block;
    Value argument = block.addArgument(IntegerType::get(&getContext(), 32),
                                       UnknownLoc::get(&getContext()));
    if (!freed)
      markUsed(argument);
    block.eraseArgument(0);
    if (freed)
      markUsed(argument);
  }

  static void markUsed(Value value) {
    if (!value.use_empty())
      llvm::errs() << "it is used\n";
  }
};
} // namespace
