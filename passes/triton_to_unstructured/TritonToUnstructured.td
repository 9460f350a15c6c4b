// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def TritonToUnstructuredPass : Pass<"triton-ext-triton-to-unstructured", "::mlir::ModuleOp"> {
  let summary = "Turn accesses of tensors into gathers, scatters and atomics of tts, with one base";
  let description = [{
    A `tt.load`, `tt.store`, `tt.atomic_rmw` or `tt.atomic_cas` of a tensor becomes
    `tts.gather`, `tts.scatter` or the form of the atomic with offsets, if its pointers
    are the sum of one scalar pointer and tensors of offsets. Run it after
    `-triton-to-structured`, for what that leaves.

    The offset is i32 if it is the only one and has at most 32 bits, or if the ranges of
    all of them show that their sum has at most 32 bits; otherwise it is i64. Triton adds
    offsets to a pointer one after the other in 64 bits, so a sum in 32 bits must not wrap.
    `offset-bit-width` asks for one width:

    - With 64, every offset is i64.
    - With 32, every offset is i32. An access whose offset may have more bits stays, and a
      remark says so. It is not refused, because it still converts without tts, element by
      element.

    In triton-shared, a sum of offsets begins with `offset-bit-width` bits, 32 by default,
    and gets those of its widest offset. So the sum of two offsets of 32 bits wraps there.
    64 has the same meaning as here.

    Everything else stays: volatile loads, loads whose default is not one scalar,
    accesses of scalars, and pointers that a loop carries or that are computed from
    integers. `-canonicalize` afterwards removes the pointer arithmetic that is left
    without a use.

    ```mlir
    %p = tt.addptr %splat_of_x, %offsets : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %v = tt.load %p, %m, %zeros : tensor<64x!tt.ptr<f32>>
    // becomes
    %v = tts.gather %x[%offsets] mask = %m default = %zero : (<f32>, tensor<64xi32>) -> tensor<64xf32>
    ```
  }];
  let options = [
    Option<"offsetBitWidth", "offset-bit-width", "unsigned", /*default=*/"0",
           "The bits of every offset: 32, 64, or 0 to choose them for each access by the ranges of its offsets">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::triton::TritonDialect",
                           "::mlir::triton_ext::tts::TtsDialect"];
}
