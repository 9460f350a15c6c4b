// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def StructureReturnsPass : Pass<"triton-ext-structure-returns", "::mlir::ModuleOp"> {
  let summary = "Make functions with early returns one block of scf.if";
  let description = [{
    A function of several blocks cannot be inlined into a loop or into the region
    of a `tt.reduce` or `tt.map_elementwise`. Here, each path from the entry to a
    return becomes a branch of an `scf.if`: what follows a branch that does not
    return is copied into it. The function then has one block and one
    `tt.return`.

    A public function, a kernel, keeps its blocks unless one of them has a tensor
    as an argument. A function stays as it is if its blocks form a loop, if it
    has more than `max-paths` paths, or if a block ends in anything but a branch
    or a return.

    `-wrap-func-body-with-single-block` copies nothing: it keeps the blocks,
    inside an `scf.execute_region`.
  }];
  let options = [
    Option<"maxPaths", "max-paths", "int64_t", /*default=*/"100",
           "Largest number of paths through a function that is changed">,
  ];
  let dependentDialects = ["::mlir::scf::SCFDialect"];
}
