// SPDX-License-Identifier: Apache-2.0

include "mlir/IR/DialectBase.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def TtxDialect : Dialect {
  let name = "ttx";
  let summary = "Triton-shared's scans on tensors and memrefs";
  let description = [{
    See RATIONALE.md for why it exists.
  }];
  let cppNamespace = "::mlir::triton_ext::ttx";
}

def Ttx_TensorOrMemRef : AnyTypeOf<[AnyRankedTensor, AnyStridedMemRef]>;

def Ttx_CumSumOp
    : Op<TtxDialect, "cumsum", [AttrSizedOperandSegments, DestinationStyleOpInterface,
                                DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "The sum of every prefix of a dimension";
  let description = [{
    Along each line in the dimension `axis`, every element is the sum of the
    elements of the input up to it. With `reverse`, which triton-shared's
    operation lacks, it is the sum of the elements from it on. There is one input
    and one output, which are tensors or memrefs of the same shape and of
    integers or floats. The elements of the output are not read.

    ```mlir
    %r = ttx.cumsum {axis = 1 : ui32, operandSegmentSizes = array<i32: 1, 1>}
        ins(%x : tensor<4x8xf32>) outs(%o : tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Variadic<Ttx_TensorOrMemRef>:$inputs, Variadic<Ttx_TensorOrMemRef>:$outputs,
                       UI32Attr:$axis, UnitAttr:$reverse);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let hasCustomAssemblyFormat = 1;
  let hasFolder = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutputsMutable(); }
    ::mlir::Value getInput() { return getInputs().front(); }
    ::mlir::Value getOutput() { return getOutputs().front(); }
  }];
}
