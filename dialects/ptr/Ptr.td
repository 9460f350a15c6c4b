// SPDX-License-Identifier: Apache-2.0

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def PtrDialect : Dialect {
  let name = "ptr";
  let summary = "MLIR's pointers, which libtriton lacks";
  let description = [{
    See RATIONALE.md for why it exists.
  }];
  let cppNamespace = "::mlir::triton_ext::ptr";
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
}

def Ptr_PtrType : TypeDef<PtrDialect, "Ptr", [
    MemRefElementTypeInterface, PtrLikeTypeInterface, VectorElementTypeInterface]> {
  let mnemonic = "ptr";
  let summary = "An address, in a memory space";
  let description = [{
    A pointer has 64 bits. It does not say what it points to. Its memory space is
    `#ptr.generic_space` or an attribute of another dialect.

    ```mlir
    !ptr.ptr<#ptr.generic_space>
    ```
  }];
  let parameters = (ins "::mlir::Attribute":$memorySpace);
  let assemblyFormat = "`<` $memorySpace `>`";
  let extraClassDeclaration = [{
    ::mlir::Type getElementType() const { return {}; }
    bool hasPtrMetadata() const { return false; }
    ::llvm::FailureOr<::mlir::PtrLikeTypeInterface>
    clonePtrWith(::mlir::Attribute space, std::optional<::mlir::Type> element) const;
  }];
}

def Ptr_PtrMetadata : TypeDef<PtrDialect, "PtrMetadata"> {
  let mnemonic = "ptr_metadata";
  let summary = "What a memref consists of besides its pointer";
  let description = [{
    ```mlir
    !ptr.ptr_metadata<memref<?xf32>>
    ```
  }];
  let parameters = (ins "::mlir::PtrLikeTypeInterface":$type);
  let assemblyFormat = "`<` $type `>`";
  let genVerifyDecl = 1;
}

class Ptr_Attr<string name, string attrMnemonic, list<Trait> traits = []> : AttrDef<PtrDialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Ptr_GenericSpaceAttr : Ptr_Attr<"GenericSpace", "generic_space"> {
  let summary = "The memory that any pointer may point to";
  let description = [{
    ```mlir
    !ptr.ptr<#ptr.generic_space>
    ```
  }];
}

def Ptr_NullAttr : Ptr_Attr<"Null", "null", [TypedAttrInterface]> {
  let summary = "The pointer to nothing, with the address 0";
  let description = [{
    ```mlir
    #ptr.null : !ptr.ptr<#ptr.generic_space>
    ```
  }];
  let parameters = (ins AttributeSelfTypeParameter<"", "PtrType">:$type);
  let assemblyFormat = "";
}

def Ptr_AddressAttr : Ptr_Attr<"Address", "address", [TypedAttrInterface]> {
  let summary = "The pointer with an address";
  let description = [{
    The address counts bytes, and has 64 bits.

    ```mlir
    #ptr.address<0x1000> : !ptr.ptr<#ptr.generic_space>
    ```
  }];
  let parameters = (ins AttributeSelfTypeParameter<"", "PtrType">:$type, APIntParameter<"">:$value);
  let assemblyFormat = "`<` $value `>`";
}

class Ptr_Op<string mnemonic, list<Trait> traits = []> : Op<PtrDialect, mnemonic, traits>;

// One value, or a ranked tensor or vector of them.
class Ptr_Like<Type element> : AnyTypeOf<[
  element,
  ShapedContainerType<[element], And<[HasValueSemanticsPred, HasRankPred]>, "tensor or vector", "::mlir::ShapedType">
]>;
def Ptr_Pointers : Ptr_Like<Ptr_PtrType>;
def Ptr_Numbers : Ptr_Like<AnySignlessIntegerOrIndex>;

def Ptr_Alignment : OptionalProp<I64Prop>;

let cppNamespace = PtrDialect.cppNamespace in {
def Ptr_AddFlags : I32Enum<"PtrAddFlags", "What a sum of pointer and offset never does", [
  I32EnumCase<"none", 0>, I32EnumCase<"nusw", 1>, I32EnumCase<"nuw", 2>, I32EnumCase<"inbounds", 3>
]>;
def Ptr_DiffFlags : I8BitEnum<"PtrDiffFlags", "What a difference of pointers never does", [
  I8BitEnumCase<"none", 0>, I8BitEnumCase<"nuw", 1>, I8BitEnumCase<"nsw", 2>
]>;
def Ptr_Ordering : I32Enum<"AtomicOrdering", "How an access is ordered, as in LLVM", [
  I32EnumCase<"not_atomic", 0>, I32EnumCase<"unordered", 1>, I32EnumCase<"monotonic", 2>,
  I32EnumCase<"acquire", 3>, I32EnumCase<"release", 4>, I32EnumCase<"acq_rel", 5>, I32EnumCase<"seq_cst", 6>
]>;
}
def Ptr_OrderingProp : DefaultValuedProp<EnumProp<Ptr_Ordering>, "AtomicOrdering::not_atomic">;

