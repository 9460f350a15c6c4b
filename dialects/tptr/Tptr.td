// SPDX-License-Identifier: Apache-2.0

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def TptrDialect : Dialect {
  let name = "tptr";
  let summary = "Triton-shared's arithmetic on addresses";
  let description = [{
    See RATIONALE.md for why it exists.
  }];
  let cppNamespace = "::mlir::triton_ext::tptr";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::triton_ext::ptr::PtrDialect"];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
}

def Tptr_DefaultMemorySpaceAttr : AttrDef<TptrDialect, "DefaultMemorySpace"> {
  let mnemonic = "default_memory_space";
  let summary = "The memory that the pointers of a kernel point to";
  let description = [{
    ```mlir
    !ptr.ptr<#tptr.default_memory_space>
    ```
  }];
}

def Tptr_Ptr : Type<CPred<"::llvm::isa<::mlir::triton_ext::ptr::PtrType>($_self)">, "pointer",
                    "::mlir::triton_ext::ptr::PtrType">;

class Tptr_Op<string mnemonic, list<Trait> traits = []> : Op<TptrDialect, mnemonic, traits>;

// Memory that both a `tt.load`, whose resource is Triton's, and a `memref.load`
// may read. For MLIR, two resources have nothing to do with each other, so that
// CSE would merge two `tt.load` across a store that named only one of them.
def Tptr_Global : Resource<"::mlir::triton::GlobalMemory">;

def Tptr_IntToPtrOp : Tptr_Op<"inttoptr", [Pure]> {
  let summary = "The pointer with a number as its address";
  let description = [{
    A number of less than 64 bits is extended with zeros, a longer one is cut.

    ```mlir
    %p = tptr.inttoptr %a : i64 to <#tptr.default_memory_space>
    ```
  }];
  let arguments = (ins AnySignlessIntegerOrIndex:$arg);
  let results = (outs Tptr_Ptr:$res);
  let assemblyFormat = "$arg attr-dict `:` type($arg) `to` type($res)";
  let hasFolder = 1;
}

def Tptr_PtrToIntOp : Tptr_Op<"ptrtoint", [Pure]> {
  let summary = "The address of a pointer as a number";
  let description = [{
    The address has 64 bits, and is cut or extended with zeros to the type of the
    result.

    ```mlir
    %a = tptr.ptrtoint %p : <#tptr.default_memory_space> to i64
    ```
  }];
  let arguments = (ins Tptr_Ptr:$arg);
  let results = (outs AnySignlessIntegerOrIndex:$res);
  let assemblyFormat = "$arg attr-dict `:` type($arg) `to` type($res)";
  let hasFolder = 1;
}

def Tptr_TypeOffsetOp : Tptr_Op<"type_offset", [Pure]> {
  let summary = "The distance between two neighbours of a type, in bytes";
  let description = [{
    The type is an integer, a float, `index` or a pointer. A boolean takes a byte, a
    pointer and an index take eight. The result is an `index` if it has no type.

    ```mlir
    %s = tptr.type_offset f32 : i32
    ```
  }];
  let arguments = (ins TypeAttr:$baseType);
  let results = (outs AnySignlessIntegerOrIndex:$result);
  let assemblyFormat = "attr-dict $baseType custom<TypeOrIndex>(type($result))";
  let hasFolder = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the bytes from one value of the type to the next; nullopt if the
    /// type has no place in memory.
    static std::optional<int64_t> bytesOf(::mlir::Type type);
  }];
}

def Tptr_PtrAddOp : Tptr_Op<"ptradd", [Pure, AllTypesMatch<["base", "result"]>]> {
  let summary = "A pointer plus a number of bytes";
  let description = [{
    The number has a sign, and is extended or cut to 64 bits. The sum wraps around.

    ```mlir
    %q = tptr.ptradd %p %bytes : <#tptr.default_memory_space>, i32 to <#tptr.default_memory_space>
    ```
  }];
  let arguments = (ins Tptr_Ptr:$base, AnySignlessIntegerOrIndex:$offset);
  let results = (outs Tptr_Ptr:$result);
  let assemblyFormat = "$base $offset attr-dict `:` type($base) `,` type($offset) `to` type($result)";
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}

def Tptr_FromMemrefOp : Tptr_Op<"from_memref", [Pure]> {
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
  let hasFolder = 1;
}

def Tptr_ToMemrefOp : Tptr_Op<"to_memref", [Pure]> {
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
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Tptr_LoadOp : Tptr_Op<"load", [MemoryEffects<[MemRead, MemRead<Tptr_Global>]>]> {
  let summary = "Load a value from where a pointer points to";
  let description = [{
    ```mlir
    %v = tptr.load %p : !ptr.ptr<#tptr.default_memory_space> -> f32
    ```
  }];
  let arguments = (ins Tptr_Ptr:$addr);
  let results = (outs AnyType:$res);
  let assemblyFormat = "$addr attr-dict `:` qualified(type($addr)) `->` type($res)";
  let hasVerifier = 1;
}

def Tptr_StoreOp : Tptr_Op<"store", [MemoryEffects<[MemWrite, MemWrite<Tptr_Global>]>]> {
  let summary = "Store a value where a pointer points to";
  let description = [{
    ```mlir
    tptr.store %v, %p : f32, !ptr.ptr<#tptr.default_memory_space>
    ```
  }];
  let arguments = (ins AnyType:$value, Tptr_Ptr:$addr);
  let assemblyFormat = "$value `,` $addr attr-dict `:` type($value) `,` qualified(type($addr))";
  let hasVerifier = 1;
}
