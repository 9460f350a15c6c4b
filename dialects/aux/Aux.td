// SPDX-License-Identifier: Apache-2.0

include "mlir/Dialect/LLVMIR/LLVMOpBase.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"
include "mlir/Interfaces/ViewLikeInterface.td"

def AuxDialect : Dialect {
  let name = "aux";
  let summary = "Memory with a layout, and output of a running kernel";
  let description = [{
    See RATIONALE.md for why it exists.
  }];
  let cppNamespace = "::mlir::triton_ext::aux";
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect"];
  let hasConstantMaterializer = 1;
}

class Aux_Op<string mnemonic, list<Trait> traits = []> : Op<AuxDialect, mnemonic, traits>;

/// An operation that can be tiled; see Tiling.cpp.
class Aux_Tileable<list<string> others = []>
    : DeclareOpInterfaceMethods<TilingInterface,
          ["getIterationDomain", "getLoopIteratorTypes", "getResultTilePosition",
           "getTiledImplementation"] # others>;

def Aux_Reifiable : DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>;

def Aux_TensorOrMemRef : AnyTypeOf<[AnyRankedTensor, AnyMemRef]>;

def Aux_ViewOp : Aux_Op<"view", [Pure, AttrSizedOperandSegments, OffsetSizeAndStrideOpInterface]> {
  let summary = "A pointer with offset, sizes and strides, as a memref";
  let description = [{
    The memory that begins `offset` elements behind the pointer. Offset, sizes
    and strides count elements; each is a number or an SSA value. The result
    type may say less than they do, not something else.

    ```mlir
    %m = aux.view %ptr to offset: [%o], sizes: [%n, 10], strides: [%s, 1]
        : !llvm.ptr to memref<?x10xf32, strided<[?, 1], offset: ?>>
    ```
  }];
  let arguments = (ins
    LLVM_AnyPointer:$ptr,
    Variadic<Index>:$offsets, Variadic<Index>:$sizes, Variadic<Index>:$strides,
    DenseI64ArrayAttr:$static_offsets, DenseI64ArrayAttr:$static_sizes,
    DenseI64ArrayAttr:$static_strides,
    OptionalAttr<StrAttr>:$cache_mode);
  let results = (outs AnyStridedMemRef:$result);
  let assemblyFormat = [{
    $ptr `to` `offset` `` `:` custom<DynamicIndexList>($offsets, $static_offsets) `` `,`
    `sizes` `` `:` custom<DynamicIndexList>($sizes, $static_sizes) `` `,`
    `strides` `` `:` custom<DynamicIndexList>($strides, $static_strides)
    attr-dict `:` qualified(type($ptr)) `to` type($result)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::MemRefType":$type, "::mlir::Value":$ptr, "::mlir::OpFoldResult":$offset,
                   "::mlir::ArrayRef<::mlir::OpFoldResult>":$sizes,
                   "::mlir::ArrayRef<::mlir::OpFoldResult>":$strides)>
  ];
  let extraClassDeclaration = [{
    ::mlir::MemRefType getType() {
      return ::llvm::cast<::mlir::MemRefType>(getResult().getType());
    }
    /// There is one offset, whatever the rank; sizes and strides have one
    /// entry for each dimension.
    std::array<unsigned, 3> getArrayAttrMaxRanks() {
      unsigned rank = getType().getRank();
      return {1, rank, rank};
    }
    static unsigned getOffsetSizeAndStrideStartOperandIndex() { return 1; }
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Aux_StoreOp
    : Aux_Op<"store", [TypesMatchWith<"type of the value to be that of the elements", "memref", "value",
                                      "::llvm::cast<::mlir::ShapedType>($_self).getElementType()">]> {
  let summary = "Store one element with a cache mode";
  let description = [{
    `memref.store` that can name a cache mode. A target that knows none of that
    name stores as if there were none.

    ```mlir
    aux.store %v, %m[%i, %j] {cache_mode = "cmtransient"} : memref<?x4xf32>
    ```
  }];
  let arguments = (ins AnyType:$value, Arg<AnyMemRef, "", [MemWrite]>:$memref,
                       Variadic<Index>:$indices, OptionalAttr<StrAttr>:$cache_mode);
  let assemblyFormat = "$value `,` $memref `[` $indices `]` attr-dict `:` type($memref)";
  let hasVerifier = 1;
}

def Aux_PrintOp
    : Aux_Op<"print", [MemoryEffects<[MemRead, MemWrite]>, DestinationStyleOpInterface, Aux_Reifiable,
                       Aux_Tileable<>]> {
  let summary = "Print the elements of a tensor or memref while the kernel runs";
  let description = [{
    A tensor is handed through, so that the print has a place among its users.
    `format` is one of C's `printf`, in which `%%` is a percent sign. With a
    conversion in it it is that of an element; a text without one is in front of
    the indices and the element. There is one conversion at most, and it fits
    the type: `d`, `i`, `u`, `o`, `x`, `X` or `c` for an integer, which is read
    without a sign where the conversion has none; `f`, `e`, `g`, `a` or their
    capitals for a float; `p` for a pointer. Its length need not be said.

    Three attributes change what is printed with a format that has no
    conversion. With `hex` the value is printed in hexadecimal, with `unsigned`
    an integer is read without a sign, and with `program` the line begins with
    the index of the program and of the element, as Triton prints them on a GPU:
    `pid (0, 0, 0) idx (3) x: 5`.

    ```mlir
    aux.print(%m : memref<?xi8>) {format = "%d"}
    aux.print(%m : memref<?xi8>) {format = "100%% of x: "}
    %1 = aux.print(%0 : tensor<128xi8>) -> (tensor<128xi8>)
    ```

    A tile of an array is printed with the indices that its elements have in the
    array: those in the tile and the offsets. `whole` is the shape of the array.

    ```mlir
    aux.print(%tile : tensor<4xi8>) at [%i] {whole = array<i64: 128>}
    ```
  }];
  let arguments = (ins Aux_TensorOrMemRef:$value, Variadic<Index>:$offsets, OptionalAttr<StrAttr>:$format,
                       OptionalAttr<DenseI64ArrayAttr>:$whole);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    `(` $value `:` type($value) `)` (`at` ` ` `[` $offsets^ `]`)? attr-dict (`->` `(` type($result)^ `)`)?
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$value, "::mlir::StringAttr":$format),
              "build($_builder, $_state, result, value, ::mlir::ValueRange(), format, ::mlir::DenseI64ArrayAttr());">
  ];
  let extraClassDeclaration = [{
    /// The value, if the print hands it through.
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(getOperation(), 0, getResult() ? 1 : 0);
    }
    /// The shape of the array that the value is a tile of, or of the value.
    ::llvm::ArrayRef<int64_t> getWholeShape() {
      return getWhole() ? *getWhole() : ::llvm::cast<::mlir::ShapedType>(getValue().getType()).getShape();
    }
  }];
  let hasVerifier = 1;
}

