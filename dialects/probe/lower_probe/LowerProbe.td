// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def LowerProbePass : Pass<"triton-ext-lower-probe", "::mlir::ModuleOp"> {
  let summary = "Erase the operations of the dialect probe, or lower them to tt";
  let description = [{
    By default the pass erases the operations, and what only they use. This is
    what a kernel gets outside of a session.

    A session runs the pass twice more. At the start of the stage `ttir`,
    `keep` marks the module, so that the operations survive the stage. At its
    end, when functions are inlined, `emit` lowers them to `tt`. The buffer of
    the session is reached through `ttg.global_scratch_alloc`; dialects/probe/RATIONALE.md
    describes it. The module gets the attribute `probe.sites`, a JSON text that
    says what each number in the buffer means. For clocks and regions, the
    session gives the module the attributes `probe.target` (such as "cuda:90"),
    `probe.num_warps` and `probe.warp_size`, which `emit` removes.
  }];
  let options = [
    Option<"keep", "keep", "bool", /*default=*/"false",
           "Mark the module, so that the operations stay until emit lowers them">,
    Option<"emit", "emit", "bool", /*default=*/"false",
           "Lower the operations">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::triton::TritonDialect",
                           "::mlir::triton::gpu::TritonGPUDialect"];
}
