// SPDX-License-Identifier: Apache-2.0

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def TallyDialect : Dialect {
  let name = "tally";
  let summary = "One operation for each thing that a DSL function can be made of";
  let cppNamespace = "::mlir::triton_ext::tally";
  let useDefaultTypePrinterParser = 1;
}

class Tally_Op<string mnemonic, list<Trait> traits = []> : Op<TallyDialect, mnemonic, traits>;

def Tally_Token : TypeDef<TallyDialect, "Token"> {
  let mnemonic = "token";
}

def Tally_Mode : I32EnumAttr<"Mode", "what order() sorts by",
    [I32EnumAttrCase<"Value", 0, "value">, I32EnumAttrCase<"Magnitude", 1, "magnitude">]> {
  let cppNamespace = "::mlir::triton_ext::tally";
}

// Two results, a string, an enum, and an integer that may be absent.
def Tally_OrderOp : Tally_Op<"order", [Pure, AllTypesMatch<["lhs", "rhs", "low", "high"]>]> {
  let arguments = (ins AnyType:$lhs, AnyType:$rhs, StrAttr:$label, Tally_Mode:$mode,
                       OptionalAttr<I64Attr>:$seed);
  let results = (outs AnyType:$low, AnyType:$high);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($low)";
  let hasVerifier = 1;
}

// Variadic and optional operands, and no result.
def Tally_NoteOp : Tally_Op<"note", [AttrSizedOperandSegments]> {
  let arguments = (ins StrAttr:$name, Variadic<AnyType>:$values, Optional<AnyType>:$mask);
}

// Every kind of attribute.
def Tally_TagOp : Tally_Op<"tag"> {
  let arguments = (ins OptionalAttr<BoolAttr>:$flag, OptionalAttr<I32Attr>:$count, OptionalAttr<F32Attr>:$ratio,
                       OptionalAttr<TypeAttr>:$element, OptionalAttr<ArrayAttr>:$list,
                       OptionalAttr<DenseI32ArrayAttr>:$sizes, OptionalAttr<SymbolRefAttr>:$callee, UnitAttr:$fast,
                       OptionalAttr<AnyAttr>:$any, OptionalAttr<F64Attr>:$exact);
}

// The result's type has to be declared.
def Tally_CountOp : Tally_Op<"count", [Pure]> {
  let arguments = (ins AnyType:$x);
  let results = (outs AnyType:$result);
}

def Tally_BeginOp : Tally_Op<"begin"> {
  let arguments = (ins StrAttr:$name);
  let results = (outs Tally_Token:$token);
}
def Tally_EndOp : Tally_Op<"end"> {
  let arguments = (ins Tally_Token:$token);
}

def Tally_ScopeOp : Tally_Op<"scope", [SingleBlock]> {
  let arguments = (ins StrAttr:$name);
  let regions = (region SizedRegion<1>:$body);
}
def Tally_YieldOp : Tally_Op<"yield", [Terminator, HasParent<"ScopeOp">, Pure]>;
