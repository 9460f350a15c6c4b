// SPDX-License-Identifier: Apache-2.0
//
// Describes the memory traffic and the FLOPs of each kernel in an attribute of
// the module. Changes nothing else.

#include "Cost.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::triton_ext::intensity {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_INTENSITYPASS
#include "Intensity.h.inc"
} // namespace mlir::triton_ext::intensity

using namespace mlir;
using namespace mlir::triton_ext;

/// The attribute of the module; `tx.intensity` reads it.
static constexpr StringLiteral attributeName = "triton_ext.intensity";

namespace {
struct IntensityPass
    : mlir::triton_ext::intensity::impl::IntensityPassBase<IntensityPass> {
  using IntensityPassBase::IntensityPassBase;

  void runOnOperation() override;
};
} // namespace

void IntensityPass::runOnOperation() {
  llvm::json::Array kernels;
  for (auto function : getOperation().getOps<triton::FuncOp>())
    if (function.isPublic() && !function.isExternal())
      kernels.push_back(intensity::describe(function, keepsNames));
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(kernels));
  getOperation()->setAttr(attributeName, StringAttr::get(&getContext(), text));
  markAllAnalysesPreserved();
}
