// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"
def DeallocateBuffersPass : Pass<"triton-ext-deallocate-buffers", "::mlir::ModuleOp"> {
  let summary = "Free what is allocated, by what MLIR's ownership-based deallocation knows of effects";
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect", "::mlir::func::FuncDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
  ];
}
