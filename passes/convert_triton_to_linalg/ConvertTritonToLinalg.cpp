// SPDX-License-Identifier: Apache-2.0
//
// Converts Triton to linalg: memory accesses first, while it can be seen how
// their pointers are computed, then everything else, with pointers as integers.
// A module of which some operation cannot be converted is left untouched.

#include "ConvertTritonToLinalg.h"

#include "Conversion.h"
#include "add_program_arguments/AddProgramArguments.h"
#include "aux/Aux.h"
#include "linalg_ext/LinalgExt.h"
#include "math_ext/MathExt.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/DialectConversion.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "triton_ext/FuncInliner.h"
#include "triton_ext/GpuDialects.h"
#include "triton_ext/Refuse.h"

namespace mlir::triton_ext::convert_triton_to_linalg {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_CONVERTTRITONTOLINALGPASS
#include "ConvertTritonToLinalg.h.inc"
} // namespace mlir::triton_ext::convert_triton_to_linalg

using namespace mlir;
using namespace mlir::triton_ext::convert_triton_to_linalg;
namespace tt = mlir::triton;

/// The computation of pointers that no access needs any more.
static void eraseDead(Operation *module) {
  module->walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
}

/// Ids and numbers of programs, which are for the target to provide.
static bool stays(Operation *op) {
  return isa<tt::GetProgramIdOp, tt::GetNumProgramsOp>(op);
}

/// Finds the first tensor that has a layout; one error says it of all.
static LogicalResult checkLayouts(Operation *module) {
  auto hasLayout = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getEncoding();
  };
  WalkResult result =
      module->walk([&](Operation *op) -> WalkResult {
        if (llvm::none_of(op->getResultTypes(), hasLayout) &&
            llvm::none_of(op->getOperandTypes(), hasLayout))
          return WalkResult::advance();
        return op->emitError()
               << "'" << op->getName()
               << "' cannot be converted to linalg: its tensors have layouts; "
                  "linalg is made of ttir, not of ttgir";
      });
  return failure(result.wasInterrupted());
}

namespace {
struct ConvertTritonToLinalgPass
    : mlir::triton_ext::convert_triton_to_linalg::impl::
          ConvertTritonToLinalgPassBase<ConvertTritonToLinalgPass> {
  using ConvertTritonToLinalgPassBase::ConvertTritonToLinalgPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    ConvertTritonToLinalgPassBase::getDependentDialects(registry);
    triton_ext::registerFuncInliner(registry);
  }

  void runOnOperation() override {
    triton_ext::Verdict verdict = triton_ext::judge(getOperation(), [&] {
      if (failed(checkLayouts(getOperation())))
        return failure();
      return triton_ext::refuse(getOperation(), "cannot be converted to linalg",
                                whyNot);
    });
    if (verdict == triton_ext::Verdict::Fail)
      return signalPassFailure();
    if (verdict == triton_ext::Verdict::Leave)
      return;
    convertMemory(getOperation());
    eraseDead(getOperation());

    TypeConverter converter;
    addConversions(converter);
    ConversionTarget target(getContext());
    target.markUnknownOpDynamicallyLegal([&](Operation *op) {
      if (isa_and_nonnull<tt::TritonDialect>(op->getDialect()))
        return stays(op);
      if (triton_ext::isBarrierOfThreads(op))
        return false;
      return converter.isLegal(op);
    });
    RewritePatternSet patterns(&getContext());
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                         target);
    // Not only those of the operations that MLIR's patterns know.
    target.addDynamicallyLegalOp<scf::YieldOp>(
        [&](scf::YieldOp op) { return converter.isLegal(op); });
    populateFunctionPatterns(converter, patterns);
    populateElementwisePatterns(converter, patterns);
    populateShapePatterns(converter, patterns);
    populateReducePatterns(converter, patterns);
    populateDotPatterns(converter, patterns);
    populateDebugPatterns(converter, patterns);
    if (failed(
            applyFullConversion(getOperation(), target, std::move(patterns))))
      return signalPassFailure();
    if (programArguments)
      triton_ext::add_program_arguments::addProgramArguments(getOperation());
  }
};
} // namespace