def Ptr_ConstantOp : Ptr_Op<"constant", [ConstantLike, Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "A pointer that is known: null, or the one with a given address";
  let description = [{
    ```mlir
    %null = ptr.constant #ptr.null : !ptr.ptr<#ptr.generic_space>
    %p = ptr.constant #ptr.address<0x1000> : !ptr.ptr<#ptr.generic_space>
    ```
  }];
  let arguments = (ins TypedAttrInterface:$value);
  let results = (outs Ptr_PtrType:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

def Ptr_TypeOffsetOp : Ptr_Op<"type_offset", [Pure]> {
  let summary = "The distance between two neighbours of a type, in bytes";
  let description = [{
    The type is an integer, a float, `index` or a pointer. A boolean takes a byte, a
    pointer and an index take eight. The operation folds to this number.

    ```mlir
    %s = ptr.type_offset f32 : i32
    ```
  }];
  let arguments = (ins TypeAttr:$elementType);
  let results = (outs AnySignlessIntegerOrIndex:$result);
  let assemblyFormat = "$elementType attr-dict `:` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the bytes from one value of the type to the next; nullopt if the
    /// type has no place in memory.
    static std::optional<int64_t> bytesOf(::mlir::Type type);
  }];
}

def Ptr_PtrAddOp : Ptr_Op<"ptr_add", [Pure, InferTypeOpAdaptor]> {
  let summary = "Pointers plus numbers of bytes";
  let description = [{
    A number has a sign, and is extended or cut to 64 bits. The sum wraps around.
    Either operand is one value or a tensor or vector of them; one value is added to all
    elements of the other operand. The flags `nusw`, `nuw` and `inbounds` promise that
    the sum does not wrap around, or stays inside of an object; canonicalisation drops them.

    ```mlir
    %q = ptr.ptr_add %p, %bytes : !ptr.ptr<#ptr.generic_space>, i32
    %r = ptr.ptr_add nuw %p, %many : !ptr.ptr<#ptr.generic_space>, tensor<4xi64>
    ```
  }];
  let arguments = (ins Ptr_Pointers:$base, Ptr_Numbers:$offset,
                       DefaultValuedProp<EnumProp<Ptr_AddFlags>, "PtrAddFlags::none">:$flags);
  let results = (outs Ptr_Pointers:$result);
  let assemblyFormat = "($flags^)? $base `,` $offset attr-dict `:` type($base) `,` type($offset)";
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}

def Ptr_PtrDiffOp : Ptr_Op<"ptr_diff", [Pure, AllTypesMatch<["lhs", "rhs"]>, SameOperandsAndResultShape]> {
  let summary = "The bytes from one pointer to another";
  let description = [{
    The first operand minus the second one, in 64 bits, extended with its sign or cut to
    the type of the result. The flags `nuw` and `nsw` promise that this difference does not
    wrap around as a number without or with a sign.

    ```mlir
    %n = ptr.ptr_diff %q, %p : !ptr.ptr<#ptr.generic_space> -> i64
    ```
  }];
  let arguments = (ins Ptr_Pointers:$lhs, Ptr_Pointers:$rhs,
                       DefaultValuedProp<EnumProp<Ptr_DiffFlags>, "PtrDiffFlags::none">:$flags);
  let results = (outs Ptr_Numbers:$result);
  let assemblyFormat = "($flags^)? $lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Ptr_ToPtrOp : Ptr_Op<"to_ptr", [Pure]> {
  let summary = "The pointer of a memref";
  let description = [{
    The address to which the offset of the memref is added, which is that of its first
    element only if this offset is 0. Both types have the same memory space;
    `memref.memory_space_cast` leads from one to another.

    ```mlir
    %p = ptr.to_ptr %m : memref<4xf32, #ptr.generic_space> -> !ptr.ptr<#ptr.generic_space>
    ```
  }];
  let arguments = (ins PtrLikeTypeInterface:$ptr);
  let results = (outs Ptr_PtrType:$result);
  let assemblyFormat = "$ptr attr-dict `:` type($ptr) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Ptr_GetMetadataOp : Ptr_Op<"get_metadata", [
    Pure, TypesMatchWith<"metadata type", "ptr", "result",
                         "PtrMetadataType::get($_ctxt, ::llvm::cast<::mlir::PtrLikeTypeInterface>($_self))">]> {
  let summary = "What a memref consists of besides its pointer";
  let description = [{
    Offset, sizes and strides, as far as the type of the memref does not say them.

    ```mlir
    %d = ptr.get_metadata %m : memref<?x?xf32>
    ```
  }];
  let arguments = (ins PtrLikeTypeInterface:$ptr);
  let results = (outs Ptr_PtrMetadata:$result);
  let assemblyFormat = "$ptr attr-dict `:` type($ptr)";
}

