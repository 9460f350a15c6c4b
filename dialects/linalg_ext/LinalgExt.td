// SPDX-License-Identifier: Apache-2.0

include "mlir/Dialect/Linalg/IR/LinalgInterfaces.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"

def LinalgExtDialect : Dialect {
  let name = "linalg_ext";
  let summary = "Structured operations of kernels that linalg lacks";
  let description = [{
    See RATIONALE.md for why it exists.
  }];
  let cppNamespace = "::mlir::triton_ext::linalg_ext";
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::tensor::TensorDialect"];
}

class LinalgExt_Op<string mnemonic, list<Trait> traits = []> : Op<LinalgExtDialect, mnemonic, traits>;

def LinalgExt_TensorOrMemRef : AnyTypeOf<[AnyRankedTensor, AnyStridedMemRef]>;

/// An operation that can be tiled; see Tiling.h.
def LinalgExt_Tileable
    : DeclareOpInterfaceMethods<TilingInterface,
          ["generateResultTileValue", "getIterationDomain", "getIterationDomainTileFromOperandTiles",
           "getIterationDomainTileFromResultTile", "getLoopIteratorTypes", "getResultTilePosition",
           "getTiledImplementation", "getTiledImplementationFromOperandTiles"]>;

/// An operation whose result is as large as its init.
def LinalgExt_Reifiable : DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>;

class LinalgExt_Tiled {
  code definition = [{
    ::llvm::SmallVector<::mlir::utils::IteratorType> $cppClass::getLoopIteratorTypes() {
      return ::mlir::triton_ext::linalg_ext::getTilingPlan(*this).loops;
    }
    ::llvm::SmallVector<::mlir::Range> $cppClass::getIterationDomain(::mlir::OpBuilder &builder) {
      return ::mlir::triton_ext::linalg_ext::getIterationDomain(*this, builder);
    }
    ::mlir::FailureOr<::mlir::TilingResult> $cppClass::getTiledImplementation(
        ::mlir::OpBuilder &builder, ::mlir::ArrayRef<::mlir::OpFoldResult> offsets,
        ::mlir::ArrayRef<::mlir::OpFoldResult> sizes) {
      return ::mlir::triton_ext::linalg_ext::getTiled(*this, builder, {offsets, sizes});
    }
    ::mlir::FailureOr<::mlir::TilingResult> $cppClass::getTiledImplementation(
        ::mlir::OpBuilder &builder, ::mlir::ArrayRef<::mlir::OpFoldResult> offsets,
        ::mlir::ArrayRef<::mlir::OpFoldResult> sizes, ::mlir::ArrayRef<::mlir::InnerTileAlignment>) {
      return getTiledImplementation(builder, offsets, sizes);
    }
    ::llvm::LogicalResult $cppClass::getResultTilePosition(
        ::mlir::OpBuilder &builder, unsigned result, ::mlir::ArrayRef<::mlir::OpFoldResult> offsets,
        ::mlir::ArrayRef<::mlir::OpFoldResult> sizes, ::mlir::SmallVector<::mlir::OpFoldResult> &resultOffsets,
        ::mlir::SmallVector<::mlir::OpFoldResult> &resultSizes) {
      return ::mlir::triton_ext::linalg_ext::getResultPosition(*this, builder, result, {offsets, sizes},
                                                               resultOffsets, resultSizes);
    }
    ::llvm::LogicalResult $cppClass::getIterationDomainTileFromResultTile(
        ::mlir::OpBuilder &builder, unsigned result, ::mlir::ArrayRef<::mlir::OpFoldResult> offsets,
        ::mlir::ArrayRef<::mlir::OpFoldResult> sizes,
        ::mlir::SmallVectorImpl<::mlir::OpFoldResult> &domainOffsets,
        ::mlir::SmallVectorImpl<::mlir::OpFoldResult> &domainSizes) {
      return ::mlir::triton_ext::linalg_ext::getIterationsOfResult(*this, builder, result, {offsets, sizes},
                                                                   domainOffsets, domainSizes);
    }
    ::mlir::FailureOr<::mlir::TilingResult> $cppClass::generateResultTileValue(
        ::mlir::OpBuilder &builder, unsigned result, ::mlir::ArrayRef<::mlir::OpFoldResult> offsets,
        ::mlir::ArrayRef<::mlir::OpFoldResult> sizes) {
      return ::mlir::triton_ext::linalg_ext::getResultTile(*this, builder, result, {offsets, sizes});
    }
    ::mlir::FailureOr<::mlir::TilingResult> $cppClass::generateResultTileValue(
        ::mlir::OpBuilder &builder, unsigned result, ::mlir::ArrayRef<::mlir::OpFoldResult> offsets,
        ::mlir::ArrayRef<::mlir::OpFoldResult> sizes, ::mlir::ArrayRef<::mlir::InnerTileAlignment>) {
      return generateResultTileValue(builder, result, offsets, sizes);
    }
    ::mlir::FailureOr<::mlir::TilingResult> $cppClass::getTiledImplementationFromOperandTiles(
        ::mlir::OpBuilder &builder, ::mlir::ArrayRef<unsigned> operands,
        ::mlir::ArrayRef<::mlir::SmallVector<::mlir::OpFoldResult>> offsets,
        ::mlir::ArrayRef<::mlir::SmallVector<::mlir::OpFoldResult>> sizes) {
      return ::mlir::triton_ext::linalg_ext::getTiledFromOperands(*this, builder, operands, offsets, sizes);
    }
    ::mlir::FailureOr<::mlir::TilingResult> $cppClass::getTiledImplementationFromOperandTiles(
        ::mlir::OpBuilder &builder, ::mlir::ArrayRef<unsigned> operands,
        ::mlir::ArrayRef<::mlir::SmallVector<::mlir::OpFoldResult>> offsets,
        ::mlir::ArrayRef<::mlir::SmallVector<::mlir::OpFoldResult>> sizes,
        ::mlir::ArrayRef<::mlir::InnerTileAlignment>) {
      return getTiledImplementationFromOperandTiles(builder, operands, offsets, sizes);
    }
    ::llvm::LogicalResult $cppClass::getIterationDomainTileFromOperandTiles(
        ::mlir::OpBuilder &builder, ::mlir::ArrayRef<unsigned> operands,
        ::mlir::ArrayRef<::mlir::SmallVector<::mlir::OpFoldResult>> offsets,
        ::mlir::ArrayRef<::mlir::SmallVector<::mlir::OpFoldResult>> sizes,
        ::mlir::SmallVectorImpl<::mlir::OpFoldResult> &domainOffsets,
        ::mlir::SmallVectorImpl<::mlir::OpFoldResult> &domainSizes) {
      return ::mlir::triton_ext::linalg_ext::getIterationsOfOperands(*this, builder, operands, offsets, sizes,
                                                                     domainOffsets, domainSizes);
    }
    ::llvm::LogicalResult $cppClass::getIterationDomainTileFromOperandTiles(
        ::mlir::OpBuilder &builder, ::mlir::ArrayRef<unsigned> operands,
        ::mlir::ArrayRef<::mlir::SmallVector<::mlir::OpFoldResult>> offsets,
        ::mlir::ArrayRef<::mlir::SmallVector<::mlir::OpFoldResult>> sizes,
        ::mlir::SmallVectorImpl<::mlir::OpFoldResult> &domainOffsets,
        ::mlir::SmallVectorImpl<::mlir::OpFoldResult> &domainSizes,
        ::mlir::ArrayRef<::mlir::InnerTileAlignment>) {
      return getIterationDomainTileFromOperandTiles(builder, operands, offsets, sizes, domainOffsets, domainSizes);
    }
    ::llvm::LogicalResult $cppClass::reifyResultShapes(::mlir::OpBuilder &builder,
                                                       ::mlir::ReifiedRankedShapedTypeDims &shapes) {
      return ::mlir::triton_ext::linalg_ext::reifyResultShapes(*this, builder, shapes);
    }
  }];
}

