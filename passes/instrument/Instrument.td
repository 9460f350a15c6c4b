// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def InstrumentPass : Pass<"triton-ext-instrument", "::mlir::ModuleOp"> {
  let summary = "Insert probes that count bytes, iterations and NaNs by source line";
  let description = [{
    Inserts operations of the dialect `probe` beside what they observe, and with
    its location, so that a session of probes has numbers for each source line.
    The kernel computes what it computed before.

    ```mlir
    %v = tt.load %p, %m : tensor<128x!tt.ptr<f32>>
    // becomes, with bytes=true
    probe.count "loaded" mask(%m : tensor<128xi1>)
        {probe.rules = "loaded", probe.weight = 4 : i64}
    %v = tt.load %p, %m : tensor<128x!tt.ptr<f32>>
    ```

    The session has to be around the pipeline with this pass. It marks the module
    before this pass runs, and lowers the operations after it. Without the mark,
    the pass leaves the module as it is, so a kernel that is compiled outside of
    a session is the kernel without the pass.

    passes/instrument/RATIONALE.md says what each option counts, and what it
    costs.
  }];
  let options = [
    Option<"bytes", "bytes", "bool", /*default=*/"false",
           "Count the bytes that lines load and store, of the lanes that a mask leaves on">,
    Option<"calls", "calls", "bool", /*default=*/"false",
           "Count how often memory operations and matrix products run, and the programs">,
    Option<"loops", "loops", "bool", /*default=*/"false",
           "Count how often loops begin, and their iterations">,
    Option<"regions", "regions", "bool", /*default=*/"false",
           "Measure the time of programs, loops and matrix products">,
    Option<"masked", "masked", "bool", /*default=*/"false",
           "Count the lanes of memory operations that a mask turns off">,
    Option<"nan", "nan", "bool", /*default=*/"false",
           "Record where loads and float operations make NaNs">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::triton::TritonDialect",
                           "::mlir::triton_ext::probe::ProbeDialect"];
}
