// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def TritonToLinalgStructuredPass
    : Pass<"triton-ext-triton-to-linalg-structured", "::mlir::ModuleOp"> {
  let summary = "Lower Triton to linalg on tensors by way of structured accesses, with all passes that this takes";
  let description = [{
    One pass that runs, in this order: `-descriptor-to-structured`, `-triton-rewrite-tensor-descriptor-to-pointer`,
    `-canonicalize`, `-scalarize-induction`, `-canonicalize`, `-carry-strides`,
    `-canonicalize`, `-triton-to-structured=low-bounds=false`,
    `-canonicalize`, `-structured-to-memref`, `-lower-structured`, and `-triton-to-linalg`, which converts whatever is not a structured load or store.

    The accesses become the same views as in `-triton-to-linalg` alone, but passes and
    tools that know triton-shared's dialect can see and change them.

    With `descriptors=pointers`, `-descriptor-to-structured` does not run. Then accesses by
    tensor descriptors become accesses by tensors of pointers, in which `-triton-to-linalg`
    finds the block again.

    `program-arguments` runs `-add-program-arguments` at the end.

    `memref-arguments` is triton-shared's calling convention: functions take an unranked
    memref in place of a pointer. It runs `-triton-ptr-to-memref` before
    `-triton-to-linalg`, and `-reconcile-ptr-casts`, `-lower-tptr` and `-cse` after it.
  }];
  let options = [
    Option<"descriptors", "descriptors", "::mlir::triton_ext::triton_to_linalg_structured::Descriptors",
           "::mlir::triton_ext::triton_to_linalg_structured::Descriptors::Direct",
           "Whether accesses by tensor descriptors become operations of tts directly, or tensors of pointers first",
           [{::llvm::cl::values(
             clEnumValN(::mlir::triton_ext::triton_to_linalg_structured::Descriptors::Direct, "direct",
                        "operations of tts"),
             clEnumValN(::mlir::triton_ext::triton_to_linalg_structured::Descriptors::Pointers, "pointers",
                        "tensors of pointers"))}]>,
    Option<"programArguments", "program-arguments", "bool", "false",
           "Pass the numbers and ids of programs as arguments of functions">,
    Option<"memrefArguments", "memref-arguments", "bool", "false",
           "Take unranked memrefs as arguments of functions in place of pointers">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::triton_ext::aux::AuxDialect", "::mlir::triton_ext::linalg_ext::LinalgExtDialect",
    "::mlir::triton_ext::math_ext::MathExtDialect", "::mlir::triton_ext::tptr::TptrDialect",
    "::mlir::triton_ext::tts::TtsDialect",
  ];
}
