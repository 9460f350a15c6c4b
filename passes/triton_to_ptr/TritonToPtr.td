// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def TritonToPtrPass : Pass<"triton-ext-triton-to-ptr", "::mlir::ModuleOp"> {
  let summary = "Turn operations on pointers into those of ptr and tptr";
  let description = [{
    A scalar pointer becomes a `!ptr.ptr<#ptr.generic_space>`. `tt.addptr` becomes a `ptr.ptr_add`,
    and `tt.int_to_ptr` and `tt.ptr_to_int` become the casts of `tptr`; `tt.bitcast`
    goes, because such a pointer does not say what it points to. `tt.load` and
    `tt.store` become `ptr.load` and `ptr.store`, inside of an `scf.if` if there is
    a mask; a masked load without another value gives 0. Loops, `scf.if` and
    `arith.select` pass the new pointers. Cache modifiers are dropped.

    An offset is extended to 64 bits before it is multiplied by the size of an
    element. Functions, calls, branches, atomics and whatever else takes a pointer stay; an
    unrealized cast leads to them, which `-reconcile-ptr-casts` replaces.

    With `tensors`, the same happens to tensors of pointers. A load or store becomes a
    `linalg.generic`, which accesses memory element by element. Operations that only move
    elements, such as `tt.splat` and `tt.trans`, move addresses. Casts between pointers and
    addresses lead to whatever else takes such a tensor.

    ```mlir
    %p = tt.addptr %x, %i : !tt.ptr<f32>, i32
    %v = tt.load %p : !tt.ptr<f32>
    // becomes
    %x_0 = builtin.unrealized_conversion_cast %x : !tt.ptr<f32> to !ptr.ptr<#ptr.generic_space>
    %size = ptr.type_offset f32 : i64
    %wide = arith.extsi %i : i32 to i64
    %bytes = arith.muli %wide, %size : i64
    %p = ptr.ptr_add %x_0, %bytes : !ptr.ptr<#ptr.generic_space>, i64
    %v = ptr.load %p : !ptr.ptr<#ptr.generic_space> -> f32
    ```
  }];
  let options = [
    Option<"accesses", "accesses", "bool", /*default=*/"true",
           "Whether loads and stores are turned, too">,
    Option<"tensors", "tensors", "bool", /*default=*/"false",
           "Whether tensors of pointers are turned, too">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::triton_ext::tptr::TptrDialect"];
}
