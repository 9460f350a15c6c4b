// SPDX-License-Identifier: Apache-2.0
//
// Runs the passes from Triton to linalg by way of tts as one pass. It contains
// no algorithm of its own.

#include "add_program_arguments/AddProgramArguments.h"
#include "analysis/DescriptorChecks.h"
#include "aux/Aux.h"
#include "carry_strides/CarryStrides.h"
#include "descriptor_to_structured/DescriptorToStructured.h"
#include "linalg_ext/LinalgExt.h"
#include "lower_structured/LowerStructured.h"
#include "lower_tptr/LowerTptr.h"
#include "math_ext/MathExt.h"
#include "reconcile_ptr_casts/ReconcilePtrCasts.h"
#include "scalarize_induction/ScalarizeInduction.h"
#include "structured_to_memref/StructuredToMemref.h"
#include "tptr/Tptr.h"
#include "triton_ext/FuncInliner.h"
#include "triton_ptr_to_memref/TritonPtrToMemref.h"
#include "triton_to_linalg/TritonToLinalg.h"
#include "triton_to_structured/TritonToStructured.h"
#include "tts/Tts.h"

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

#define DEBUG_TYPE "triton-ext-triton-to-linalg-structured"

namespace mlir::triton_ext::triton_to_linalg_structured {
/// What accesses by tensor descriptors become first.
enum class Descriptors { Direct, Pointers };

#define GEN_PASS_DECL
#define GEN_PASS_DEF_TRITONTOLINALGSTRUCTUREDPASS
#include "TritonToLinalgStructured.h.inc"
} // namespace mlir::triton_ext::triton_to_linalg_structured

using namespace mlir;
using namespace mlir::triton_ext;

using triton_to_linalg_structured::Descriptors;

static void addPasses(OpPassManager &pm, bool programArguments, bool memrefs,
                      Descriptors descriptors) {
  if (descriptors == Descriptors::Direct)
    pm.addPass(descriptor_to_structured::createDescriptorToStructuredPass());
  else
    pm.addPass(triton::createTritonRewriteTensorDescriptorToPointer());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(scalarize_induction::createScalarizeInductionPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(carry_strides::createCarryStridesPass());
  pm.addPass(createCanonicalizerPass());
  std::unique_ptr<Pass> structured =
      triton_to_structured::createTritonToStructuredPass();
  // Boxes with low bounds are views; see convert_triton_to_linalg.
  (void)structured->initializeOptions("low-bounds=false",
                                      [](const Twine &) { return failure(); });
  pm.addPass(std::move(structured));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(structured_to_memref::createStructuredToMemrefPass());
  pm.addPass(lower_structured::createLowerStructuredPass());
  if (memrefs)
    pm.addPass(triton_ptr_to_memref::createTritonPtrToMemrefPass());
  pm.addPass(triton_to_linalg::createTritonToLinalgPass());
  if (memrefs) {
    pm.addPass(reconcile_ptr_casts::createReconcilePtrCastsPass());
    pm.addPass(lower_tptr::createLowerTptrPass());
    pm.addPass(createCSEPass());
  }
  if (programArguments)
    pm.addPass(add_program_arguments::createAddProgramArgumentsPass());
}

namespace {
struct TritonToLinalgStructuredPass
    : mlir::triton_ext::triton_to_linalg_structured::impl::
          TritonToLinalgStructuredPassBase<TritonToLinalgStructuredPass> {
  using TritonToLinalgStructuredPassBase::TritonToLinalgStructuredPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    TritonToLinalgStructuredPassBase::getDependentDialects(registry);
    registerFuncInliner(registry);
  }

  void runOnOperation() override {
    if (failed(analysis::checkDescriptors(getOperation())))
      return signalPassFailure();
    OpPassManager pm(ModuleOp::getOperationName());
    addPasses(pm, programArguments, memrefArguments, descriptors);
    if (failed(runPipeline(pm, getOperation())))
      signalPassFailure();
  }
};
} // namespace
