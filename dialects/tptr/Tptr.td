// SPDX-License-Identifier: Apache-2.0

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def TptrDialect : Dialect {
  let name = "tptr";
  let summary = "Triton-shared's casts of pointers, and its older arithmetic on them";
  let description = [{
    See RATIONALE.md for why it exists.
  }];
  let cppNamespace = "::mlir::triton_ext::tptr";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::triton_ext::ptr::PtrDialect"];
  let useDefaultAttributePrinterParser = 1;
  let hasCanonicalizer = 1;
}

def Tptr_DefaultMemorySpaceAttr : AttrDef<TptrDialect, "DefaultMemorySpace"> {
  let mnemonic = "default_memory_space";
  let summary = "The memory that the pointers of a kernel point to, in older versions of triton-shared";
  let description = [{
    ```mlir
    !ptr.ptr<#tptr.default_memory_space>
    ```
  }];
}

def Tptr_Ptr : Type<CPred<"::llvm::isa<::mlir::triton_ext::ptr::PtrType>($_self)">, "pointer",
                    "::mlir::triton_ext::ptr::PtrType">;
def Tptr_Metadata : Type<CPred<"::llvm::isa<::mlir::triton_ext::ptr::PtrMetadataType>($_self)">, "metadata",
                         "::mlir::triton_ext::ptr::PtrMetadataType">;

// One value, or a ranked tensor or vector of them.
class Tptr_Like<Type element> : AnyTypeOf<[
  element,
  ShapedContainerType<[element], And<[HasValueSemanticsPred, HasRankPred]>,
                      "tensor or vector", "::mlir::ShapedType">
]>;
def Tptr_Pointers : Tptr_Like<Tptr_Ptr>;
def Tptr_Numbers : Tptr_Like<AnySignlessIntegerOrIndex>;

class Tptr_Op<string mnemonic, list<Trait> traits = []> : Op<TptrDialect, mnemonic, traits>;

// The newest operations.

