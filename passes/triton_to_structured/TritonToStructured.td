// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def TritonToStructuredPass : Pass<"triton-ext-triton-to-structured", "::mlir::ModuleOp"> {
  let summary = "Turn loads, stores and atomics of strided pointers into operations of tts";
  let description = [{
    A `tt.load`, `tt.store`, `tt.atomic_rmw` or `tt.atomic_cas` of a tensor becomes
    the operation of `tts` if its pointers are a scalar base plus strides times
    indices, its mask is a box that begins at index 0, and the default of a load is
    one scalar. Everything else stays: volatile loads, accesses of scalars, and
    stores that write to one address several times.

    Run `-triton-ext-scalarize-induction` and `-canonicalize` first, so that
    pointers that a loop advances are strided inside of it. `-canonicalize`
    afterwards removes the pointer arithmetic that is left without a use.

    ```mlir
    %p = tt.addptr %base, %offsets : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %v = tt.load %p, %mask : tensor<128x!tt.ptr<f32>>
    // becomes, if %base is the splat of %x, %offsets counts from %o on, and %mask
    // is true below %n
    %p = tts.make_tptr %x to sizes: [128], strides: [1], offsets: [%o], shape: [0], order: []
        : <f32> to tensor<128x!tt.ptr<f32>>
    %v = "tts.load"(%p, %n) <{...}> : (tensor<128x!tt.ptr<f32>>, index) -> tensor<128xf32>
    ```
  }];
  let options = [
    Option<"atomics", "atomics", "bool", /*default=*/"true",
           "Whether atomics are turned, too">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::triton::TritonDialect",
                           "::mlir::triton_ext::tts::TtsDialect"];
}
