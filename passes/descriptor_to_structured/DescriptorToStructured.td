// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def DescriptorToStructuredPass
    : Pass<"triton-ext-descriptor-to-structured", "::mlir::ModuleOp"> {
  let summary = "Turn accesses by tensor descriptors into operations of tts";
  let description = [{
    A `tt.descriptor_load` or `tt.descriptor_store` becomes a `tts.load` or `tts.store` of
    the whole block: its pointers have the strides and the shape of the descriptor, and its
    bounds exclude what lies outside of the tensor, also before its beginning. A
    `tt.descriptor_gather` or `tt.descriptor_scatter` becomes one of pointers of
    `tts.make_gather_scatter_tptr`, with a mask of the rows. What lies outside reads as 0 or
    NaN, as the descriptor says, and floats are rounded to TF32 if it says so. If the type of
    the value has fewer dimensions than the block, it is reshaped.

    There is no bound from below in a dimension in which the index is known not to be
    negative.

    The pass runs `-triton-rewrite-tensor-descriptor-to-pointer` for what is left:
    descriptors themselves become scalars, also in arguments of functions, in loops and in
    branches, and a `tt.descriptor_reduce` becomes a `tt.atomic_rmw`.

    An operation that has another number of indices than the block has dimensions, and a
    descriptor whose block has none or has pointers as elements, is an error.

    ```mlir
    %d = tt.make_tensor_descriptor %x, [%m, %n], [%s, %c1] : !tt.ptr<f32>, !tt.tensordesc<8x16xf32>
    %v = tt.descriptor_load %d[%i, %j] : !tt.tensordesc<8x16xf32> -> tensor<8x16xf32>
    // becomes, with all numbers as index
    %p = tts.make_tptr %x to sizes: [8, 16], strides: [%s, 1], offsets: [%i * %s, %j], shape: [%m, %n], order: [1, 0]
        : <f32> to tensor<8x16x!tt.ptr<f32>>
    %v = "tts.load"(%p, %m - %i, %n - %j, -%i, -%j, %zero) <{...}>
        : (tensor<8x16x!tt.ptr<f32>>, index, index, index, index, f32) -> tensor<8x16xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::triton::TritonDialect", "::mlir::triton_ext::tts::TtsDialect"];
}