def Aux_ScalarPrintOp : Aux_Op<"scalar.print", [MemoryEffects<[MemWrite]>]> {
  let summary = "Print a scalar, or a text alone, while the kernel runs";
  let description = [{
    `format` is that of `aux.print`; without a value there is no conversion in it.

    ```mlir
    aux.scalar.print(%x : f32) {format = "%f"}
    aux.scalar.print {format = "here"}
    ```
  }];
  let arguments = (ins Optional<AnyTypeOf<[AnySignlessInteger, Index, AnyFloat, LLVM_AnyPointer]>>:$value,
                       OptionalAttr<StrAttr>:$format);
  let assemblyFormat = "(`(` $value^ `:` type($value) `)`)? attr-dict";
  let hasVerifier = 1;
}

def Aux_OptimizationBarrierOp
    : Aux_Op<"optimization_barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Use a value in a way that no pass can see through";
  let description = [{
    Keeps its operand alive, and memory accesses on their side of it.

    ```mlir
    aux.optimization_barrier %x : tensor<2x2xf32>
    ```
  }];
  let arguments = (ins AnyType:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

def Aux_BitcastExtOp
    : Aux_Op<"bitcast_ext", [Pure, Aux_Reifiable,
                             Aux_Tileable<["generateResultTileValue", "getIterationDomainTileFromResultTile"]>]> {
  let summary = "The same bits as another type, pointers included";
  let description = [{
    `arith.bitcast` that also takes pointers, which are as wide as an i64.
    Operand and result are scalars, or tensors of one shape, with elements of
    one width. If the widths of two tensors differ, both are whole bytes, and the
    innermost dimension has as many more elements as these are narrower. The
    first of the narrow elements has the lowest bits of the wide one, as in
    memory.

    ```mlir
    %1 = aux.bitcast_ext %0 : tensor<128xi64> to tensor<128x!llvm.ptr>
    %2 = aux.bitcast_ext %0 : tensor<128xi64> to tensor<512xf16>
    ```
  }];
  let arguments = (ins AnyType:$value);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `to` type($result)";
  let extraClassDeclaration = [{
    /// The widths in bits of an element of the operand and of the result.
    std::pair<unsigned, unsigned> getWidths();
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}
