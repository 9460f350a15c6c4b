// SPDX-License-Identifier: Apache-2.0
//
// Prints the strides of tensors that the CPU backend's plan uses.

#include "Strides.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton_ext::print_strides {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_PRINTSTRIDESPASS
#include "PrintStrides.h.inc"
} // namespace mlir::triton_ext::print_strides

using namespace mlir;

namespace {
struct PrintStridesPass
    : mlir::triton_ext::print_strides::impl::PrintStridesPassBase<
          PrintStridesPass> {
  using PrintStridesPassBase::PrintStridesPassBase;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<triton::FuncOp>()) {
      mlir::triton_ext::cpu::Strides known;
      function.walk([&](Operation *op) {
        if (op->getNumResults() != 1 ||
            !isa<RankedTensorType>(op->getResult(0).getType()))
          return;
        std::string strides;
        for (std::optional<int64_t> stride : known.of(op->getResult(0)))
          strides += stride ? " " + std::to_string(*stride) : " ?";
        emitRemark(op->getLoc()) << "strides:" << strides;
      });
    }
  }
};
} // namespace