/// A reduction whose reduced dimensions may be computed in parts side by side;
/// see Tiling.h.
def LinalgExt_PartialReduction
    : DeclareOpInterfaceMethods<PartialReductionOpInterface,
          ["generateInitialTensorForPartialReduction", "getPartialResultTilePosition", "mergeReductions",
           "tileToPartialReduction"]>;

class LinalgExt_InParts {
  code partsDefinition = [{
    ::mlir::FailureOr<::mlir::SmallVector<::mlir::Value>> $cppClass::generateInitialTensorForPartialReduction(
        ::mlir::OpBuilder &builder, ::mlir::Location loc, ::mlir::ArrayRef<::mlir::OpFoldResult> sizes,
        const ::mlir::SetVector<unsigned> &reduced) {
      return ::mlir::triton_ext::linalg_ext::getInitialParts(*this, builder, sizes, reduced);
    }
    ::mlir::FailureOr<::mlir::TilingResult> $cppClass::tileToPartialReduction(
        ::mlir::OpBuilder &builder, ::mlir::Location loc, ::mlir::ReductionTilingStrategy strategy,
        ::mlir::ValueRange inits, ::mlir::ArrayRef<::mlir::OpFoldResult> offsets,
        ::mlir::ArrayRef<::mlir::OpFoldResult> sizes, const ::llvm::SetVector<unsigned> &reduced,
        ::mlir::ArrayRef<::mlir::OpFoldResult>) {
      return ::mlir::triton_ext::linalg_ext::getTileOfParts(*this, builder, strategy, inits, {offsets, sizes},
                                                            reduced);
    }
    ::mlir::FailureOr<::mlir::MergeResult> $cppClass::mergeReductions(
        ::mlir::OpBuilder &builder, ::mlir::Location loc, ::mlir::ValueRange parts,
        const ::mlir::SetVector<unsigned> &reduced) {
      return ::mlir::triton_ext::linalg_ext::mergeParts(*this, builder, parts, reduced);
    }
    ::llvm::LogicalResult $cppClass::getPartialResultTilePosition(
        ::mlir::OpBuilder &builder, unsigned result, ::mlir::ReductionTilingStrategy strategy,
        ::mlir::ArrayRef<::mlir::OpFoldResult> offsets, ::mlir::ArrayRef<::mlir::OpFoldResult> sizes,
        const ::mlir::SetVector<unsigned> &reduced, ::mlir::ArrayRef<::mlir::OpFoldResult>,
        ::mlir::SmallVector<::mlir::OpFoldResult> &resultOffsets,
        ::mlir::SmallVector<::mlir::OpFoldResult> &resultSizes) {
      return ::mlir::triton_ext::linalg_ext::getPositionOfParts(*this, builder, result, strategy, {offsets, sizes},
                                                                reduced, resultOffsets, resultSizes);
    }
  }];
}

/// An operation whose clauses are parsed in any order and printed in one; see
/// Syntax.h.
class LinalgExt_Written<string syntax> {
  code syntaxDefinition = [{
    ::mlir::ParseResult $cppClass::parse(::mlir::OpAsmParser &parser, ::mlir::OperationState &result) {
      return ::mlir::triton_ext::linalg_ext::parse}] # syntax # [{(parser, result);
    }
    void $cppClass::print(::mlir::OpAsmPrinter &printer) {
      ::mlir::triton_ext::linalg_ext::print}] # syntax # [{(printer, *this);
    }
  }];
}

