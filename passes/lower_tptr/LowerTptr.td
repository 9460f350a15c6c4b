// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def LowerTptrPass : Pass<"triton-ext-lower-tptr", "::mlir::ModuleOp"> {
  let summary = "Lower ptr and tptr to arithmetic on i64 and to views of memory";
  let description = [{
    Every `!ptr.ptr` of the module becomes an `i64`, as the other passes make of Triton's
    pointers, in tensors, vectors, memrefs and functions, too. A memref in the memory space
    `#ptr.generic_space` or `#tptr.default_memory_space` becomes one without a memory space, and
    a `!ptr.ptr_metadata` the memref that it is of.

    A load or store becomes a `memref.load` or `memref.store` through an `aux.view` of one
    element, or, if it is volatile or atomic, an `llvm.load` or `llvm.store`. `ptr.from_ptr` becomes
    an `aux.view`; `-lower-linalg-ext` lowers these. `ptr.to_ptr` becomes
    `memref.extract_aligned_pointer_as_index`. Flags such as `nuw` are dropped.

    Casts that lead from a type to itself go, and others stay; run `-reconcile-ptr-casts` first.
    `ptr.from_ptr` is an error if neither the type nor metadata say all sizes, strides and
    the offset, and `ptr.ptr_add` if it adds one value to a tensor of a dynamic shape.

    ```mlir
    %q = ptr.ptr_add %p, %bytes : !ptr.ptr<#ptr.generic_space>, i32
    %v = ptr.load %q : !ptr.ptr<#ptr.generic_space> -> f32
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
    "::mlir::tensor::TensorDialect", "::mlir::vector::VectorDialect", "::mlir::triton_ext::aux::AuxDialect", "::mlir::triton_ext::tptr::TptrDialect",
  ];
}
