// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def CarryStridesPass : Pass<"triton-ext-carry-strides", "::mlir::ModuleOp"> {
  let summary = "Carry base, offset and strides for a strided tensor that a loop carries";
  let description = [{
    An `scf.for` or `scf.while` that carries a strided tensor of pointers or of
    integers carries its numbers instead: the base pointer, the offset and the
    strides. The tensor is rebuilt from them in the loop and behind it. Analyses then
    still see that it is strided, whatever the loop does to it: two tensors may be
    swapped, come out of an inner loop, be chosen by a branch, or be advanced by a
    stride that is known only when the kernel runs.

    A number that is the same in every iteration is not carried. A tensor that does
    not stay strided is still carried as it is, and so is one that wraps around. Run
    `-scalarize-induction` first, which needs no strides if a loop adds the same
    amount to all elements. The tensor before the loop is still an operand of the
    loop; `-canonicalize` drops it.

    The pass assumes, as the analysis of accesses does, that the arithmetic of
    addresses does not wrap. It assumes nothing of tensors of integers, and leaves
    those alone that have less than 32 bits.

    ```mlir
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %p0, %q = %q0)
        -> (tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>) : i32 {
      ...
      scf.yield %q, %p : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>
    }
    // becomes, for contiguous %p0 at %x and %q0 at %y
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%pb = %x, %qb = %y)
        -> (!tt.ptr<f32>, !tt.ptr<f32>) : i32 {
      %ps = tt.splat %pb : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
      %p = tt.addptr %ps, %range : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
      ...
      scf.yield %qb, %pb : !tt.ptr<f32>, !tt.ptr<f32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::triton::TritonDialect"];
}
