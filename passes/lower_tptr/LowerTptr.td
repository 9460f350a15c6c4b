// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def LowerTptrPass : Pass<"triton-ext-lower-tptr", "::mlir::ModuleOp"> {
  let summary = "Lower tptr to arithmetic on i64 and to views of memory";
  let description = [{
    A `!ptr.ptr` becomes an `i64`, as the other passes make of Triton's pointers, in
    functions, calls, branches, loops, `scf.if` and `arith.select`, too. An access becomes a
    `memref.load` or `memref.store` through an `aux.view` of one element, and
    `tptr.to_memref` an `aux.view`; `-lower-linalg-ext` lowers these. `tptr.from_memref` becomes
    `memref.extract_aligned_pointer_as_index`.

    An unrealized cast between a `!ptr.ptr` and an `i64` goes, and others, and operations that it does not know, stay, with a
    cast; run `-reconcile-ptr-casts` first.

    ```mlir
    %q = tptr.ptradd %p %bytes : <#tptr.default_memory_space>, i32 to <#tptr.default_memory_space>
    %v = tptr.load %q : !ptr.ptr<#tptr.default_memory_space> -> f32
    // becomes
    %wide = arith.extsi %bytes : i32 to i64
    %q = arith.addi %p, %wide : i64
    %ptr = llvm.inttoptr %q : i64 to !llvm.ptr
    %view = aux.view %ptr to offset: [0], sizes: [1], strides: [1] : !llvm.ptr to memref<1xf32>
    %c0 = arith.constant 0 : index
    %v = memref.load %view[%c0] : memref<1xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
    "::mlir::triton_ext::aux::AuxDialect", "::mlir::triton_ext::tptr::TptrDialect",
  ];
}
