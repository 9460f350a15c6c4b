// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def CarryStridesPass : Pass<"triton-ext-carry-strides", "::mlir::ModuleOp"> {
  let summary = "Carry scalars for a tensor of pointers or indices that a loop carries";
  let description = [{
    An `scf.for` or `scf.while` that carries a strided tensor of pointers or of
    integers carries its numbers instead: the base pointer, the offset and the
    strides. The tensor is rebuilt from them in the loop and behind it. Analyses then
    still see that it is strided, whatever the loop does to it: two tensors may be
    swapped, come out of an inner loop, be chosen by a branch, or be advanced by a
    stride that is known only when the kernel runs.

    A tensor that wraps around or has any other offsets is not strided. If the loop
    only adds scalars to it, the loop carries the scalar that its offsets are added
    to: for `x + k + i % m`, this is `x + k`. Two tensors may then be swapped if they
    have the same offsets.

    If the loop adds tensors to a tensor of pointers, it carries this scalar and the
    sum of what was added, as a tensor of i64. If the elements of the sum depend on
    their index along one dimension only, this tensor has only this dimension: a loop
    that advances the rows of a tile by loaded offsets carries one offset for each row.

    A tensor of pointers that wraps around may be swapped for one with other offsets, or
    chosen by a condition. Along each dimension that wraps around, the loop then carries
    the first dividend, its stride and the modulus. A tensor that does not wrap around
    there has a modulus of 2^61, which leaves all offsets as they are. This needs one
    remainder along a dimension: `x + i % m + i % k` is not carried so.

    A tensor of pointers that gathers along one dimension, such as rows at loaded
    indices, may be swapped for one with other offsets, too, or chosen by a condition.
    The loop then carries the base pointer, the offset, the strides along the other
    dimensions, and one offset for each index along this dimension, as a tensor of i64.
    The other tensor may be strided along this dimension, but must not gather along
    another one. Offsets that depend on the index along this dimension only are computed
    as before, in their own type, and then extended.

    Analyses cannot follow every result of an `scf.if` into its arms, for example if a
    loop in one arm advances it, or if one arm loads its offsets. The `scf.if` then
    returns the numbers of the tensor, if it has one of these forms in both arms.

    A number that is the same in every iteration is not carried. A tensor that has
    none of these forms in the next iteration is still carried as it is. Run
    `-scalarize-induction` first, which needs no strides if a loop adds the same
    amount to all elements. The tensor before the loop is still an operand of the
    loop; `-canonicalize` drops it.

    The pass assumes, as the analysis of accesses does, that the arithmetic of
    addresses does not wrap. It does not assume this of tensors of integers, and leaves
    alone integers of less than 32 bits.

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