def Ptr_FromPtrOp : Ptr_Op<"from_ptr", [
    Pure, OptionalTypesMatchWith<"metadata type", "result", "metadata",
                                 "PtrMetadataType::get($_ctxt, ::llvm::cast<::mlir::PtrLikeTypeInterface>($_self))">]> {
  let summary = "A memref of a pointer";
  let description = [{
    The inverse of `ptr.to_ptr`: the offset of the memref is counted from the pointer on.
    Metadata give what its type does not say.

    ```mlir
    %m = ptr.from_ptr %p metadata %d : !ptr.ptr<#ptr.generic_space> -> memref<?xf32, #ptr.generic_space>
    %n = ptr.from_ptr %p : !ptr.ptr<#ptr.generic_space> -> memref<1xf32, #ptr.generic_space>
    ```
  }];
  let arguments = (ins Ptr_PtrType:$ptr, Optional<Ptr_PtrMetadata>:$metadata);
  let results = (outs PtrLikeTypeInterface:$result);
  let assemblyFormat = "$ptr (`metadata` $metadata^)? attr-dict `:` type($ptr) `->` type($result)";
  let extraClassDeclaration = [{
    /// Returns whether `pointer`, with these metadata or none, is that of a memref of this type.
    static bool isRestored(::mlir::Value pointer, ::mlir::Value metadata, ::mlir::Type type);
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Ptr_LoadOp : Ptr_Op<"load", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Load a number or a pointer from where a pointer points to";
  let description = [{
    An atomic load needs an alignment. `invariant` and `invariant_group` promise that
    the value does not change, as in LLVM.

    ```mlir
    %v = ptr.load %p : !ptr.ptr<#ptr.generic_space> -> f32
    %w = ptr.load volatile %p atomic acquire alignment = 4 : !ptr.ptr<#ptr.generic_space> -> i32
    ```
  }];
  let arguments = (ins Ptr_PtrType:$ptr, Ptr_Alignment:$alignment, UnitProp:$volatile_, UnitProp:$nontemporal,
                       UnitProp:$invariant, UnitProp:$invariantGroup, Ptr_OrderingProp:$ordering,
                       OptionalAttr<StrAttr>:$syncscope);
  let results = (outs AnyType:$value);
  let assemblyFormat = [{
    (`volatile` $volatile_^)? $ptr (`atomic` (`syncscope` `(` $syncscope^ `)`)? $ordering^)?
    oilist(`nontemporal` $nontemporal | `invariant` $invariant | `invariant_group` $invariantGroup
           | `alignment` `=` $alignment)
    attr-dict `:` qualified(type($ptr)) `->` type($value)
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "::mlir::Value":$ptr, CArg<"bool", "false">:$isVolatile)>];
  let hasVerifier = 1;
}

def Ptr_StoreOp : Ptr_Op<"store", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Store a number or a pointer where a pointer points to";
  let description = [{
    An atomic store needs an alignment.

    ```mlir
    ptr.store %v, %p : f32, !ptr.ptr<#ptr.generic_space>
    ptr.store %w, %p atomic release alignment = 4 : i32, !ptr.ptr<#ptr.generic_space>
    ```
  }];
  let arguments = (ins AnyType:$value, Ptr_PtrType:$ptr, Ptr_Alignment:$alignment, UnitProp:$volatile_,
                       UnitProp:$nontemporal, UnitProp:$invariantGroup, Ptr_OrderingProp:$ordering,
                       OptionalAttr<StrAttr>:$syncscope);
  let assemblyFormat = [{
    (`volatile` $volatile_^)? $value `,` $ptr (`atomic` (`syncscope` `(` $syncscope^ `)`)? $ordering^)?
    oilist(`nontemporal` $nontemporal | `invariant_group` $invariantGroup | `alignment` `=` $alignment)
    attr-dict `:` type($value) `,` qualified(type($ptr))
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$value, "::mlir::Value":$ptr)>];
  let hasVerifier = 1;
}
