// SPDX-License-Identifier: Apache-2.0
//
// Lowers the operations of aux, linalg_ext and math_ext to MLIR's own dialects.
// Also lowers arithmetic on 8-bit floats and casts that round toward zero,
// drops Triton's attributes and, by default, replaces Triton's ids and
// numbers of programs by arguments. Everything else is left untouched.

#include "Lowering.h"
#include "add_program_arguments/ProgramArguments.h"
#include "aux/Aux.h"
#include "linalg_ext/LinalgExt.h"
#include "math_ext/MathExt.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/DialectConversion.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "triton_ext/GpuDialects.h"
#include "triton_ext/Refuse.h"

#define DEBUG_TYPE "triton-ext-lower-linalg-ext"

namespace mlir::triton_ext::lower_linalg_ext {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_LOWERLINALGEXTPASS
#include "LowerLinalgExt.h.inc"
} // namespace mlir::triton_ext::lower_linalg_ext

using namespace mlir;
using namespace mlir::triton_ext;
using namespace mlir::triton_ext::lower_linalg_ext;

/// Returns whether the copy is a load: from memory into an empty tensor.
static bool isLoad(linalg::CopyOp copy) {
  return copy.getInputs()[0].getDefiningOp<bufferization::ToTensorOp>() &&
         copy.getOutputs()[0].getDefiningOp<tensor::EmptyOp>();
}

/// Returns whether only Triton knows this type or its element type.
static bool isOfTriton(Type type) {
  return isa<triton::TritonDialect>(getElementTypeOrSelf(type).getDialect());
}

/// Returns why the pass cannot lower the operation to stock MLIR; nullopt if it
/// can.
static std::optional<StringRef> whyNot(Operation *op) {
  if (isForGpu(op))
    return "it is for a GPU";
  if (isa_and_nonnull<triton::TritonDialect>(op->getDialect())) {
    // They become arguments of the kernel, or the target provides them.
    if (isa<triton::GetProgramIdOp, triton::GetNumProgramsOp>(op))
      return std::nullopt;
    return "it is Triton's (run -triton-to-linalg first)";
  }
  bool hasPointers = llvm::any_of(op->getResultTypes(), isOfTriton);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      hasPointers |= llvm::any_of(block.getArgumentTypes(), isOfTriton);
  if (auto function = dyn_cast<func::FuncOp>(op))
    hasPointers |= llvm::any_of(function.getArgumentTypes(), isOfTriton) ||
                   llvm::any_of(function.getResultTypes(), isOfTriton);
  if (hasPointers)
    return "it is on pointers of Triton's (run -triton-to-linalg first)";
  return std::nullopt;
}

namespace {
struct LowerLinalgExtPass
    : mlir::triton_ext::lower_linalg_ext::impl::LowerLinalgExtPassBase<
          LowerLinalgExtPass> {
  using LowerLinalgExtPassBase::LowerLinalgExtPassBase;

  void runOnOperation() override {
    Verdict verdict = judge(getOperation(), [&] {
      return refuse(getOperation(), "cannot be lowered", whyNot);
    });
    if (verdict == Verdict::Fail)
      return signalPassFailure();
    if (verdict == Verdict::Leave)
      return;
    ConversionTarget target(getContext());
    target.addIllegalDialect<aux::AuxDialect, linalg_ext::LinalgExtDialect,
                             math_ext::MathExtDialect>();
    target.addDynamicallyLegalOp<linalg::CopyOp>(
        [](linalg::CopyOp copy) { return !isLoad(copy); });
    target.addDynamicallyLegalOp<bufferization::MaterializeInDestinationOp>(
        [](bufferization::MaterializeInDestinationOp store) {
          return !isStoreOfLines(store);
        });
    target.markUnknownOpDynamicallyLegal(
        [](Operation *op) { return !usesFloat8(op) && !roundsTowardZero(op); });
    RewritePatternSet patterns(&getContext());
    populateMemoryPatterns(patterns);
    populateCastPatterns(patterns);
    populateStructuredPatterns(patterns);
    populateReductionPatterns(patterns);
    populateWindowPatterns(patterns);
    populateAtomicPatterns(patterns);
    populateIndexedPatterns(patterns);
    populateCallPatterns(patterns);
    populatePrintPatterns(patterns);
    populateFloat8Patterns(patterns);
    populateRoundingPatterns(patterns);
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      return signalPassFailure();
    if (programArguments)
      add_program_arguments::addProgramArguments(getOperation());
    dropAttributes(getOperation());
  }
};
} // namespace
