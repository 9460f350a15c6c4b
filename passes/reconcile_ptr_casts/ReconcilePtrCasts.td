// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def ReconcilePtrCastsPass : Pass<"triton-ext-reconcile-ptr-casts", "::mlir::ModuleOp"> {
  let summary = "Replace casts between memrefs, pointers and addresses by operations";
  let description = [{
    A `builtin.unrealized_conversion_cast` between an unranked memref, a `!ptr.ptr`, a
    pointer of Triton and an `i64` becomes operations of `ptr` and `tptr`, or of Triton for its
    own pointers. Of consecutive casts, the last one starts from the first one's operand,
    and the others go if nothing else uses them. Other casts stay.

    A memref that is made of a pointer has one element, because nobody knows how many
    there are; it is for functions that take unranked memrefs, and that
    only want the address.

    ```mlir
    %p = builtin.unrealized_conversion_cast %m : memref<*xf32> to !ptr.ptr<#ptr.generic_space>
    // becomes
    %c = memref.cast %m : memref<*xf32> to memref<1xf32>
    %s = memref.memory_space_cast %c : memref<1xf32> to memref<1xf32, #ptr.generic_space>
    %p = ptr.to_ptr %s : memref<1xf32, #ptr.generic_space> -> !ptr.ptr<#ptr.generic_space>
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::triton::TritonDialect",
                           "::mlir::triton_ext::tptr::TptrDialect"];
}
