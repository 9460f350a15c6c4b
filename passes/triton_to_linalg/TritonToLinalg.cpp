// SPDX-License-Identifier: Apache-2.0
//
// Runs the passes from Triton to linalg as one pass. It contains no algorithm
// of its own.

#include "add_program_arguments/AddProgramArguments.h"
#include "analysis/DescriptorChecks.h"
#include "aux/Aux.h"
#include "canonicalize_triton/CanonicalizeTriton.h"
#include "carry_strides/CarryStrides.h"
#include "convert_arith_to_linalg/ConvertArithToLinalg.h"
#include "convert_math_to_linalg/ConvertMathToLinalg.h"
#include "convert_ptx_to_arith/ConvertPtxToArith.h"
#include "convert_triton_to_linalg/ConvertTritonToLinalg.h"
#include "expand_dot_scaled/ExpandDotScaled.h"
#include "extract_like_move_backward/ExtractLikeMoveBackward.h"
#include "inline_calls/InlineCalls.h"
#include "linalg_ext/LinalgExt.h"
#include "math_ext/MathExt.h"
#include "ptr_strength_reduction/PtrStrengthReduction.h"
#include "scalarize_induction/ScalarizeInduction.h"
#include "triton_ext/FuncInliner.h"
#include "wrap_func_body_with_single_block/WrapFuncBodyWithSingleBlock.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "triton/Dialect/Triton/Transforms/Passes.h"

#define DEBUG_TYPE "triton-ext-triton-to-linalg"

namespace mlir::triton_ext::triton_to_linalg {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_TRITONTOLINALGPASS
#include "TritonToLinalg.h.inc"
} // namespace mlir::triton_ext::triton_to_linalg

using namespace mlir;
using namespace mlir::triton_ext;

static void addPasses(OpPassManager &pm, bool programArguments) {
  pm.addPass(triton::createTritonRewriteTensorDescriptorToPointer());
  pm.addPass(wrap_func_body_with_single_block::
                 createWrapFuncBodyWithSingleBlockPass());
  pm.addPass(inline_calls::createInlineCallsPass());
  pm.addPass(convert_ptx_to_arith::createConvertPtxToArithPass());
  pm.addPass(expand_dot_scaled::createExpandDotScaledPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(canonicalize_triton::createCanonicalizeTritonPass());
  pm.addPass(scalarize_induction::createScalarizeInductionPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(carry_strides::createCarryStridesPass());
  pm.addPass(ptr_strength_reduction::createPtrStrengthReductionPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(convert_triton_to_linalg::createConvertTritonToLinalgPass());
  if (programArguments)
    pm.addPass(add_program_arguments::createAddProgramArgumentsPass());
  pm.addPass(extract_like_move_backward::createExtractLikeMoveBackwardPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(convert_arith_to_linalg::createConvertArithToLinalgPass());
  pm.addPass(convert_math_to_linalg::createConvertMathToLinalgPass());
  pm.addPass(createCSEPass());
  pm.addPass(createLoopInvariantCodeMotionPass());
  pm.addPass(wrap_func_body_with_single_block::
                 createWrapFuncBodyWithSingleBlockPass());
}

namespace {
struct TritonToLinalgPass
    : mlir::triton_ext::triton_to_linalg::impl::TritonToLinalgPassBase<
          TritonToLinalgPass> {
  using TritonToLinalgPassBase::TritonToLinalgPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    TritonToLinalgPassBase::getDependentDialects(registry);
    registerFuncInliner(registry);
  }

  void runOnOperation() override {
    if (failed(analysis::checkDescriptors(getOperation())))
      return signalPassFailure();
    OpPassManager pm(ModuleOp::getOperationName());
    addPasses(pm, programArguments);
    if (failed(runPipeline(pm, getOperation())))
      signalPassFailure();
  }
};
} // namespace
