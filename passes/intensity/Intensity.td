// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def IntensityPass : Pass<"triton-ext-intensity", "::mlir::ModuleOp"> {
  let summary = "Describe the memory traffic and the FLOPs of each kernel";
  let description = [{
    Writes the attribute `triton_ext.intensity` on the module: for each public
    function a tree of what it loads, stores and computes, in JSON. Loops, branches
    and masks are in the tree as expressions in the arguments of the kernel, the
    program ids and the sizes of the grid. Nothing else in the module changes.

    `tx.intensity` runs the pass, sums the tree over the grid, and says which of the
    sums are exact. [The page about it](../intensity.md) says what is counted.
  }];
  let options = [
    Option<"keepsNames", "names", "bool", /*default=*/"false",
           "Also write which of the integers are variables of the source">,
  ];
}
