// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def TileLinalgPass : Pass<"triton-ext-tile-linalg", "::mlir::ModuleOp"> {
  let summary = "Do linalg and linalg_ext a tile at a time";
  let description = [{
    Every operation with the TilingInterface becomes a nest of `scf.for` around
    itself on slices of its operands: those of `linalg`, `linalg_ext` and
    `tensor`. `tile-sizes` are the sizes along its loops, from the outermost on;
    0 leaves a loop as it is, and so does a list that is too short. The loops of
    `linalg_ext` are the dimensions of what it writes, or of what it reduces, but
    for those that have to be done in one go: the dimension of a scan, and those
    of windows that indices move. A size need not divide the number of elements.

    With `fuse`, the last operation of a chain is tiled along its parallel loops,
    and what makes its operands, if nothing else uses that, is done in the same
    loops. What reads memory stays where it is.

    A load, `linalg.copy` of a tensor of memory, stays whole, and so does what
    writes a tensor and a memref.

    ```mlir
    %r = linalg_ext.flip dimension = 0 ins(%t : tensor<8xf32>) outs(%o : tensor<8xf32>) -> tensor<8xf32>
    // becomes, with tile-sizes=4
    %r = scf.for %i = %c0 to %c8 step %c4 iter_args(%a = %o) -> (tensor<8xf32>) {
      %j = affine.apply affine_map<(d0) -> (-d0 + 4)>(%i)
      %s = tensor.extract_slice %t[%j] [4] [1] : tensor<8xf32> to tensor<4xf32>
      %p = tensor.extract_slice %a[%i] [4] [1] : tensor<8xf32> to tensor<4xf32>
      %f = linalg_ext.flip dimension = 0 ins(%s : tensor<4xf32>) outs(%p : tensor<4xf32>) -> tensor<4xf32>
      %b = tensor.insert_slice %f into %a[%i] [4] [1] : tensor<4xf32> into tensor<8xf32>
      scf.yield %b : tensor<8xf32>
    }
    ```
  }];
  let options = [
    ListOption<"tileSizes", "tile-sizes", "int64_t", "sizes of tiles, from the outermost loop on; 0 for no tiles">,
    Option<"fuse", "fuse", "bool", "false", "do what makes the operands in the same loops">,
  ];
  // Modules that Triton's were converted to have aux and math_ext, too.
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::triton_ext::aux::AuxDialect", "::mlir::triton_ext::linalg_ext::LinalgExtDialect",
    "::mlir::triton_ext::math_ext::MathExtDialect",
  ];
}
