// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def UnstructuredToMemrefPass : Pass<"triton-ext-unstructured-to-memref", "::mlir::ModuleOp"> {
  let summary = "Turn gathers and scatters of tts into accesses of memory by index";
  let description = [{
    A `tts.gather` or `tts.scatter` becomes what `-convert-triton-to-linalg` makes of
    accesses that are not strided: an `aux.view` of unbounded memory from the pointer
    on, and `linalg_ext.gather` or `linalg_ext.scatter`. With an offset that is a
    scalar, it becomes a `memref.load` or `memref.store`, in an `scf.if` if it has a
    mask. Memory that is masked off is not touched.

    Everything else stays: other operations of `tts`, tensors without dimensions,
    and tensors of a size that is not known.
    `-lower-structured` makes operations of Triton of them.

    ```mlir
    %v = tts.gather %x[%i] mask = %m default = %z : (<f32>, tensor<64xi32>) -> tensor<64xf32>
    // becomes, with %ptr the address of %x, %w the offsets as tensor<64x1xi64>, %d a tensor of %z
    %view = aux.view %ptr to offset: [0], sizes: [...], strides: [1] : !llvm.ptr to memref<...xf32, strided<[1]>>
    %t = bufferization.to_tensor %view restrict writable : memref<...xf32, strided<[1]>> to tensor<...xf32>
    %g = linalg_ext.gather dimension_map = [0] ins(%t, %w, %m) outs(%d : tensor<64x1xf32>) {...} -> tensor<64x1xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::mlir::triton_ext::aux::AuxDialect",
    "::mlir::triton_ext::linalg_ext::LinalgExtDialect",
  ];
}
