// SPDX-License-Identifier: Apache-2.0

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/DialectBase.td"

def PtrDialect : Dialect {
  let name = "ptr";
  let summary = "MLIR's type of pointers, which libtriton lacks";
  let description = [{
    See RATIONALE.md for why it exists.
  }];
  let cppNamespace = "::mlir::triton_ext::ptr";
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

def Ptr_GenericSpaceAttr : AttrDef<PtrDialect, "GenericSpace"> {
  let mnemonic = "generic_space";
  let summary = "The memory that any pointer may point to";
  let description = [{
    ```mlir
    !ptr.ptr<#ptr.generic_space>
    ```
  }];
}

def Ptr_PtrType : TypeDef<PtrDialect, "Ptr", [MemRefElementTypeInterface]> {
  let mnemonic = "ptr";
  let summary = "An address, in a memory space";
  let description = [{
    A pointer has 64 bits. It does not say what it points to. Its memory space is
    `#ptr.generic_space` or an attribute of another dialect.

    ```mlir
    !ptr.ptr<#tptr.default_memory_space>
    ```
  }];
  let parameters = (ins "::mlir::Attribute":$memorySpace);
  let assemblyFormat = "`<` $memorySpace `>`";
}