def Tptr_IntToPtrOp : Tptr_Op<"int_to_ptr", [Pure, SameOperandsAndResultShape]> {
  let summary = "The pointers with numbers as their addresses";
  let description = [{
    A number of less than 64 bits is extended with zeros, a longer one is cut.

    ```mlir
    %p = tptr.int_to_ptr %a : i64 to !ptr.ptr<#ptr.generic_space>
    ```
  }];
  let arguments = (ins Tptr_Numbers:$arg);
  let results = (outs Tptr_Pointers:$res);
  let assemblyFormat = "$arg attr-dict `:` type($arg) `to` custom<Pointers>(type($res))";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Tptr_PtrToIntOp : Tptr_Op<"ptr_to_int", [Pure, SameOperandsAndResultShape]> {
  let summary = "The addresses of pointers";
  let description = [{
    The address is cut to the type of the result, or extended with zeros.

    ```mlir
    %a = tptr.ptr_to_int %p : !ptr.ptr<#ptr.generic_space> to i64
    ```
  }];
  let arguments = (ins Tptr_Pointers:$arg);
  let results = (outs Tptr_Numbers:$res);
  let assemblyFormat = "$arg attr-dict `:` custom<Pointers>(type($arg)) `to` type($res)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Tptr_FromPtrOp : Tptr_Op<"from_ptr", [
    Pure, OptionalTypesMatchWith<
        "metadata type", "result", "metadata",
        "::mlir::triton_ext::ptr::PtrMetadataType::get($_ctxt, ::llvm::cast<::mlir::PtrLikeTypeInterface>($_self))">]> {
  let summary = "A memref of a pointer";
  let description = [{
    What `ptr.from_ptr` is. In MLIR, that one can only be lowered with metadata.

    ```mlir
    %m = tptr.from_ptr %p : <#ptr.generic_space> -> memref<1xf32, #ptr.generic_space>
    ```
  }];
  let arguments = (ins Tptr_Ptr:$ptr, Optional<Tptr_Metadata>:$metadata);
  let results = (outs PtrLikeTypeInterface:$result);
  let assemblyFormat = "$ptr (`metadata` $metadata^)? attr-dict `:` type($ptr) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

// Operations of older versions, which canonicalisation replaces by those above and by those of `ptr`.

class Tptr_OldOp<string mnemonic> : Tptr_Op<mnemonic, [Pure]> {
  let hasCanonicalizeMethod = 1;
}

def Tptr_OldIntToPtrOp : Tptr_OldOp<"inttoptr"> {
  let summary = "The older name of `tptr.int_to_ptr`";
  let description = [{
    ```mlir
    %p = tptr.inttoptr %a : i64 to <#tptr.default_memory_space>
    ```
  }];
  let arguments = (ins AnySignlessIntegerOrIndex:$arg);
  let results = (outs Tptr_Ptr:$res);
  let assemblyFormat = "$arg attr-dict `:` type($arg) `to` type($res)";
}

def Tptr_OldPtrToIntOp : Tptr_OldOp<"ptrtoint"> {
  let summary = "The older name of `tptr.ptr_to_int`";
  let description = [{
    ```mlir
    %a = tptr.ptrtoint %p : <#tptr.default_memory_space> to i64
    ```
  }];
  let arguments = (ins Tptr_Ptr:$arg);
  let results = (outs AnySignlessIntegerOrIndex:$res);
  let assemblyFormat = "$arg attr-dict `:` type($arg) `to` type($res)";
}

def Tptr_OldTypeOffsetOp : Tptr_OldOp<"type_offset"> {
  let summary = "The older name of `ptr.type_offset`";
  let description = [{
    The result is an `index` if it has no type.

    ```mlir
    %s = tptr.type_offset f32 : i32
    ```
  }];
  let arguments = (ins TypeAttr:$baseType);
  let results = (outs AnySignlessIntegerOrIndex:$result);
  let assemblyFormat = "attr-dict $baseType custom<TypeOrIndex>(type($result))";
  let hasVerifier = 1;
}

def Tptr_OldPtrAddOp : Tptr_OldOp<"ptradd"> {
  let summary = "The older name of `ptr.ptr_add`";
  let description = [{
    ```mlir
    %q = tptr.ptradd %p %bytes : <#tptr.default_memory_space>, i32 to <#tptr.default_memory_space>
    ```
  }];
  let arguments = (ins Tptr_Ptr:$base, AnySignlessIntegerOrIndex:$offset);
  let results = (outs Tptr_Ptr:$result);
  let assemblyFormat = "$base $offset attr-dict `:` type($base) `,` type($offset) `to` type($result)";
  let hasVerifier = 1;
}

def Tptr_OldFromMemrefOp : Tptr_OldOp<"from_memref"> {
  let summary = "The pointer to the first element of a memref";
  let description = [{
    The first element is that at the offset of the memref.

    ```mlir
    %p = tptr.from_memref %m : memref<1xf32> to <#tptr.default_memory_space>
    ```
  }];
  let arguments = (ins AnyTypeOf<[AnyStridedMemRef, AnyUnrankedMemRef]>:$input);
  let results = (outs Tptr_Ptr:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `to` type($result)";
  let hasVerifier = 1;
}

def Tptr_OldToMemrefOp : Tptr_OldOp<"to_memref"> {
  let summary = "A memref whose first element a pointer points to";
  let description = [{
    The memref has a static shape, known strides and a known offset, which is not
    negative and is counted from the pointer on.

    ```mlir
    %m = tptr.to_memref %p : <#tptr.default_memory_space> to memref<1xf32>
    ```
  }];
  let arguments = (ins Tptr_Ptr:$arg);
  let results = (outs AnyStaticShapeMemRef:$res);
  let assemblyFormat = "$arg attr-dict `:` type($arg) `to` type($res)";
  let hasVerifier = 1;
}
