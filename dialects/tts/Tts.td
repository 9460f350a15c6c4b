// SPDX-License-Identifier: Apache-2.0

include "mlir/IR/DialectBase.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "triton/Dialect/Triton/IR/TritonAttrDefs.td"
include "triton/Dialect/Triton/IR/TritonTypes.td"

def TtsDialect : Dialect {
  let name = "tts";
  let summary = "Accesses to memory by base, strides and offsets";
  let description = [{
    See RATIONALE.md for why it exists.
  }];
  let cppNamespace = "::mlir::triton_ext::tts";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::triton::TritonDialect"];
  let extraClassDeclaration = [{
    void registerInterfaces();
  }];
}

class Tts_Op<string mnemonic, list<Trait> traits = []> : Op<TtsDialect, mnemonic, traits>;

// The resource of `tt.load` and `tt.store`. For MLIR, the default resource has
// nothing to do with it, so that CSE would merge two `tt.load` across a store.
def Tts_Global : Resource<"::mlir::triton::GlobalMemory">;
class Tts_AccessOp<string mnemonic, list<MemoryEffect> effects, list<Trait> traits = []>
    : Tts_Op<mnemonic, [MemoryEffects<effects>] # traits> {
  let hasVerifier = 1;
}

def Tts_OffsetTensor : RankedTensorOf<[I32, I64]>;
def Tts_Element : AnyTypeOf<[TT_Float, TT_Int, TT_Ptr]>;

//===----------------------------------------------------------------------===//
// Pointers
//===----------------------------------------------------------------------===//

