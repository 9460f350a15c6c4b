// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def LowerStructuredPass : Pass<"triton-ext-lower-structured", "::mlir::ModuleOp"> {
  let summary = "Turn the operations of tts into those of Triton";
  let description = [{
    Pointers of `tts` become sums of a splat and of one tensor of i64 offsets for
    each dimension, bounds become masks, and accesses become `tt.load`, `tt.store`,
    `tt.atomic_rmw` and `tt.atomic_cas`. A kernel in `tts` then runs on every target
    of Triton. `tts.get_structured_state` stays.

    ```mlir
    %p = tts.make_tptr %x to sizes: [128], strides: [%s], offsets: [%o], shape: [0], order: []
        : <f32> to tensor<128x!tt.ptr<f32>>
    // becomes, with %i the range from 0 to 128 and %s and %o splats, as i64
    %0 = arith.muli %i, %s : tensor<128xi64>
    %1 = arith.addi %0, %o : tensor<128xi64>
    %p = tt.addptr %splat_of_x, %1 : tensor<128x!tt.ptr<f32>>, tensor<128xi64>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::triton::TritonDialect"];
}
