// SPDX-License-Identifier: Apache-2.0
//
// Takes the operations of aux, linalg_ext and math_ext apart into those of
// MLIR's own dialects. Everything else is left untouched, but for what only
// Triton knows: numbers of programs and attributes.

#include "LowerLinalgExt.h"

#include "Lowering.h"
#include "add_program_arguments/AddProgramArguments.h"
#include "aux/Aux.h"
#include "linalg_ext/LinalgExt.h"
#include "math_ext/MathExt.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::triton_ext::lower_linalg_ext {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_LOWERLINALGEXTPASS
#include "LowerLinalgExt.h.inc"
} // namespace mlir::triton_ext::lower_linalg_ext

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::lower_linalg_ext;

/// A load as a whole: a copy of memory into a tensor that nothing is in.
static bool isLoad(linalg::CopyOp copy) {
  return copy.getInputs()[0].getDefiningOp<bufferization::ToTensorOp>() &&
         copy.getOutputs()[0].getDefiningOp<tensor::EmptyOp>();
}

namespace {
struct LowerLinalgExtPass
    : mlir::triton_ext::lower_linalg_ext::impl::LowerLinalgExtPassBase<
          LowerLinalgExtPass> {
  using LowerLinalgExtPassBase::LowerLinalgExtPassBase;

  void runOnOperation() override {
    ConversionTarget target(getContext());
    target.addIllegalDialect<aux::AuxDialect, linalg_ext::LinalgExtDialect,
                             math_ext::MathExtDialect>();
    target.addDynamicallyLegalOp<linalg::CopyOp>(
        [](linalg::CopyOp copy) { return !isLoad(copy); });
    target.markUnknownOpDynamicallyLegal(
        [](Operation *op) { return !usesFloat8(op); });
    RewritePatternSet patterns(&getContext());
    populateMemoryPatterns(patterns);
    populateStructuredPatterns(patterns);
    populateReductionPatterns(patterns);
    populateWindowPatterns(patterns);
    populateAtomicPatterns(patterns);
    populateIndexedPatterns(patterns);
    populateCallPatterns(patterns);
    populateFloat8Patterns(patterns);
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      return signalPassFailure();
    if (programArguments)
      add_program_arguments::addProgramArguments(getOperation());
    dropAttributes(getOperation());
  }
};
} // namespace
