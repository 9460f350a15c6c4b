// SPDX-License-Identifier: Apache-2.0
//
// Prints the facts that the CPU backend's lowering has of emitted integers, on
// modules of scalar arithmetic, and the strides that its plan has of tensors.

#include "Facts.h"
#include "Lowering.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "triton/Dialect/Triton/IR/Dialect.h"

namespace mlir::triton_ext::print_facts {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_PRINTFACTSPASS
#include "PrintFacts.h.inc"
} // namespace mlir::triton_ext::print_facts

using namespace mlir;

namespace {
struct PrintFactsPass
    : mlir::triton_ext::print_facts::impl::PrintFactsPassBase<PrintFactsPass> {
  using PrintFactsPassBase::PrintFactsPassBase;

  void runOnOperation() override {
    mlir::triton_ext::cpu::Facts facts;
    for (auto function : getOperation().getOps<triton::FuncOp>())
      for (BlockArgument argument : function.getArguments()) {
        int i = argument.getArgNumber();
        if (auto divisor =
                function.getArgAttrOfType<IntegerAttr>(i, "tt.divisibility"))
          facts.setDivisor(argument, divisor.getInt());
        if (auto limit = function.getArgAttrOfType<IntegerAttr>(i, "tt.limit"))
          facts.setLimit(argument, limit.getInt());
      }
    auto print = [&](Operation *op, StringRef what, Value value) {
      if (!isa<IntegerType>(value.getType()))
        return;
      std::string limit = "none";
      if (auto known = facts.limit(value))
        limit = llvm::toString(*known, 10, /*Signed=*/true);
      emitRemark(op->getLoc()) << what << ": divisor " << facts.divisor(value)
                               << ", limit " << limit;
    };
    for (auto function : getOperation().getOps<triton::FuncOp>()) {
      mlir::triton_ext::cpu::Plan plan(function);
      function.walk([&](Operation *op) {
        if (op->getNumResults() != 1 ||
            !isa<RankedTensorType>(op->getResult(0).getType()))
          return;
        std::string strides;
        for (std::optional<int64_t> stride : plan.strides(op->getResult(0)))
          strides += stride ? " " + std::to_string(*stride) : " ?";
        emitRemark(op->getLoc()) << "strides:" << strides;
      });
    }
    getOperation().walk([&](Operation *op) {
      if (auto loop = dyn_cast<scf::ForOp>(op))
        print(op, "loop", loop.getInductionVar());
      else if (op->getNumResults())
        print(op, "value", op->getResult(0));
    });
  }
};
} // namespace
