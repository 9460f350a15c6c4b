// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def SanitizerPass : Pass<"triton-ext-sanitizer", "::mlir::ModuleOp"> {
  let summary = "Insert checks that find wrong accesses, values and hints";
  let description = [{
    Inserts operations of the dialect `probe` that record errors, and their lines,
    while the kernel runs. `tx.sanitize` has a session of probes around the pass: it
    marks the module before this pass runs, lowers the operations after it, and
    gives each launch the extents of its tensors. Without the mark the pass leaves
    the module as it is.

    ```mlir
    %v = tt.load %p, %m : tensor<128x!tt.ptr<f32>>
    // with checks=bounds, where the addresses of the active lanes lie from %low to %high:
    %start = probe.launch_word 10 : i64
    %end = probe.launch_word 11 : i64
    ...
    scf.if %out {
      probe.check %inside, "bounds"(%serial, %address : i64, tensor<128xi64>) ...
    }
    ```

    With the attribute `sanitize.looks = "raise"` on the module, `probe.raise` takes
    the place of looks that need nothing from memory; with `"host"`, nothing does, and
    the host compares their corners; with `"only"`, these looks are all that is left of
    the kernel. With `"host"`, looks at shadows are missing, too; `"shadows"` is the same
    with them.

    An access that is proved to be right is not checked. The attribute
    `sanitize.verdicts` of the module has the verdict on each access: proved,
    checked or unsupported.

    If somebody reads remarks, as `triton-ext pipeline show` does, the pass also says
    of a module without the mark which verdict each access has.

    passes/sanitizer/RATIONALE.md describes the checks.
  }];
  let options = [
    Option<"checks", "checks", "std::string", /*default=*/"\"bounds\"",
           "The checks, with commas between them: bounds, lanes, uninit, race, "
           "hints, arith; or all">,
    Option<"action", "action", "std::string", /*default=*/"\"report\"",
           "How to treat an access out of bounds: report lets it through, "
           "suppress masks it off, trap ends the kernel">,
    Option<"isStatic", "static", "bool", /*default=*/"true",
           "Prove bounds and lanes before the kernel runs where that is possible; "
           "false lets the kernel check all of them, to measure what the proofs "
           "save">,
    Option<"hasCorners", "corners", "bool", /*default=*/"true",
           "Check tiles with affine addresses by their corners; false compares "
           "each lane, and proves nothing, to test the corners">,
    Option<"calls", "calls", "bool", /*default=*/"true",
           "On a CPU, looks at shadows are functions of the runtime; false has "
           "the code of other targets in the kernel">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::triton::TritonDialect",
                           "::mlir::triton_ext::probe::ProbeDialect"];
}
