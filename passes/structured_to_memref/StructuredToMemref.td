// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def StructuredToMemrefPass : Pass<"triton-ext-structured-to-memref", "::mlir::ModuleOp"> {
  let summary = "Turn the loads and stores of tts into copies from and to views of memory";
  let description = [{
    A `tts.load` or `tts.store` whose pointers are made in sight becomes what
    `-convert-triton-to-linalg` makes of strided accesses: an `aux.view` of exactly
    the elements that are accessed, and `linalg.copy` or
    `bufferization.materialize_in_destination`.

    **Wrap-around.** A loop visits the runs of elements between two places where
    addresses wrap around, which are at most two if the modulus is at least the size
    of the dimension; several dimensions take nested loops.

    **One dimension of any offsets.** A loop visits its indices, and accesses what is
    strided along the other dimensions as one view. An index at which the mask of the
    pointers is false is left out.

    Everything else stays: other operations of `tts`, and accesses whose pointers come
    from elsewhere, such as an argument of a block. `-lower-structured` makes operations
    of Triton of them. `-canonicalize` afterwards removes the pointers that are left
    without a use.

    ```mlir
    %p = tts.make_tptr %x to sizes: [128], strides: [1], offsets: [%o], shape: [0], order: []
        : <f32> to tensor<128x!tt.ptr<f32>>
    %v = "tts.load"(%p) <{...}> : (tensor<128x!tt.ptr<f32>>) -> tensor<128xf32>
    // becomes, with %ptr the address of %x
    %view = aux.view %ptr to offset: [%o], sizes: [128], strides: [1] : !llvm.ptr to memref<128xf32, strided<[1], offset: ?>>
    %t = bufferization.to_tensor %view restrict writable : memref<128xf32, strided<[1], offset: ?>> to tensor<128xf32>
    %e = tensor.empty() : tensor<128xf32>
    %v = linalg.copy ins(%t : tensor<128xf32>) outs(%e : tensor<128xf32>) -> tensor<128xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::mlir::triton_ext::aux::AuxDialect",
    "::mlir::triton_ext::linalg_ext::LinalgExtDialect",
  ];
}