/// An operation in destination style. Its init is a tensor, whose new value is
/// the result, or a memref, which it writes. It reads memrefs among its inputs.
class LinalgExt_DestinationOp<string mnemonic, list<Trait> traits = []>
    : LinalgExt_Op<mnemonic, [DestinationStyleOpInterface, LinalgExt_Tileable, LinalgExt_Reifiable,
                              DeclareOpInterfaceMethods<MemoryEffectsOpInterface>] # traits>,
      LinalgExt_Tiled {
  let hasVerifier = 1;
  let extraClassDefinition = definition;
  code inits = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }
  }];
  let extraClassDeclaration = inits;
}

/// An operation with linalg's interface; see Structure.h. The text does not show
/// its body.
class LinalgExt_StructuredOp<string mnemonic, list<Trait> traits = []>
    : LinalgExt_DestinationOp<mnemonic, [LinalgStructuredInterface, SingleBlock, AlwaysSpeculatable] # traits> {
  let regions = (region SizedRegion<1>:$region);
  let skipDefaultBuilders = 1;
  code body = [{
    using BodyBuilder = std::function<void(
        ::mlir::ImplicitLocOpBuilder &, ::mlir::Block &, ::mlir::ArrayRef<::mlir::NamedAttribute>,
        ::llvm::function_ref<::mlir::InFlightDiagnostic()>)>;
    static BodyBuilder getRegionBuilder();
    ::mlir::ArrayAttr getIndexingMaps();
    bool hasDynamicIndexingMaps() { return true; }
    bool hasIndexSemantics();
    std::string getLibraryCallName();
    ::llvm::SmallVector<::mlir::utils::IteratorType> getIteratorTypesArray() { return getLoopIteratorTypes(); }
  }];
  code structureDefinition = [{
    $cppClass::BodyBuilder $cppClass::getRegionBuilder() {
      return ::mlir::triton_ext::linalg_ext::getBodyBuilder(getOperationName());
    }
    ::mlir::ArrayAttr $cppClass::getIndexingMaps() {
      return ::mlir::triton_ext::linalg_ext::getIndexingMaps(*this);
    }
    bool $cppClass::hasIndexSemantics() {
      return !getBody()->getOps<::mlir::linalg::IndexOp>().empty();
    }
    std::string $cppClass::getLibraryCallName() {
      return ::mlir::linalg::generateLibraryCallName(*this);
    }
  }];
  let extraClassDeclaration = inits # body;
  let extraClassDefinition = definition # structureDefinition;
}

/// The builder of a structured operation, which also builds its body.
def LinalgExt_Builder : OpBuilder<
    (ins "::mlir::TypeRange":$results, "::mlir::ValueRange":$operands,
         "::mlir::ArrayRef<::mlir::NamedAttribute>":$attributes),
    "::mlir::triton_ext::linalg_ext::buildStructured($_builder, $_state, results, operands, attributes);">;

def LinalgExt_YieldOp
    : LinalgExt_Op<"yield", [Pure, ReturnLike, Terminator,
                             ParentOneOf<["PadOp", "GatherOp", "ScatterOp", "ScanOp"]>]> {
  let summary = "What the body of an operation of this dialect makes of its arguments";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
  let builders = [OpBuilder<(ins), "build($_builder, $_state, ::mlir::ValueRange());">];
}

def LinalgExt_PadOp
    : LinalgExt_DestinationOp<"pad", [AttrSizedOperandSegments, SingleBlock, RecursivelySpeculatable]> {
  let summary = "An array with a margin of one value around it";
  let description = [{
    The elements of the input, handed through the body, behind `low[d]` and
    before `high[d]` elements `pvalue` in each dimension `d`. The margins are
    numbers or values, none of them negative; input and margins together are as
    large as the init.

    ```mlir
    %r = linalg_ext.pad ins(%t : tensor<?xf32>) outs(%o : tensor<1024xf32>)
        pvalue(%zero : f32) low = [0] high = [%n] {
    ^bb0(%a: f32):
      linalg_ext.yield %a : f32
    } -> tensor<1024xf32>
    ```
  }];
  let arguments = (ins
    LinalgExt_TensorOrMemRef:$input, LinalgExt_TensorOrMemRef:$init, AnyType:$pvalue,
    Variadic<Index>:$low, Variadic<Index>:$high,
    DenseI64ArrayAttr:$static_low, DenseI64ArrayAttr:$static_high);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    custom<FrontAttributes>(attr-dict)
    `ins` `(` $input `:` type($input) `)` `outs` `(` $init `:` type($init) `)`
    `pvalue` `(` $pvalue `:` type($pvalue) `)`
    `low` `=` custom<DynamicIndexList>($low, $static_low)
    `high` `=` custom<DynamicIndexList>($high, $static_high)
    custom<BodyAttributes>(ref(attr-dict)) custom<PadBody>($body, ref(type($input)))
    (`->` type($result)^)?
  }];
  let builders = [
    // Builds a body that yields the elements unchanged.
    OpBuilder<(ins "::mlir::Value":$input, "::mlir::Value":$init, "::mlir::Value":$pvalue,
                   "::mlir::ArrayRef<::mlir::OpFoldResult>":$low,
                   "::mlir::ArrayRef<::mlir::OpFoldResult>":$high)>
  ];
  let extraClassDeclaration = inits # [{
    ::llvm::SmallVector<::mlir::OpFoldResult> getMixedLow();
    ::llvm::SmallVector<::mlir::OpFoldResult> getMixedHigh();
  }];
  let hasCanonicalizer = 1;
}

def LinalgExt_MakeRangeOp : LinalgExt_StructuredOp<"make_range"> {
  let summary = "The integers from start to end";
  let description = [{
    `start`, `start + 1`, ... `end - 1`, as elements of a one-dimensional array
    of as many elements.

    ```mlir
    %r = linalg_ext.make_range ins(%a, %b : i32, i32) outs(%o : tensor<128xi32>) -> tensor<128xi32>
    ```
  }];
  let arguments = (ins AnySignlessInteger:$start, AnySignlessInteger:$end,
                       LinalgExt_TensorOrMemRef:$init);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    custom<FrontAttributes>(attr-dict)
    `ins` `(` $start `,` $end `:` type($start) `,` type($end) `)`
    `outs` `(` $init `:` type($init) `)` custom<RestAttributes>(ref(attr-dict))
    custom<RangeBody>($region, ref(type($start)), ref(type($end)), ref(type($init))) (`->` type($result)^)?
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$start, "::mlir::Value":$end, "::mlir::Value":$init)>
  ];
  let hasCanonicalizer = 1;
}

