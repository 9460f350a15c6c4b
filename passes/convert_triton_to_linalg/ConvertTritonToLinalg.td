// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def ConvertTritonToLinalgPass : Pass<"triton-ext-convert-triton-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Convert Triton to linalg on tensors";
  let description = [{
    The operations of `tt` become structured ones on tensors. What `arith` and
    `math` do on tensors stays, for the passes that convert these; so do
    `tt.get_program_id` and `tt.get_num_programs`, unless `program-arguments` has
    them as arguments, as `-add-program-arguments` makes them. Pointers become
    `i64`.

    **Contiguous and strided accesses**, pointers that grow evenly along each
    dimension and a mask that is true in a box, become an `aux.view` of exactly
    the elements of that box, `bufferization.to_tensor` and `linalg.copy`, with
    `linalg_ext.pad` around it, and for stores
    `bufferization.materialize_in_destination`. What is masked off is never
    part of a view. Other accesses become `linalg_ext.gather` and
    `linalg_ext.scatter`, those of a scalar `memref.load` and `memref.store`, in
    an `scf.if` where there is a mask. A masked load without another value
    gives 0. Offsets are 64 bits wide. As in Triton's own analyses, sums and
    products of offsets are taken not to wrap.

    **An operation that cannot be converted** is an error at its location that
    says why; see docs/linalg.md for the list.

    ```mlir
    %v = tt.load %p, %m : tensor<1024x!tt.ptr<f32>>
    // becomes
    %view = aux.view %ptr to offset: [%o], sizes: [%n], strides: [1] : !llvm.ptr to memref<?xf32, strided<[1], offset: ?>>
    %t = bufferization.to_tensor %view restrict writable : memref<?xf32, strided<[1], offset: ?>> to tensor<?xf32>
    %e = tensor.empty(%n) : tensor<?xf32>
    %c = linalg.copy ins(%t : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    %w = tensor.empty() : tensor<1024xf32>
    %v = linalg_ext.pad ins(%c : tensor<?xf32>) outs(%w : tensor<1024xf32>) pvalue(%zero : f32) low = [0] high = [%rest] { ... }
    ```
  }];
  let options = [
    Option<"programArguments", "program-arguments", "bool", "false",
           "pass numbers of programs as arguments of functions">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::triton_ext::aux::AuxDialect", "::mlir::triton_ext::linalg_ext::LinalgExtDialect",
    "::mlir::triton_ext::math_ext::MathExtDialect",
  ];
}
