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

    **Wrap-around.** Indices along a dimension may be taken modulo a number, in each
    dimension by another one. `(o + i) % m * s` gives the offset `o * s`, the stride
    `s` and the shape `m * s`. A remainder of a multiple of the index by a large or
    unknown number is left as it is, because a hash wraps in its type on purpose.
    Where the analysis of axes shows that the indices do not cross a multiple of the
    number, as tiles of 16 modulo 64 do not, the pointers do not wrap around: only
    their offset is a remainder.

    **One dimension of any kind.** A tensor of two or more dimensions whose offsets
    are strided except along one dimension gets pointers of
    `tts.make_gather_scatter_tptr`. So does one whose mask is a box and any further
    condition on the index along one dimension.

    Run `-triton-ext-scalarize-induction`, `-triton-ext-carry-strides` and
    `-canonicalize` first, so that pointers that a loop carries are strided inside
    of it; with `skip-prepass=false`, this pass runs them itself. `-canonicalize`
    afterwards removes the pointer arithmetic that is left without a use.

    Cache policies stay, and so do attributes such as `tt.divisibility` of the
    `tt.addptr` that makes the pointers. With `use-unsafe-mask`, `mask_dims` are not
    clamped from below. Triton-shared calls this unsafe. Here, operations of `tts` access
    nothing at a bound below 0, so it is only for readers that expect 0 that the
    clamp is the default.

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
    Option<"gatherScatter", "enable-make-gather-scatter", "bool", /*default=*/"true",
           "Whether one dimension may have any offsets or any mask">,
    Option<"modulo", "enable-modulo-support", "bool", /*default=*/"true",
           "Whether offsets may wrap around">,
    Option<"lowBounds", "low-bounds", "bool", /*default=*/"true",
           "Whether a box that does not begin at 0 may be a mask along one dimension; otherwise the access stays, and"
           " -triton-to-linalg makes a view of the box">,
    Option<"runPrepassOnly", "run-prepass-only", "bool", /*default=*/"false",
           "Run only the passes that make carried pointers strided, and turn nothing">,
    Option<"skipPrepass", "skip-prepass", "bool", /*default=*/"true",
           "Do not run these passes, because they have run before">,
    Option<"useUnsafeMask", "use-unsafe-mask", "bool", /*default=*/"false",
           "Leave out the lower clamp of mask_dims, which are then negative if a mask ends before the first element">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::triton::TritonDialect",
                           "::mlir::triton_ext::tts::TtsDialect"];
}