/// The base of gather and scatter: `N` indices give the position at which a
/// window of the larger array begins.
class LinalgExt_IndexedOp<string mnemonic, list<Trait> traits = []>
    : LinalgExt_DestinationOp<mnemonic, [SingleBlock, RecursivelySpeculatable] # traits> {
  let regions = (region SizedRegion<1>:$body);
}

def LinalgExt_GatherOp : LinalgExt_IndexedOp<"gather"> {
  let summary = "Windows of an array, from where indices say";
  let description = [{
    For the batch index `b`, which runs over all dimensions of `indices` but the
    last, and the window index `w`, which has as many dimensions as the input:

        result[b, w] = input[w + start(b)], start(b)[dimension_map[k]] = indices[b, k]

    and 0 in dimensions that the map does not name, if `mask[b]` is true or
    there is no mask. Where it is false, nothing is read, and the element is
    that of the init. The body gets what is read and the element of the init.
    `ranged_data(true)` promises that nothing outside of the input is read;
    without it the indices are added to the base address as they are.
    `signed_indice` says how they are widened.

    ```mlir
    %r = linalg_ext.gather dimension_map = [0] ranged_data(false) signed_indice(true)
        ins(%t, %i, %m : tensor<?xf32>, tensor<128x1xi32>, tensor<128xi1>)
        outs(%o : tensor<128x1xf32>) {
    ^bb0(%read: f32, %old: f32):
      linalg_ext.yield %read : f32
    } -> tensor<128x1xf32>
    ```
  }];
  let arguments = (ins LinalgExt_TensorOrMemRef:$input, LinalgExt_TensorOrMemRef:$indices,
                       Optional<LinalgExt_TensorOrMemRef>:$mask, LinalgExt_TensorOrMemRef:$init,
                       DenseI64ArrayAttr:$dimension_map, BoolAttr:$ranged_data,
                       BoolAttr:$signed_indice);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    custom<FrontAttributes>(attr-dict)
    `dimension_map` `=` $dimension_map `ranged_data` `(` $ranged_data `)`
    `signed_indice` `(` $signed_indice `)`
    `ins` `(` custom<Inputs>($input, type($input), $indices, type($indices), $mask, type($mask)) `)`
    `outs` `(` $init `:` type($init) `)` custom<BodyAttributes>(ref(attr-dict)) $body (`->` type($result)^)?
  }];
  let builders = [
    // Builds a body that yields the element that is read. The mask may be null.
    OpBuilder<(ins "::mlir::Value":$input, "::mlir::Value":$indices, "::mlir::Value":$mask,
                   "::mlir::Value":$init, "::mlir::ArrayRef<int64_t>":$dimensionMap,
                   CArg<"bool", "false">:$rangedData, CArg<"bool", "true">:$signedIndice)>
  ];
  let hasCanonicalizer = 1;
}

def LinalgExt_ScatterOp : LinalgExt_IndexedOp<"scatter"> {
  let summary = "Windows into an array, to where indices say";
  let description = [{
    The other direction of `gather`: with its `start(b)`,

        init[w + start(b)] = body(update[b, w], init[w + start(b)])

    for every `b` whose mask is true, in the order of `b`. The element for which
    it is false touches nothing. `overlap_window(false)` promises that no
    element is written twice.

    ```mlir
    linalg_ext.scatter dimension_map = [0] ranged_data(false) overlap_window(true)
        signed_indice(true) ins(%u, %i, %m : tensor<128x1xf32>, tensor<128x1xi32>, tensor<128xi1>)
        outs(%o : memref<?xf32>) {
    ^bb0(%new: f32, %old: f32):
      linalg_ext.yield %new : f32
    }
    ```
  }];
  let arguments = (ins LinalgExt_TensorOrMemRef:$update, LinalgExt_TensorOrMemRef:$indices,
                       Optional<LinalgExt_TensorOrMemRef>:$mask, LinalgExt_TensorOrMemRef:$init,
                       DenseI64ArrayAttr:$dimension_map, BoolAttr:$ranged_data,
                       BoolAttr:$overlap_window, BoolAttr:$signed_indice);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    custom<FrontAttributes>(attr-dict)
    `dimension_map` `=` $dimension_map `ranged_data` `(` $ranged_data `)`
    `overlap_window` `(` $overlap_window `)` `signed_indice` `(` $signed_indice `)`
    `ins` `(` custom<Inputs>($update, type($update), $indices, type($indices), $mask, type($mask)) `)`
    `outs` `(` $init `:` type($init) `)` custom<BodyAttributes>(ref(attr-dict)) $body (`->` type($result)^)?
  }];
  let builders = [
    // Builds a body that yields the update. The mask may be null.
    OpBuilder<(ins "::mlir::Value":$update, "::mlir::Value":$indices, "::mlir::Value":$mask,
                   "::mlir::Value":$init, "::mlir::ArrayRef<int64_t>":$dimensionMap,
                   CArg<"bool", "false">:$rangedData, CArg<"bool", "true">:$overlapWindow,
                   CArg<"bool", "true">:$signedIndice)>
  ];
  let hasCanonicalizer = 1;
}

