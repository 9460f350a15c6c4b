// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def LowerLinalgExtPass : Pass<"triton-ext-lower-linalg-ext", "::mlir::ModuleOp"> {
  let summary = "Lower aux, linalg_ext and math_ext to dialects of MLIR";
  let description = [{
    After `-triton-to-linalg` and this pass, the module contains only `linalg`,
    `scf`, `memref`, `tensor`, `bufferization`, `arith`, `math` and `func`, with
    `llvm` where a pointer becomes a memref and where text is printed, and `cf` for
    assertions, so that any build of MLIR can process it. Memory that is masked off
    is not touched.

    - `aux.view` becomes a memref descriptor around the pointer and a
      `memref.reinterpret_cast`. After `-finalize-memref-to-llvm`,
      `-reconcile-unrealized-casts` removes the cast of the descriptor.
    - A load, which is a `linalg.copy` of such a view into an empty tensor, becomes
      an allocation, a `linalg.copy` of memory and a `bufferization.to_tensor`, so
      that no simplification of tensors moves it across a store.
    - A store to memory of several lines becomes a `linalg.copy` from the buffer of
      the tensor, and a tile of several lines is copied into its padding in the same
      way. Bufferization would make a `memref.copy` of both, for which MLIR calls a
      function that copies element by element.
    - Operations of `linalg_ext` on tensors become operations of `linalg` if the
      elements are independent, otherwise loops; atomics become those of `memref`.
    - Casts from and to `f8E4M3FN` and `f8E5M2` are done on bits and round to nearest
      even. A value that is too large becomes infinity, or the greatest number of
      `f8E4M3FN`. Arithmetic and comparisons of such numbers are done in `f32`.
    - Casts that round toward zero become casts to the nearest number and, where
      that is further from zero, a step back.
    - `aux.print` becomes calls of `printf`, assertions become `cf.assert`, and
      calls of the target's library become `func.call`.

    With `program-arguments`, the numbers and ids of programs are arguments, as with
    `-add-program-arguments`. Attributes of `tt` are dropped. Operations of `tt`,
    other than those that ask for ids and numbers of programs, are errors, and so are
    operations for GPUs.

    ```mlir
    %v = aux.view %p to offset: [%o], sizes: [%n], strides: [1] : !llvm.ptr to memref<?xf32, strided<[1], offset: ?>>
    // becomes, with a descriptor %d of %p
    %m = builtin.unrealized_conversion_cast %d : !llvm.struct<(ptr, ptr, i64)> to memref<f32>
    %v = memref.reinterpret_cast %m to offset: [%o], sizes: [%n], strides: [1] : memref<f32> to memref<?xf32, strided<[1], offset: ?>>
    ```
  }];
  let options = [
    Option<"programArguments", "program-arguments", "bool", "true",
           "Pass the numbers and ids of programs as arguments of functions">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::mlir::triton::TritonDialect",
  ];
}
