// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def LowerLinalgExtPass : Pass<"triton-ext-lower-linalg-ext", "::mlir::ModuleOp"> {
  let summary = "Take aux, linalg_ext and math_ext apart into dialects of MLIR";
  let description = [{
    What comes out of `-triton-to-linalg` and this pass is `linalg`, `scf`,
    `memref`, `tensor`, `bufferization`, `arith`, `math` and `func` alone, with
    `llvm` where a pointer becomes a memref and where text is printed, and `cf`
    for assertions: any MLIR can go on from there. What is masked off is not
    touched.

    - `aux.view` becomes a memref descriptor around the pointer and a
      `memref.reinterpret_cast`. After `-finalize-memref-to-llvm`,
      `-reconcile-unrealized-casts` takes the descriptor's cast away.
    - A load, `linalg.copy` of such a view into an empty tensor, becomes an
      allocation, a `linalg.copy` of memory and a `bufferization.to_tensor`, so that
      no clean-up of tensors moves it across a store.
    - `linalg_ext` on tensors becomes linalg where the elements are independent,
      loops where they are not; atomics become those of `memref`.
    - Casts from and to `f8E4M3FN` and `f8E5M2` are done on bits; to nearest even,
      what is too large becomes infinity, in `f8E4M3FN` the greatest number.
      Arithmetic and comparisons of such numbers are done on `f32`.
    - Casts that round toward zero become ones to the nearest and a step back.
    - `aux.print` becomes calls of `printf`, `assert` one of `cf`, a call of the
      target's library one of `func`.

    With `program-arguments`, numbers of programs are arguments, as
    `-add-program-arguments` makes them. Attributes of `tt` are dropped; its
    operations, but for ids and numbers of programs, and those of a GPU are errors.

    ```mlir
    %v = aux.view %p to offset: [%o], sizes: [%n], strides: [1] : !llvm.ptr to memref<?xf32, strided<[1], offset: ?>>
    // becomes, with a descriptor %d of %p
    %m = builtin.unrealized_conversion_cast %d : !llvm.struct<(ptr, ptr, i64)> to memref<f32>
    %v = memref.reinterpret_cast %m to offset: [%o], sizes: [%n], strides: [1] : memref<f32> to memref<?xf32, strided<[1], offset: ?>>
    ```
  }];
  let options = [
    Option<"programArguments", "program-arguments", "bool", "true",
           "pass numbers of programs as arguments of functions">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect",
  ];
}