def Tts_MakeTptrOp : Tts_Op<"make_tptr", [Pure, AttrSizedOperandSegments]> {
  let summary = "A tensor of pointers with a stride and an offset for each dimension";
  let description = [{
    Sizes count elements of the tensor. Strides, offsets and shape count elements
    in memory; each is a number or an SSA value. The pointer at (i0, i1, ...) is
    `base` plus the sum, over the dimensions d, of `offsets[d] + i_d * strides[d]`.

    Without an `order`, this term is taken modulo `shape[d]` if `shape[d]` is not
    0: the addresses wrap around. As in C, the remainder has the sign of the
    term. With an `order`, which lists the dimensions from the fastest to the
    slowest, the pointers belong to a block of a larger tensor. `shape[d]` is
    then the extent of the larger tensor, and nothing wraps around.

    ```mlir
    %p = tts.make_tptr %x to sizes: [4, 64], strides: [%s, 1], offsets: [%o, 0], shape: [0, 0], order: []
        : <f32> to tensor<4x64x!tt.ptr<f32>>
    %q = tts.make_tptr %x to sizes: [64], strides: [1], offsets: [%o], shape: [%n], order: []
        : <f32> to tensor<64x!tt.ptr<f32>>
    ```
  }];
  let arguments = (ins
    TT_Ptr:$base, DenseI64ArrayAttr:$sizes,
    Variadic<Index>:$strides, Variadic<Index>:$offsets, Variadic<Index>:$shape,
    DenseI64ArrayAttr:$static_strides, DenseI64ArrayAttr:$static_offsets,
    DenseI64ArrayAttr:$static_shape, DenseI32ArrayAttr:$order);
  let results = (outs TT_PtrTensor:$result);
  let assemblyFormat = [{
    $base `to` `sizes` `` `:` $sizes `` `,`
    `strides` `` `:` custom<DynamicIndexList>($strides, $static_strides) `` `,`
    `offsets` `` `:` custom<DynamicIndexList>($offsets, $static_offsets) `` `,`
    `shape` `` `:` custom<DynamicIndexList>($shape, $static_shape) `` `,`
    `order` `` `:` $order attr-dict `:` type($base) `to` type($result)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$base, "::mlir::ArrayRef<int64_t>":$sizes,
                   "::mlir::ArrayRef<::mlir::OpFoldResult>":$strides,
                   "::mlir::ArrayRef<::mlir::OpFoldResult>":$offsets,
                   "::mlir::ArrayRef<::mlir::OpFoldResult>":$shape,
                   CArg<"::mlir::ArrayRef<int32_t>", "{}">:$order)>
  ];
  let extraClassDeclaration = [{
    ::mlir::SmallVector<::mlir::OpFoldResult> getMixedStrides();
    ::mlir::SmallVector<::mlir::OpFoldResult> getMixedOffsets();
    ::mlir::SmallVector<::mlir::OpFoldResult> getMixedShape();
    /// Whether addresses may wrap around in a dimension.
    bool wrapsAround() {
      return getOrder().empty() &&
             ::llvm::any_of(getStaticShape(), [](int64_t size) { return size != 0; });
    }
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Tts_MakeGatherScatterTptrOp
    : Tts_Op<"make_gather_scatter_tptr", [Pure, AttrSizedOperandSegments]> {
  let summary = "A tensor of pointers with any offsets along one dimension, strided along the others";
  let description = [{
    The pointers of `tts.make_tptr` without wrap-around, except along the
    dimension `gather_scatter_dim`. There the term of the address is
    `gather_scatter_offset[i_d] * strides[d]`, and `offsets[d]` is 0. If there is
    a `gather_scatter_mask`, elements at an index for which it is false are not
    accessed.

    ```mlir
    %p = tts.make_gather_scatter_tptr %x to sizes: [8, 64] gather_scatter_dim: 0 gather_scatter_offset: %rows,
        strides: [%s, 1], offsets: [0, 0] : tensor<8xi32> <f32> to tensor<8x64x!tt.ptr<f32>>
    ```
  }];
  let arguments = (ins
    TT_Ptr:$base, Tts_OffsetTensor:$gather_scatter_offset, I32Attr:$gather_scatter_dim,
    DenseI64ArrayAttr:$sizes, Variadic<Index>:$strides, Variadic<Index>:$offsets,
    DenseI64ArrayAttr:$static_strides, DenseI64ArrayAttr:$static_offsets,
    Optional<TT_BoolTensor>:$gather_scatter_mask);
  let results = (outs TT_PtrTensor:$result);
  let assemblyFormat = [{
    $base `to` `sizes` `` `:` $sizes
    `gather_scatter_dim` `` `:` $gather_scatter_dim
    `gather_scatter_offset` `` `:` $gather_scatter_offset
    (`gather_scatter_mask` `` `:` $gather_scatter_mask^)? `` `,`
    `strides` `` `:` custom<DynamicIndexList>($strides, $static_strides) `` `,`
    `offsets` `` `:` custom<DynamicIndexList>($offsets, $static_offsets)
    attr-dict `:` type($gather_scatter_offset) type($gather_scatter_mask) type($base) `to` type($result)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$base, "::mlir::Value":$gatherOffset, "::mlir::Value":$gatherMask,
                   "unsigned":$gatherDim, "::mlir::ArrayRef<int64_t>":$sizes,
                   "::mlir::ArrayRef<::mlir::OpFoldResult>":$strides,
                   "::mlir::ArrayRef<::mlir::OpFoldResult>":$offsets)>
  ];
  let extraClassDeclaration = [{
    ::mlir::SmallVector<::mlir::OpFoldResult> getMixedStrides();
    ::mlir::SmallVector<::mlir::OpFoldResult> getMixedOffsets();
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tts_GetStructuredStateOp : Tts_Op<"get_structured_state", [Pure]> {
  let summary = "Offsets and strides of a pointer or of a tensor, for an analysis to fill in";
  let description = [{
    The results are `input` itself, its offsets, its strides and, if there is a
    fourth segment, its base pointer. There is an offset and a stride for each
    dimension of a tensor; for a scalar pointer, an offset only. A tensor of
    integers has no base.

    A pass that carries the state of pointers through a loop puts it in front of
    the loop and replaces it when the state is known.

    ```mlir
    %p, %o, %s = "tts.get_structured_state"(%x) <{resultSegmentSizes = array<i32: 1, 1, 1>}>
        : (tensor<64x!tt.ptr<f32>>) -> (tensor<64x!tt.ptr<f32>>, index, index)
    ```
  }];
  let arguments = (ins AnyTypeOf<[TT_PtrLike, Tts_OffsetTensor]>:$input,
                       DenseI32ArrayAttr:$resultSegmentSizes);
  let results = (outs Variadic<AnyType>:$states);
  let builders = [OpBuilder<(ins "::mlir::Value":$input, CArg<"bool", "false">:$withBase)>];
  let extraClassDeclaration = [{
    ::mlir::Value getStructured() { return getStates()[0]; }
    ::mlir::ResultRange getOffsets() {
      return getStates().slice(1, getResultSegmentSizes()[1]);
    }
    ::mlir::ResultRange getStrides() {
      return getStates().slice(1 + getResultSegmentSizes()[1], getResultSegmentSizes()[2]);
    }
    /// The base pointer; null if the operation does not return it.
    ::mlir::Value getBase() {
      ::mlir::ArrayRef<int32_t> sizes = getResultSegmentSizes();
      return sizes.size() == 4 && sizes[3] ? ::mlir::Value(getStates().back()) : ::mlir::Value();
    }
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Structured accesses
//===----------------------------------------------------------------------===//

def Tts_LoadOp : Tts_AccessOp<"load", [MemRead<Tts_Global>], [AttrSizedOperandSegments]> {
  let summary = "Load a tensor, or a box at its beginning";
  let description = [{
    `mask_dims` is empty, or has a number or an SSA value for each dimension: the
    elements whose index is less than it in each dimension are loaded. The others
    are `other`, and undefined without it. A value of 0 or less loads nothing, one
    above the size of the dimension the whole. If there are twice as many, the
    second half are the first indices that are loaded in each dimension: the box
    then does not begin at 0. Less than 0 is 0.

    If the pointers come from a `tts.make_gather_scatter_tptr` with a mask, this
    mask decides along its dimension, and `mask_dims` is 0 there, in both halves.

    `cachePolicy` is that of `tt.load`.

    ```mlir
    %v = "tts.load"(%p, %n, %zero) <{operandSegmentSizes = array<i32: 1, 1, 1>,
        static_mask_dims = array<i64: 4, -9223372036854775808>}>
        : (tensor<4x64x!tt.ptr<f32>>, index, f32) -> tensor<4x64xf32>
    ```
  }];
  let arguments = (ins TT_PtrTensor:$ptr, Variadic<Index>:$mask_dims,
                       DenseI64ArrayAttr:$static_mask_dims, Optional<Tts_Element>:$other,
                       OptionalAttr<AnyAttr>:$cachePolicy);
  let results = (outs TT_Tensor:$result);
  let builders = [
    OpBuilder<(ins "::mlir::Value":$ptr, "::mlir::ArrayRef<::mlir::OpFoldResult>":$maskDims,
                   "::mlir::Value":$other, CArg<"::mlir::Attribute", "{}">:$cachePolicy)>
  ];
  let extraClassDeclaration = "::mlir::SmallVector<::mlir::OpFoldResult> getMixedMaskDims();";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Tts_StoreOp : Tts_AccessOp<"store", [MemWrite<Tts_Global>]> {
  let summary = "Store a tensor, or a box at its beginning";
  let description = [{
    Stores the elements that `tts.load` would load with these `mask_dims`.
    `cachePolicy` is that of `tt.store`.

    ```mlir
    "tts.store"(%p, %v, %n) <{static_mask_dims = array<i64: -9223372036854775808>}>
        : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>, index) -> ()
    ```
  }];
  let arguments = (ins TT_PtrTensor:$ptr, TT_Tensor:$value, Variadic<Index>:$mask_dims,
                       DenseI64ArrayAttr:$static_mask_dims, OptionalAttr<AnyAttr>:$cachePolicy);
  let builders = [
    OpBuilder<(ins "::mlir::Value":$ptr, "::mlir::Value":$value,
                   "::mlir::ArrayRef<::mlir::OpFoldResult>":$maskDims,
                   CArg<"::mlir::Attribute", "{}">:$cachePolicy)>
  ];
  let extraClassDeclaration = "::mlir::SmallVector<::mlir::OpFoldResult> getMixedMaskDims();";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

//===----------------------------------------------------------------------===//
// Unstructured accesses
//===----------------------------------------------------------------------===//

def Tts_GatherOp : Tts_AccessOp<"gather", [MemRead<Tts_Global>], [
    AttrSizedOperandSegments,
    OptionalTypesMatchWith<"the mask has the shape of the offset", "offset", "mask",
                           "::mlir::triton::getI1SameShape($_self)">,
    OptionalTypesMatchWith<"the default has the type of an element", "ptr", "other",
                           "::mlir::triton::getPointeeType($_self)">]> {
  let summary = "Load the elements at any offsets from a pointer";
  let description = [{
    Offsets count elements. Where the mask is false, nothing is loaded and the
    element is `default`, or undefined without it. An offset that is a scalar
    loads a scalar.

    ```mlir
    %v = tts.gather %x[%i] mask = %m default = %zero : (<f32>, tensor<64xi32>) -> tensor<64xf32>
    ```
  }];
  let arguments = (ins TT_Ptr:$ptr, TT_IntLike:$offset, Optional<TT_BoolLike>:$mask,
                       Optional<Tts_Element>:$other);
  let results = (outs TT_Type:$result);
  let assemblyFormat = [{
    $ptr `[` $offset `]` (`mask` `=` $mask^)? (`default` `=` $other^)? attr-dict `:` `(` type($ptr) `,` type($offset) `)` `->` type($result)
  }];
  let hasCanonicalizeMethod = 1;
}

def Tts_ScatterOp : Tts_AccessOp<"scatter", [MemWrite<Tts_Global>], [
    OptionalTypesMatchWith<"the mask has the shape of the offset", "offset", "mask",
                           "::mlir::triton::getI1SameShape($_self)">]> {
  let summary = "Store elements at any offsets from a pointer";
  let description = [{
    Where the mask is false, nothing is stored. If an offset occurs twice, it is
    not defined which of both elements stays.

    ```mlir
    tts.scatter %v into %x[%i] mask = %m : tensor<64xf32> into (<f32>, tensor<64xi32>)
    ```
  }];
  let arguments = (ins TT_Ptr:$ptr, TT_IntLike:$offset, TT_Type:$value, Optional<TT_BoolLike>:$mask);
  let assemblyFormat = [{
    $value `into` $ptr `[` $offset `]` (`mask` `=` $mask^)? attr-dict
    `:` type($value) `into` ` ` `(` type($ptr) `,` type($offset) `)`
  }];
  let hasCanonicalizeMethod = 1;
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

def Tts_AtomicRMWOp
    : Tts_AccessOp<"atomic_rmw", [MemRead<Tts_Global>, MemWrite<Tts_Global>], [AttrSizedOperandSegments]> {
  let summary = "Read, change and write elements atomically, and return what was read";
  let description = [{
    Has two forms. The structured one takes a tensor of pointers, and accesses the
    elements that `tts.load` would load with these `mask_dims`. The unstructured
    one takes a pointer and offsets as `tts.gather` does. The result is undefined
    at elements that are not accessed.

    ```mlir
    %old = tts.atomic_rmw fadd, acq_rel, gpu, %p, %v {static_mask_dims = array<i64>}
        : (tensor<16x!tt.ptr<f32>>, tensor<16xf32>) -> tensor<16xf32>
    %old = tts.atomic_rmw add, relaxed, gpu, %v into %x[%i] mask = %m
        : tensor<16xi32> into (<i32>, tensor<16xi32>) -> tensor<16xi32>
    ```
  }];
  let arguments = (ins TT_AtomicRMWAttr:$atomic_rmw_op, TT_PtrLike:$ptr, TT_Type:$val,
                       Optional<TT_IntLike>:$offset, Optional<TT_BoolLike>:$mask,
                       Variadic<Index>:$mask_dims, DenseI64ArrayAttr:$static_mask_dims,
                       TT_MemSemanticAttr:$sem, TT_MemSyncScopeAttr:$scope);
  let results = (outs TT_Type:$result);
  let extraClassDeclaration = [{
    bool isStructured() { return !getOffset(); }
    ::mlir::SmallVector<::mlir::OpFoldResult> getMixedMaskDims();
  }];
  let hasCustomAssemblyFormat = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Tts_AtomicCASOp
    : Tts_AccessOp<"atomic_cas", [MemRead<Tts_Global>, MemWrite<Tts_Global>]> {
  let summary = "Compare elements and replace the equal ones atomically, and return what was read";
  let description = [{
    Each element in memory whose bits equal those of `cmp` becomes `val`. Has the
    two forms of `tts.atomic_rmw`, without masks.

    ```mlir
    %old = tts.atomic_cas acq_rel, gpu, %p, %cmp, %val
        : (tensor<16x!tt.ptr<i32>>, tensor<16xi32>, tensor<16xi32>) -> tensor<16xi32>
    %old = tts.atomic_cas acq_rel, gpu, %cmp, %val into %x[%i] : i32, i32 into (<i32>, i32) -> i32
    ```
  }];
  let arguments = (ins TT_PtrLike:$ptr, TT_Type:$cmp, TT_Type:$val, Optional<TT_IntLike>:$offset,
                       TT_MemSemanticAttr:$sem, TT_MemSyncScopeAttr:$scope);
  let results = (outs TT_Type:$result);
  let extraClassDeclaration = "bool isStructured() { return !getOffset(); }";
  let hasCustomAssemblyFormat = 1;
}