def LinalgExt_ScanOp
    : LinalgExt_DestinationOp<"scan", [AttrSizedOperandSegments, SingleBlock, RecursivelySpeculatable]>,
      LinalgExt_Written<"Scan"> {
  let summary = "Every prefix of a dimension combined";
  let description = [{
    Along each line in the dimension, the first element of the line is handed on
    as it is, and each further one is `body(accumulator, element)`: the
    accumulator is what came out before. With `reverse(true)` a line begins at
    its end. Several inputs are scanned together: the body gets all accumulators
    and then all elements. An array without dimensions is one line of one element.

    ```mlir
    %r = linalg_ext.scan dimension = 1 reverse(false)
        ins(%t : tensor<4x8xf32>) outs(%o : tensor<4x8xf32>) {
    ^bb0(%acc: f32, %in: f32):
      %0 = arith.addf %acc, %in : f32
      linalg_ext.yield %0 : f32
    } -> tensor<4x8xf32>
    ```

    With twice as many inits as inputs, the second half, which lacks the
    dimension, holds values that each line carries: the initial values at first,
    the final values in the results. The body's arguments are the elements of the
    inputs, the elements of the outputs, and the carried values; it yields the new
    elements of the outputs, then the new carried values:

    ```mlir
    %r:2 = linalg_ext.scan dimension = 1 reverse(false) ins(%t : tensor<4x8xf32>)
        outs(%o, %first : tensor<4x8xf32>, tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32, %carried: f32):
      %0 = arith.addf %carried, %in : f32
      linalg_ext.yield %0, %0 : f32, f32
    } -> tensor<4x8xf32>, tensor<4xf32>
    ```

    `inclusive = false`, which is read and not printed, makes the body yield the
    carried values in place of its own new elements: an element is what is carried
    before it.
  }];
  let arguments = (ins Variadic<LinalgExt_TensorOrMemRef>:$inputs,
                       Variadic<LinalgExt_TensorOrMemRef>:$inits,
                       I64Attr:$dimension, BoolAttr:$reverse);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let extraClassDefinition = definition # syntaxDefinition;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitsMutable(); }
    /// Returns whether the scan also has accumulators: inits that each line
    /// begins with and whose last values are results.
    bool isCarried() { return getInits().size() == 2 * getInputs().size(); }
  }];
  let hasCanonicalizer = 1;
}

def LinalgExt_HistogramOp : LinalgExt_DestinationOp<"histogram", [AlwaysSpeculatable]> {
  let summary = "How often each number occurs";
  let description = [{
    Adds to element `i` of the init how many elements of the input are `i`, read
    as unsigned numbers. Values outside of the bounds of the init are not
    counted, nor are those whose mask is false.

    ```mlir
    %r = linalg_ext.histogram ins(%t, %m : tensor<128xi32>, tensor<128xi1>)
        outs(%o : tensor<16xi32>) -> tensor<16xi32>
    ```
  }];
  let arguments = (ins LinalgExt_TensorOrMemRef:$input, Optional<LinalgExt_TensorOrMemRef>:$mask,
                       LinalgExt_TensorOrMemRef:$init);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    custom<FrontAttributes>(attr-dict)
    `ins` `(` custom<InputAndMask>($input, type($input), $mask, type($mask)) `)`
    `outs` `(` $init `:` type($init) `)` custom<RestAttributes>(ref(attr-dict)) (`->` type($result)^)?
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$input, "::mlir::Value":$mask, "::mlir::Value":$init)>
  ];
  let hasCanonicalizer = 1;
}

