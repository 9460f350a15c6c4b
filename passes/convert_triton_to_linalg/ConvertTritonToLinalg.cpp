// SPDX-License-Identifier: Apache-2.0
//
// Converts Triton to linalg: first memory accesses, while the IR still shows
// how their pointers are computed, then everything else, with pointers as
// integers. A module with an operation that cannot be converted is left
// untouched.

#include "Conversion.h"
#include "add_program_arguments/ProgramArguments.h"
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

#define DEBUG_TYPE "triton-ext-convert-triton-to-linalg"

namespace mlir::triton_ext::convert_triton_to_linalg {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_CONVERTTRITONTOLINALGPASS
#include "ConvertTritonToLinalg.h.inc"
} // namespace mlir::triton_ext::convert_triton_to_linalg

using namespace mlir;
using namespace mlir::triton_ext::convert_triton_to_linalg;
namespace tt = mlir::triton;

/// Erases dead operations, such as the computation of pointers that no access
/// needs any more.
static void eraseDead(Operation *module) {
  module->walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
}

/// Returns whether this operation of Triton is legal after the conversion,
/// because the target provides its value.
static bool stays(Operation *op) {
  return isa<tt::GetProgramIdOp, tt::GetNumProgramsOp>(op);
}

/// Returns whether `op` has a tensor with a size that is not known.
static bool isDynamic(Operation *op) {
  auto isDynamicTensor = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && !tensor.hasStaticShape();
  };
  return llvm::any_of(op->getOperandTypes(), isDynamicTensor) ||
         llvm::any_of(op->getResultTypes(), isDynamicTensor);
}

/// Returns why neither step of the conversion takes `op`, or nothing.
static Reason whyNot(Operation *op, const PatternSet &memory,
                     const PatternSet &others) {
  if (triton_ext::isForGpu(op) && !triton_ext::isBarrierOfThreads(op))
    return "it is for a GPU";
  bool isOfTriton = isa_and_nonnull<tt::TritonDialect>(op->getDialect());
  if (isOfTriton && !isa<tt::CallOp, tt::ReturnOp>(op) && isDynamic(op))
    return "a size of its tensors is not known";
  for (const PatternSet *patterns : {&memory, &others})
    if (patterns->isFor(op))
      return patterns->whyNot(op);
  if (op->getName().getDialectNamespace() == "tts")
    return "it is structured (run -lower-structured first, or "
           "-triton-to-linalg-structured)";
  // A terminator such as tt.reduce.return goes with the operation around it.
  if (!isOfTriton || stays(op) || op->hasTrait<OpTrait::IsTerminator>())
    return std::nullopt;
  return "it is not known";
}

/// Emits an error at the first tensor that has a layout, and no further ones:
/// one is enough.
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

  void runOnOperation() override;

private:
  LogicalResult convertMemory(PatternSet &&patterns);
  LogicalResult convertOthers(PatternSet &&patterns,
                              const TypeConverter &converter);
};
} // namespace

/// Converts memory accesses; everything else is legal.
LogicalResult ConvertTritonToLinalgPass::convertMemory(PatternSet &&patterns) {
  ConversionTarget target(getContext());
  target.markUnknownOpDynamicallyLegal(
      [&](Operation *op) { return !patterns.isFor(op); });
  FrozenRewritePatternSet frozen(std::move(patterns.patterns));
  return applyPartialConversion(getOperation(), target, frozen);
}

/// Converts the remaining operations of Triton, and operations of other
/// dialects on pointers.
LogicalResult
ConvertTritonToLinalgPass::convertOthers(PatternSet &&patterns,
                                         const TypeConverter &converter) {
  ConversionTarget target(getContext());
  target.markUnknownOpDynamicallyLegal([&](Operation *op) {
    if (isa_and_nonnull<tt::TritonDialect>(op->getDialect()))
      return stays(op);
    if (triton_ext::isBarrierOfThreads(op))
      return false;
    return converter.isLegal(op);
  });
  scf::populateSCFStructuralTypeConversionsAndLegality(
      converter, patterns.patterns, target);
  // MLIR's legality of scf.yield covers only some parent operations. This rule
  // covers the others, such as scf.execute_region.
  target.addDynamicallyLegalOp<scf::YieldOp>(
      [&](scf::YieldOp op) { return converter.isLegal(op); });
  FrozenRewritePatternSet frozen(std::move(patterns.patterns));
  return applyFullConversion(getOperation(), target, frozen);
}

void ConvertTritonToLinalgPass::runOnOperation() {
  AllPointerFacts facts;
  PatternSet memory(&getContext()), others(&getContext());
  populateMemoryPatterns(facts, memory);
  TypeConverter converter;
  addConversions(converter);
  populateFunctionPatterns(converter, others);
  populateElementwisePatterns(converter, others);
  populateShapePatterns(converter, others);
  populateReducePatterns(converter, others);
  populateDotPatterns(converter, others);
  populateDebugPatterns(converter, others);

  triton_ext::Verdict verdict = triton_ext::judge(getOperation(), [&] {
    if (failed(checkLayouts(getOperation())))
      return failure();
    return triton_ext::refuse(
        getOperation(), "cannot be converted to linalg",
        [&](Operation *op) { return whyNot(op, memory, others); });
  });
  if (verdict == triton_ext::Verdict::Fail)
    return signalPassFailure();
  if (verdict == triton_ext::Verdict::Leave)
    return;

  facts = getPointerFacts(getOperation());
  if (failed(convertMemory(std::move(memory))))
    return signalPassFailure();
  eraseDead(getOperation());
  if (fillMasks) {
    useBoxes(getOperation());
    eraseDead(getOperation());
  }
  if (failed(convertOthers(std::move(others), converter)))
    return signalPassFailure();
  if (programArguments)
    triton_ext::add_program_arguments::addProgramArguments(getOperation());
}
