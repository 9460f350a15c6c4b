// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def TritonPtrToMemrefPass : Pass<"triton-ext-triton-ptr-to-memref", "::mlir::ModuleOp"> {
  let summary = "Make the pointers that functions take and return memrefs";
  let description = [{
    Arguments and results of functions that are pointers become unranked memrefs of
    what they point to. In the bodies, a `builtin.unrealized_conversion_cast` leads from
    the memref to the pointer, and in calls and returns the other way;
    `-reconcile-ptr-casts` replaces the casts. Tensors of pointers stay, and so do
    attributes of arguments.

    ```mlir
    tt.func @f(%x: !tt.ptr<f32>) {
      %v = tt.load %x : !tt.ptr<f32>
    // becomes
    tt.func @f(%m: memref<*xf32>) {
      %x = builtin.unrealized_conversion_cast %m : memref<*xf32> to !tt.ptr<f32>
      %v = tt.load %x : !tt.ptr<f32>
    ```
  }];
  let options = [
    Option<"publicOnly", "public-only", "bool", /*default=*/"false",
           "Leave functions as they are that the module itself calls">,
  ];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}