def LinalgExt_FlipOp : LinalgExt_DestinationOp<"flip", [AlwaysSpeculatable]> {
  let summary = "The elements of one dimension in reverse order";
  let description = [{
    ```mlir
    %r = linalg_ext.flip dimension = 0 ins(%t : tensor<8xf32>) outs(%o : tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins LinalgExt_TensorOrMemRef:$input, LinalgExt_TensorOrMemRef:$init,
                       I64Attr:$dimension);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    `dimension` `=` $dimension `ins` `(` $input `:` type($input) `)`
    `outs` `(` $init `:` type($init) `)` attr-dict (`->` type($result)^)?
  }];
  let hasCanonicalizer = 1;
}

def LinalgExt_AssertOp
    : LinalgExt_Op<"assert", [DestinationStyleOpInterface, LinalgExt_Tileable, LinalgExt_Reifiable,
                              DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]>,
      LinalgExt_Tiled, LinalgExt_Written<"Assert"> {
  let summary = "End the kernel with a message unless every element is true";
  let description = [{
    An element is true unless it is 0. A tensor may be handed through, so that
    the assertion has a place among its users.

    ```mlir
    linalg_ext.assert "x must not be 0" ins(%c : tensor<128xi1>)
    %1 = linalg_ext.assert "x must not be 0" ins(%x : tensor<128xi32>) -> tensor<128xi32>
    ```
  }];
  let arguments = (ins LinalgExt_TensorOrMemRef:$condition, StrAttr:$msg);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$condition, "::llvm::StringRef":$msg)>];
  let hasCustomAssemblyFormat = 1;
  let extraClassDefinition = definition # syntaxDefinition;
  let extraClassDeclaration = [{
    /// The condition, if the assertion returns it.
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(getOperation(), 0, getResult() ? 1 : 0);
    }
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def LinalgExt_ScalarAssertOp : LinalgExt_Op<"scalar_assert", [MemoryEffects<[MemWrite]>]> {
  let summary = "End the kernel with a message unless the condition is true";
  let description = [{
    ```mlir
    linalg_ext.scalar_assert "n must not be 0" %c
    ```
  }];
  let arguments = (ins I1:$condition, StrAttr:$msg);
  let assemblyFormat = "$msg $condition attr-dict";
  let hasCanonicalizeMethod = 1;
}

/// The base of atomics, which read and write memory that other programs may
/// change at the same time. If the memory is a memref, the only init is the
/// array of previous values. If it is a tensor, it stands for the memory that
/// bufferization.to_tensor read it from, or else for memory without other users.
class LinalgExt_AtomicOp<string mnemonic, string syntax>
    : LinalgExt_DestinationOp<mnemonic>, LinalgExt_Written<syntax> {
  let hasCustomAssemblyFormat = 1;
  let extraClassDefinition = definition # syntaxDefinition;
}

/// An atomic that, if its memory is a tensor, returns the tensor's new value
/// before the previous values.
class LinalgExt_AtomicRMWBase<string mnemonic, string syntax> : LinalgExt_AtomicOp<mnemonic, syntax> {
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      bool givesMemory = ::llvm::isa<::mlir::RankedTensorType>(getMemory().getType());
      ::mlir::OpOperand &first = givesMemory ? getMemoryMutable() : getInitMutable();
      return ::mlir::MutableOperandRange(getOperation(), first.getOperandNumber(), givesMemory ? 2 : 1);
    }
    /// Returns the previous values, or null if the init is a memref.
    ::mlir::Value getOld() {
      return ::llvm::isa<::mlir::RankedTensorType>(getInit().getType()) ? getResults().back() : ::mlir::Value();
    }
  }];
}

def LinalgExt_GatherAtomicRMWOp : LinalgExt_AtomicRMWBase<"gather_atomic_rmw", "GatherAtomicRMW"> {
  let summary = "Change elements at given indices, each atomically, and return the previous ones";
  let description = [{
    For each `b` whose mask is true, atomically,

        old[b, 0] = memory[indices[b, 0]]
        memory[indices[b, 0]] = kind(old[b, 0], value[b, 0])

    with the memory order that is named: `relaxed`, `acquire`, `release` or
    `acq_rel`. Where the mask is false nothing is touched, and `old` stays. A
    mask of i8 is false where it is 0. The kinds are those of
    `memref.atomic_rmw`. The dimension of one element may be left out of all but
    the memory.

    ```mlir
    %r = linalg_ext.gather_atomic_rmw addf acq_rel
        ins(%v, %i, %m : tensor<128x1xf32>, tensor<128x1xi64>, tensor<128xi1>)
        outs(%mem, %o : memref<?xf32>, tensor<128x1xf32>) -> tensor<128x1xf32>
    ```
  }];
  let arguments = (ins StrAttr:$kind, StrAttr:$order, OptionalAttr<StrAttr>:$scope,
                       LinalgExt_TensorOrMemRef:$value, LinalgExt_TensorOrMemRef:$indices,
                       Optional<LinalgExt_TensorOrMemRef>:$mask,
                       LinalgExt_TensorOrMemRef:$memory, LinalgExt_TensorOrMemRef:$init);
  let hasCanonicalizer = 1;
}

def LinalgExt_GatherAtomicCASOp : LinalgExt_AtomicOp<"gather_atomic_cas", "GatherAtomicCAS"> {
  let summary = "Compare elements at given indices with expected ones and replace the equal ones, each atomically";
  let description = [{
    For each `b`, atomically, `old[b, 0]` is `memory[indices[b, 0]]`, and that
    becomes `value[b, 0]` if its bits are those
    of `expected[b, 0]`. The dimension of one element may be left out of all but
    the memory. Memory that is a tensor is not given anew: it is an input.

    ```mlir
    %r = linalg_ext.gather_atomic_cas acq_rel
        ins(%e, %v, %i : tensor<128x1xi32>, tensor<128x1xi32>, tensor<128x1xi64>)
        outs(%mem, %o : memref<?xi32>, tensor<128x1xi32>) -> tensor<128x1xi32>
    %s = linalg_ext.gather_atomic_cas acq_rel
        ins(%t, %f, %w, %j : tensor<?xi32>, tensor<128xi32>, tensor<128xi32>, tensor<128xi64>)
        outs(%p : tensor<128xi32>) -> tensor<128xi32>
    ```
  }];
  let arguments = (ins StrAttr:$order, OptionalAttr<StrAttr>:$scope,
                       LinalgExt_TensorOrMemRef:$expected, LinalgExt_TensorOrMemRef:$value,
                       LinalgExt_TensorOrMemRef:$indices,
                       LinalgExt_TensorOrMemRef:$memory, LinalgExt_TensorOrMemRef:$init);
  let results = (outs Optional<AnyRankedTensor>:$result);
}

/// An atomic on each element of an array of any rank, with the value at the
/// same position.
def LinalgExt_AtomicRMWOp : LinalgExt_AtomicRMWBase<"atomic_rmw", "AtomicRMW"> {
  let summary = "Change each element of memory atomically, and return the previous ones";
  let description = [{
    `gather_atomic_rmw` of elements that need no indices: for each element,

        old[i] = memory[i]
        memory[i] = kind(old[i], value[i])

    atomically for each element. Value, memory and init have one shape.

    ```mlir
    %r = linalg_ext.atomic_rmw addf acq_rel ins(%v : tensor<?xf32>)
        outs(%mem, %o : memref<?xf32, strided<[1], offset: ?>>, tensor<?xf32>) -> tensor<?xf32>
    %new, %old = linalg_ext.atomic_rmw addf acq_rel ins(%v : tensor<?xf32>)
        outs(%t, %o : tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>, tensor<?xf32>
    ```
  }];
  let arguments = (ins StrAttr:$kind, StrAttr:$order, OptionalAttr<StrAttr>:$scope,
                       LinalgExt_TensorOrMemRef:$value, LinalgExt_TensorOrMemRef:$memory,
                       LinalgExt_TensorOrMemRef:$init);
}

def LinalgExt_AtomicCASOp : LinalgExt_AtomicOp<"atomic_cas", "AtomicCAS"> {
  let summary = "Compare each element of memory with an expected one and replace it if they are equal, atomically";
  let description = [{
    `gather_atomic_cas` of elements that need no indices. All operands have one
    shape.

    ```mlir
    %r = linalg_ext.atomic_cas acq_rel ins(%e, %v : tensor<128xi32>, tensor<128xi32>)
        outs(%mem, %o : memref<128xi32, strided<[1], offset: ?>>, tensor<128xi32>) -> tensor<128xi32>
    ```
  }];
  let arguments = (ins StrAttr:$order, OptionalAttr<StrAttr>:$scope,
                       LinalgExt_TensorOrMemRef:$expected, LinalgExt_TensorOrMemRef:$value,
                       LinalgExt_TensorOrMemRef:$memory, LinalgExt_TensorOrMemRef:$init);
  let results = (outs Optional<AnyRankedTensor>:$result);
}

/// A named reduction, which combines the init with the elements of the input.
class LinalgExt_ReduceOp<string mnemonic, string what, string how>
    : LinalgExt_StructuredOp<mnemonic, [LinalgExt_PartialReduction]>, LinalgExt_InParts,
      LinalgExt_Written<"Reduction"> {
  let summary = what # " of all elements along some dimensions";
  let description = [{
    Combines each element of the init with all elements of the input that are
    behind it in `dimensions`, in any order. }] # how # [{

    ```mlir
    %r = linalg_ext.}] # mnemonic # [{ dimensions = [1] ins(%t : tensor<4x8xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins LinalgExt_TensorOrMemRef:$input, LinalgExt_TensorOrMemRef:$init,
                       DenseI64ArrayAttr:$dimensions);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let builders = [LinalgExt_Builder];
  let hasCustomAssemblyFormat = 1;
  let extraClassDefinition = definition # structureDefinition # syntaxDefinition # partsDefinition;
  let hasCanonicalizer = 1;
}

