// SPDX-License-Identifier: Apache-2.0

include "analysis/InferAxisInfo.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def TankDialect : Dialect {
  let name = "tank";
  let summary = "Effects on memory that everybody has, and on two resources of its own";
  let cppNamespace = "::mlir::triton_ext::tank";
}

def Tank_Water : Resource<"::mlir::triton_ext::tank::WaterResource">;
def Tank_Lamp : Resource<"::mlir::triton_ext::tank::LampResource">;
// Where tt.load and tt.store say that they access memory; to Triton it has nothing to do with the default resource.
def Tank_Global : Resource<"::mlir::triton::GlobalMemory">;
def Tank_MemRef : MemRefRankOf<[F32], [1]>;

class Tank_Op<string mnemonic, list<Trait> traits = []> : Op<TankDialect, mnemonic, traits>;

// Of the memory that operands and results stand for, by the default resource.
def Tank_FillOp : Tank_Op<"fill"> {
  let arguments = (ins F32:$value, Arg<Tank_MemRef, "", [MemWrite]>:$memory);
  let assemblyFormat = "$value `,` $memory attr-dict `:` type($memory)";
}
def Tank_SumOp : Tank_Op<"sum"> {
  let arguments = (ins Arg<Tank_MemRef, "", [MemRead]>:$memory);
  let results = (outs F32:$result);
  let assemblyFormat = "$memory attr-dict `:` type($memory)";
}
def Tank_MakeOp : Tank_Op<"make"> {
  let results = (outs Res<Tank_MemRef, "", [MemAlloc]>:$memory);
  let assemblyFormat = "attr-dict `:` type($memory)";
}
// On the stack: it goes by itself, where the function or a memref.alloca_scope ends.
def Tank_CupOp : Tank_Op<"cup"> {
  let results = (outs Res<Tank_MemRef, "", [MemAlloc<AutomaticAllocationScopeResource>]>:$memory);
  let assemblyFormat = "attr-dict `:` type($memory)";
}
def Tank_DropOp : Tank_Op<"drop"> {
  let arguments = (ins Arg<Tank_MemRef, "", [MemFree]>:$memory);
  let assemblyFormat = "$memory attr-dict `:` type($memory)";
}
// Of all memory that MLIR knows, and of all that Triton does.
def Tank_FloodOp
    : Tank_Op<"flood", [MemoryEffects<[MemRead, MemWrite, MemRead<Tank_Global>, MemWrite<Tank_Global>]>]> {
  let assemblyFormat = "attr-dict";
}

// Of the dialect's own resources.
def Tank_PourOp : Tank_Op<"pour", [MemoryEffects<[MemWrite<Tank_Water>]>]> {
  let arguments = (ins F32:$value);
  let assemblyFormat = "$value attr-dict";
}
def Tank_LevelOp : Tank_Op<"level", [MemoryEffects<[MemRead<Tank_Water>]>]> {
  let results = (outs F32:$result);
  let assemblyFormat = "attr-dict";
}
def Tank_LightOp : Tank_Op<"light", [MemoryEffects<[MemWrite<Tank_Lamp>]>]> {
  let assemblyFormat = "attr-dict";
}

// A pointer, of which it tells the axis analysis something.
def Tank_AlignOp : Tank_Op<"align", [Pure, SameOperandsAndResultType, DeclareOpInterfaceMethods<InferAxisInfo>]> {
  let arguments = (ins AnyType:$pointer, I64Attr:$bytes);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$pointer `to` $bytes attr-dict `:` type($result)";
}
