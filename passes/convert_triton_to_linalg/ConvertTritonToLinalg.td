// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def ConvertTritonToLinalgPass : Pass<"triton-ext-convert-triton-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Convert Triton to linalg on tensors";
  let description = [{
    The operations of `tt` become structured operations on tensors. Operations of
    `arith` and `math` on tensors stay, for the passes that convert these. So do
    `tt.get_program_id` and `tt.get_num_programs`, unless the option
    `program-arguments` makes them arguments, as `-add-program-arguments` does.
    Pointers become `i64`.

    **Contiguous and strided accesses** have pointers with a stride along each
    dimension and a mask that is true in a box. They become an `aux.view` of exactly
    the elements of that box. A load adds `bufferization.to_tensor`, `linalg.copy`
    and, around them, `linalg_ext.pad`; a store adds
    `bufferization.materialize_in_destination`. Elements that are masked off are
    never part of a view. As in Triton's own analyses, sums and products of offsets
    are assumed not to wrap. Offsets are 64 bits wide.

    **Accesses by row** have pointers with a stride along each dimension but one, or a
    mask that is the conjunction of a box and of any masks along one dimension. They
    become a loop over this dimension, with a view for each index. In the loop,
    an `scf.if` leaves out the rows that are masked off.

    **Other accesses** become `linalg_ext.gather` and `linalg_ext.scatter`; accesses
    of a scalar become `memref.load` and `memref.store`, inside of an `scf.if` if
    there is a mask. A masked load without another value gives 0.

    **Masks that are data**, such as the condition of an `arith.select`, stay
    comparisons of elements, which later passes can fuse with what uses them. With
    the option `fill-masks`, a mask that is true in a box becomes a fill of the box,
    and a select by it a copy of the box. That is faster if elementwise operations
    are not fused, and slower otherwise. It assumes that sums in the comparison do not
    wrap.

    **An operation that cannot be converted** is an error at its location that
    gives the reason, and the module stays as it was; docs/linalg.md lists them.

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
           "Pass the numbers and ids of programs as arguments of functions">,
    Option<"fillMasks", "fill-masks", "bool", "false",
           "Fill and copy boxes in place of comparisons and selects by masks">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::triton_ext::aux::AuxDialect", "::mlir::triton_ext::linalg_ext::LinalgExtDialect",
    "::mlir::triton_ext::math_ext::MathExtDialect",
  ];
}
