// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def TileLinalgPass : Pass<"triton-ext-tile-linalg", "::mlir::ModuleOp"> {
  let summary = "Tile operations of linalg, linalg_ext, aux and tensor";
  let description = [{
    Each operation of `linalg`, `linalg_ext`, `aux` and `tensor` with the TilingInterface
    becomes a nest of `scf.for` around the same operation on slices of its operands.
    `tile-sizes` holds the tile sizes of its loops, the outermost first. A loop for
    which the list has 0, or nothing, is not tiled. A size need not divide the number
    of elements.

    The loops of an operation of `linalg_ext` are the dimensions of the tensor that
    it writes or reduces. Dimensions that cannot be divided are not among them: the
    dimension of a scan, and those of windows that are found by indices.

    With `fuse`, the last operation of a chain is tiled along its parallel loops. The
    operations that compute its operands are done in the same loops, if they have no
    other users. Operations that read memory stay where they are.

    With `fuse-users`, the first operation of a chain is tiled along its parallel
    loops. The users of its result are done in the same loops, if a tile of the
    result is all that they need for a tile of theirs.

    With `partial-reductions`, each element of a tile along a reduced loop is
    combined with the same elements of the other tiles, which needs no order
    among the elements of a tile, and a reduction merges the results. Sums of
    floats round differently. A reduction that this would change stays whole:
    `argmax` and `argmin` of floats, because of NaN, with a body or without
    `tie_break_left`.

    First, the sizes of results (`tensor.dim`) are replaced by those that the
    operations were given.

    A load, which is a `linalg.copy` of a tensor of memory, is not tiled, nor are
    operations that write both a tensor and a memref.

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
    ListOption<"tileSizes", "tile-sizes", "int64_t", "Tile sizes, the outermost loop's first; 0 does not tile a loop">,
    Option<"fuse", "fuse", "bool", "false", "Compute operands in the same loops">,
    Option<"fuseUsers", "fuse-users", "bool", "false", "Compute users of the result in the same loops">,
    Option<"partialReductions", "partial-reductions", "bool", "false",
           "Reduce the elements of tiles side by side and merge the results">,
  ];
  // Modules that were converted from Triton's have aux and math_ext, too.
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::triton_ext::aux::AuxDialect", "::mlir::triton_ext::linalg_ext::LinalgExtDialect",
    "::mlir::triton_ext::math_ext::MathExtDialect",
  ];
}
