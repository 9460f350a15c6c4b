// SPDX-License-Identifier: Apache-2.0

include "mlir/Pass/PassBase.td"

def PrintClaimsPass : Pass<"triton-ext-print-claims", "::mlir::ModuleOp"> {
  let summary = "For tests: every fact that an analysis claims of an integer, a line each";
  let description = [{
    Writes to stderr, for test_soundness.py. Integer arguments may have the
    attributes tt.divisibility and tt.limit (the value is not negative, and at
    most this), which are taken for granted. The module is left as it is.
  }];
  let options = [
    ListOption<"clients", "clients", "std::string",
               "Whose claims: facts, wraps, never, loops, trackers">,
  ];
}