def LinalgExt_ReduceSumOp : LinalgExt_ReduceOp<"reduce_sum", "The sum", "">;
def LinalgExt_ReduceMaxOp : LinalgExt_ReduceOp<"reduce_max", "The maximum",
    "Integers are signed. NaN counts only where there is nothing else.">;
def LinalgExt_ReduceMinOp : LinalgExt_ReduceOp<"reduce_min", "The minimum",
    "Integers are signed. NaN counts only where there is nothing else.">;
def LinalgExt_ReduceMaxNanOp : LinalgExt_ReduceOp<"reduce_max_nan", "The maximum", "NaN if one is NaN.">;
def LinalgExt_ReduceMinNanOp : LinalgExt_ReduceOp<"reduce_min_nan", "The minimum", "NaN if one is NaN.">;

/// A reduction of pairs of a value and its index, from two inputs of one shape.
class LinalgExt_ArgOp<string mnemonic, string what, string before, string comparison>
    : LinalgExt_StructuredOp<mnemonic, [LinalgExt_PartialReduction]>, LinalgExt_InParts, LinalgExt_Written<"Arg"> {
  let summary = "The " # what # " along a dimension and where it is";
  let description = [{
    Folds the pairs `(x, j)` of the inputs along the dimension, from the first to
    the last, into the pair `(v, i)` of the inits: `(v, i)` stays if
    `v}] # before # [{x`, or if `v == x` and `i < j`; otherwise it becomes
    `(x, j)`. Integers are signed. By this rule, NaN replaces the
    pair before it, and the pair behind NaN replaces NaN.
    `tie_break_left(false)` leaves open which of several equal values is taken.

    ```mlir
    %v, %i = linalg_ext.}] # mnemonic # [{ dimension = 1 tie_break_left(true)
        ins(%x, %j : tensor<4x8xf32>, tensor<4x8xi32>)
        outs(%o, %p : tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>, tensor<4xi32>
    ```

    A body says it otherwise, of ties and NaN. It gets `x`, `j`, `v` and `i` and
    yields what `(v, i)` becomes:

    ```mlir
    %v, %i = linalg_ext.}] # mnemonic # [{ dimension = 1
        ins(%x, %j : tensor<4x8xf32>, tensor<4x8xi32>)
        outs(%o, %p : tensor<4xf32>, tensor<4xi32>) (%in: f32, %at: i32, %best: f32, %where: i32) {
      %c = arith.cmpf o}] # comparison # [{t, %in, %best : f32
      %0 = arith.select %c, %in, %best : f32
      %1 = arith.select %c, %at, %where : i32
      linalg.yield %0, %1 : f32, i32
    } -> tensor<4xf32>, tensor<4xi32>
    ```
  }];
  let arguments = (ins LinalgExt_TensorOrMemRef:$values, LinalgExt_TensorOrMemRef:$indices,
                       Variadic<LinalgExt_TensorOrMemRef>:$inits,
                       I64Attr:$dimension, OptionalAttr<BoolAttr>:$tie_break_left);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let builders = [LinalgExt_Builder];
  let hasCustomAssemblyFormat = 1;
  let extraClassDefinition = definition # structureDefinition # syntaxDefinition # partsDefinition;
  let extraClassDeclaration = body # [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitsMutable(); }
  }];
}

def LinalgExt_ArgMaxOp : LinalgExt_ArgOp<"argmax", "maximum", " > ", "g">;
def LinalgExt_ArgMinOp : LinalgExt_ArgOp<"argmin", "minimum", " < ", "l">;

/// An operation on windows of an image. Element (h, w) of window (y, x) is the
/// element of the image at
/// (y * strides[0] + h * dilations[0], x * strides[1] + w * dilations[1]).
/// All windows have to lie in the image.
class LinalgExt_WindowsOp<string mnemonic, list<Trait> traits = []>
    : LinalgExt_StructuredOp<mnemonic, traits>, LinalgExt_Written<"Windows"> {
  let results = (outs Optional<AnyRankedTensor>:$result);
  let builders = [LinalgExt_Builder];
  let hasCustomAssemblyFormat = 1;
  let extraClassDefinition = definition # structureDefinition # syntaxDefinition;
}

