// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def TritonToPtrPass : Pass<"triton-ext-triton-to-ptr", "::mlir::ModuleOp"> {
  let summary = "Turn operations on scalar pointers into those of tptr";
  let description = [{
    A scalar pointer becomes a `!ptr.ptr<#tptr.default_memory_space>`. `tt.addptr`,
    `tt.int_to_ptr` and `tt.ptr_to_int` become operations of `tptr`; `tt.bitcast`
    goes, because such a pointer does not say what it points to. `tt.load` and
    `tt.store` become `tptr.load` and `tptr.store`, inside of an `scf.if` if there is
    a mask; a masked load without another value gives 0. Loops, `scf.if` and
    `arith.select` pass the new pointers. Cache modifiers of scalars are dropped.

    An offset is extended to 64 bits before it is multiplied by the size of an
    element. Tensors of pointers stay, and so do functions, calls, branches, atomics, volatile
    loads and whatever else takes a pointer; an unrealized cast leads to them, which
    `-reconcile-ptr-casts` replaces.

    ```mlir
    %p = tt.addptr %x, %i : !tt.ptr<f32>, i32
    %v = tt.load %p : !tt.ptr<f32>
    // becomes
    %x_0 = builtin.unrealized_conversion_cast %x : !tt.ptr<f32> to !ptr.ptr<#tptr.default_memory_space>
    %size = tptr.type_offset f32 : i64
    %wide = arith.extsi %i : i32 to i64
    %bytes = arith.muli %wide, %size : i64
    %p = tptr.ptradd %x_0 %bytes : <#tptr.default_memory_space>, i64 to <#tptr.default_memory_space>
    %v = tptr.load %p : !ptr.ptr<#tptr.default_memory_space> -> f32
    ```
  }];
  let options = [
    Option<"accesses", "accesses", "bool", /*default=*/"true",
           "Whether loads and stores are turned, too">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::triton_ext::tptr::TptrDialect"];
}
