// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def SettleRegionsPass : Pass<"triton-ext-settle-regions", "::mlir::ModuleOp"> {
  let summary = "Move the clock of a region's end behind the preparations for later iterations";
  let description = [{
    When Triton has pipelined a loop, an iteration ends with the addresses and
    the copies of a later one. A region that ends before them has its clock in the
    middle of the loop, and the assembler moves no instruction across a clock.
    So the iteration cannot compute the addresses while it waits for something
    else, as it does without the region.

    The pass moves the clock of a region's end, and the stores of its record, to
    the end of the loop's body, if nothing follows them but the arithmetic of
    addresses and masks, and copies to shared memory that nobody waits for. A
    session applies it at the end of the stage `ttgir`. `lower_probe` marks what
    it may move with the attribute `probe.end`, which this pass removes.

    Where `lower_probe` has left a text in place of `probe.outside`, for GPUs
    without assembly of NVIDIA, the pass puts operations of LLVM. In a module for AMD
    with scratch memory it defines the function that tells the size of the grid, so
    that Triton links no library for it.
  }];
}
