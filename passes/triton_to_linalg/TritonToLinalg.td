// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def TritonToLinalgPass : Pass<"triton-ext-triton-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Lower Triton to linalg on tensors, with all passes that this takes";
  let description = [{
    One pass that runs, in this order:
    `-triton-rewrite-tensor-descriptor-to-pointer`,
    `-wrap-func-body-with-single-block`, `-inline-calls`,
    `-convert-ptx-to-arith`, `-expand-dot-scaled`, `-canonicalize`,
    `-canonicalize-triton`, `-scalarize-induction`, `-canonicalize`,
    `-carry-strides`, `-ptr-strength-reduction`, `-canonicalize`,
    `-convert-triton-to-linalg`, `-extract-like-move-backward`, `-canonicalize`,
    `-convert-arith-to-linalg`, `-convert-math-to-linalg`, `-cse`,
    `-loop-invariant-code-motion`, `-wrap-func-body-with-single-block`.

    `program-arguments` runs `-add-program-arguments` after the conversion.
  }];
  let options = [
    Option<"programArguments", "program-arguments", "bool", "false",
           "Pass the numbers and ids of programs as arguments of functions">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::triton_ext::aux::AuxDialect", "::mlir::triton_ext::linalg_ext::LinalgExtDialect",
    "::mlir::triton_ext::math_ext::MathExtDialect",
  ];
}