/// An operation that reduces the elements of windows.
class LinalgExt_WindowReductionOp<string mnemonic>
    : LinalgExt_WindowsOp<mnemonic, [LinalgExt_PartialReduction]>, LinalgExt_InParts {
  let extraClassDefinition = definition # structureDefinition # syntaxDefinition # partsDefinition;
}

def LinalgExt_BatchConv2DNhwcFhwcOp : LinalgExt_WindowReductionOp<"batch_conv_2d_nhwc_fhwc"> {
  let summary = "Several convolutions of images, each with its own filters";
  let description = [{
    Adds to each element of the init

        init[b, n, y, x, f] += sum over h, w, c of
            image[b, n, y * strides[0] + h * dilations[0], x * strides[1] + w * dilations[1], c]
            * filter[b, f, h, w, c]

    in the type of the init, to which image and filter are extended.

    ```mlir
    %r = linalg_ext.batch_conv_2d_nhwc_fhwc strides = [1, 1] dilations = [1, 1]
        ins(%i, %f : tensor<2x1x8x8x4xf32>, tensor<2x16x3x3x4xf32>)
        outs(%o : tensor<2x1x6x6x16xf32>) -> tensor<2x1x6x6x16xf32>
    ```
  }];
  let arguments = (ins LinalgExt_TensorOrMemRef:$image, LinalgExt_TensorOrMemRef:$filter,
                       LinalgExt_TensorOrMemRef:$init,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations);
}

def LinalgExt_Im2ColOp : LinalgExt_WindowsOp<"im2col"> {
  let summary = "The windows of images, one after the other";
  let description = [{
        result[n, y, x, h, w, c] =
            image[n, y * strides[0] + h * dilations[0], x * strides[1] + w * dilations[1], c]

    A convolution is a product of matrices of this, once its dimensions are
    collapsed, and the filter.

    ```mlir
    %r = linalg_ext.im2col strides = [1, 1] dilations = [1, 1]
        ins(%i : tensor<1x8x8x4xf32>) outs(%o : tensor<1x6x6x3x3x4xf32>) -> tensor<1x6x6x3x3x4xf32>
    ```
  }];
  let arguments = (ins LinalgExt_TensorOrMemRef:$image, LinalgExt_TensorOrMemRef:$init,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations);
}

class LinalgExt_PoolingOp<string mnemonic, string what> : LinalgExt_WindowReductionOp<mnemonic> {
  let summary = "The " # what # " of each window of images, NaN if one is NaN";
  let description = [{
    Combines each element of the init with the elements of its window of the
    image. Of `window` only the shape counts.

    ```mlir
    %r = linalg_ext.}] # mnemonic # [{ strides = [2, 2] dilations = [1, 1]
        ins(%i, %w : tensor<1x8x8x4xf32>, tensor<2x2xf32>)
        outs(%o : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
    ```
  }];
  let arguments = (ins LinalgExt_TensorOrMemRef:$image, LinalgExt_TensorOrMemRef:$window,
                       LinalgExt_TensorOrMemRef:$init,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations);
}

def LinalgExt_PoolingNhwcMaxNanOp : LinalgExt_PoolingOp<"pooling_nhwc_max_nan", "maximum">;
def LinalgExt_PoolingNhwcMinNanOp : LinalgExt_PoolingOp<"pooling_nhwc_min_nan", "minimum">;

def LinalgExt_TriOp : LinalgExt_StructuredOp<"tri"> {
  let summary = "A triangle of ones below zeros";
  let description = [{
    1 in the elements whose column is at most their row plus `diagonal`, 0 in
    the others.

    ```mlir
    %r = linalg_ext.tri ins(%diagonal : index) outs(%o : tensor<8x8xf32>) -> tensor<8x8xf32>
    ```
  }];
  let arguments = (ins Index:$diagonal, LinalgExt_TensorOrMemRef:$init);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let builders = [LinalgExt_Builder];
  let assemblyFormat = [{
    `ins` `(` $diagonal `:` type($diagonal) `)` `outs` `(` $init `:` type($init) `)`
    attr-dict custom<TriBody>($region, ref(type($diagonal)), ref(type($init))) (`->` type($result)^)?
  }];
  let hasCanonicalizer = 1;
}

def LinalgExt_LibdeviceCallOp
    : LinalgExt_DestinationOp<"libdevice_call", [AlwaysSpeculatable]> {
  let summary = "A function of the target's library, on each element";
  let description = [{
    The function has no effect but its result. A scalar input is the same
    for all elements.

    ```mlir
    %r = linalg_ext.libdevice_call ins(%x, %y : tensor<128xf32>, f32) outs(%o : tensor<128xf32>)
        symbol = "__nv_powf" -> tensor<128xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$inputs, LinalgExt_TensorOrMemRef:$init, StrAttr:$symbol);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    custom<FrontAttributes>(attr-dict)
    (`ins` `(` $inputs^ `:` type($inputs) `)`)? `outs` `(` $init `:` type($init) `)`
    `symbol` `=` $symbol custom<RestAttributes>(ref(attr-dict)) (`->` type($result)^)?
  }];
}

def LinalgExt_ScalarLibdeviceCallOp : LinalgExt_Op<"scalar_libdevice_call", [Pure]> {
  let summary = "A function of the target's library, on scalars";
  let description = [{
    ```mlir
    %r = linalg_ext.scalar_libdevice_call ins(%x : f32) symbol = "__nv_sinf" -> f32
    ```
  }];
  let arguments = (ins Variadic<AnyTypeOf<[AnySignlessInteger, Index, AnyFloat]>>:$inputs, StrAttr:$symbol);
  let results = (outs AnyTypeOf<[AnySignlessInteger, Index, AnyFloat]>:$result);
  let assemblyFormat = [{
    custom<FrontAttributes>(attr-dict)
    (`ins` `(` $inputs^ `:` type($inputs) `)`)? `symbol` `=` $symbol
    custom<RestAttributes>(ref(attr-dict)) `->` type($result)
  }];
}
