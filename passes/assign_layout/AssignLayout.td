// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def AssignLayoutPass : Pass<"triton-ext-assign-layout", "::mlir::ModuleOp"> {
  let summary = "Give chosen operations a layout";
  let description = [{
    The operations that `line`, `op` and `kind` choose, all of those that are
    given, compute in `layout`: their operands are converted to it, and their
    results back to what the uses expect. Triton's `remove_layout_conversions`
    then decides which other operations get the layout, too, and where a
    conversion stays. So place the pass before it, for example behind
    `ttgpuir.coalesce`, which does the same with the layout that Triton chooses.

    ```mlir
    %v = tt.load %p : tensor<64x64x!tt.ptr<f32>, #a>
    // becomes
    %q = ttg.convert_layout %p : tensor<64x64x!tt.ptr<f32>, #a> -> tensor<64x64x!tt.ptr<f32>, #layout>
    %w = tt.load %q : tensor<64x64x!tt.ptr<f32>, #layout>
    %v = ttg.convert_layout %w : tensor<64x64xf32, #layout> -> tensor<64x64xf32, #a>
    ```

    Instead of `layout`, `vector` and `dimension` describe a blocked layout: a
    thread holds `vector` neighbours along `dimension`, neighbouring threads go
    on there, and Triton distributes the rest for the shape of each tensor and
    the kernel's number of warps. Tensors without that dimension are not chosen.

    Operations that can have any layout are loads, stores and atomic accesses of
    tensors of pointers, elementwise operations, and operations that make a
    tensor from none (`tt.splat`, constants, `tt.make_range`, `ttg.local_load`,
    `tt.descriptor_load`). Others are not chosen, and neither is a tensor whose
    rank the layout does not have. Triton keeps the layout of a load or a store
    of many elements; that of cheap operations it may change again.

    It is an error if no operation is chosen, unless `optional` is set, or if
    the layout does not fit the kernel, for example its number of warps.
  }];
  let options = [
    Option<"layout", "layout", "std::string", /*default=*/"",
           "The layout, as in the text of the module without aliases, such as #ttg.blocked<{...}>">,
    Option<"vector", "vector", "int64_t", /*default=*/"0",
           "Elements of a thread side by side, a power of 2; 0: the layout is in `layout`">,
    Option<"dimension", "dimension", "int64_t", /*default=*/"0",
           "The dimension along which they lie">,
    Option<"line", "line", "int64_t", /*default=*/"0",
           "The line of the kernel's source that the operations come from; 0: any">,
    Option<"opName", "op", "std::string", /*default=*/"",
           "The name of the operations, such as tt.load; empty: any">,
    Option<"kind", "kind", "std::string", /*default=*/"",
           "load, store, atomic, elementwise or source; empty: any">,
    Option<"optional", "optional", "bool", /*default=*/"false",
           "Leave a module without such operations as it is">,
  ];
  let dependentDialects = ["::mlir::triton::gpu::TritonGPUDialect"];
}
