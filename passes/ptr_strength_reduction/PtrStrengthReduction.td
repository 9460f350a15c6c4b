// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def PtrStrengthReductionPass : Pass<"triton-ext-ptr-strength-reduction", "::mlir::ModuleOp"> {
  let summary = "Advance pointers by scalars if all elements advance equally";
  let description = [{
    - In `addptr(addptr(p, a), splat s)`, where `p` is `splat q`, the scalar is
      added first, to the scalar pointer: `addptr(splat(addptr q, s), a)`.
    - A scalar that is added to a `tt.broadcast`, `tt.expand_dims`, `tt.reshape` or
      `tt.trans` of pointers is added to their operand, and so in the end to the
      scalar pointer.
    - A choice between `addptr(p, splat s)` and `addptr(p, splat t)`, by `scf.if` or by
      `select` of one bit, chooses `s` or `t`, and adds it to `p` afterwards. The same
      holds for sums of integers.
    - A loop that carries a pointer, or a tensor of pointers or integers, and adds
      the same amount to all elements, carries a scalar offset instead. The pointer
      is the sum of the pointer before the loop and the offset, so that analyses
      see its strides. If the amounts differ from element to element, the loop
      carries a tensor of offsets. `scf.while` is left to `-carry-strides`.

    Sums of offsets of pointers are i64, so that they never wrap.

    ```mlir
    scf.for %i = %c0 to %n step %c1 iter_args(%p = %p0) -> (tensor<128x!tt.ptr<f32>>) : i32 {
      %v = tt.load %p : tensor<128x!tt.ptr<f32>>
      %q = tt.addptr %p, %splat : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
      scf.yield %q : tensor<128x!tt.ptr<f32>>
    }
    // becomes, with %splat the splat of %s, and %s64 this scalar as i64
    scf.for %i = %c0 to %n step %c1 iter_args(%o = %zero) -> (i64) : i32 {
      %os = tt.splat %o : i64 -> tensor<128xi64>
      %p = tt.addptr %p0, %os : tensor<128x!tt.ptr<f32>>, tensor<128xi64>
      %v = tt.load %p : tensor<128x!tt.ptr<f32>>
      %next = arith.addi %o, %s64 : i64
      scf.yield %next : i64
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::triton::TritonDialect"];
}
