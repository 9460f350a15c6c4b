// SPDX-License-Identifier: Apache-2.0

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/DialectBase.td"
include "triton/Dialect/TritonGPU/IR/TritonGPUAttrInterfaces.td"

def LayoutExtDialect : Dialect {
  let name = "layout_ext";
  let summary = "Layouts of tensors that are made of other layouts, and of shared memory";
  let description = [{
    See RATIONALE.md for why it exists.
  }];
  let cppNamespace = "::mlir::triton_ext::layout_ext";
  let dependentDialects = ["::mlir::triton::gpu::TritonGPUDialect"];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerInterfaces();
  }];
}

/// A layout of tensors. Its attribute has the linear layout for one shape; as
/// with #ttg.linear, tensors of other shapes repeat it or get a part of it.
class LayoutExt_Distributed<string name, string text, dag members> : AttrDef<LayoutExtDialect, name, [
    DeclareAttrInterfaceMethods<LayoutEncodingTrait, ["getCGALayout", "getRank"]>,
    DeclareAttrInterfaceMethods<DistributedEncodingTrait, ["getRepOrder", "toLinearLayout"]>]> {
  let mnemonic = text;
  let parameters = members;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns the linear layout that the attribute stands for.
    LinearLayout getLinearLayout() const;
  }];
}

class LayoutExt_OfTwo<string name, string text> : LayoutExt_Distributed<name, text, (ins
    "::mlir::Attribute":$first, ArrayRefParameter<"int64_t">:$firstShape,
    "::mlir::Attribute":$second, ArrayRefParameter<"int64_t">:$secondShape)> {
  let assemblyFormat = [{
    `<` $first `over` ` ` `[` $firstShape `]` `,` $second `over` ` ` `[` $secondShape `]` `>`
  }];
}

def LayoutExt_ProductAttr : LayoutExt_OfTwo<"Product", "product"> {
  let summary = "A tile of one layout, repeated as another one says";
  let description = [{
    `first` distributes the elements of a tile of the shape `firstShape`. `second`,
    a layout of the tensor whose elements are the tiles, distributes the tiles
    over registers, lanes, warps and blocks. So
    the numbers of lanes, warps and blocks multiply, and so do the shapes. It is
    `first * second` of Triton's linear layouts.

    ```mlir
    // Each of four warps holds a row-major tile of 16 by 32 elements.
    #layout_ext.product<
      #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [1, 0]}> over [16, 32],
      #ttg.linear<{register = [], lane = [], warp = [[1, 0], [0, 1]], block = []}> over [2, 2]>
    ```
  }];
}

def LayoutExt_QuotientAttr : LayoutExt_OfTwo<"Quotient", "quotient"> {
  let summary = "The quotient of two layouts: how the tiles of one are distributed in the other";
  let description = [{
    The layout `q` with `product<second, q>` equal to `first`: how the tiles of
    `second` are distributed. It is an error if there is none.

    ```mlir
    // Two warps, each with 8 tiles: those of 4 by 32 elements in the tensor.
    #layout_ext.quotient<
      #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 1], order = [1, 0]}> over [64, 32],
      #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [1, 0]}> over [4, 32]>
    ```
  }];
}

def LayoutExt_MapAttr : AttrDef<LayoutExtDialect, "Map"> {
  let mnemonic = "map";
  let summary = "A bijective linear map of the indices of a tensor to its indices";
  let description = [{
    For each dimension, and for each bit of the index there, the index to which
    the map takes the one that has only this bit. An index with more bits goes
    to the exclusive or of what these give. All sizes are powers of two: a
    dimension with n vectors has 2^n indices.

    ```mlir
    // (i, j) goes to (i, j xor i), with i < 4 and j < 8.
    #layout_ext.map<[[1, 1], [2, 2]], [[0, 1], [0, 2], [0, 4]]>
    ```
  }];
  let parameters = (ins AttrOrTypeParameter<"LinearLayout", "">:$linearLayout);
  let hasCustomAssemblyFormat = 1;
}

def LayoutExt_ComposedAttr : LayoutExt_Distributed<"Composed", "composed", (ins
    "::mlir::Attribute":$first, ArrayRefParameter<"int64_t">:$firstShape, "MapAttr":$map)> {
  let summary = "A layout, and then a map of the indices";
  let description = [{
    What holds the element i in the layout `first` holds the element `map(i)`.
    The map has to move bits of the index as a whole, because Triton's
    distributed layouts allow one dimension for each of them.

    ```mlir
    // Lane 1 holds column 16 instead of column 1, lane 2 column 8, ...
    #layout_ext.composed<
      #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}> over [32],
      #layout_ext.map<[[16], [8], [4], [2], [1]]>>
    ```
  }];
  let assemblyFormat = "`<` $first `over` ` ` `[` $firstShape `]` `,` qualified($map) `>`";
}

def LayoutExt_WarpTileAttr : LayoutExt_Distributed<"WarpTile", "warp_tile", (ins
    ArrayRefParameter<"int64_t">:$tile, "unsigned":$vec, ArrayRefParameter<"unsigned">:$order,
    ArrayRefParameter<"unsigned">:$warps, "unsigned":$lanes)> {
  let summary = "Each warp holds a whole tile of the tensor";
  let description = [{
    A tile is distributed in one warp: `vec` neighbours along the dimension
    `order[0]` are in a lane, the lanes follow along it and then along the other
    dimensions in their order, and what is left of the tile is in further
    registers. Warps hold tiles side by side, `warps[d]` of them along dimension
    d, and the tensor repeats this.

    Two of these with the same tile and the same warps, but another order, hold
    the same elements in each warp. Triton converts one into the other without a
    barrier between warps: a transposition in which no warp waits for another.

    ```mlir
    #layout_ext.warp_tile<{tile = [32, 32], vec = 4, order = [1, 0], warps = [2, 2], lanes = 32}>
    ```
  }];
  let assemblyFormat = [{
    `<` `{` `tile` `=` `[` $tile `]` `,` `vec` `=` $vec `,` `order` `=` `[` $order `]` `,`
    `warps` `=` `[` $warps `]` `,` `lanes` `=` $lanes `}` `>`
  }];
}

def LayoutExt_SwizzledTilesAttr : AttrDef<LayoutExtDialect, "SwizzledTiles", [
    DeclareAttrInterfaceMethods<LayoutEncodingTrait, ["getCGALayout", "getRank"]>,
    DeclareAttrInterfaceMethods<SharedEncodingTrait, ["getAlignment", "toLinearLayout"]>]> {
  let mnemonic = "swizzled_tiles";
  let summary = "Shared memory in small tiles, whose columns are swizzled";
  let description = [{
    The layout of a buffer of two dimensions in shared memory. The elements of a
    tile lie side by side, row by row, and so do the tiles. The column of a tile
    is its place in its row, exclusive or the number of this row modulo `phases`.
    A thread that holds a whole tile accesses it as one vector, whether it goes
    through the buffer along rows or along columns. `#ttg.swizzled_shared` has
    vectors of one row or one column only.

    ```mlir
    // Four elements of 32 bits are 16 bytes, and eight of these are all banks.
    #layout_ext.swizzled_tiles<{tile = [2, 2], phases = 8}>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$tile, "unsigned":$phases);
  let genVerifyDecl = 1;
  let assemblyFormat = "`<` `{` `tile` `=` `[` $tile `]` `,` `phases` `=` $phases `}` `>`";
}
